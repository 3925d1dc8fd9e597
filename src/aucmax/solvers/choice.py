"""The choice of a solver: a table of rules, read from top to bottom."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from aucmax.regularizers.regularizer import (
    QuadraticRegularizer,
    SparseRegularizer,
)
from aucmax.solvers.bundle import BundleSolver
from aucmax.solvers.descent import DescentSolver
from aucmax.solvers.proximal_newton import ProximalNewtonSolver, suits_column_steps
from aucmax.solvers.risk_objective import MIN_TOL_OF_SMOOTHING
from aucmax.solvers.solver import Solution, Solver, Start, StoppingRule
from aucmax.solvers.subgradient import SubgradientSolver
from aucmax.solvers.wide import WideSolver, suits_row_space

_MIN_ROWS_PER_COLUMN = 10  # of tall data
_MIN_COLUMNS_PER_ROW = 10  # measured: with fewer, the span of the rows saves no time
_MAX_COLUMNS_FOR_NEWTON = 1000  # of which it keeps a square matrix
_CLOSER_TOL = 0.01  # share of the tolerance, where all weights are 0
_MAX_CLOSER_ITERATIONS = 20  # for weights of 0

SolverType = Callable[[StoppingRule], Solver]


class Problem(NamedTuple):
    """The facts that a rule may use."""

    objective: Any  # a `RiskObjective` with the data X
    regularizer: Any
    tol: float

    @property
    def is_tall(self) -> bool:
        """Whether there are many rows per column."""
        objective = self.objective
        return bool(objective.n_rows >= _MIN_ROWS_PER_COLUMN * objective.n_parameters)

    @property
    def is_quadratic(self) -> bool:
        """Whether the regularizer is L2."""
        return isinstance(self.regularizer, QuadraticRegularizer)


class Stage(NamedTuple):
    """A solver that works on a problem until it is solved, or for some iterations."""

    solver: SolverType
    max_iter: int | None = None


class Rule(NamedTuple):
    """One row of the table: when it holds, and the solvers in sequence."""

    when: str
    holds: Callable[[Problem], bool]
    then: str
    stages: tuple[Stage, ...]


@dataclass(frozen=True)
class ChosenSolver:
    """The solvers of the first rule that holds for a problem."""

    stopping: StoppingRule
    rules: tuple[Rule, ...]

    def minimize(
        self, objective: Any, regularizer: Any, start: Start | None = None
    ) -> Solution:
        """See :meth:`Solver.minimize`."""
        rule = self.stopping
        problem = Problem(objective, regularizer, rule.tol)
        chosen = next(row for row in self.rules if row.holds(problem))
        for stage in chosen.stages:
            solver = stage.solver(_limited(rule, start, stage.max_iter))
            solution = solver.minimize(objective, regularizer, start)
            if _is_over(solution, rule):
                break
            start = Start(solution.point, solution.cuts, solution.history)
        return solution


def _suits_columns(problem: Problem) -> bool:
    objective, regularizer, tol = problem
    if not isinstance(regularizer, SparseRegularizer):
        return False
    penalty = regularizer.weight_penalty()
    is_set = penalty.radius is not None
    return (
        (penalty.l1 > 0.0 or (is_set and objective.least_value == -np.inf))
        and objective.risk.can_be_smoothed
        and suits_column_steps(objective, tol)
    )


def _suits_row_space(problem: Problem) -> bool:
    objective = problem.objective
    n_rows, n_columns = objective.X.shape
    return (
        problem.is_quadratic
        and n_columns >= _MIN_COLUMNS_PER_ROW * n_rows
        and suits_row_space(objective.X)
    )


def _suits_newton(problem: Problem) -> bool:
    return (
        problem.is_quadratic
        and problem.objective.risk.can_be_smoothed
        and problem.objective.risk.least_value > -np.inf
        and problem.is_tall
        and problem.objective.n_parameters <= _MAX_COLUMNS_FOR_NEWTON
        and problem.tol >= MIN_TOL_OF_SMOOTHING
    )


CUTTING_PLANES = (
    # on wide data many pairs end at a kink, which smoothing resolves
    Rule(
        "fewer than 10 rows per column",
        lambda problem: not problem.is_tall,
        "bundle, smoothed where the risk can be",
        (Stage(partial(BundleSolver, smoothing=True)),),
    ),
    Rule("all else", lambda problem: True, "bundle", (Stage(BundleSolver),)),
)
_cutting_planes = partial(ChosenSolver, rules=CUTTING_PLANES)

#: the rules of ``solver="auto"``; the user guide prints `when` and `then`
RULES = (
    Rule(
        "L2, and a smooth risk",
        lambda problem: problem.is_quadratic and problem.objective.risk.is_smooth,
        "descent",
        (Stage(DescentSolver),),
    ),
    Rule(
        "L2, a risk that can be smoothed, at least 10 rows per column, at most 1,000 "
        "columns, and `tol` of at least 1e-6",
        _suits_newton,
        "Newton steps; cutting planes after 100 iterations",
        (Stage(ProximalNewtonSolver, 100), Stage(_cutting_planes)),
    ),
    # rounding in the span may spoil a certificate, hence the last cutting planes
    Rule(
        "L2, at least 10 columns per row, at most 3,000 rows, and fewer numbers in an "
        "orthonormal basis of the rows' span",
        _suits_row_space,
        "cutting planes; in the span of the rows after 15 iterations",
        (Stage(_cutting_planes, 15), Stage(WideSolver), Stage(_cutting_planes)),
    ),
    Rule(
        "an L1 or elastic net penalty (for a margin, an L1 ball or a simplex), a risk "
        "that can be smoothed, at most 20,000 rows (5,000 dense ones), and `tol` of at "
        "least 1e-6",
        _suits_columns,
        "Newton steps over the columns in use; cutting planes after 300 iterations",
        (
            Stage(ProximalNewtonSolver, 300),
            Stage(_cutting_planes),
        ),
    ),
    *CUTTING_PLANES,
)

#: from the name of a solver to what makes it, given a stopping rule
SOLVERS: dict[str, SolverType] = {
    "auto": partial(ChosenSolver, rules=RULES),
    "newton": ProximalNewtonSolver,
    "bundle": _cutting_planes,
    "subgradient": SubgradientSolver,
    "descent": DescentSolver,
}


def retry_if_all_zero(
    solution: Solution,
    objective: Any,
    regularizer: Any,
    solver_type: SolverType,
    rule: StoppingRule,
) -> Solution:
    """Solve more closely if all weights are 0, which rank nothing."""
    is_ranking = solution.point.parameters.any()
    if is_ranking or not solution.converged or solution.n_iter >= rule.max_iter:
        return solution
    start = Start(solution.point, solution.cuts, solution.history)
    closer = replace(rule, tol=_CLOSER_TOL * rule.tol)
    closer = _limited(closer, start, _MAX_CLOSER_ITERATIONS)
    solution = solver_type(closer).minimize(objective, regularizer, start)
    solution.converged = rule.is_reached(solution.value, solution.gap)
    return solution


def _limited(rule: StoppingRule, start: Start | None, more: int | None) -> StoppingRule:
    """Return the rule for at most some more iterations."""
    if more is None:
        return rule
    done = 0 if start is None else len(start.history)
    return replace(rule, max_iter=min(done + more, rule.max_iter))


def _is_over(solution: Solution, rule: StoppingRule) -> bool:
    """Return whether there is nothing left to do, or no time for it."""
    last = solution.history[-1]
    is_late = rule.max_time is not None and last.seconds >= rule.max_time
    at_end = solution.n_iter >= rule.max_iter or is_late
    return solution.converged or solution.stopped_by_callback or at_end
