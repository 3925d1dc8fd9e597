r"""Searches for nu+: problems (9) and (7) in turn, and branch and bound.

Branch and bound finds the lowest point of the curve :math:`\hat\gamma(\nu^+)`. For
weights :math:`\alpha` once found, with scores s and t,

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

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from aucmax._core.validation import FloatArray
from aucmax.margin.margin_certificate import MarginCurve
from aucmax.margin.margin_problem import MarginProblem, MarginResult
from aucmax.margin.margin_request import ClassSizes, MarginRequest
from aucmax.risks._pairs.margin_rows import Lowest
from aucmax.risks.instance_margin import InstanceMargin, TangentMargin

_CLOSENESS = 0.25  # of the tolerance, to which a point of the curve is solved
_LOOSENESS = (10.0, 1.0)  # of problem (9), which at first only has to give a direction
_NEIGHBOURS = (1.0 / 1.05, 1.05)  # times nu+: where else to look for a lower margin
_MAX_STEPS = 1000  # each lowers the margin by at least the tolerance; few are needed
_N_INTERVALS = 64  # of branch and bound, at the start
_N_GRID_POINTS = 200  # of the lower bound that is kept with the curve


def descend(
    problem: MarginProblem,
    risk: InstanceMargin,
    request: MarginRequest,
    start: MarginResult | None,
) -> MarginResult:
    """Alternate problems (9) and (7), to a local minimum of problem (6).

    Unlike the paper, neighbours of nu+ at 5% are tried where (9) finds no descent.
    """
    nu = risk.nu_pos * risk.nu_neg
    here = problem.solve(risk, start)
    path: list[MarginResult] = []
    for _ in range(_MAX_STEPS):
        lower = _lower_neighbour(problem, request.sizes, nu, here)
        if lower is None:
            break
        path.append(replace(here, cuts=None))
        here = lower
    if problem.limits.is_over:
        last = replace(here, converged=False)
    else:
        last = _solve_closely(problem, here.risk, here, reuse_cuts=True)
    return replace(last, path=[*path, last])


def _lower_neighbour(
    problem: MarginProblem, sizes: ClassSizes, nu: float, here: MarginResult
) -> MarginResult | None:
    """Find a point of the curve that is lower by the tolerance, if one is near."""
    goal = here.margin - problem.tolerance(here.margin)
    for nu_pos, start in _candidates(problem, sizes, nu, here, goal):
        if problem.limits.is_over:
            break
        result = problem.solve(InstanceMargin(nu_pos, nu / nu_pos), start, enough=goal)
        if result.margin < goal and result.margin + result.gap < here.margin:
            return result
    return None


def _candidates(
    problem: MarginProblem,
    sizes: ClassSizes,
    nu: float,
    here: MarginResult,
    goal: float,
) -> Iterator[tuple[float, MarginResult]]:
    """Yield nu+ that may have a margin below the goal, and where to start from."""
    # problem (9) finds no descent at a maximum of the curve, so both sides are tried
    tangent: MarginResult | None = None
    for looseness in _LOOSENESS:
        if problem.limits.is_over:
            return
        tangent = problem.solve(
            TangentMargin(nu, here.nu_pos),
            tangent or here,
            keep_row_weights=True,
            reuse_cuts=tangent is not None,  # those of the same problem
            looseness=looseness,
            enough=goal,
        )
        if tangent.margin >= goal:
            break
        yield _nu_pos_allowed(problem, sizes, tangent, nu, here.nu_pos), tangent
    for factor in _NEIGHBOURS:
        nu_pos = float(np.clip(factor * here.nu_pos, *sizes.nu_pos_range(nu)))
        if nu_pos != here.nu_pos:
            yield nu_pos, here


def _nu_pos_allowed(
    problem: MarginProblem,
    sizes: ClassSizes,
    tangent: MarginResult,
    nu: float,
    center: float,
) -> float:
    """Return problem (9)'s nu+, from its dual solution."""
    # the row weights d allow every nu+ from nu max(d- / w) to where the tangent falls
    # to max(d+ / w), and all are optimal: the middle is taken
    if tangent.row_weights is None:
        raise AssertionError("problem (9) is solved with its row weights")
    shares = np.abs(2.0 * tangent.row_weights)
    if problem.sample_weight is not None:
        shares /= problem.sample_weight
    least = nu * float(shares[~problem.labels].max())
    most = center * (2.0 - center * float(shares[problem.labels].max()))
    return float(np.clip((least + most) / 2.0, *sizes.nu_pos_range(nu)))


def _solve_closely(
    problem: MarginProblem,
    risk: InstanceMargin,
    start: MarginResult,
    *,
    reuse_cuts: bool = False,
    enough: float = np.inf,
) -> MarginResult:
    """Solve at one nu+ to half the tolerance, so that two such points compare."""
    result = problem.solve(
        risk, start, reuse_cuts=reuse_cuts, looseness=_CLOSENESS, enough=enough
    )
    if result.margin < enough:
        result = problem.pruned(result, 2.0 * _CLOSENESS)
    return replace(result, cuts=None)


