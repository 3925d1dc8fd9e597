"""The rounds of LambdaMART: one tree each, grown by LightGBM for the risk of pairs."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from aucmax._core.early_stopping import RoundsWatch
from aucmax._core.validation import FloatArray
from aucmax.risks import PreparedPairs
from aucmax.trees.binned_rows import BinnedRows, lightgbm_errors_explained
from aucmax.trees.booster_text import column_ranges
from aucmax.trees.evaluation import Evaluation

__all__ = ["TreeProgress", "TreeRounds"]

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


class TreeRounds:
    """Boosting at work.

    Each round that the `watch` counts adds a tree and leaves scores in bounds.
    `kept_scores` are the training rows' scores after the rounds that are kept, and
    `reason` says why it stopped.
    """

    def __init__(
        self,
        watch: RoundsWatch,
        rows: BinnedRows,
        pairs: PreparedPairs,
        evaluation: Evaluation | None = None,
    ) -> None:
        self.watch = watch
        self.pairs = pairs
        self.evaluation = evaluation
        self.kept_scores = np.zeros(pairs.n_rows)
        self.reason = ""
        self.booster = rows.booster()
        # of the type that LightGBM has, and copies at each call
        empty = partial(np.empty, pairs.n_rows, dtype=np.float32)
        self._room = empty(), empty()

    def run(self) -> None:
        """Add trees until there is a reason to stop."""
        if not _has_columns(self.booster):
            self.reason = "no split"
        with lightgbm_errors_explained():
            while not self.reason:
                self.reason = self._round()

    def _round(self) -> str:
        """Add a tree; return a reason to stop, if there is one."""
        if not self._grow():
            return "no split"
        scores = _scores(self.booster.eval_train)
        # two numbers need no array as long as the rows; either is NaN if a score is
        if not max(scores.max(), -scores.min()) <= _LARGEST_SCORE:
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
        take part in a booster's first tree, which LightGBM keeps even without splits.
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
        return self.pairs.gradient_hessian(scores, scaled=True, out=self._room)


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
    return set(column_ranges(booster.model_to_string())) != {"none"}
