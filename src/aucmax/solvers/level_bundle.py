"""Cutting planes stabilised by level sets, for a set of parameters or its price."""

import numpy as np

from aucmax._validation import FloatArray
from aucmax.regularizers.base import HullRegularizer, Regularizer
from aucmax.solvers.base import Objective, Solution, Start, StoppingRule
from aucmax.solvers.cuts import Cuts

__all__ = ["LevelBundleSolver"]

_BOLDER, _LARGEST = 1.2, 0.8  # what a good step makes of the fraction, and the most
_MORE_CAREFUL, _SMALLEST = 0.8, 0.35  # what a bad one makes of it, and the least
_GOOD = 0.5  # of the promised decrease
_BACK = 0.3  # of the way to a point that is no better, the next cut is taken


class LevelBundleSolver:
    r"""Minimise over a set by cutting planes, staying near the best point.

    Each iteration bounds the optimum from below by the lowest point of a model: the
    highest cut, plus the price of the parameters if they have one. Then it projects the
    best point onto the set where that model is a fraction of the gap below the best
    value. If the objective is lower there, that is the new best point; if not, a point
    nearer to the best one is tried, which costs no pass, and gives the next cut. One
    pass an iteration. The fraction grows where the model promises well, and shrinks
    where it does not.

    Parameters
    ----------
    stopping : StoppingRule
        When to stop, and whom to tell.
    fraction : float, default=0.5
        Where the level lies between the best value (0) and the bound (1), at first.
    max_cuts : int, default=200
        The most cuts kept.
    keep_sources : bool, default=False
        Whether the cuts keep their slopes over scores.

    References
    ----------
    .. [1] C. Lemarechal, A. Nemirovskii, Y. Nesterov. New variants of bundle methods.
       Mathematical Programming 69 (1995), section 2.
    """

    def __init__(
        self,
        stopping: StoppingRule,
        fraction: float = 0.5,
        max_cuts: int = 200,
        keep_sources: bool = False,
    ) -> None:
        self.stopping = stopping
        self.fraction = fraction
        self.max_cuts = max_cuts
        self.keep_sources = keep_sources

    def minimize(
        self,
        objective: Objective,
        regularizer: Regularizer,
        start: Start | None = None,
    ) -> Solution:
        """Minimise ``regularizer(w) + objective.C * risk`` over the regularizer's set.

        Parameters
        ----------
        objective : Objective
            The data, the model and the risk.
        regularizer : Regularizer
            The set of parameters, or their price; must offer ``hull``.
        start : Start, optional
            Where to begin: a point of the set, and cuts below this same risk.

        Returns
        -------
        Solution
            The best point found, with its certificate.
        """
        C = objective.C
        if start is None:
            start = Start(objective.at(_middle(regularizer, objective.n_parameters)))
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
            if watch.says_stop(objective, value, bound):
                break
            goal = objective.at(step.parameters)
            support = objective.support(goal)
            reached = regularizer.value(goal.parameters) + C * support.value
            decrease = value - reached
            if decrease >= _GOOD * fraction * (value - bound):
                fraction = min(_BOLDER * fraction, _LARGEST)
            elif decrease <= 0.0:
                fraction = max(_MORE_CAREFUL * fraction, _SMALLEST)
                goal = best.moved(best.towards(goal), _BACK)
                support = objective.support(goal)
                reached = regularizer.value(goal.parameters) + C * support.value
            if reached < value:
                best, value = goal, reached
        return watch.solution(best, value, watch.history[-1].gap, cuts)


def _middle(regularizer: Regularizer, n_parameters: int) -> FloatArray:
    if isinstance(regularizer, HullRegularizer):
        return regularizer.middle(n_parameters)
    return np.zeros(n_parameters)  # refused by the cuts, with a clear message
