"""Cutting planes for any convex risk, with a line search."""

from dataclasses import dataclass

import numpy as np

from aucmax.regularizers.regularizer import (
    ConvexSet,
    QuadraticRegularizer,
    Regularizer,
)
from aucmax.risks.contract import Support
from aucmax.solvers.bundle_models import bundle_model
from aucmax.solvers.risk_objective import (
    MIN_NARROWING,
    RiskObjective,
    begin,
    first_width,
    lost_by_smoothing,
    narrowing,
    search_line,
    value_at,
)
from aucmax.solvers.solver import Point, Solution, Start, StoppingRule
from aucmax.solvers.sparsity import drop_negligible_weights

_MIN_RISE = 1e-3  # share of the gap; a bound that rises by less has stalled
_REACH_BEYOND_CENTER = 0.01  # share of the way to the goal, where a cut is taken
_FIRST_WIDTH_WITH_L2 = 0.1  # measured: on wide data, wider ones take more passes
_MIN_WIDTH = 1e-7  # a width below it that stalls becomes 0
_MAX_SMOOTHING_LOSS = 0.4  # share of the decrease that the model predicts


@dataclass(frozen=True)
class BundleSolver:
    """Minimise a convex risk plus L2 or a proximal regularizer by cutting planes.

    Each iteration adds one cut below the risk, minimises the regularizer plus the
    highest cut (which bounds the optimum from below), and searches the line from the
    center, the best point so far, to that minimiser; the next cut is a little beyond
    (Franc, Sonnenburg, JMLR 10, 2009, section 3). One pass per iteration. With
    `smoothing`, kinks are smoothed over a width that falls with the gap: where many
    pairs end at a kink, the slope then finds their shares. A smoothed slope is that of
    a line below the risk itself, so the bound stays valid.
    """

    stopping: StoppingRule
    smoothing: bool = False  # whether to smooth kinks, if the risk allows it
    max_cuts: int = 500

    def minimize(
        self,
        objective: RiskObjective,
        regularizer: Regularizer,
        start: Start | None = None,
    ) -> Solution:
        """See :meth:`Solver.minimize`; the regularizer is quadratic, or has a prox."""
        is_quadratic = isinstance(regularizer, QuadraticRegularizer)
        name = "a cutting-plane method"
        objective.require_certifiable(
            name, bounded=not (is_quadratic or isinstance(regularizer, ConvexSet))
        )
        C = objective.C
        least = objective.risk.least_value
        width = (
            first_width(objective, start)
            if self.smoothing and np.isfinite(least)
            else 0.0
        )
        first, monitor, cuts = begin(
            self.stopping, objective, regularizer, start, self.max_cuts
        )
        model = bundle_model(objective, regularizer, cuts)
        if width > 0.0 and is_quadratic:
            width = _FIRST_WIDTH_WITH_L2
            if not len(cuts) and np.isfinite(least):
                # on separable data the other cuts then need not share all of C
                flat = Support(least, np.zeros_like(first.scores), least)
                cuts.add(np.zeros(objective.n_parameters), flat)
        center = best = touched = first
        known, bound = C * least, -np.inf
        support = objective.support(center, width)
        value = regularizer.value(best.parameters) + C * support.value
        while True:
            cuts.add(objective.pull_back(support), support)
            candidate = model.minimize(center.parameters, value)
            rise = candidate.lower_bound - bound
            bound = max(bound, candidate.lower_bound)
            if monitor.should_stop(objective.n_passes, value, max(bound, known)):
                break
            if width > 0.0:
                predicted = max(value - candidate.predicted, self.stopping.tol * value)
                width = _narrowed(width, support, touched, predicted / C)
            goal = objective.at(candidate.parameters)
            direction = center.towards(goal)
            point, support, _ = search_line(
                center, direction, objective, regularizer, width, 1.0
            )
            reached = regularizer.value(point.parameters) + C * support.value
            stalled = rise <= _MIN_RISE * (value - bound)
            if reached < value:
                best, value, stalled = point, reached, False
            # the smoothed objective may fall where the objective does not fall yet
            center = point if width > 0.0 else best
            # a cut at the goal surely raises the bound, but is low near the best point
            is_exact = stalled and width == 0.0
            reach = 1.0 if is_exact else _REACH_BEYOND_CENTER
            if stalled:
                width = MIN_NARROWING * width if width > _MIN_WIDTH else 0.0
            touched = center.moved(center.towards(goal), reach)
            support = objective.support(touched, width)
        # while smoothed, a bound on the risk was enough
        value = value_at(best, objective, regularizer)
        gap = max(value - max(bound, known), 0.0)
        solution = monitor.solution(best, value, gap, cuts)
        return drop_negligible_weights(solution, objective, regularizer, self.stopping)


def _narrowed(width: float, support: Support, point: Point, predicted: float) -> float:
    """Shrink the width until smoothing costs little of the decrease predicted."""
    lost = lost_by_smoothing(support, point)
    return width * narrowing(lost, _MAX_SMOOTHING_LOSS * predicted)
