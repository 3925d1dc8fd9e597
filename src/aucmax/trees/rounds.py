"""The rounds of LambdaMART: one tree each, grown by LightGBM for the risk of pairs."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from aucmax._rounds import RoundsWatch
from aucmax._validation import FloatArray
from aucmax.risks import PreparedPairs
from aucmax.trees.booster import new_dataset, readable_by_lightgbm
from aucmax.trees.evaluation import Evaluation

__all__ = ["TreeProgress", "TreeRounds", "new_booster"]

# beyond it a model has diverged; so far below infinity differences do not overflow
_LARGEST_SCORE = 1e300
_SHARE = "feature_fraction"  # the share of columns that a tree sees


class TreeProgress(NamedTuple):
    """Where the growth of trees stands; what a callback receives after each round.

    Attributes
    ----------
    n_iter : int
        Rounds so far.
    validation : float or None
        The metric on the validation rows, if there are any.
    seconds : float
        Time since the start.
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
    categorical: list[int],
    evaluation: Evaluation | None,
) -> Any:
    """Return a LightGBM booster without trees, over the rows in bins."""
    import lightgbm

    parameters = dict(parameters)
    with lightgbm_errors_explained():
        # labels are demanded, but known to the risk alone
        no_labels = np.zeros(X.shape[0], dtype=np.float32)
        rows = new_dataset(parameters, X, no_labels, categorical)
        booster = lightgbm.Booster(params=parameters, train_set=rows)
        if evaluation is not None:
            more = rows.create_valid(
                readable_by_lightgbm(evaluation.X),
                np.zeros(evaluation.X.shape[0], dtype=np.float32),
                params=parameters,
            )
            booster.add_valid(more, "validation")
    return booster


@contextmanager
def lightgbm_errors_explained() -> Iterator[None]:
    """Turn LightGBM's own errors, which parameters cause, into a ValueError."""
    from lightgbm.basic import LightGBMError

    try:
        yield
    except LightGBMError as error:
        raise ValueError(f"LightGBM refuses these parameters: {error}") from error


class TreeRounds:
    """Boosting at work, on a booster without trees.

    Each round that the `watch` counts adds a tree and leaves scores in bounds.
    `kept_scores` are the training rows' scores after the rounds that are kept, and
    `reason` says why it stopped.
    """

    def __init__(
        self,
        watch: RoundsWatch,
        booster: Any,
        pairs: PreparedPairs,
        evaluation: Evaluation | None = None,
    ) -> None:
        self.watch = watch
        self.booster = booster
        self.pairs = pairs
        self.evaluation = evaluation
        self.kept_scores = np.zeros(pairs.n_rows)
        self.reason = ""

    def run(self) -> None:
        """Add trees until there is a reason to stop."""
        if not _has_columns(self.booster):
            self.reason = "no split"
        with lightgbm_errors_explained():
            while not self.reason:
                self.reason = self._round()

    def model_text(self) -> str:
        """Return the rounds that are kept, as text."""
        # LightGBM takes 0 for all; what it has then is at most a tree without a split
        text: str = self.booster.model_to_string(
            num_iteration=self.watch.n_kept or None
        )
        return text

    def gains(self) -> FloatArray:
        """Return the gain of all splits of each column, in the rounds that are kept."""
        gains = self.booster.feature_importance(
            "gain", iteration=self.watch.n_kept or None
        )
        return np.asarray(gains, dtype=np.float64)

    def _round(self) -> str:
        """Add a tree; return a reason to stop, if there is one."""
        if not self._grow():
            return "no split"
        scores = _scores(self.booster.eval_train)
        if not np.abs(scores).max() <= _LARGEST_SCORE:  # also if it is NaN
            self.booster.rollback_one_iter()
            return "diverged"
        value = None
        if self.evaluation is not None:
            value = self.evaluation.measure(_scores(self.booster.eval_valid))
        if self.watch.count(value):
            np.copyto(self.kept_scores, scores)
        progress = TreeProgress(self.watch.n_iter, value, self.watch.seconds)
        return self.watch.reason_to_stop(progress)

    def _grow(self) -> bool:
        """Add a tree; tell whether any split was found for it.

        A share of the columns may have none although others do: then all are tried. All
        take part in the first tree, since LightGBM keeps a first tree without splits.
        """
        update = partial(self.booster.update, fobj=self._derivatives)
        share = self.booster.params.get(_SHARE, 1.0)
        if share >= 1.0 or self.watch.n_iter > 0:
            found_no_split = update()
            if share >= 1.0 or not found_no_split:
                return not found_no_split
        self.booster.reset_parameter({_SHARE: 1.0})
        found_no_split = update()
        self.booster.reset_parameter({_SHARE: share})
        return not found_no_split

    def _derivatives(self, scores: FloatArray, _: Any) -> tuple[FloatArray, FloatArray]:
        return self.pairs.gradient_hessian(scores, scaled=True)


def _scores(evaluate: Callable[[Any], Any]) -> FloatArray:
    """Return the scores that LightGBM keeps for its rows; they change in place."""
    seen: list[FloatArray] = []

    def look(scores: FloatArray, _: Any) -> tuple[str, float, bool]:
        seen.append(scores)
        return "", 0.0, True

    evaluate(look)
    return seen[0]


def _has_columns(booster: Any) -> bool:
    """Tell whether LightGBM has found any column that could be split.

    It fails on its first round if there is none.
    """
    text: str = booster.model_to_string()
    start = text.index("feature_infos=") + len("feature_infos=")
    return set(text[start : text.index("\n", start)].split(" ")) != {"none"}
