"""The rounds of LambdaMART: one tree each, grown by LightGBM for the risk of pairs."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from aucmax._core.fitting import RoundMonitor
from aucmax._core.threads import import_package
from aucmax._core.threshold import balanced_threshold
from aucmax._core.validation import FloatArray
from aucmax.risks.contract import BoundTreeRisk
from aucmax.trees.booster import n_threads, new_dataset, readable_by_lightgbm
from aucmax.trees.booster_text import check_model_text, column_ranges
from aucmax.trees.pair_objectives import FIRST_SHARE, find_objective
from aucmax.trees.tree_columns import TreeColumns
from aucmax.trees.tree_rows import Evaluation, TrainingLabels, TreeRows

PRINT_EVERY = 10  # rounds of a verbose fit
# larger scores mean divergence; below it, differences do not overflow
_MAX_SCORE = 1e300
_SHARE = "feature_fraction"  # the share of columns that a tree sees


class TreeProgress(NamedTuple):
    """The progress of a fit, passed to the callback after each round.

    Attributes
    ----------
    n_iter : int
        Number of rounds so far.
    validation : float or None
        The metric on the validation rows, if there are any.
    seconds : float
        Seconds since the start.
    """

    n_iter: int
    validation: float | None
    seconds: float

    def __str__(self) -> str:
        value = self.validation
        return f"round {self.n_iter}, {self.seconds:.2f} s" + (
            "" if value is None else f", validation {value:.5f}"
        )


def new_booster(
    parameters: Mapping[str, Any],
    X: Any,
    columns: TreeColumns,
    evaluation: Evaluation | None,
) -> Any:
    """Return a booster without trees, with its training and validation rows in bins."""
    lightgbm = import_package("lightgbm", "a model of trees")

    # LightGBM demands labels, but only the risk needs them
    rows = new_dataset(parameters, X, _no_labels(X), columns.categorical, columns.names)
    with _explain_lightgbm_errors():
        booster = lightgbm.Booster(params=dict(parameters), train_set=rows)
        if evaluation is not None:
            held_out = rows.create_valid(
                readable_by_lightgbm(evaluation.X),
                _no_labels(evaluation.X),
                params=dict(parameters),
            )
            booster.add_valid(held_out, "validation")
    return booster


class TreeRounds:
    """Boosting; `kept_scores` are the scores after the rounds that are kept.

    `first` is the risk of the first rounds, if it is another one.
    """

    def __init__(
        self,
        watch: RoundMonitor,
        booster: Any,
        pairs: BoundTreeRisk,
        evaluation: Evaluation | None,
        first: BoundTreeRisk | None = None,
    ) -> None:
        self.watch = watch
        self.pairs = pairs
        self._first = first  # until their rounds are over
        self.evaluation = evaluation
        self.kept_scores = np.zeros(pairs.n_rows)
        self.reason = ""
        self.booster = booster
        self.progress = TreeProgress(0, None, 0.0)
        # of LightGBM's type; it copies them at each call
        empty = partial(np.empty, pairs.n_rows, dtype=np.float32)
        self._derivatives_out = empty(), empty()

    def run(self) -> None:
        """Add trees until there is a reason to stop.

        The first tree, which LightGBM keeps even without a split, sees all columns; so
        does a tree for which the sampled columns have no split.
        """
        if not _has_columns(self.booster):
            self.reason = "no split"
        share = self.booster.params.get(_SHARE, 1.0)
        with _explain_lightgbm_errors():
            while not self.reason:
                has_no_split = True
                if share >= 1.0 or self.watch.n_iter > 0:
                    has_no_split = self.booster.update(fobj=self._derivatives)
                if share < 1.0 and has_no_split:
                    self.booster.reset_parameter({_SHARE: 1.0})
                    has_no_split = self.booster.update(fobj=self._derivatives)
                    self.booster.reset_parameter({_SHARE: share})
                self.reason = "no split" if has_no_split else self._count_tree()

    def _count_tree(self) -> str:
        """Measure the new tree; return a reason to stop, if there is one."""
        scores = _scores(self.booster.eval_train)
        # two numbers need no array as long as the rows; either is NaN if a score is
        if not max(scores.max(), -scores.min()) <= _MAX_SCORE:
            self.booster.rollback_one_iter()
            return "diverged"
        value = None
        if self.evaluation is not None:
            value = self.evaluation.measure(_scores(self.booster.eval_valid))
        if self.watch.count(value):
            np.copyto(self.kept_scores, scores)
        if self.watch.is_past(FIRST_SHARE):
            self._first = None
        self.progress = TreeProgress(self.watch.n_iter, value, self.watch.seconds)
        return self.watch.reason_to_stop(self.progress)

    def _derivatives(self, scores: FloatArray, _: Any) -> tuple[FloatArray, FloatArray]:
        pairs = self._first or self.pairs
        return pairs.gradient_hessian(scores, scaled=True, out=self._derivatives_out)


def _scores(evaluate: Callable[[Any], Any]) -> FloatArray:
    """Return the scores that LightGBM keeps for its rows; they change in place."""
    seen: list[FloatArray] = []

    def look(scores: FloatArray, _: Any) -> tuple[str, float, bool]:
        seen.append(scores)
        return "", 0.0, True

    evaluate(look)
    return seen[0]


def _has_columns(booster: Any) -> bool:
    """Return whether any column can be split; else LightGBM's first round fails."""
    return set(column_ranges(booster.model_to_string())) != {"none"}


