"""Cutting planes stabilised by level sets, for a set of parameters or its price."""

from dataclasses import dataclass

from aucmax.regularizers.regularizer import HullRegularizer
from aucmax.solvers.cuts import Cuts
from aucmax.solvers.solver import Objective, Solution, Start, StoppingRule, require

_MIN_GOOD_DECREASE = 0.5  # share of the promised decrease
_FRACTION_GROWTH = 1.2  # factor after a good step
_MAX_FRACTION = 0.8
_FRACTION_DECAY = 0.8  # factor after a step without any decrease
_MIN_FRACTION = 0.35
_SHARE_OF_A_BAD_STEP = 0.3  # after which the next cut is taken


@dataclass(frozen=True)
class LevelBundleSolver:
    r"""Minimise over a set by cutting planes, staying near the best point.

    Each iteration bounds the optimum from below by the lowest point of a model: the
    highest cut, plus the price of the parameters if they have one. Then it projects the
    best point onto the set where that model is a fraction of the gap below the best
    value. If the objective is lower there, that is the new best point; if not, a point
    nearer to the best one is tried, which costs no pass, and gives the next cut. One
    pass per iteration. The fraction grows where the model promises well, and shrinks
    where it does not. Needs a `hull` of the regularizer.

    References
    ----------
    .. [1] C. Lemarechal, A. Nemirovskii, Y. Nesterov. New variants of bundle methods.
       Mathematical Programming 69 (1995), section 2.
    """

    stopping: StoppingRule
    fraction: float = 0.5  # of the gap, at first
    max_cuts: int = 200
    keep_sources: bool = False  # whether the cuts keep their slopes over scores

    def minimize(
        self,
        objective: Objective,
        regularizer: HullRegularizer,
        start: Start | None = None,
    ) -> Solution:
        """See :meth:`Solver.minimize`; a start is a point of the hull."""
        require(regularizer, "hull", "a level method", "Try Simplex, L1Ball or L1.")
        C = objective.C
        if start is None:
            start = Start(objective.at(regularizer.middle(objective.n_parameters)))
        watch = self.stopping.watch(start.history)
        best = start.point
        cuts = start.cuts or Cuts(
            objective.n_parameters, self.max_cuts, keep_sources=self.keep_sources
        )
        cuts.resize(self.max_cuts)
        bound = C * objective.least_risk
        fraction = self.fraction
        support = objective.support(best)
        value = regularizer.value(best.parameters) + C * support.value
        while True:
            cuts.add(objective.pull_back(support), support)
            step = cuts.level_step(regularizer, C, best.parameters, value, fraction)
            bound = max(bound, step.lower_bound)
            if watch.should_stop(objective, value, bound):
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
