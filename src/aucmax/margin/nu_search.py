r"""Searches for nu+: problems (9) and (7) in turn, and branch and bound.

Branch and bound finds the lowest point of the curve :math:`\hat\gamma(\nu^+)`. For
weights :math:`\alpha` once found, with scores s and t,

.. math:: \phi_\alpha(\nu^+) = \tfrac12 \big[\text{mean of the } \nu^+ \text{ smallest }
          s - \text{mean of the } \nu/\nu^+ \text{ largest } t\big]
          \le \hat\gamma(\nu^+)

for *every* :math:`\nu^+`, since :math:`\hat\gamma` is the maximum over all weights. One
sort gives the whole function. Both means are monotone, so on an interval [a, b] the
curve is nowhere below the first mean at a less the second at b. Intervals whose bound,
over all solutions, reaches the best value are ruled out; others are halved; and where
the bound at a midpoint is itself too low, the problem is solved there, which gives new
weights, and perhaps a better point.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from aucmax._core.validation import FloatArray
from aucmax.margin.margin_certificate import MarginCurve
from aucmax.margin.margin_problem import MarginProblem, MarginSolution
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
    start: MarginSolution | None,
    curve_points: int = 0,
) -> MarginSolution:
    """Alternate problems (9) and (7), to a local minimum of problem (6).

    Unlike the paper, neighbours of nu+ at 5% are tried where (9) finds no descent.
    """
    nu = risk.nu_pos * risk.nu_neg
    current = problem.solve(risk, start)
    path: list[MarginSolution] = []
    for _ in range(_MAX_STEPS):
        lower = _lower_neighbour(problem, nu, current)
        if lower is None:
            break
        path.append(replace(current, cuts=None))
        current = lower
    if problem.is_over:
        last = _ended(problem, current, converged=False)
    else:
        last = _solve_closely(problem, current.risk, current, reuse_cuts=True)
    return replace(last, path=[*path, last])


def _lower_neighbour(
    problem: MarginProblem, nu: float, current: MarginSolution
) -> MarginSolution | None:
    """Find a point of the curve that is lower by the tolerance, if one is near."""
    goal = current.margin - problem.tolerance(current.margin)
    for nu_pos, start in _candidates(problem, nu, current, goal):
        if problem.is_over:
            break
        solution = problem.solve(
            InstanceMargin(nu_pos, nu / nu_pos), start, enough=goal
        )
        is_lower = solution.margin + solution.gap < current.margin
        if solution.margin < goal and is_lower:
            return solution
    return None


def _candidates(
    problem: MarginProblem, nu: float, current: MarginSolution, goal: float
) -> Iterator[tuple[float, MarginSolution]]:
    """Yield nu+ that may have a margin below the goal, and where to start from."""
    # problem (9) finds no descent at a maximum of the curve, so both sides are tried
    tangent: MarginSolution | None = None
    for looseness in _LOOSENESS:
        if problem.is_over:
            return
        tangent = problem.solve(
            TangentMargin(nu, current.nu_pos),
            tangent or current,
            keep_dual_weights=True,
            reuse_cuts=tangent is not None,  # those of the same problem
            looseness=looseness,
            enough=goal,
        )
        if tangent.margin >= goal:
            break
        yield _nu_pos_allowed(problem, tangent, nu, current.nu_pos), tangent
    for factor in _NEIGHBOURS:
        nu_pos = float(
            np.clip(factor * current.nu_pos, *problem.sizes.nu_pos_range(nu))
        )
        if nu_pos != current.nu_pos:
            yield nu_pos, current


def _nu_pos_allowed(
    problem: MarginProblem, tangent: MarginSolution, nu: float, center: float
) -> float:
    """Return problem (9)'s nu+, from its dual solution."""
    # the dual weights d allow every nu+ from nu max(d- / w) to where the tangent falls
    # to max(d+ / w), and all are optimal: the middle is taken
    dual_weights = np.abs(2.0 * problem.dual_weights(tangent))
    if problem.sample_weight is not None:
        dual_weights /= problem.sample_weight
    least = nu * float(dual_weights[~problem.labels].max())
    most = center * (2.0 - center * float(dual_weights[problem.labels].max()))
    return float(np.clip((least + most) / 2.0, *problem.sizes.nu_pos_range(nu)))


def _solve_closely(
    problem: MarginProblem,
    risk: InstanceMargin,
    start: MarginSolution,
    *,
    reuse_cuts: bool = False,
    enough: float = np.inf,
) -> MarginSolution:
    """Solve at one nu+ to half the tolerance, so that two such points compare."""
    solution = problem.solve(
        risk, start, reuse_cuts=reuse_cuts, looseness=_CLOSENESS, enough=enough
    )
    if solution.margin < enough:
        solution = problem.pruned(solution, 2.0 * _CLOSENESS)
    return replace(solution, cuts=None)


