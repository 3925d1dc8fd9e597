"""All stumps at once, by column generation."""

from typing import Any

import numpy as np

from aucmax._validation import BoolArray, FloatArray
from aucmax.hypotheses import BestStumps, StumpColumns, StumpEnsemble, Stumps
from aucmax.margin.limits import most_cuts
from aucmax.margin.objective import MarginObjective
from aucmax.margin.problem import MarginProblem, MarginResult
from aucmax.regularizers import L1Ball
from aucmax.risks.base import Risk
from aucmax.solvers import (
    LevelBundleSolver,
    Point,
    Progress,
    Solution,
    Start,
    StoppingRule,
)
from aucmax.solvers.cuts import Cuts

__all__ = ["StumpProblem"]

_GAP_SHARE = 0.5  # of the gap over all stumps, to which a round is solved
_LEAST_TOLERANCE_SHARE = 0.01  # of the gap allowed: no round is solved more closely
_LEAST_CLOSENESS = 1e-15  # absolute, where rounding decides
_LARGEST_TIE = 2e-9  # relative: edges that differ by less count as equal


class StumpProblem(MarginProblem):
    """Every threshold of every column, in both directions.

    A round maximises the margin over the stumps chosen so far. Its dual solution weighs
    the rows; one sweep over the sorted columns finds the stump with the largest edge
    under these weights, of *all* stumps. That edge bounds the margin that any weighting
    of any stumps can reach, which certifies the gap. Each column's best stump joins if
    its edge is above the margin. X is finite, float32 or float64, dense, CSR or CSC;
    `hypotheses` are the stumps chosen so far, by any solve.
    """

    hypotheses: StumpColumns

    def __init__(
        self,
        X: Any,
        labels: BoolArray,
        sample_weight: FloatArray | None,
        stopping: StoppingRule,
        names: Any = None,
    ) -> None:
        super().__init__(StumpColumns(X), labels, sample_weight, stopping)
        self.stumps = Stumps.fit(X, names)
        self._first_edge = 0.0

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
        """Find the weights of the largest margin over all stumps.

        See :class:`~aucmax.margin.problem.MarginProblem`. `keep_row_weights` makes no
        difference: the rounds need the dual solution anyway.
        """
        objective = self._under(risk)
        here = self._first_point(objective, start, reuse_cuts)
        rule = self.limits.rule(self.floor, looseness, enough)
        rule.callback = lambda progress: (
            self.limits.is_over or -progress.value >= enough
        )
        # no weighting of stumps has a margin above this, whatever the risk
        watch, bound = rule.watch(), -self._first_edge
        closeness = max(_GAP_SHARE * self._first_edge, _LEAST_CLOSENESS)
        while True:
            solution = self._solve_round(objective, here, rule, closeness, bound)
            row_weights = -solution.cuts.mixed_source()
            best = self._sweep(row_weights)
            # ties within rounding go to the first stump, which may be a trifle lower
            bound = max(
                bound, -(1.0 + _LARGEST_TIE) * float(best.edge.max(initial=0.0))
            )
            if watch.says_stop(objective, solution.value, bound):
                break
            useful = best.edge > -solution.value
            n_new = self.hypotheses.add(best.column[useful], best.threshold[useful])
            # without new stumps, what is left of the gap is the round's own
            gap = watch.history[-1].gap
            closeness = min(closeness, _GAP_SHARE * (gap if n_new else closeness))
            allowed = rule.tol * max(abs(solution.value), rule.floor)
            if closeness < max(_LEAST_TOLERANCE_SHARE * allowed, _LEAST_CLOSENESS):
                break
            self._widen_cuts(solution.cuts)
            point = Point(self._widened(solution.point.parameters), solution.point[1])
            here = Start(point, solution.cuts)
        return MarginResult(
            solution.point.parameters,
            solution.point.scores,
            0.0 - solution.value,  # not -0.0
            watch.history[-1].gap,
            watch.converged,
            row_weights,
            solution.cuts,
        )

    def ensemble(self, weights: FloatArray) -> StumpEnsemble:
        """Return the scoring function of these weights; zeros are left out."""
        used, chosen = np.flatnonzero(weights), self.hypotheses
        return StumpEnsemble(chosen.column[used], weights[used], chosen.threshold[used])

    def _largest_edge(self, row_weights: FloatArray) -> float:
        """Choose each column's best stump under the first row weights."""
        best = self._sweep(row_weights)
        self.hypotheses.add(best.column, best.threshold)
        self._first_edge = float(best.edge.max(initial=0.0))
        return self._first_edge

    @property
    def _precision(self) -> float:
        return float(np.finfo(np.float64).eps)  # of the stumps, not of the data

    def _first_point(
        self, objective: MarginObjective, start: MarginResult | None, reuse_cuts: bool
    ) -> Start:
        if start is None:
            return Start(objective.origin())
        cuts = start.cuts if reuse_cuts else None
        self._widen_cuts(cuts)
        return Start(Point(self._widened(start.weights), start.scores), cuts)

    def _solve_round(
        self,
        objective: MarginObjective,
        here: Start,
        rule: StoppingRule,
        closeness: float,
        bound: float,
    ) -> Solution:
        """Maximise over the chosen stumps, a little more closely than over all."""

        def tell(progress: Progress) -> bool:
            return self.limits.tell(progress._replace(gap=progress.value - bound))

        left = self.limits.seconds_left
        # margins are at most 1, so with this floor the tolerance is an absolute gap
        inner = StoppingRule(closeness, rule.max_iter, left, tell, floor=1.0)
        cuts = most_cuts(self.labels.size)
        solver = LevelBundleSolver(inner, max_cuts=cuts, keep_sources=True)
        solution = solver.minimize(objective, L1Ball(), here)
        self.limits.n_iter += solution.n_iter
        return solution

    def _sweep(self, row_weights: FloatArray) -> BestStumps:
        """Find each column's best stump; a sweep reads as much as half a pass."""
        self._objective.n_passes += 0.5
        return self.stumps.best(row_weights)

    def _widened(self, weights: FloatArray) -> FloatArray:
        """Append a zero for each stump chosen since."""
        missing = self.hypotheses.n_hypotheses - weights.size
        return np.concatenate([weights, np.zeros(missing)])

    def _widen_cuts(self, cuts: Cuts | None) -> None:
        """Extend cuts to the stumps chosen since."""
        if cuts is None or cuts.sources is None:
            return
        known = cuts.gradients.shape[1]
        columns = [self.hypotheses.edges(source, known) for source in cuts.sources]
        cuts.widen(np.array(columns))
