"""The rounds of LambdaMART: one tree each, grown by LightGBM for the risk of pairs."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from aucmax._core.early_stopping import RoundsWatch
from aucmax._core.validation import FloatArray
from aucmax.persistence.checkpoint import Checkpoint
from aucmax.risks import BoundPairLogistic
from aucmax.trees.binned_rows import BinnedRows, lightgbm_errors_explained
from aucmax.trees.booster_text import column_ranges
from aucmax.trees.evaluation import Evaluation
from aucmax.trees.segments import ROUNDS_PER_SEGMENT, DoneRounds, joined_booster

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

    With a `checkpoint`, the rounds go on from those that it has, and every few rounds a
    new booster goes on from the scores: its draws begin anew, so that they are the same
    whether or not the process was another one before.
    """

    def __init__(
        self,
        watch: RoundsWatch,
        rows: BinnedRows,
        pairs: BoundPairLogistic,
        evaluation: Evaluation | None = None,
        checkpoint: Checkpoint | None = None,
    ) -> None:
        self.watch = watch
        self.pairs = pairs
        self.evaluation = evaluation
        self.kept_scores = np.zeros(pairs.n_rows)
        self.reason = ""
        self._rows, self._checkpoint = rows, checkpoint
        # of the type that LightGBM has, and copies at each call
        empty = partial(np.empty, pairs.n_rows, dtype=np.float32)
        self._room = empty(), empty()
        self._texts: list[str] = []  # of the boosters before this one
        self._n_before = 0  # rounds of these
        self._booster = rows.booster()
        if checkpoint is not None and checkpoint.state:
            self._resume(checkpoint.state)

    def run(self) -> None:
        """Add trees until there is a reason to stop."""
        if not _has_columns(self._booster):
            self.reason = "no split"
        with lightgbm_errors_explained():
            while not self.reason:
                self.reason = self._round()
                if self._checkpoint is not None and not self.reason:
                    self._end_segment(self._checkpoint)
        if self._checkpoint is not None:
            self._checkpoint.write(self._done().to_dict(), is_done=True)

    def kept_booster(self) -> tuple[Any, int | None]:
        """Return a booster, and how many of its rounds are kept; None for all."""
        done = self._done_texts()
        booster = joined_booster(done) if self._texts else self._booster
        # LightGBM takes 0 for all; what it has then is at most a tree without a split
        return booster, self.watch.n_kept or None

    def _resume(self, state: Mapping[str, Any]) -> None:
        apart = self.evaluation
        n_apart = None if apart is None else apart.X.shape[0]
        done = DoneRounds.from_dict(state, self.pairs.n_rows, n_apart)
        self.watch.resume(done.n_iter, done.n_kept, done.validation, done.seconds)
        self.reason, self._texts = done.reason, done.texts
        np.copyto(self.kept_scores, done.kept_scores)
        self._go_on_from(done.scores, done.apart_scores)

    def _end_segment(self, checkpoint: Checkpoint) -> None:
        """Change the booster after a number of rounds; write the checkpoint if due."""
        if self.watch.n_iter - self._n_before < ROUNDS_PER_SEGMENT:
            return
        done = self._done()
        self._texts = done.texts
        self._go_on_from(done.scores, done.apart_scores)
        if checkpoint.is_due:
            checkpoint.write(done.to_dict())

    def _go_on_from(self, scores: FloatArray, apart_scores: FloatArray | None) -> None:
        self._n_before = self.watch.n_iter
        self._booster = None  # frees its memory for the next one
        self._booster = self._rows.continuing_booster(
            len(self._texts), scores, apart_scores
        )

    def _done(self) -> DoneRounds:
        apart_scores = None
        if self.evaluation is not None:
            apart_scores = _scores(self._booster.eval_valid).copy()
        return DoneRounds(
            self._done_texts(),
            self.watch.n_iter,
            self.watch.n_kept,
            list(self.watch.validation),
            self.watch.seconds,
            self.reason,
            _scores(self._booster.eval_train).copy(),
            self.kept_scores,
            apart_scores,
        )

    def _done_texts(self) -> list[str]:
        """Return the trees of all boosters; a last one without a split is left out."""
        n_rounds = self.watch.n_iter - self._n_before
        if n_rounds == 0:
            return self._texts
        return [*self._texts, self._booster.model_to_string(num_iteration=n_rounds)]

    def _round(self) -> str:
        """Add a tree; return a reason to stop, if there is one."""
        if not self._grow():
            return "no split"
        scores = _scores(self._booster.eval_train)
        # two numbers need no array as long as the rows; either is NaN if a score is
        if not max(scores.max(), -scores.min()) <= _LARGEST_SCORE:
            self._booster.rollback_one_iter()
            return "diverged"
        value = None
        if self.evaluation is not None:
            value = self.evaluation.measure(_scores(self._booster.eval_valid))
        if self.watch.count(value):
            np.copyto(self.kept_scores, scores)
        progress = TreeProgress(self.watch.n_iter, value, self.watch.seconds)
        return self.watch.reason_to_stop(progress)

    def _grow(self) -> bool:
        """Add a tree; tell whether any split was found for it.

        A share of the columns may have none although others do: then all are tried. All
        take part in a booster's first tree, which LightGBM keeps even without splits.
        """
        update = partial(self._booster.update, fobj=self._derivatives)
        share = self._booster.params.get(_SHARE, 1.0)
        if share >= 1.0 or self.watch.n_iter > self._n_before:
            found_no_split = update()
            if share >= 1.0 or not found_no_split:
                return not found_no_split
        self._booster.reset_parameter({_SHARE: 1.0})
        found_no_split = update()
        self._booster.reset_parameter({_SHARE: share})
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
