"""Cutting planes on wide data: a few passes, and then the span of the rows."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from aucmax._core.validation import FloatArray
from aucmax.linear.objective import LinearObjective
from aucmax.linear.row_space import RowSpace
from aucmax.regularizers import QuadraticRegularizer
from aucmax.risks.contract import Support
from aucmax.solvers import BundleSolver, Point, Solution, Start, StoppingRule
from aucmax.solvers.cuts import Cuts

__all__ = ["WideSolver"]

# The products of n rows, and their factors, take as long as about n / 40 passes over
# dense data, or n / 10 over sparse data.
_ROWS_PER_ITERATION = {"dense": 40, "sparse": 10}
_FEWEST_ITERATIONS = 10  # over the data as they are
_ROUNDING = 1e-13  # share of a bound's terms, by which it may be too high


@dataclass(frozen=True)
class WideSolver:
    r"""Cutting planes for L2 on data with many more numbers than pairs of rows.

    Iterations go over the data as long as that is cheaper than the products of all
    rows. What is left is solved in an orthonormal basis of their span
    (:class:`~aucmax.linear.row_space.RowSpace`), where nothing touches the data. The
    gap is certified on the data as they are: the weights are scored once more, and the
    slope g over scores that the cuts' shares mix bounds the objective by
    :math:`C\,o - \frac{C^2}{2 \kappa} \|X^T g\|^2`.
    """

    stopping: StoppingRule

    def minimize(
        self,
        objective: LinearObjective,
        regularizer: QuadraticRegularizer,
        start: Start | None = None,
    ) -> Solution:
        """See :meth:`Solver.minimize`."""
        rule = self.stopping
        here = _with_sources(objective, start)
        if objective.row_space is None:
            kind = "sparse" if sparse.issparse(objective.X) else "dense"
            n_first = objective.labels.size // _ROWS_PER_ITERATION[kind]
            most = len(here.history) + max(n_first, _FEWEST_ITERATIONS)
            limited = replace(rule, max_iter=min(most, rule.max_iter))
            first = _bundle(limited).minimize(objective, regularizer, here)
            if first.n_iter < most or first.converged or most >= rule.max_iter:
                return first
            here = Start(first.point, first.cuts, first.history)
            objective.row_space = RowSpace.of(objective.X)
            objective.n_passes += 1.0
        space = objective.row_space
        if space.mixture is None:
            return _bundle(rule).minimize(objective, regularizer, here)
        found = self._minimize_in_span(space, objective, regularizer, here)
        solution = _on_the_data(space, objective, regularizer, found)
        solution.converged = rule.is_reached(solution.value, solution.gap)
        if solution.converged or not found.converged:
            return solution
        # rounding has spoiled the bound, so that the data themselves have to be asked
        here = Start(solution.point, solution.cuts, solution.history)
        return _bundle(rule).minimize(objective, regularizer, here)

    def _minimize_in_span(
        self,
        space: RowSpace,
        objective: LinearObjective,
        regularizer: QuadraticRegularizer,
        start: Start,
    ) -> Solution:
        inside = objective.in_row_space(space)
        weights = space.coordinates(start.point.scores)
        cuts = _over(start.cuts, lambda slopes: slopes @ space.X)
        here = Start(Point(weights, space.X @ weights), cuts, start.history)
        found = _bundle(self.stopping).minimize(inside, regularizer, here)
        objective.n_passes = inside.n_passes
        return found


def _with_sources(objective: LinearObjective, start: Start | None) -> Start:
    """Return a start whose cuts keep their slopes over scores."""
    if start is None:
        start = Start(objective.at(np.zeros(objective.n_parameters)))
    if start.cuts is not None and start.cuts.sources is not None:
        return start
    cuts = Cuts(objective.n_parameters, keep_sources=True)
    least = objective.least_risk
    if np.isfinite(least):
        # on separable data the pairs then need not share all of C
        flat = Support(least, np.zeros(objective.labels.size), least)
        cuts.add(np.zeros(objective.n_parameters), flat)
    return start._replace(cuts=cuts)


def _over(cuts: Cuts | None, pull_back: Callable[[FloatArray], FloatArray]) -> Cuts:
    """Return the cuts over other parameters, given how slopes get there."""
    if cuts is None or cuts.sources is None:
        raise AssertionError("these cuts keep their slopes over scores")
    return cuts.in_basis(pull_back(np.array(cuts.sources)))


def _on_the_data(
    space: RowSpace,
    objective: LinearObjective,
    regularizer: QuadraticRegularizer,
    found: Solution,
) -> Solution:
    """Certify what was found in the span of the rows, on the rows themselves."""
    point = objective.at(space.weights_of(found.point.parameters))
    value = regularizer.value(point.parameters)
    value += objective.C * objective.risk_value(point)
    cuts = _over(found.cuts, objective.slopes_of)
    objective.n_passes += 0.5  # of the weights
    slope = objective.C * cuts.mixed(cuts.multipliers)
    length = float(slope @ slope) / (2.0 * regularizer.curvature)
    height = objective.C * float(cuts.offsets @ cuts.multipliers)
    bound = height - length - _ROUNDING * (abs(height) + length)
    gap = max(value - max(bound, objective.C * objective.least_risk), 0.0)
    last = found.history[-1]._replace(value=value, gap=gap, n_passes=objective.n_passes)
    history = [*found.history[:-1], last]
    return replace(found, point=point, value=value, gap=gap, cuts=cuts, history=history)


def _bundle(rule: StoppingRule) -> BundleSolver:
    # on wide data many pairs end at a kink, which smoothing resolves
    return BundleSolver(rule, smoothing=True)
