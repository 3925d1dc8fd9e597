"""The rounds of LambdaMART: one tree each, grown by LightGBM for the risk of pairs."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from aucmax._core.eval_set import LabelledRows
from aucmax._core.fitting import RoundMonitor
from aucmax._core.threshold import balanced_threshold
from aucmax._core.validation import FloatArray
from aucmax.exceptions import (
    ConstantScoresWarning,
    DivergedWarning,
    OneClassQueryWarning,
)
from aucmax.persistence.booster_text import check_model_text, column_ranges
from aucmax.risks.contract import BoundTreeRisk
from aucmax.trees.booster import n_threads, readable_by_lightgbm
from aucmax.trees.pair_objectives import find_objective
from aucmax.trees.tree_rows import Measure, Target

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


class TreeRounds:
    """Boosting; `kept_scores` are the scores after the rounds that are kept."""

    def __init__(
        self, monitor: RoundMonitor, risk: BoundTreeRisk, measure: Measure | None
    ) -> None:
        self.monitor = monitor
        self.risk = risk
        self.measure = measure  # of the validation rows, if there are any
        self.kept_scores = np.zeros(risk.n_rows)
        self.reason = ""
        self.progress = TreeProgress(0, None, 0.0)
        # of LightGBM's type; it copies them at each call
        empty = partial(np.empty, risk.n_rows, dtype=np.float32)
        self._derivatives_out = empty(), empty()

    def run(self, parameters: Mapping[str, Any], data: Any, X_validation: Any) -> Any:
        """Add trees until there is a reason to stop; return LightGBM's booster.

        The first tree, which LightGBM keeps even without a split, sees all columns; so
        does a tree for which the sampled columns have no split.
        """
        from lightgbm import Booster
        from lightgbm.basic import LightGBMError

        share = parameters[_SHARE]
        try:
            booster = Booster(params=dict(parameters), train_set=data)
            if X_validation is not None:
                no_labels = np.zeros(X_validation.shape[0])
                X = readable_by_lightgbm(X_validation)
                held_out = data.create_valid(X, no_labels, params=dict(parameters))
                booster.add_valid(held_out, "validation")
            # without a column that can be split, LightGBM's first round fails
            if set(column_ranges(booster.model_to_string())) == {"none"}:
                self.reason = "no split"
            while not self.reason:
                has_no_split = True
                if share >= 1.0 or self.monitor.n_iter > 0:
                    has_no_split = booster.update(fobj=self._derivatives)
                if share < 1.0 and has_no_split:
                    booster.reset_parameter({_SHARE: 1.0})
                    has_no_split = booster.update(fobj=self._derivatives)
                    booster.reset_parameter({_SHARE: share})
                self.reason = "no split" if has_no_split else self._count_tree(booster)
        except LightGBMError as error:
            raise ValueError(f"LightGBM rejects these parameters: {error}") from error
        return booster

    def _count_tree(self, booster: Any) -> str:
        """Measure the new tree; return a reason to stop, if there is one."""
        scores = _scores(booster.eval_train)
        # two numbers need no array as long as the rows; either is NaN if a score is
        if not max(scores.max(), -scores.min()) <= _MAX_SCORE:
            booster.rollback_one_iter()
            return "diverged"
        value = None
        if self.measure is not None:
            value = self.measure(_scores(booster.eval_valid))
        if self.monitor.count(value):
            np.copyto(self.kept_scores, scores)
        self.progress = TreeProgress(self.monitor.n_iter, value, self.monitor.seconds)
        return self.monitor.reason_to_stop(self.progress)

    def _derivatives(self, scores: FloatArray, _: Any) -> tuple[FloatArray, FloatArray]:
        out = self._derivatives_out
        return self.risk.gradient_hessian(scores, scaled=True, out=out)


def _scores(evaluate: Callable[[Any], Any]) -> FloatArray:
    """Return the scores that LightGBM keeps for its rows; they change in place."""
    seen: list[FloatArray] = []

    def look(scores: FloatArray, _: Any) -> tuple[str, float, bool]:
        seen.append(scores)
        return "", 0.0, True

    evaluate(look)
    return seen[0]


def round_warnings(
    rounds: TreeRounds, estimator: Any
) -> Iterator[tuple[str, type[Warning]]]:
    """Yield warnings that the user should see, each with its category."""
    risk, monitor = rounds.risk, rounds.monitor
    if risk.n_skipped:
        yield (
            f"{risk.n_skipped} of the {risk.n_queries} queries have rows of one "
            "class or level only; they contribute nothing.",
            OneClassQueryWarning,
        )
    if rounds.reason == "diverged":
        yield (
            f"the scores of round {monitor.n_iter + 1} are too large or not "
            f"numbers; the model keeps {monitor.n_kept} earlier rounds. Use a "
            f"smaller learning_rate (now {estimator.learning_rate:g}) or a larger "
            "reg_lambda.",
            DivergedWarning,
        )
    elif monitor.n_iter == 0:
        yield (
            "no split of any column reduces the loss, so all scores are equal. Are "
            f"all columns constant, or are {risk.n_rows} rows too few for leaves "
            f"of min_child_samples={estimator.min_child_samples}?",
            ConstantScoresWarning,
        )


def fitted_attributes(
    rounds: TreeRounds,
    booster: Any,
    rows: LabelledRows,
    validation: LabelledRows | None,
    target: Target,
) -> dict[str, Any]:
    """Return the fitted attributes, except those of columns."""
    monitor = rounds.monitor
    # LightGBM takes 0 for all, which is then at most one tree without a split
    n_kept = monitor.n_kept or None
    gains = np.asarray(booster.feature_importance("gain", iteration=n_kept), float)
    total = gains.sum()
    fitted: dict[str, Any] = {
        **target,
        "model_text_": booster.model_to_string(num_iteration=n_kept),
        "feature_importances_": gains / total if total > 0.0 else np.zeros(gains.size),
        "n_iter_": monitor.n_iter,
        "stop_reason_": rounds.reason,
        "history_": {},
    }
    if "classes_" in target:
        fitted["threshold_"] = balanced_threshold(
            rounds.kept_scores, rows.labels, rows.weight
        )
    if validation is not None and rounds.measure is not None:
        no_scores = np.zeros(validation.labels.size)
        values = monitor.validation or [rounds.measure(no_scores)]
        fitted["history_"] = {"validation": np.array(monitor.validation)}
        fitted["best_iteration_"] = monitor.n_kept
        fitted["best_score_"] = max(values)
    return fitted


def check_fitted_state(estimator: Any) -> None:
    """Reject a loaded state that no fit could have left."""
    check_model_text(estimator.model_text_, estimator.n_features_in_)
    n_threads(estimator.n_jobs, n_rows=1)
    needed = {"two": "classes_", "levels": "levels_", "times": "is_survival_"}
    present = [kind for kind, name in needed.items() if hasattr(estimator, name)]
    labels = find_objective(estimator.objective).labels
    if present != [labels] or (labels == "two") != hasattr(estimator, "threshold_"):
        raise ValueError("the attributes of labels do not fit the objective")
    ranges = column_ranges(estimator.model_text_)
    categorical = estimator.categorical_features_
    places = {*categorical, *getattr(estimator, "categories_", ())}
    if not places <= set(range(len(ranges))):
        raise ValueError("the categorical columns are not among the features")
    if any(ranges[place].startswith("[") for place in categorical):
        raise ValueError("a categorical column has a range of numbers in the trees")