def minimize_curve(
    problem: MarginProblem,
    risk: InstanceMargin,
    request: MarginRequest,
    start: MarginResult | None,
) -> MarginResult:
    """Find the smallest gamma_hat over all nu+, the optimum of (6), up to `gap`."""
    path = descend(problem, risk, request, start).path
    nu = risk.nu_pos * risk.nu_neg
    bounds = request.sizes.nu_pos_range(nu)
    search = _CurveSearch(problem, nu, bounds, path)
    for nu_pos in _spread(bounds, request.curve_points):
        if not problem.limits.is_over:
            search.solve_at(float(nu_pos))
    while search.low.size:
        best = search.best
        allowed = problem.tolerance(best.margin)
        # no closer than the solves themselves are
        target = best.margin - max(allowed - best.gap, best.gap)
        search.settle(-np.inf if problem.limits.is_over else target)
        if search.low.size:
            middle = np.clip(np.sqrt(search.low * search.high), search.low, search.high)
            at_middle = search.bound(middle, middle)
            worst = int(np.argmin(at_middle))
            if at_middle[worst] < target:
                search.solve_at(float(middle[worst]), best.margin)
            else:
                search.split(middle)
    best = search.best
    # the minimum lies between the settled bound and what the best point may have
    gap = max(best.margin + best.gap - search.settled, best.gap)
    converged = gap <= problem.tolerance(best.margin)
    curve = search.curve()
    return replace(best, gap=gap, converged=converged, path=path, curve=curve)


class _CurveSearch:
    """Intervals of nu_pos on which the curve may still be lower than the best point."""

    def __init__(
        self,
        problem: MarginProblem,
        nu: float,
        bounds: tuple[float, float],
        solved: Sequence[MarginResult],
    ) -> None:
        self.problem = problem
        self.nu = nu
        self.bounds = bounds
        self.solved = list(solved)
        self.margins = [self._margins_of(point) for point in solved]
        edges = _spread(bounds, _N_INTERVALS + 1)
        self.low, self.high = edges[:-1], edges[1:]
        self.floor = self.bound(self.low, self.high)
        self.settled = np.inf

    @property
    def best(self) -> MarginResult:
        """The lowest point so far."""
        return min(self.solved, key=lambda point: point.margin)

    def solve_at(self, nu_pos: float, enough: float = np.inf) -> None:
        """Solve at one point, or until its margin is enough to rule it out."""
        start = min(self.solved, key=lambda point: abs(np.log(point.nu_pos / nu_pos)))
        risk = InstanceMargin(nu_pos, self.nu / nu_pos)
        point = _solve_closely(self.problem, risk, start, enough=enough)
        # a solve that was cut short is low for that reason alone
        is_whole = point.converged or not self.problem.limits.is_over
        if point.margin < enough and is_whole:
            self.solved.append(point)
        self.margins.append(self._margins_of(point))
        own = self._bound_of(self.margins[-1], self.low, self.high)
        self.floor = np.maximum(self.floor, own)

    def settle(self, target: float) -> None:
        """Remove the intervals on which the curve is nowhere below the target."""
        is_open = self.floor < target
        lowest = float(self.floor[~is_open].min(initial=np.inf))
        self.settled = min(self.settled, lowest)
        self.low, self.high = self.low[is_open], self.high[is_open]
        self.floor = self.floor[is_open]

    def split(self, middle: FloatArray) -> None:
        """Halve all intervals."""
        self.low = np.append(self.low, middle)
        self.high = np.append(middle, self.high)
        self.floor = self.bound(self.low, self.high)

    def bound(self, low: FloatArray, high: FloatArray) -> FloatArray:
        """Bound the curve on intervals [low, high] by all weights found."""
        bounds = [self._bound_of(margins, low, high) for margins in self.margins]
        return np.asarray(np.max(bounds, axis=0))

    def curve(self) -> MarginCurve:
        """Return the points solved, and the bound on a grid."""
        points = sorted((point.nu_pos, point.margin) for point in self.solved)
        nu_pos, gamma_hat = np.array(points).T
        grid = _spread(self.bounds, _N_GRID_POINTS)
        place = int(np.searchsorted(nu_pos, self.best.nu_pos))
        return MarginCurve(
            nu_pos, gamma_hat, grid, self.bound(grid, grid), place, self.nu
        )

    def _margins_of(self, point: MarginResult) -> tuple[Lowest, Lowest]:
        """Return the margins of a point's scores at any nu+."""
        problem = self.problem
        return Lowest.of_classes(point.scores, problem.labels, problem.sample_weight)

    def _bound_of(
        self, margins: tuple[Lowest, Lowest], low: FloatArray, high: FloatArray
    ) -> FloatArray:
        """Bound the curve on intervals [low, high] by one set of weights."""
        lowest, highest = margins[0].mean(low), -margins[1].mean(self.nu / high)
        bound: FloatArray = (lowest - highest) / 2.0
        return bound


def _spread(bounds: tuple[float, float], n_points: int) -> FloatArray:
    """Return points evenly over the logarithm, none by rounding out of bounds."""
    return np.clip(np.geomspace(*bounds, n_points), *bounds)
