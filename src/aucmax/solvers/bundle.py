"""Cutting planes with an exact line search, for any convex risk."""

from typing import NamedTuple

import numpy as np

from aucmax.regularizers.base import Regularizer
from aucmax.risks.base import Support
from aucmax.solvers.base import (
    Objective,
    Point,
    Solution,
    Start,
    StoppingRule,
    slope_along,
    value_at,
)
from aucmax.solvers.cuts import Cuts
from aucmax.solvers.line_search import search
from aucmax.solvers.masters import master_for
from aucmax.solvers.smoothing import WIDEST, lost_by_smoothing, narrowed
from aucmax.solvers.sparsity import without_dust

__all__ = ["BundleSolver"]

_TOO_LITTLE = 1e-3  # of the gap: a rise of the lower bound that is no progress
_REACH, _SMOOTH_REACH = 0.01, 0.03  # how far beyond the center a cut is taken
_ASIDE = 1e-9  # where a slope is taken: a center is often a kink of the line
_WARM = 0.1  # a first width that does not undo a good start
_SMOOTHING_SHARE = 0.4  # of the decrease promised, that smoothing may cost
_WORST_LOSS = 0.01  # of the width
_TOLERATED = 1.5  # times the best value, at a center on the way to a better one
_STALLED = 0.3  # what is made of the width then
_NARROWEST = 1e-7


class BundleSolver:
    r"""Minimise by cutting planes, improved by a line search from the center.

    Each iteration adds one cut below the risk, minimises the regularizer plus the
    highest cut (which bounds the optimum from below), and searches the line from the
    center, the best point so far, to that minimiser. The next cut is taken a little
    beyond the new center on the same line. The best value and the bound certify the
    gap. One pass an iteration; the line search needs sorts only.

    L2 is minimised together with the cuts as it is; any other regularizer near the
    center, by its proximal operator. In the end weights are set to 0 that the
    certificate does not need, as far as the tolerance allows it.

    With `smoothing`, kinks are rounded off over a width that falls with the gap: on
    wide data, where many pairs end exactly at a kink, their shares are then found by
    the slope instead of by mixing many cuts. A smoothed slope is that of a line below
    the risk itself, so the bound stays valid.

    Parameters
    ----------
    stopping : StoppingRule
        When to stop, and whom to tell.
    smoothing : bool, default=False
        Whether to round off kinks, if the risk allows it.
    max_cuts : int, default=500
        The most cuts kept.

    References
    ----------
    .. [1] V. Franc, S. Sonnenburg. Optimized cutting plane algorithm for large-scale
       risk minimization. JMLR 10 (2009), section 3.
    """

    def __init__(
        self, stopping: StoppingRule, smoothing: bool = False, max_cuts: int = 500
    ) -> None:
        self.stopping = stopping
        self.smoothing = smoothing
        self.max_cuts = max_cuts

    def minimize(
        self,
        objective: Objective,
        regularizer: Regularizer,
        start: Start | None = None,
    ) -> Solution:
        """Minimise ``regularizer(w) + objective.C * risk``.

        Parameters
        ----------
        objective : Objective
            The data, the model and the risk.
        regularizer : Regularizer
            The price of the parameters; quadratic, or with a ``prox``.
        start : Start, optional
            Where to begin, such as the solution for a neighbouring C.

        Returns
        -------
        Solution
            The best point found, with its certificate.
        """
        C = objective.C
        width = 0.0
        if self.smoothing and objective.is_smoothable:
            width = WIDEST if start is None else _WARM
        if start is None:
            start = Start(objective.at(np.zeros(objective.n_parameters)))
        watch = self.stopping.watch(start.history)
        cuts = start.cuts or Cuts(objective.n_parameters, self.max_cuts)
        cuts.resize(self.max_cuts)
        master = master_for(regularizer, cuts, C)
        center = best = touched = start.point
        known, bound = C * objective.least_risk, -np.inf
        support = objective.support(center, width)
        value = regularizer.value(best.parameters) + C * support.value
        while True:
            cuts.add(objective.pull_back(support), support)
            proposal = master.propose(center.parameters, value)
            rise = proposal.lower_bound - bound
            bound = max(bound, proposal.lower_bound)
            if watch.says_stop(objective, value, max(bound, known)):
                break
            if width > 0.0:
                promised = max(value - proposal.promise, self.stopping.tol * value / 10)
                width = _narrowed(width, support, touched, promised / C)
            goal = objective.at(proposal.parameters)
            found = _improve(objective, regularizer, center, goal, width)
            stalled = rise <= _TOO_LITTLE * (value - bound)
            if found.value < value:
                best, value, stalled = found.point, found.value, False
            # rounded off, the objective may fall where it does not yet fall itself
            follows = width > 0.0 and found.value < _TOLERATED * value
            center = found.point if follows else best
            # a cut at the goal is sure to raise the bound, but says less near the best
            reach = _SMOOTH_REACH if width > 0.0 else 1.0 if stalled else _REACH
            if stalled:
                width = _STALLED * width if width > _NARROWEST else 0.0
            touched = center.moved(center.towards(goal), reach)
            support = objective.support(touched, width)
        # while smoothed, a bound on the risk was enough
        value = value_at(best, objective, regularizer)
        gap = max(value - max(bound, known), 0.0)
        solution = watch.solution(best, value, gap, cuts)
        return without_dust(solution, objective, regularizer, self.stopping)


class _Found(NamedTuple):
    point: Point
    value: float


def _narrowed(width: float, support: Support, point: Point, promised: float) -> float:
    """Shrink the width until smoothing costs little of the decrease promised."""
    lost = lost_by_smoothing(support, point)
    width = narrowed(width, lost, _SMOOTHING_SHARE * promised)
    # where no pair is near its kink there is no loss, but no slope either
    return min(width, promised / _WORST_LOSS)


def _improve(
    objective: Objective,
    regularizer: Regularizer,
    center: Point,
    goal: Point,
    width: float,
) -> _Found:
    """Search the segment from the center to the model's minimiser."""
    direction = center.towards(goal)

    def evaluate(step: float) -> tuple[float, _Found]:
        point = center.moved(direction, step)
        support = objective.support(point, width)
        slope = slope_along(direction, point, support, objective, regularizer)
        value = regularizer.value(point.parameters) + objective.C * support.value
        return slope, _Found(point, value)

    slope, found = evaluate(_ASIDE)
    if slope >= 0.0:
        return found
    return search(evaluate, slope, longest=1.0, accuracy=0.2, max_evaluations=10).found
