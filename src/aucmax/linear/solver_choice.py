"""Which solver minimises a linear model's objective."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from aucmax.linear.objective import LinearObjective
from aucmax.linear.row_space import RowSpace
from aucmax.linear.wide_solver import WideSolver
from aucmax.regularizers import (
    HullRegularizer,
    ProximalRegularizer,
    QuadraticRegularizer,
    SparseRegularizer,
)
from aucmax.solvers import (
    BundleSolver,
    ColumnNewtonSolver,
    DescentSolver,
    LevelBundleSolver,
    SmoothedNewtonSolver,
    Solution,
    Solver,
    Start,
    StoppingRule,
    SubgradientSolver,
    suits_column_steps,
)
from aucmax.solvers.sparsity import without_dust

__all__ = ["SOLVERS", "AutoSolver", "CuttingPlaneSolver", "SolverType", "look_closer"]

_FEWEST_ROWS_PER_COLUMN = 10  # of tall data
_MOST_FEATURES_FOR_NEWTON = 1000  # of which it keeps a square matrix
_SMALLEST_TOL_FOR_NEWTON = 1e-6  # a smoothed risk is not precise enough for less
_MOST_NEWTON_ITERATIONS = 100  # before cutting planes take over
_MOST_CUTS_BEFORE_COLUMNS = 20  # they may do where few weights are enough
_MOST_COLUMN_STEPS = 300  # before others take over
_FEWEST_ROWS_FOR_SUBGRADIENTS = 10_000  # on fewer, cutting planes find the few weights
_MOST_TRIAL_ITERATIONS = 60  # before it is decided which solver goes on
_MOST_WEIGHTS_FOR_CUTS = 1000  # with more, subgradient steps go on
_CLOSER_TOL = 0.01  # share of the tolerance with which weights of 0 are looked at
_MOST_CLOSER_ITERATIONS = 20  # for weights of 0

SolverType = Callable[[StoppingRule], Solver]


@dataclass(frozen=True)
class AutoSolver:
    """The solver that suits the data, the risk and the regularizer.

    Descent where the risk is smooth; Newton steps where they are possible and the data
    are tall; cutting planes take over if few pairs are left near the margin, where they
    do better. For L1 and elastic nets on wide data, Newton steps over the columns in
    use, after a few cutting planes. Elsewhere, for a hull of few
    directions (L1), cutting planes find few weights among many features in the fewest
    passes, but need about as many cuts as there are weights: on many rows and columns,
    subgradient steps find out how many weights there will be.
    """

    stopping: StoppingRule

    def minimize(
        self,
        objective: LinearObjective,
        regularizer: ProximalRegularizer,
        start: Start | None = None,
    ) -> Solution:
        """See :meth:`Solver.minimize`."""
        rule = self.stopping
        if isinstance(regularizer, SparseRegularizer) and _suits_column_steps(
            objective, regularizer, rule
        ):
            solution = _by_columns(objective, regularizer, start, rule)
            if _is_over(solution, rule):
                return solution
            start = _from_here(solution)
        if isinstance(regularizer, QuadraticRegularizer) and objective.is_smooth:
            return DescentSolver(rule).minimize(objective, regularizer, start)
        if isinstance(regularizer, QuadraticRegularizer) and _suits_newton(
            objective, rule
        ):
            limited = _limited(rule, start, _MOST_NEWTON_ITERATIONS)
            newton = SmoothedNewtonSolver(limited)
            solution = newton.minimize(objective, regularizer, start)
        elif isinstance(regularizer, HullRegularizer) and _suits_trial(objective):
            limited = _limited(rule, start, _MOST_TRIAL_ITERATIONS)
            trial = SubgradientSolver(limited)
            solution = trial.minimize(objective, regularizer, start)
        elif isinstance(regularizer, QuadraticRegularizer) and _is_wide(objective):
            return WideSolver(rule).minimize(objective, regularizer, start)
        else:
            return CuttingPlaneSolver(rule).minimize(objective, regularizer, start)
        if _is_final(solution, limited, rule):
            return solution
        goes_on: Solver = CuttingPlaneSolver(rule)
        if np.count_nonzero(solution.point.parameters) > _MOST_WEIGHTS_FOR_CUTS:
            goes_on = SubgradientSolver(rule)
        return goes_on.minimize(objective, regularizer, _from_here(solution))


@dataclass(frozen=True)
class CuttingPlaneSolver:
    """Cutting planes, stabilised as the regularizer needs it."""

    stopping: StoppingRule

    def minimize(
        self,
        objective: LinearObjective,
        regularizer: ProximalRegularizer,
        start: Start | None = None,
    ) -> Solution:
        """See :meth:`Solver.minimize`."""
        rule = self.stopping
        if isinstance(regularizer, HullRegularizer):
            solution = LevelBundleSolver(rule).minimize(objective, regularizer, start)
            return without_dust(solution, objective, regularizer, rule)
        # on wide data many pairs end at a kink, which smoothing resolves
        smoothing = not _is_tall(objective)
        return BundleSolver(rule, smoothing).minimize(objective, regularizer, start)


#: from the name of a solver to what makes it, given a stopping rule
SOLVERS: dict[str, SolverType] = {
    "auto": AutoSolver,
    "newton": SmoothedNewtonSolver,
    "bundle": CuttingPlaneSolver,
    "subgradient": SubgradientSolver,
    "descent": DescentSolver,
}


def look_closer(
    solution: Solution,
    objective: LinearObjective,
    regularizer: ProximalRegularizer,
    solver_type: SolverType,
    rule: StoppingRule,
) -> Solution:
    """Look more closely at weights of 0, and leave any others as they are.

    Within the tolerance weights of 0 may be as good as others, but only others rank.
    """
    is_ranking = solution.point.parameters.any()
    if is_ranking or not solution.converged or solution.n_iter >= rule.max_iter:
        return solution
    start = _from_here(solution)
    closer = replace(rule, tol=_CLOSER_TOL * rule.tol)
    closer = _limited(closer, start, _MOST_CLOSER_ITERATIONS)
    found = solver_type(closer).minimize(objective, regularizer, start)
    found.converged = rule.is_reached(found.value, found.gap)
    return found


def _suits_newton(objective: LinearObjective, rule: StoppingRule) -> bool:
    return (
        objective.is_smoothable
        and _is_tall(objective)
        and objective.n_parameters <= _MOST_FEATURES_FOR_NEWTON
        and rule.tol >= _SMALLEST_TOL_FOR_NEWTON
    )


def _suits_column_steps(
    objective: LinearObjective, regularizer: SparseRegularizer, rule: StoppingRule
) -> bool:
    prices = regularizer.priced_weights()
    has_price = prices.radius is None and prices.price > 0.0
    return (
        has_price
        and objective.is_smoothable
        and suits_column_steps(objective.X, rule.tol)
    )


def _by_columns(
    objective: LinearObjective,
    regularizer: SparseRegularizer,
    start: Start | None,
    rule: StoppingRule,
) -> Solution:
    """Try a few cutting planes; then step over the columns in use."""
    limited = _limited(rule, start, _MOST_CUTS_BEFORE_COLUMNS)
    cuts = CuttingPlaneSolver(limited)
    solution = cuts.minimize(objective, regularizer, start)
    if _is_over(solution, rule):
        return solution
    start = _from_here(solution)
    steps = ColumnNewtonSolver(_limited(rule, start, _MOST_COLUMN_STEPS))
    solution = steps.minimize(objective, regularizer, start)
    return without_dust(solution, objective, regularizer, rule)


def _suits_trial(objective: LinearObjective) -> bool:
    n_rows = objective.X.shape[0]
    return not _is_tall(objective) and n_rows >= _FEWEST_ROWS_FOR_SUBGRADIENTS


def _is_tall(objective: LinearObjective) -> bool:
    n_rows, n_features = objective.X.shape
    return bool(n_rows >= _FEWEST_ROWS_PER_COLUMN * n_features)


def _is_wide(objective: LinearObjective) -> bool:
    return objective.column_scales is None and RowSpace.is_smaller(objective.X)


def _limited(rule: StoppingRule, start: Start | None, more: int) -> StoppingRule:
    """Return the rule for so many more iterations at most."""
    done = 0 if start is None else len(start.history)
    return replace(rule, max_iter=min(done + more, rule.max_iter))


def _is_final(solution: Solution, limited: StoppingRule, rule: StoppingRule) -> bool:
    """Tell whether it was not the limit on iterations that ended a try."""
    stopped = solution.n_iter < limited.max_iter or limited.max_iter == rule.max_iter
    return solution.converged or stopped


def _is_over(solution: Solution, rule: StoppingRule) -> bool:
    """Tell whether there is nothing left to do, or no time for it."""
    last = solution.history[-1]
    late = rule.max_time is not None and last.seconds >= rule.max_time
    at_end = solution.n_iter >= rule.max_iter or late
    return solution.converged or solution.was_asked or at_end


def _from_here(solution: Solution) -> Start:
    return Start(solution.point, solution.cuts, solution.history)
