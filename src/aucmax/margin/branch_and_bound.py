r"""The lowest point of the curve gamma_hat(nu+), certified.

For weights :math:`\alpha` once found, with scores s and t,

.. math:: \phi_\alpha(\nu^+) = \tfrac12 \big[\text{mean of the } \nu^+ \text{ smallest }
          s - \text{mean of the } \nu/\nu^+ \text{ largest } t\big]
          \le \hat\gamma(\nu^+)

for *every* :math:`\nu^+`, since :math:`\hat\gamma` is the maximum over all weights. One
sort gives the whole function. Both means are monotone, so on an interval [a, b] the
curve is nowhere below the first mean at a less the second at b. Intervals whose bound,
over all weights found, reaches the best value are settled; others are halved; and where
the bound at a midpoint is itself too low, the problem is solved there, which gives new
weights, and perhaps a better point.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from aucmax._core.validation import FloatArray
from aucmax.margin.adaptive import CurvePoint, solve_closely
from aucmax.margin.curve import MarginCurve
from aucmax.margin.problem import MarginProblem
from aucmax.risks import InstanceMargins

__all__ = ["minimize_curve"]

_N_INTERVALS = 64  # at the start
_N_GRID_POINTS = 200  # of the lower bound that is kept with the curve


def minimize_curve(
    problem: MarginProblem,
    nu: float,
    bounds: tuple[float, float],
    known: Sequence[CurvePoint],
    curve_points: int = 0,
) -> tuple[CurvePoint, MarginCurve]:
    """Find the nu_pos of the smallest gamma_hat within `bounds` by branch and bound.

    `nu` is the product of nu_pos and nu_neg, `known` has at least one solution at hand,
    and `curve_points` more are solved for the sake of the curve, spread evenly over the
    logarithm of nu_pos. Returns the lowest point, whose margin differs from the
    certified minimum of the whole curve by its `gap` at most, upwards and downwards,
    and the curve: the points solved, and the certified lower bound.
    """
    search = _Search(problem, nu, bounds, known)
    for nu_pos in _spread(bounds, curve_points):
        if not problem.limits.is_over:
            search.solve_at(float(nu_pos))
    search.run()
    best = search.best.result
    # the minimum lies between the settled bound and what the best point may have
    upper = best.margin + best.gap
    gap = max(upper - search.settled, best.gap)
    converged = gap <= problem.tolerance(best.margin)
    result = replace(best, gap=gap, converged=converged)
    return CurvePoint(search.best.nu_pos, result), search.curve()


class _Search:
    """Intervals of nu_pos on which the curve may still be lower than the best point."""

    def __init__(
        self,
        problem: MarginProblem,
        nu: float,
        bounds: tuple[float, float],
        solved: Sequence[CurvePoint],
    ) -> None:
        self.problem = problem
        self.nu = nu
        self.bounds = bounds
        self.solved = list(solved)
        self.margins: list[InstanceMargins] = []
        for point in solved:
            self._take_in(point)
        edges = _spread(bounds, _N_INTERVALS + 1)
        self.low, self.high = edges[:-1], edges[1:]
        self.floor = self._bound(self.low, self.high)
        self.settled = np.inf

    @property
    def best(self) -> CurvePoint:
        """The lowest point so far."""
        return min(self.solved, key=lambda point: point.result.margin)

    def run(self) -> None:
        """Settle all intervals, or as many as time and the user allow."""
        while True:
            best = self.best.result
            allowed = self.problem.tolerance(best.margin)
            # no closer than the solves themselves are
            target = best.margin - max(allowed - best.gap, best.gap)
            if self.problem.limits.is_over:
                target = -np.inf
            self._settle(target)
            if not self.low.size:
                break
            middle = np.clip(np.sqrt(self.low * self.high), self.low, self.high)
            at_middle = self._bound(middle, middle)
            worst = int(np.argmin(at_middle))
            if at_middle[worst] < target:
                self.solve_at(float(middle[worst]), best.margin)
            else:
                self.low = np.append(self.low, middle)
                self.high = np.append(middle, self.high)
                self.floor = self._bound(self.low, self.high)

    def solve_at(self, nu_pos: float, enough: float = np.inf) -> None:
        """Solve at one point, or until its margin is enough to rule it out."""
        start = min(self.solved, key=lambda point: abs(np.log(point.nu_pos / nu_pos)))
        point = solve_closely(
            self.problem, self.nu, nu_pos, start.result, enough=enough
        )
        result = point.result
        # a solve that was cut short is low for that reason alone
        is_whole = result.converged or not self.problem.limits.is_over
        if result.margin < enough and is_whole:
            self.solved.append(point)
        margins = self._take_in(point)
        self.floor = np.maximum(
            self.floor, self._bound_of(margins, self.low, self.high)
        )

    def curve(self) -> MarginCurve:
        """Return the points solved, and the bound on a grid."""
        points = sorted((nu_pos, result.margin) for nu_pos, result in self.solved)
        nu_pos, gamma_hat = np.array(points).T
        grid = _spread(self.bounds, _N_GRID_POINTS)
        place = int(np.searchsorted(nu_pos, self.best.nu_pos))
        return MarginCurve(
            nu_pos, gamma_hat, grid, self._bound(grid, grid), place, self.nu
        )

    def _settle(self, target: float) -> None:
        """Put away the intervals on which the curve is nowhere below the target."""
        is_open = self.floor < target
        lowest = float(self.floor[~is_open].min(initial=np.inf))
        self.settled = min(self.settled, lowest)
        self.low, self.high = self.low[is_open], self.high[is_open]
        self.floor = self.floor[is_open]

    def _take_in(self, point: CurvePoint) -> InstanceMargins:
        """Let the weights of a point bound the whole curve."""
        problem = self.problem
        rows = point.result.scores, problem.labels, problem.sample_weight
        self.margins.append(InstanceMargins(*rows))
        return self.margins[-1]

    def _bound(self, low: FloatArray, high: FloatArray) -> FloatArray:
        """Bound the curve on intervals [low, high] by all weights found."""
        bounds = [self._bound_of(margins, low, high) for margins in self.margins]
        return np.asarray(np.max(bounds, axis=0))

    def _bound_of(
        self, margins: InstanceMargins, low: FloatArray, high: FloatArray
    ) -> FloatArray:
        """Bound the curve on intervals [low, high] by one set of weights."""
        lowest = margins.mean_smallest_positive(low)
        highest = margins.mean_largest_negative(self.nu / high)
        bound: FloatArray = (lowest - highest) / 2.0
        return bound


def _spread(bounds: tuple[float, float], n_points: int) -> FloatArray:
    """Return points evenly over the logarithm, none by rounding out of bounds."""
    return np.clip(np.geomspace(*bounds, n_points), *bounds)
