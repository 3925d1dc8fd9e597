"""Cutting planes for any convex risk: with a line search, or with level sets."""

from dataclasses import dataclass

import numpy as np

from aucmax.regularizers.regularizer import (
    HullRegularizer,
    QuadraticRegularizer,
    Regularizer,
)
from aucmax.risks.contract import Support
from aucmax.solvers.cuts import Cuts
from aucmax.solvers.line_search import LineSearch
from aucmax.solvers.masters import master_for
from aucmax.solvers.risk_objective import (
    RiskObjective,
    begin,
    first_width,
    lost_by_smoothing,
    narrowed,
    slope_along,
    value_at,
)
from aucmax.solvers.solver import Point, Solution, Start, StoppingRule, require
from aucmax.solvers.sparsity import drop_negligible_weights

_MIN_RISE = 1e-3  # share of the gap; a bound that rises by less has stalled
_REACH_BEYOND_CENTER = 0.01  # share of the way to the goal, where a cut is taken
_SMOOTHED_REACH_BEYOND_CENTER = 0.03  # the same while smoothed
_MAX_SMOOTHING_LOSS = 0.4  # share of the decrease that the model promises
_MIN_LOSS_PER_WIDTH = 0.01  # what smoothing is assumed to cost at least
_HIGHEST_CENTER = 1.5  # times the best value, while smoothed
_FIRST_WIDTH_WITH_L2 = 0.1  # measured: on wide data, wider ones take more passes
_NARROWING_AT_STALL = 0.3  # factor of the width where the bound stalls
_MIN_WIDTH = 1e-7  # a width below it that stalls becomes 0
_MIN_GOOD_DECREASE = 0.5  # share of the promised decrease
_FRACTION_GROWTH = 1.2  # factor after a good step
_MAX_FRACTION = 0.8
_FRACTION_DECAY = 0.8  # factor after a step without any decrease
_MIN_FRACTION = 0.35
_SHARE_OF_A_BAD_STEP = 0.3  # after which the next cut is taken


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
        objective.require_certifiable(name, bounded=not is_quadratic)
        C = objective.C
        least = objective.risk.least_value
        width = first_width(objective, start) if self.smoothing else 0.0
        first, watch, cuts = begin(self.stopping, objective, start, self.max_cuts)
        master = master_for(regularizer, cuts, C, C * least)
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
            proposal = master.propose(center.parameters, value)
            rise = proposal.lower_bound - bound
            bound = max(bound, proposal.lower_bound)
            if watch.should_stop(objective.n_passes, value, max(bound, known)):
                break
            if width > 0.0:
                promised = max(value - proposal.promise, self.stopping.tol * value / 10)
                width = _narrowed(width, support, touched, promised / C)
            goal = objective.at(proposal.parameters)
            direction = center.towards(goal)
            search = LineSearch(longest=1.0, accuracy=0.2, max_evaluations=10)
            while search.is_open:
                point = center.moved(direction, search.length)
                support = objective.support(point, width)
                search.report(
                    slope_along(direction, point, support, objective, regularizer)
                )
            found = regularizer.value(point.parameters) + C * support.value
            stalled = rise <= _MIN_RISE * (value - bound)
            if found < value:
                best, value, stalled = point, found, False
            # the smoothed objective may fall where the objective does not fall yet
            follows = width > 0.0 and found < _HIGHEST_CENTER * value
            center = point if follows else best
            # a cut at the goal surely raises the bound, but is low near the best point
            reach = 1.0 if stalled else _REACH_BEYOND_CENTER
            if width > 0.0:
                reach = _SMOOTHED_REACH_BEYOND_CENTER
            if stalled:
                width = _NARROWING_AT_STALL * width if width > _MIN_WIDTH else 0.0
            touched = center.moved(center.towards(goal), reach)
            support = objective.support(touched, width)
        # while smoothed, a bound on the risk was enough
        value = value_at(best, objective, regularizer)
        gap = max(value - max(bound, known), 0.0)
        solution = watch.solution(best, value, gap, cuts)
        return drop_negligible_weights(solution, objective, regularizer, self.stopping)


def _narrowed(width: float, support: Support, point: Point, promised: float) -> float:
    """Shrink the width until smoothing costs little of the decrease promised."""
    lost = lost_by_smoothing(support, point)
    width = narrowed(width, lost, _MAX_SMOOTHING_LOSS * promised)
    # where no pair is near its kink there is no loss, but no slope either
    return min(width, promised / _MIN_LOSS_PER_WIDTH)


@dataclass(frozen=True)
class LevelBundleSolver:
    """Minimise a convex risk over a hull, or with its price, by a level method.

    Each iteration bounds the optimum by the minimum of a model, the highest cut plus
    the price of the parameters, and projects the best point onto the set where that
    model is a fraction of the gap below the best value (Lemarechal, Nemirovskii,
    Nesterov, Mathematical Programming 69, 1995, section 2). The fraction grows where
    the model predicts well. One pass per iteration.
    """

    stopping: StoppingRule
    fraction: float = 0.5  # of the gap, at first
    max_cuts: int = 200
    keep_sources: bool = False  # whether the cuts keep their slopes over scores

    def minimize(
        self,
        objective: RiskObjective,
        regularizer: HullRegularizer,
        start: Start | None = None,
    ) -> Solution:
        """See :meth:`Solver.minimize`; a start is a point of the hull."""
        require(regularizer, "hull", "a level method", "Try Simplex, L1Ball or L1.")
        has_price = regularizer.hull(0.0).price > 0.0
        objective.require_certifiable("a level method", bounded=has_price)
        C = objective.C
        if start is None:
            start = Start(objective.at(regularizer.middle(objective.n_parameters)))
        watch = self.stopping.watch(start.history)
        best = start.point
        cuts = start.cuts or Cuts(
            objective.n_parameters, self.max_cuts, keep_sources=self.keep_sources
        )
        cuts.resize(self.max_cuts)
        floor = bound = C * objective.risk.least_value
        fraction = self.fraction
        support = objective.support(best)
        value = regularizer.value(best.parameters) + C * support.value
        while True:
            cuts.add(objective.pull_back(support), support)
            step = cuts.level_step(
                regularizer, C, best.parameters, value, fraction, floor
            )
            bound = max(bound, step.lower_bound)
            if watch.should_stop(objective.n_passes, value, bound):
                break
            goal = objective.at(step.parameters)
            support = objective.support(goal)
            reached = regularizer.value(goal.parameters) + C * support.value
            decrease = value - reached
            if decrease >= _MIN_GOOD_DECREASE * fraction * (value - bound):
                fraction = min(_FRACTION_GROWTH * fraction, _MAX_FRACTION)
            elif decrease <= 0.0:
                fraction = max(_FRACTION_DECAY * fraction, _MIN_FRACTION)
                goal = best.moved(best.towards(goal), _SHARE_OF_A_BAD_STEP)
                support = objective.support(goal)
                reached = regularizer.value(goal.parameters) + C * support.value
            if reached < value:
                best, value = goal, reached
        return watch.solution(best, value, watch.history[-1].gap, cuts)
