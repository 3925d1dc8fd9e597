"""Which solver minimises a linear model's objective."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from aucmax._parameters import check_choice
from aucmax.exceptions import IncompatibleError
from aucmax.linear.objective import LinearObjective
from aucmax.linear.penalties import Penalty
from aucmax.regularizers import HullRegularizer, ProximalRegularizer
from aucmax.solvers import (
    BundleSolver,
    LevelBundleSolver,
    SmoothedNewtonSolver,
    Solution,
    Start,
    StoppingRule,
    SubgradientSolver,
)
from aucmax.solvers.sparsity import without_dust

__all__ = ["SOLVERS", "SolverChoice"]

_NEWTON_ITERATIONS = 100
_TRIAL_ITERATIONS = 60
_MANY_WEIGHTS = 1000
_MANY_ROWS = 10_000  # with fewer, few weights are enough
_CLOSER = 0.01  # of the tolerance,
_MORE_ITERATIONS = 20  # for so long, where weights are 0
_MOST_FOR_NEWTON = 1000  # features: it keeps a square matrix of them


SOLVERS = ("newton", "bundle", "subgradient")


@dataclass(frozen=True)
class SolverChoice:
    """A solver by name, or the best one for the problem.

    Parameters
    ----------
    name : str
        "auto" or one of `SOLVERS`.
    penalty : Penalty
        What holds the weights down.
    """

    name: str
    penalty: Penalty

    def check(self) -> None:
        """Complain about a parameter, before any data are read."""
        check_choice("solver", self.name, ("auto", *SOLVERS))
        if self.name == "newton" and not self.penalty.is_quadratic:
            radius = self.penalty.radius
            limit = "" if radius is None else f" and radius={radius!r}"
            raise IncompatibleError(
                "solver='newton' needs penalty='l2' with radius=None, whose curvature "
                f"is the same everywhere, got penalty={self.penalty.name!r}{limit}. "
                "Use solver='auto', 'bundle' or 'subgradient'."
            )

    def check_risk(self, objective: LinearObjective) -> None:
        """Complain about a solver that the risk is not made for."""
        if self.name == "newton" and not objective.is_smoothable:
            raise IncompatibleError(
                "solver='newton' needs a risk that can be smoothed: bound='tight' with "
                "fpr_range=(0, b) and tpr_range=(c, 1), without qid. Use "
                "solver='auto', 'bundle' or 'subgradient'."
            )

    def minimize(
        self,
        objective: LinearObjective,
        regularizer: ProximalRegularizer,
        rule: StoppingRule,
        start: Start | None,
    ) -> Solution:
        """Minimise the regularizer plus C times the risk.

        Weights of 0 are looked at more closely: within the tolerance they may be as
        good as others, but only others rank.
        """
        solution = self._minimize(objective, regularizer, rule, start)
        is_ranking = solution.point.parameters.any()
        if is_ranking or not solution.converged or solution.n_iter >= rule.max_iter:
            return solution
        start = _from_here(solution)
        closer = replace(rule, tol=_CLOSER * rule.tol)
        closer = _limited(closer, start, _MORE_ITERATIONS)
        found = self._minimize(objective, regularizer, closer, start)
        found.converged = rule.is_reached(found.value, found.gap)
        return found

    def _minimize(
        self,
        objective: LinearObjective,
        regularizer: ProximalRegularizer,
        rule: StoppingRule,
        start: Start | None,
    ) -> Solution:
        if self.name == "subgradient":
            return SubgradientSolver(rule).minimize(objective, regularizer, start)
        if self.name == "newton":
            return _newton(objective, regularizer, rule, start)
        if self.name == "auto" and self._suits_newton(objective, rule):
            # where few pairs are left near the margin, cutting planes do better
            limited = _limited(rule, start, _NEWTON_ITERATIONS)
            solution = _newton(objective, regularizer, limited, start)
            if _is_final(solution, limited, rule):
                return solution
            start = _from_here(solution)
        if self.name == "auto" and isinstance(regularizer, HullRegularizer):
            return _sparse(objective, regularizer, rule, start)
        return _bundle(objective, regularizer, rule, start)

    def _suits_newton(self, objective: LinearObjective, rule: StoppingRule) -> bool:
        precise_enough = rule.tol >= 1e-6
        able = self.penalty.is_quadratic and objective.is_smoothable
        few = objective.n_parameters <= _MOST_FOR_NEWTON
        return few and _is_tall(objective) and precise_enough and able


def _limited(rule: StoppingRule, start: Start | None, more: int) -> StoppingRule:
    """Return the rule for so many more iterations at most."""
    done = 0 if start is None else len(start.history)
    return replace(rule, max_iter=min(done + more, rule.max_iter))


def _is_final(solution: Solution, limited: StoppingRule, rule: StoppingRule) -> bool:
    """Tell whether it was not the limit on iterations that ended a try."""
    stopped = solution.n_iter < limited.max_iter or limited.max_iter == rule.max_iter
    return solution.converged or stopped


def _from_here(solution: Solution) -> Start:
    return Start(solution.point, solution.cuts, solution.history)


def _is_tall(objective: LinearObjective) -> bool:
    n_rows, n_features = objective.X.shape
    return bool(n_rows >= 10 * n_features)


def _newton(
    objective: LinearObjective,
    regularizer: Any,
    rule: StoppingRule,
    start: Start | None,
) -> Solution:
    return SmoothedNewtonSolver(rule).minimize(objective, regularizer, start)


def _sparse(
    objective: LinearObjective,
    regularizer: ProximalRegularizer,
    rule: StoppingRule,
    start: Start | None,
) -> Solution:
    """Minimise by cutting planes, unless there are many features and many are used.

    Cutting planes find few weights among many features in the fewest passes, but need
    about as many cuts as there are weights.
    """
    if _is_tall(objective) or objective.X.shape[0] < _MANY_ROWS:
        return _bundle(objective, regularizer, rule, start)
    limited = _limited(rule, start, _TRIAL_ITERATIONS)
    solution = SubgradientSolver(limited).minimize(objective, regularizer, start)
    if _is_final(solution, limited, rule):
        return solution
    start = _from_here(solution)
    if np.count_nonzero(solution.point.parameters) > _MANY_WEIGHTS:
        return SubgradientSolver(rule).minimize(objective, regularizer, start)
    return _bundle(objective, regularizer, rule, start)


def _bundle(
    objective: LinearObjective,
    regularizer: ProximalRegularizer,
    rule: StoppingRule,
    start: Start | None,
) -> Solution:
    """Minimise by cutting planes, stabilised as the regularizer needs it."""
    if isinstance(regularizer, HullRegularizer):
        solution = LevelBundleSolver(rule).minimize(objective, regularizer, start)
        return without_dust(solution, objective, regularizer, rule)
    # on wide data many pairs end at a kink, which smoothing resolves
    smoothing = not _is_tall(objective)
    return BundleSolver(rule, smoothing).minimize(objective, regularizer, start)
