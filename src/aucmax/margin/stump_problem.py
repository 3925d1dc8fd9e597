"""All stumps at once, by column generation, or from the inside of the program."""

from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from aucmax._core.threads import one_blas_thread
from aucmax._core.validation import BoolArray, FloatArray
from aucmax.hypotheses import (
    BestStumps,
    StumpColumns,
    StumpEnsemble,
    StumpGrid,
    Stumps,
)
from aucmax.margin.interior_point import Found, follow_central_path
from aucmax.margin.limits import most_cuts
from aucmax.margin.masses import Masses, masses_of
from aucmax.margin.objective import MarginObjective
from aucmax.margin.problem import MarginProblem, MarginResult
from aucmax.margin.stump_generation import generate_on_central_path
from aucmax.regularizers import L1Ball
from aucmax.risks.contract import Risk
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
_MOST_ROWS_INSIDE = 2500  # whose products with each other are formed in each step
_MOST_WORK_INSIDE = 4e8  # squared rows times columns, or rows times squared columns
_SMALLEST_TOL_INSIDE = 1e-5  # rounding ends the way before
_MOST_ITERATIONS_AT_FIRST = 40  # of cutting planes, which easy problems need
_LEAST_GAP_INSIDE = 0.05  # relative: of many rows, cutting planes soon close the rest
_TOL_INSIDE = 0.25  # share of the tolerance; what is left is for stumps left out