def _no_labels(X: Any) -> Any:
    return np.zeros(X.shape[0], dtype=np.float32)


@contextmanager
def _explain_lightgbm_errors() -> Iterator[None]:
    """Turn LightGBM's errors, which parameters cause, into a ValueError."""
    from lightgbm.basic import LightGBMError

    try:
        yield
    except LightGBMError as error:
        raise ValueError(f"LightGBM rejects these parameters: {error}") from error


def fitted_attributes(
    rounds: TreeRounds, rows: TreeRows, known: TrainingLabels, columns: TreeColumns
) -> dict[str, Any]:
    """Return the fitted attributes."""
    watch, booster = rounds.watch, rounds.booster
    # LightGBM takes 0 for all, which is then at most one tree without a split
    n_kept = watch.n_kept or None
    gains = np.asarray(booster.feature_importance("gain", iteration=n_kept), float)
    total = gains.sum()
    fitted: dict[str, Any] = {
        **columns.fitted_attributes(),
        **known.fitted_attributes(),
        "model_text_": booster.model_to_string(num_iteration=n_kept),
        "feature_importances_": gains / total if total > 0.0 else np.zeros(gains.size),
        "n_iter_": watch.n_iter,
        "stop_reason_": rounds.reason,
        "history_": {},
    }
    if known.has_classes:
        fitted["threshold_"] = balanced_threshold(
            rounds.kept_scores, rows.labels, rows.weight
        )
    evaluation = rounds.evaluation
    if evaluation is not None:
        no_scores = np.zeros(evaluation.X.shape[0])
        values = watch.validation or [evaluation.measure(no_scores)]
        fitted["history_"] = {"validation": np.array(watch.validation)}
        fitted["best_iteration_"] = watch.n_kept
        fitted["best_score_"] = max(values)
    return fitted


def check_fitted_state(estimator: Any) -> None:
    """Reject a loaded state that no fit could have left."""
    n_features = estimator.n_features_in_
    check_model_text(estimator.model_text_, n_features)
    n_threads(estimator.n_jobs, n_rows=1)
    labels = find_objective(estimator.objective).labels
    if (labels == "times") != hasattr(estimator, "is_survival_"):
        raise ValueError("is_survival_ does not fit the objective")
    if labels == "two":
        if not (hasattr(estimator, "classes_") and hasattr(estimator, "threshold_")):
            raise ValueError("classes_ or threshold_ is missing")
    elif labels == "levels" and not hasattr(estimator, "levels_"):
        raise ValueError("levels_ is missing")
    columns = TreeColumns.of(vars(estimator))
    places = {*columns.categorical, *columns.categories}
    if not places <= set(range(n_features)):
        raise ValueError("the categorical columns are not among the features")
    ranges = column_ranges(estimator.model_text_)
    if any(ranges[place].startswith("[") for place in columns.categorical):
        raise ValueError("a categorical column has a range of numbers in the trees")
