"""The same problems handed to HiGHS: small data, and the tests' second opinion."""

from typing import Any

import numpy as np

from aucmax._validation import BoolArray, FloatArray, IntArray
from aucmax.hypotheses import Hypotheses
from aucmax.margin.limits import Limits
from aucmax.margin.problem import MarginResult
from aucmax.risks import InstanceMargin, PairMargin, TangentMargin
from aucmax.solvers import StoppingRule
from aucmax.solvers.linear_program import solve_instances, solve_pairs, solve_tangent

__all__ = ["ProgramProblem"]

#: the linear program of each risk; its arguments are the risk's parameters
PROGRAMS: dict[type[Any], Any] = {
    PairMargin: solve_pairs,
    InstanceMargin: solve_instances,
    TangentMargin: solve_tangent,
}

_NO_TIME = 1e-9  # seconds
_ACCURACY = 1e-8  # absolute: what HiGHS's tolerances may make of a margin


class ProgramProblem:
    """Hypotheses as a dense matrix, solved as linear programs.

    A program counts as one iteration. There is no half solution: where the time limit
    is reached, a TimeoutError is raised.

    Parameters
    ----------
    hypotheses : Hypotheses
        The hypotheses on the rows.
    labels : ndarray of bool of shape (n_rows,)
        True for positives.
    sample_weight : ndarray of shape (n_rows,), optional
        Row weights.
    signed : bool
        Whether each hypothesis may also count with the opposite sign.
    usable : ndarray of int
        The hypotheses that may have weight.
    stopping : StoppingRule
        Its `max_time` is the time limit of all programs together; `max_iter` and the
        callback are of no use here.
    """

    def __init__(
        self,
        hypotheses: Hypotheses,
        labels: BoolArray,
        sample_weight: FloatArray | None,
        *,
        signed: bool,
        usable: IntArray,
        stopping: StoppingRule,
    ) -> None:
        self.hypotheses = hypotheses
        self.labels = labels
        self.sample_weight = sample_weight
        self.limits = Limits(stopping)
        self.floor = _ACCURACY / stopping.tol
        self.n_passes = 0.0
        self._usable = usable
        self._matrix = hypotheses.columns(usable)
        self._weights_set = "l1" if signed else "simplex"

    def solve(
        self,
        risk: Any,
        start: MarginResult | None = None,
        *,
        keep_row_weights: bool = False,
        reuse_cuts: bool = False,
        looseness: float = 1.0,
        enough: float = np.inf,
    ) -> MarginResult:
        """Find the weights of the largest margin; only the risk makes a difference."""
        left = self.limits.seconds_left
        solution = PROGRAMS[type(risk)](
            self._matrix,
            self.labels,
            **risk.get_params(),
            weights_set=self._weights_set,
            sample_weight=self.sample_weight,
            time_limit=None if left is None else max(left, _NO_TIME),
        )
        self.limits.n_iter += 1
        weights = np.zeros(self.hypotheses.n_hypotheses)
        weights[self._usable] = solution.alpha
        scores = self._matrix @ solution.alpha
        margin = 0.0 - float(risk.value(scores, self.labels, self.sample_weight))
        row_weights = np.empty(self.labels.size)
        row_weights[self.labels] = solution.d_pos / 2.0
        row_weights[~self.labels] = -solution.d_neg / 2.0
        gap = max(solution.value - margin, 0.0)
        converged = gap <= self.tolerance(margin)
        return MarginResult(weights, scores, margin, gap, converged, row_weights)

    def scores(self, weights: FloatArray) -> FloatArray:
        """Score the rows by other weights of the hypotheses."""
        scores: FloatArray = self._matrix @ weights[self._usable]
        return scores

    def tolerance(self, margin: float) -> float:
        """Return the gap allowed at a margin."""
        return self.limits.stopping.tol * max(abs(margin), self.floor)
