"""From the convex solution towards the pairs that count: a difference of convex."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from aucmax.linear.objective import LinearObjective
from aucmax.metrics import partial_auc_score
from aucmax.regularizers import Regularizer
from aucmax.risks import BoxHinge, PairHinge, Risk
from aucmax.solvers import Point, Progress, Solution, Start

__all__ = ["Refined", "refine"]

_MOST_REFINEMENTS = 50  # convex problems after the first


class Refined(NamedTuple):
    """What refinement ends with; iterations and passes include the first solution's."""

    point: Point  # the highest partial AUC met, the convex solution among them
    n_refinements: int  # how many convex problems were solved on the way
    history: list[Progress]
    n_passes: float


def refine(
    objective: LinearObjective,
    regularizer: Regularizer,
    box: BoxHinge,
    solution: Solution,
    minimize: Callable[[LinearObjective, Start], Solution],
    tol: float,
) -> Refined:
    r"""Minimise the hinge over the pairs of the range, from the convex `solution` on.

    The risk D of the range itself, `box`, is a difference of convex risks. Each round
    replaces what is taken off by its tangent, which leaves a convex majorant that
    touches D, and minimises it; so :math:`\Omega + C D` never rises. Its minimum need
    not have the best ranking, so the partial AUC itself chooses among all solutions
    met: it is never lower than before. Ends with the first round that lowers the
    objective by no more than `tol` of it, or that the solver does not finish.

    Where the convex solution is 0, as it is for much overlap of the classes in a narrow
    range, no rows stand out to be left out: then the first round is over all pairs.
    """
    labels, weight = objective.labels, objective.sample_weight
    rounds = _Refinement(objective, box, solution, minimize)
    if rounds.may_go_on and not solution.point.parameters.any():
        rounds.minimize_under(PairHinge())

    def cost(point: Point) -> float:
        risk = box.value(point.scores, labels, weight)
        return regularizer.value(point.parameters) + objective.C * risk

    value, last = cost(rounds.solution.point), np.inf
    while rounds.may_go_on and last - value > tol * abs(value):
        here = rounds.solution.point
        rounds.minimize_under(box.linearized_at(here.scores, labels, weight))
        value, last = cost(rounds.solution.point), value
    return rounds.result()


class _Refinement:
    """Convex problems solved one after the other, and the best of their rankings."""

    def __init__(
        self,
        objective: LinearObjective,
        box: BoxHinge,
        solution: Solution,
        minimize: Callable[[LinearObjective, Start], Solution],
    ) -> None:
        self.solution = solution
        self._objective = objective
        self._box = box
        self._minimize = minimize
        self._n_refinements = 0
        self._best = solution.point
        self._best_area = self._area(solution.point)

    @property
    def may_go_on(self) -> bool:
        """Whether the solver finished and there is anything left to gain."""
        return (
            self.solution.converged
            and self._best_area < 1.0
            and self._n_refinements < _MOST_REFINEMENTS
        )

    def minimize_under(self, risk: Risk) -> None:
        """Solve for another risk, from the last solution on."""
        self._objective = self._objective.with_risk(risk)
        start = Start(self.solution.point, None, self.solution.history)
        self.solution = self._minimize(self._objective, start)
        self._n_refinements += 1
        area = self._area(self.solution.point)
        if area > self._best_area:
            self._best, self._best_area = self.solution.point, area

    def result(self) -> Refined:
        history, n_passes = self.solution.history, self._objective.n_passes
        return Refined(self._best, self._n_refinements, history, n_passes)

    def _area(self, point: Point) -> float:
        # scores anew: steps leave rounding, which might break a tie
        return partial_auc_score(
            self._objective.labels,
            self._objective.at(point.parameters).scores,
            fpr_range=self._box.fpr_range,
            tpr_range=self._box.tpr_range,
            sample_weight=self._objective.sample_weight,
        )
