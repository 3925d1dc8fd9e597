"""The same problems handed to HiGHS: small data, and the tests' second opinion."""

from typing import Any

import numpy as np

from aucmax.margin.column_problem import ColumnProblem
from aucmax.margin.problem import MarginResult
from aucmax.risks import InstanceMargin, PairMargin, TangentMargin
from aucmax.solvers.linear_program import solve_instances, solve_pairs, solve_tangent

__all__ = ["ProgramProblem"]

#: the linear program of each risk; its arguments are the risk's parameters
PROGRAMS: dict[type[Any], Any] = {
    PairMargin: solve_pairs,
    InstanceMargin: solve_instances,
    TangentMargin: solve_tangent,
}

_LEAST_TIME = 1e-9  # seconds: HiGHS takes 0 for no limit
_ACCURACY = 1e-8  # absolute: how far HiGHS's tolerances may carry a margin


class ProgramProblem(ColumnProblem):
    """Hypotheses as a dense matrix, solved as linear programs.

    A program counts as one iteration. There is no half solution: where the time limit
    is reached, a TimeoutError is raised. Of the stopping rule, `max_time` is the time
    limit of all programs together; `max_iter` and the callback are of no use here.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.floor = _ACCURACY / self.limits.stopping.tol
        usable = self._objective.usable
        columns = slice(None) if usable is None else usable
        self._matrix = self.hypotheses.columns(columns)

    def solve(
        self, risk: Any, start: MarginResult | None = None, **unused: Any
    ) -> MarginResult:
        """Find the weights of the largest margin; only the risk makes a difference."""
        left = self.limits.seconds_left
        solution = PROGRAMS[type(risk)](
            self._matrix,
            self.labels,
            **risk.get_params(),
            weights_set="l1" if self.signed else "simplex",
            sample_weight=self.sample_weight,
            time_limit=None if left is None else max(left, _LEAST_TIME),
        )
        self.limits.n_iter += 1
        weights = self._objective.widened(solution.alpha)
        scores = self._matrix @ solution.alpha
        margin = 0.0 - float(risk.value(scores, self.labels, self.sample_weight))
        row_weights = np.empty(self.labels.size)
        row_weights[self.labels] = solution.d_pos / 2.0
        row_weights[~self.labels] = -solution.d_neg / 2.0
        gap = max(solution.value - margin, 0.0)
        converged = gap <= self.tolerance(margin)
        return MarginResult(weights, scores, margin, gap, converged, row_weights)
