"""One data set, any margin risk: maximise the margin over weighted hypotheses."""

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from aucmax._validation import BoolArray, FloatArray, IntArray
from aucmax.hypotheses import Hypotheses
from aucmax.margin.limits import Limits, most_cuts, zero_floor
from aucmax.margin.objective import MarginObjective
from aucmax.regularizers import L1Ball, Simplex
from aucmax.risks.base import Risk
from aucmax.solvers import LevelBundleSolver, Point, Start, StoppingRule
from aucmax.solvers.cuts import Cuts

__all__ = ["ColumnProblem", "MarginProblem", "MarginResult"]


@dataclass
class MarginResult:
    """The weights of the largest margin found, and its certificate.

    Attributes
    ----------
    weights : ndarray of shape (n_hypotheses,)
        One for each hypothesis of the problem.
    scores : ndarray of shape (n_rows,)
        The scores they give.
    margin : float
        The margin they reach.
    gap : float
        The largest margin of all is at most `margin` + `gap`.
    converged : bool
        Whether the gap is within the tolerance. It is not where a solve ended early,
        be it that the margin was enough: `margin` and `gap` are right all the same.
    row_weights : ndarray of shape (n_rows,) or None
        The dual solution: shares of the rows, of sum 1/2 over the positives and -1/2
        over the negatives, under which no hypothesis has an edge above `margin` +
        `gap`.
    cuts : Cuts or None
        What a later solve may start from.
    """

    weights: FloatArray
    scores: FloatArray
    margin: float
    gap: float
    converged: bool
    row_weights: FloatArray | None = field(default=None, repr=False)
    cuts: Cuts | None = field(default=None, repr=False)


class MarginProblem(Protocol):
    """What a formulation needs: the data, and the optimum of any margin risk on it.

    Gaps are relative to the margin, or to the `floor` where it is nearer to 0.
    """

    labels: BoolArray
    sample_weight: FloatArray | None
    limits: Limits
    floor: float
    n_passes: float

    def solve(
        self,
        risk: Risk,
        start: MarginResult | None = None,
        *,
        keep_row_weights: bool = False,
        reuse_cuts: bool = False,
        looseness: float = 1.0,
        enough: float = np.inf,
    ) -> MarginResult:
        """Find the weights of the largest margin, minus the risk.

        Parameters
        ----------
        risk : Risk
            A margin risk.
        start : MarginResult, optional
            A neighbouring result to begin at.
        keep_row_weights : bool, default=False
            Whether the dual solution is needed; it costs memory, a number a row and
            cut, while the solve lasts.
        reuse_cuts : bool, default=False
            Whether the cuts of `start` lie below this risk, too: its row weights are
            allowed here.
        looseness : float, default=1.0
            How many times the tolerance the gap may be.
        enough : float, default=inf
            The margin that is enough: the solve ends when it is reached.
        """

    def scores(self, weights: FloatArray) -> FloatArray:
        """Score the rows by other weights of the hypotheses: half a pass."""

    def tolerance(self, margin: float) -> float:
        """Return the gap allowed at a margin."""


class ColumnProblem:
    """Hypotheses that are all at hand, as columns.

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
        When to stop.
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
        self.floor = 0.0
        self.n_passes = 0.0
        self._usable = usable if usable.size < hypotheses.n_hypotheses else None
        self._regularizer = L1Ball() if signed else Simplex()

    def solve(
        self,
        risk: Risk,
        start: MarginResult | None = None,
        *,
        keep_row_weights: bool = False,
        reuse_cuts: bool = False,
        looseness: float = 1.0,
        enough: float = np.inf,
    ) -> MarginResult:
        """Find the weights of the largest margin: see :class:`MarginProblem`."""
        objective = MarginObjective(
            self.hypotheses, self.labels, risk, self.sample_weight, self._usable
        )
        objective.n_passes = self.n_passes
        if not self.floor:
            self.floor = self._find_floor(objective)
        rule = self.limits.rule(self.floor, looseness, enough)
        solver = LevelBundleSolver(rule)
        if keep_row_weights:
            cuts = most_cuts(self.labels.size)
            solver = LevelBundleSolver(rule, max_cuts=cuts, keep_sources=True)
        first = None
        if start is not None:
            point = Point(objective.narrowed(start.weights), start.scores)
            first = Start(point, start.cuts if reuse_cuts else None)
        solution = solver.minimize(objective, self._regularizer, first)
        self.n_passes = objective.n_passes
        self.limits.n_iter += solution.n_iter
        return MarginResult(
            objective.widened(solution.point.parameters),
            solution.point.scores,
            0.0 - solution.value,  # not -0.0
            solution.gap,
            solution.converged,
            -solution.cuts.mixed_source() if keep_row_weights else None,
            solution.cuts,
        )

    def scores(self, weights: FloatArray) -> FloatArray:
        """Score the rows by other weights of the hypotheses: half a pass."""
        self.n_passes += 0.5
        return self.hypotheses.scores(weights)

    def tolerance(self, margin: float) -> float:
        """Return the gap allowed at a margin."""
        return self.limits.stopping.tol * max(abs(margin), self.floor)

    def _find_floor(self, objective: MarginObjective) -> float:
        edges = objective.pull_back(objective.flat_support())
        precision = float(np.finfo(self.hypotheses.X.dtype).eps)
        largest = float(np.abs(edges).max())
        return zero_floor(largest, self.limits.stopping.tol, precision)
