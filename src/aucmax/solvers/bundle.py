"""Cutting planes with an exact line search, for any convex risk."""

import numpy as np

from aucmax.regularizers.base import Regularizer
from aucmax.solvers.base import (
    Objective,
    Point,
    Solution,
    Start,
    StoppingRule,
    slope_along,
)
from aucmax.solvers.cuts import Cuts
from aucmax.solvers.line_search import search

__all__ = ["BundleSolver"]

_TOO_LITTLE = 1e-3  # of the gap: a rise of the lower bound that is no progress


class BundleSolver:
    r"""Minimise by cutting planes, improved by a line search from the best point.

    Each iteration adds one cut below the risk, minimises the regularizer plus the
    highest cut (which bounds the optimum from below), and searches the line from the
    best point to that minimiser. The next cut is taken a little beyond the best point
    on the same line. The best value and the bound certify the gap. One pass an
    iteration; the line search needs sorts only.

    Parameters
    ----------
    stopping : StoppingRule
        When to stop, and whom to tell.
    reach : float, default=0.01
        How far beyond the best point, towards the model's minimiser, a cut is taken.
    max_cuts : int, default=500
        The most cuts kept.

    References
    ----------
    .. [1] V. Franc, S. Sonnenburg. Optimized cutting plane algorithm for large-scale
       risk minimization. JMLR 10 (2009), section 3.
    """

    def __init__(
        self, stopping: StoppingRule, reach: float = 0.01, max_cuts: int = 500
    ) -> None:
        self.stopping = stopping
        self.reach = reach
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
            The price of the parameters; must offer ``minimize_model``.
        start : Start, optional
            Where to begin, such as the solution for a neighbouring C.

        Returns
        -------
        Solution
            The best point found, with its certificate.
        """
        C = objective.C
        if start is None:
            start = Start(objective.at(np.zeros(objective.n_parameters)))
        watch = self.stopping.watch(start.history)
        best = start.point
        cuts = start.cuts or Cuts(objective.n_parameters, self.max_cuts)
        cuts.resize(self.max_cuts)
        bound = -np.inf
        support = objective.support(best)
        value = regularizer.value(best.parameters) + C * support.value
        while True:
            cuts.add(objective.pull_back(support), support)
            model = cuts.minimize(regularizer, C)
            if watch.says_stop(objective, value, model.lower_bound):
                break
            goal = objective.at(model.parameters)
            moved, moved_value = self._improve(objective, regularizer, best, goal)
            rise = model.lower_bound - bound
            stalled = rise <= _TOO_LITTLE * (value - model.lower_bound)
            bound = model.lower_bound
            if moved_value < value:
                best, value, stalled = moved, moved_value, False
            # a cut at the goal is sure to raise the bound, but says less near the best
            step = 1.0 if stalled else self.reach
            support = objective.support(best.moved(best.towards(goal), step))
        return Solution(
            best,
            value,
            watch.history[-1].gap,
            cuts,
            len(watch.history),
            watch.converged,
            watch.history,
        )

    def _improve(
        self, objective: Objective, regularizer: Regularizer, best: Point, goal: Point
    ) -> tuple[Point, float]:
        """Search the segment from the best point to the model's minimiser."""
        direction = best.towards(goal)

        def evaluate(step: float) -> tuple[float, tuple[Point, float]]:
            point = best.moved(direction, step)
            support = objective.support(point)
            slope = slope_along(direction, point, support, objective, regularizer)
            value = regularizer.value(point.parameters) + objective.C * support.value
            return slope, (point, value)

        slope, found = evaluate(0.0)
        if slope >= 0.0:
            return found
        return search(
            evaluate, slope, longest=1.0, accuracy=0.1, max_evaluations=30
        ).found
