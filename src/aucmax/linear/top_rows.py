"""Cutting planes for a part of the curve: a few passes, and then the rows on top."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from aucmax._mapped import is_mapped
from aucmax._validation import IntArray
from aucmax.linear.objective import LinearObjective
from aucmax.regularizers import QuadraticRegularizer
from aucmax.risks import PartialHinge
from aucmax.risks.fewer_rows import chosen_from, rows_on_top
from aucmax.solvers import BundleSolver, Point, Progress, Solution, Start, StoppingRule
from aucmax.solvers.base import value_at

__all__ = ["TopRowsSolver"]

_FEWEST_ITERATIONS = 20  # over all rows
_LARGEST_GAP = 0.2  # share of the value, at which rows may be left out
_ROOM_TO_MOVE = 1.25  # rows kept, in units of those that count now
_LARGEST_SHARE_KEPT = 0.5  # of the rows; a copy of more is not worth its memory
_GAP_AFTER_A_ROUND = 0.3  # share of the gap before, at which all rows are scored again
_MOST_PER_ROUND = 50  # iterations over some rows, before all are scored again


@dataclass(frozen=True)
class TopRowsSolver:
    """Cutting planes for L2 and a risk over the first rows of a class.

    The first iterations go over all rows. Once few rows count, the others are left
    out, but for some that may move up. A line below the risk of some rows is one below
    that of all (:mod:`aucmax.risks.fewer_rows`), so that the bound holds as it is. The
    value does not: after each round, all rows are scored, which takes half a pass, and
    those to keep are chosen again. If a row that was left out has come to count, none
    of those kept leaves; if that made the value worse, more are kept from then on.
    """

    stopping: StoppingRule

    @staticmethod
    def can_leave_rows_out(objective: LinearObjective) -> bool:
        """Tell whether not all rows count, and some of them may be copied."""
        risk, X = objective.risk, objective.X
        if not isinstance(risk, PartialHinge) or not risk.can_be_smoothed:
            return False
        matrix: Any = X
        numbers = matrix.data if sparse.issparse(X) else X
        can_be_copied = not (hasattr(X, "of_parts") or is_mapped(numbers))
        return can_be_copied and risk.rank_box().size < 1.0

    def minimize(
        self,
        objective: LinearObjective,
        regularizer: QuadraticRegularizer,
        start: Start | None = None,
    ) -> Solution:
        """See :meth:`Solver.minimize`."""
        best, goes_on = self._over_all(objective, regularizer, start, _LARGEST_GAP)
        found, room = best, _ROOM_TO_MOVE
        kept: IntArray = np.empty(0, dtype=np.intp)
        while goes_on:
            here = Start(best.point, best.cuts, best.history, best.width)
            enough = _GAP_AFTER_A_ROUND * best.gap / best.value
            kept = _rows_to_keep(objective, found, room, kept)
            if kept.size > _LARGEST_SHARE_KEPT * objective.labels.size:
                best, goes_on = self._over_all(objective, regularizer, here, enough)
                found = best
                continue
            found = self._over_some(objective, regularizer, here, kept, enough)
            if found.value > best.value:
                # rows that were left out have come to count
                room = 1.0 + 2.0 * (room - 1.0)
                found.width = best.width
            best = self._better(best, found, objective.n_passes)
            goes_on = found.converged and not best.converged
        return best

    def _over_all(
        self,
        objective: LinearObjective,
        regularizer: QuadraticRegularizer,
        start: Start | None,
        enough: float,
    ) -> tuple[Solution, bool]:
        """Iterate over all rows down to some gap, and tell whether that was it."""

        def is_due(progress: Progress) -> bool:
            is_close = progress.gap <= enough * progress.value
            return is_close and progress.n_iter >= _FEWEST_ITERATIONS

        pause = _Pause(self.stopping, is_due)
        solver = BundleSolver(pause.rule, smoothing=True)
        found = solver.minimize(objective, regularizer, start)
        if pause.was_made:
            found.was_asked = False
        may_go_on = found.n_iter < self.stopping.max_iter and not found.converged
        return found, pause.was_made and may_go_on

    def _over_some(
        self,
        objective: LinearObjective,
        regularizer: QuadraticRegularizer,
        here: Start,
        kept: IntArray,
        enough: float,
    ) -> Solution:
        """Iterate over the rows kept, and score all.

        The solution counts as converged if iterations may go on over other rows.
        """
        rule, known = self.stopping, here.history[-1]

        def is_due(progress: Progress) -> bool:
            is_close = progress.gap <= enough * progress.value
            return is_close or progress.n_iter >= known.n_iter + _MOST_PER_ROUND

        def of_all_rows(progress: Progress) -> Progress:
            # of all rows, the last value known and any bound are certain
            bound = progress.value - progress.gap
            return progress._replace(value=known.value, gap=known.value - bound)

        pause = _Pause(rule, is_due, of_all_rows)
        risk: Any = objective.risk
        risk = chosen_from(risk, kept, objective.labels, objective.sample_weight)
        inside = objective.of_rows(kept, risk)
        point = Point(here.point.parameters, here.point.scores[kept])
        solver = BundleSolver(pause.rule, smoothing=True)
        found = solver.minimize(inside, regularizer, here._replace(point=point))
        objective.n_passes = inside.n_passes
        bound = found.value - found.gap
        point = objective.at(found.point.parameters)
        value = value_at(point, objective, regularizer)
        gap = max(value - bound, 0.0)
        n_before = len(here.history)
        history = [*here.history, *map(of_all_rows, found.history[n_before:])]
        may_go_on = pause.was_made or found.converged
        return replace(
            found,
            point=point,
            value=value,
            gap=gap,
            history=history,
            converged=may_go_on and found.n_iter < rule.max_iter,
            was_asked=found.was_asked and not pause.was_made,
        )

    def _better(self, best: Solution, found: Solution, n_passes: float) -> Solution:
        """Return the better point, with the bound and the history found last."""
        point, value = found.point, found.value
        if best.value < value:
            point, value = best.point, best.value
        gap = max(value - (found.value - found.gap), 0.0)
        last = found.history[-1]._replace(value=value, gap=gap, n_passes=n_passes)
        return replace(
            found,
            point=point,
            value=value,
            gap=gap,
            converged=self.stopping.is_reached(value, gap),
            history=[*found.history[:-1], last],
        )


class _Pause:
    """A stopping rule that also stops where it is due to look at the rows."""

    def __init__(
        self,
        rule: StoppingRule,
        is_due: Callable[[Progress], bool],
        reported: Callable[[Progress], Progress] = lambda progress: progress,
    ) -> None:
        self.rule = replace(rule, callback=self._look)
        self.was_made = False
        self._callback, self._is_due, self._reported = rule.callback, is_due, reported

    def _look(self, progress: Progress) -> bool:
        asked = self._callback is not None and self._callback(self._reported(progress))
        self.was_made = not asked and self._is_due(progress)
        return bool(asked) or self.was_made


def _rows_to_keep(
    objective: LinearObjective, found: Solution, room: float, kept: IntArray
) -> IntArray:
    """Choose the rows that may count from here on, given those kept so far.

    If a row that counts had been left out, none of them leaves.
    """
    support = objective.support(found.point, found.width or 0.0)
    risk: Any = objective.risk
    place = found.point.scores, objective.labels, objective.sample_weight
    counts = support.subgradient != 0.0
    rows = rows_on_top(risk, *place, counts=counts, room=room)
    counting = rows_on_top(risk, *place, counts=counts)
    if np.isin(counting, kept, assume_unique=True).all():
        return rows
    return np.union1d(rows, kept)
