"""Minimise a difference of convex functions by tangents of the subtracted one."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from aucmax.solvers.block_frank_wolfe import (
    BlockFrankWolfeSolver,
    BlockObjective,
    TangentL2,
)
from aucmax.solvers.solver import Point, Solution, Start, StoppingRule

_TIGHTENING = 4.0  # of the tolerance, while the solution is not good enough


@dataclass
class RoundsSolution(Solution):
    """The best point of all rounds; `gap` is that of the last convex problem."""

    n_rounds: int = 1  # convex problems solved


@dataclass(frozen=True)
class DifferenceOfConvexSolver:
    """Replace the subtracted function by its tangent, minimise, and repeat.

    The tangent is below that function, so the objective never rises. Rounds end once
    one lowers the objective by no more than the tolerance, and continue with a
    tighter one until `is_final` returns true. At a limit, the last solution within a
    tolerance is returned.
    """

    stopping: StoppingRule
    max_rounds: int
    is_fixed: bool = False  # whether to keep the first tangent: a convex problem
    is_final: Callable[[Point], bool] | None = None

    def minimize(
        self, objective: BlockObjective, regularizer: TangentL2, start: Start
    ) -> RoundsSolution:
        """See :meth:`Solver.minimize`."""
        stopping, C, n_rounds = self.stopping, objective.C, 0
        best, reached = start.point, None
        gradient = objective.concave_gradient(best)
        while True:
            tangent = replace(regularizer, linear=C * gradient)
            solver = BlockFrankWolfeSolver(stopping)
            convex = solver.minimize(objective, tangent, start)
            if n_rounds == 0:  # the tangent touches at the start
                value = convex.history[len(start.history)].value
            lowest, is_settled = convex.value, True
            if self.is_fixed:
                n_rounds = 1
            else:
                n_rounds += 1
                touched, gradient = gradient, objective.concave_gradient(convex.point)
                excess = (gradient - touched) @ convex.point.parameters
                lowest -= C * max(float(excess), 0.0)
                decrease = stopping.tol * max(lowest, stopping.floor)
                is_settled = lowest >= value - decrease
            if lowest < value:
                best, value = convex.point, lowest
            is_solved = is_settled and convex.converged
            changed = {"point": best, "value": value, "converged": is_solved}
            solution = RoundsSolution(**vars(convex) | changed, n_rounds=n_rounds)
            if is_solved:
                reached = solution
                if self.is_final is None or self.is_final(best):
                    return solution
                stopping = replace(stopping, tol=stopping.tol / _TIGHTENING)
            is_over = convex.stopped_by_callback or convex.n_iter >= stopping.max_iter
            is_last = not self.is_fixed and n_rounds >= self.max_rounds
            if is_over or is_last or not convex.converged:
                break
            start = Start(best, convex.cuts, convex.history)
        if reached is None:
            return solution
        names = ("history", "n_iter", "n_rounds", "stopped_by_callback")
        return replace(reached, **{name: getattr(solution, name) for name in names})