class StumpProblem(MarginProblem):
    """Every threshold of every column, in both directions.

    A round maximises the margin over the stumps chosen so far. Its dual solution weighs
    the rows; one sweep over the sorted columns finds the stump with the largest edge
    under these weights, of *all* stumps. That edge bounds the margin that any weighting
    of any stumps can reach, which certifies the gap. Each column's best stump joins if
    its edge is above the margin. Where that takes long, an interior-point method takes
    over: of few rows over all stumps at once, of many rows with stumps that join on the
    way. X is finite, float32 or
    float64, dense, CSR or CSC; `hypotheses` are the stumps chosen so far, by any solve.
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
        masses = self._masses(risk, rule)
        if masses is None:
            return self._by_rounds(objective, here, rule)
        result = self._by_rounds(objective, here, rule, _MOST_ITERATIONS_AT_FIRST)
        if result.converged or self.limits.is_over or result.margin >= enough:
            return result
        if self._has_few_rows or self.relative_gap(result) > _LEAST_GAP_INSIDE:
            result = self._from_inside(objective, masses, rule, result, enough)
            if result.converged or self.limits.is_over or result.margin >= enough:
                return result
        here = self._first_point(objective, result, reuse_cuts=True)
        return self._by_rounds(objective, here, rule)

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

    def _by_rounds(
        self,
        objective: MarginObjective,
        here: Start,
        rule: StoppingRule,
        n_left: float = np.inf,
    ) -> MarginResult:
        """Generate columns, for so many iterations of the rounds at most."""
        # no weighting of stumps has a margin above this, whatever the risk
        watch, bound = rule.watch(), -self._first_edge
        closeness = max(_GAP_SHARE * self._first_edge, _LEAST_CLOSENESS)
        while True:
            solution = self._solve_round(
                objective, here, rule, closeness, bound, n_left
            )
            n_left -= solution.n_iter
            row_weights = -solution.cuts.mixed_source()
            best = self._sweep(row_weights)
            # ties within rounding go to the first stump, which may be a trifle lower
            bound = max(
                bound, -(1.0 + _LARGEST_TIE) * float(best.edge.max(initial=0.0))
            )
            if watch.says_stop(objective, solution.value, bound) or n_left <= 0:
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

    def _masses(self, risk: Risk, rule: StoppingRule) -> Masses | None:
        """Return the masses of a way inside; None where there is none."""
        if rule.tol < _SMALLEST_TOL_INSIDE:
            return None
        n_rows, n_columns = self.stumps.X.shape
        if not self._has_few_rows and n_rows * n_columns**2 > _MOST_WORK_INSIDE:
            return None
        masses = masses_of(risk, self.labels, self.sample_weight)
        if masses is None or not (self._has_few_rows or masses.serve_many_rows):
            return None
        return masses

    @property
    def _has_few_rows(self) -> bool:
        """Whether products of rows with each other are formed in each step."""
        n_rows, n_columns = self.stumps.X.shape
        work = n_rows * n_rows * n_columns
        return bool(n_rows <= _MOST_ROWS_INSIDE and work <= _MOST_WORK_INSIDE)

    @cached_property
    def _grid(self) -> StumpGrid:
        return StumpGrid(self.stumps.X)

    def _from_inside(
        self,
        objective: MarginObjective,
        masses: Masses,
        rule: StoppingRule,
        known: MarginResult,
        enough: float,
    ) -> MarginResult:
        """Maximise over all stumps; return what is known, if that is better."""

        def tell(progress: Progress) -> bool:
            return self.limits.tell(progress) or -progress.value >= enough

        half = replace(rule, tol=_TOL_INSIDE * rule.tol, callback=tell)
        half.max_time = self.limits.seconds_left
        watch, grid = half.watch(), self._grid

        def says_stop(found: Found) -> bool:
            objective.n_passes += grid.n_products_since() / 2.0
            best = max(found.value, known.margin)
            upper = min(found.largest_edge, known.margin + known.gap)
            return watch.says_stop(objective, -best, -upper)

        def margin_of(scores: FloatArray) -> float:
            return -objective.risk_value(Point(np.empty(0), scores))

        walk = follow_central_path if self._has_few_rows else generate_on_central_path
        with one_blas_thread():
            found = walk(grid, masses, margin_of, says_stop)
        self.limits.n_iter += len(watch.history)
        return self._kept(objective, rule, found, known)

    def _kept(
        self,
        objective: MarginObjective,
        rule: StoppingRule,
        found: Found,
        known: MarginResult,
    ) -> MarginResult:
        """Choose the stumps that matter, and certify them."""
        edge = float(self._sweep(found.row_weights).edge.max(initial=0.0))
        upper = (1.0 + _LARGEST_TIE) * edge
        row_weights: FloatArray | None = found.row_weights
        if known.margin + known.gap < upper:
            upper, row_weights = known.margin + known.gap, known.row_weights
        used = np.flatnonzero(found.weights)
        order = used[np.argsort(-np.abs(found.weights[used]))]

        def margin_of(n_kept: int) -> tuple[float, FloatArray]:
            weights: FloatArray = np.zeros(found.weights.size)
            weights[order[:n_kept]] = found.weights[order[:n_kept]]
            weights /= max(np.abs(weights).sum(), np.finfo(float).tiny)
            objective.n_passes += 0.5
            scores = self._grid.scores(weights)
            return -objective.risk_value(Point(weights, scores)), weights

        # the fewest stumps, largest first, that cost half of what the gap leaves
        whole, _ = margin_of(order.size)
        allowed = rule.tol * max(abs(whole), rule.floor)
        least = whole - 0.5 * (1.0 - _TOL_INSIDE) * allowed
        too_few, enough = 0, order.size
        while enough - too_few > 1:
            middle = (too_few + enough) // 2
            if margin_of(middle)[0] >= least:
                enough = middle
            else:
                too_few = middle
        weights = margin_of(enough)[1]
        chosen = order[:enough]
        column, threshold = self._grid.column[chosen], self._grid.threshold[chosen]
        self.hypotheses.add(column, threshold)
        spread: FloatArray = np.zeros(self.hypotheses.n_hypotheses)
        spread[self.hypotheses.places(column, threshold)] = weights[chosen]
        point = objective.at(spread)
        margin = 0.0 - objective.risk_value(point)
        if known.margin > margin:
            point = Point(self._widened(known.weights), known.scores)
            margin = known.margin
        gap = max(upper - margin, 0.0)
        is_reached = rule.is_reached(margin, gap)
        return MarginResult(*point, margin, gap, is_reached, row_weights, known.cuts)

    def _solve_round(
        self,
        objective: MarginObjective,
        here: Start,
        rule: StoppingRule,
        closeness: float,
        bound: float,
        n_left: float,
    ) -> Solution:
        """Maximise over the chosen stumps, a little more closely than over all."""

        def tell(progress: Progress) -> bool:
            return self.limits.tell(progress._replace(gap=progress.value - bound))

        left = self.limits.seconds_left
        # margins are at most 1, so with this floor the tolerance is an absolute gap
        most = int(min(n_left, rule.max_iter))
        inner = StoppingRule(closeness, most, left, tell, floor=1.0)
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