def minimize_curve(
    problem: MarginProblem,
    risk: InstanceMargin,
    start: MarginSolution | None,
    curve_points: int,
) -> MarginSolution:
    """Find the smallest gamma_hat over all nu+, the optimum of (6), up to `gap`."""
    path = descend(problem, risk, start).path
    nu = risk.nu_pos * risk.nu_neg
    # a point solved less closely may seem the lowest
    search = _CurveSearch(problem, nu, path[-1:])
    for nu_pos in _log_grid(search.bounds, curve_points):
        if not problem.is_over:
            search.solve_at(float(nu_pos))
    while search.low.size:
        best = search.best
        # half for the gap of the best point to come; no closer than the solves are
        allowed = problem.tolerance(best.margin) / 2.0
        target = best.margin - max(allowed, best.gap)
        search.rule_out(-np.inf if problem.is_over else target)
        if search.low.size:
            middle = np.clip(np.sqrt(search.low * search.high), search.low, search.high)
            at_middle = search.bound(middle, middle)
            worst = int(np.argmin(at_middle))
            if at_middle[worst] < target:
                search.solve_at(float(middle[worst]), best.margin)
            else:
                search.split(middle)
    best = search.best
    # the minimum lies between the bound of what is ruled out and the best point's gap
    gap = max(best.margin + best.gap - search.ruled_out_bound, best.gap)
    converged = gap <= problem.tolerance(best.margin)
    curve = search.curve()
    best = replace(best, gap=gap, path=path, curve=curve)
    return _ended(problem, best, converged=converged)


def _ended(
    problem: MarginProblem, solution: MarginSolution, *, converged: bool
) -> MarginSolution:
    """Return a solution with the iterations of all solves, and why these ended."""
    return replace(
        solution,
        converged=converged,
        n_iter=len(problem.history),
        history=list(problem.history),
        stopped_by_callback=problem.stopped_by_callback,
    )


class _CurveSearch:
    """Intervals of nu_pos on which the curve may still be lower than the best point."""

    def __init__(
        self,
        problem: MarginProblem,
        nu: float,
        solved: Sequence[MarginSolution],
    ) -> None:
        self.problem = problem
        self.nu = nu
        self.bounds = problem.sizes.nu_pos_range(nu)
        self.solved = list(solved)
        self.margins = [self._margins_of(point) for point in solved]
        edges = _log_grid(self.bounds, _N_INTERVALS + 1)
        self.low, self.high = edges[:-1], edges[1:]
        self.floor = self.bound(self.low, self.high)
        self.ruled_out_bound = np.inf

    @property
    def best(self) -> MarginSolution:
        """The lowest point so far."""
        return min(self.solved, key=lambda point: point.margin)

    def solve_at(self, nu_pos: float, enough: float = np.inf) -> None:
        """Solve at one point, or until its margin is enough to rule it out."""
        start = min(self.solved, key=lambda point: abs(np.log(point.nu_pos / nu_pos)))
        risk = InstanceMargin(nu_pos, self.nu / nu_pos)
        point = _solve_closely(self.problem, risk, start, enough=enough)
        # a solve that was cut short is low for that reason alone
        is_whole = point.converged or not self.problem.is_over
        if point.margin < enough and is_whole:
            self.solved.append(point)
        self.margins.append(self._margins_of(point))
        bound = self._bound_of(self.margins[-1], self.low, self.high)
        self.floor = np.maximum(self.floor, bound)

    def rule_out(self, target: float) -> None:
        """Remove the intervals on which the curve is nowhere below the target."""
        is_open = self.floor < target
        lowest = float(self.floor[~is_open].min(initial=np.inf))
        self.ruled_out_bound = min(self.ruled_out_bound, lowest)
        self.low, self.high = self.low[is_open], self.high[is_open]
        self.floor = self.floor[is_open]

    def split(self, middle: FloatArray) -> None:
        """Halve all intervals."""
        self.low = np.append(self.low, middle)
        self.high = np.append(middle, self.high)
        self.floor = self.bound(self.low, self.high)

    def bound(self, low: FloatArray, high: FloatArray) -> FloatArray:
        """Bound the curve on intervals [low, high] by all solutions."""
        bounds = [self._bound_of(margins, low, high) for margins in self.margins]
        return np.asarray(np.max(bounds, axis=0))

    def curve(self) -> MarginCurve:
        """Return the points solved, and the bound on a grid."""
        points = sorted((point.nu_pos, point.margin) for point in self.solved)
        nu_pos, gamma_hat = np.array(points).T
        grid = _log_grid(self.bounds, _N_GRID_POINTS)
        best = int(np.searchsorted(nu_pos, self.best.nu_pos))
        return MarginCurve(
            nu_pos, gamma_hat, grid, self.bound(grid, grid), best, self.nu
        )

    def _margins_of(self, point: MarginSolution) -> tuple[Lowest, Lowest]:
        """Return the margins of a point's scores at any nu+."""
        problem = self.problem
        return Lowest.from_scores(
            point.point.scores, problem.labels, problem.sample_weight
        )

    def _bound_of(
        self, margins: tuple[Lowest, Lowest], low: FloatArray, high: FloatArray
    ) -> FloatArray:
        """Bound the curve on intervals [low, high] by one set of weights."""
        lowest, highest = margins[0].mean(low), -margins[1].mean(self.nu / high)
        bound: FloatArray = (lowest - highest) / 2.0
        return bound


def _log_grid(bounds: tuple[float, float], n_points: int) -> FloatArray:
    """Return points at equal ratios, none out of bounds by rounding."""
    return np.clip(np.geomspace(*bounds, n_points), *bounds)
