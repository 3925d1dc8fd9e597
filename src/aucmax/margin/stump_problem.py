"""All stumps: column generation, and an interior-point method."""

from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from aucmax._core.threads import one_blas_thread
from aucmax._core.validation import BoolArray, FloatArray
from aucmax.hypotheses.hypothesis_ensembles import StumpEnsemble
from aucmax.hypotheses.stump_matrices import StumpColumns, StumpGrid
from aucmax.hypotheses.stumps import BestStumps, Stumps
from aucmax.margin.central_path import follow_central_path
from aucmax.margin.margin_problem import (
    MarginObjective,
    MarginProblem,
    MarginResult,
)
from aucmax.margin.masses import Masses, masses_of
from aucmax.regularizers.l1 import L1Ball
from aucmax.risks.contract import Risk
from aucmax.solvers.choice import SOLVERS
from aucmax.solvers.cuts import Cuts
from aucmax.solvers.solver import Point, Progress, Start, StoppingRule

_GAP_SHARE = 0.5  # of the gap over all stumps, to which a round is solved
_MIN_TOLERANCE_SHARE = 0.01  # of the gap allowed: no round is solved more closely
_MIN_CLOSENESS = 1e-15  # absolute, where rounding decides
_MAX_TIE = 2e-9  # relative: edges that differ by less count as equal
_MAX_INTERIOR_ROWS = 2500  # whose products with each other are formed in each step
_MAX_INTERIOR_WORK = 4e8  # squared rows times columns, or rows times squared columns
_MIN_INTERIOR_TOL = 1e-5  # rounding ends the path before
_FIRST_ITERATIONS = 40  # of column generation, which easy problems need
_MIN_INTERIOR_GAP = 0.05  # relative: of many rows, cutting planes soon close the rest
_INTERIOR_TOL = 0.25  # share of the tolerance; the rest is for stumps left out


class StumpProblem(MarginProblem):
    """Every threshold of every column, in both directions, by column generation."""

    # the dual solution weighs the rows; the largest edge of all stumps under these
    # weights certifies the gap, and each column's best stump joins if above the margin
    hypotheses: StumpColumns  # the stumps chosen so far, by any solve

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
        keep_row_weights: bool = False,  # has no effect: they are always kept
        reuse_cuts: bool = False,
        looseness: float = 1.0,
        enough: float = np.inf,
    ) -> MarginResult:
        """Generate columns; where that takes long, follow the central path."""
        objective = self._under(risk)
        objective.keeps_row_weights = True
        rule = self.limits.rule(self.floor, looseness, enough)
        if start is not None and not reuse_cuts:
            start = replace(start, cuts=None)

        def is_done(result: MarginResult) -> bool:
            over = self.limits.is_over or result.margin >= enough
            return result.converged or over

        masses = self._interior_masses(rule)
        if masses is None:
            return self._generate_columns(objective, rule, enough, start)
        result = self._generate_columns(
            objective, rule, enough, start, _FIRST_ITERATIONS
        )
        is_wide = self.relative_gap(result) > _MIN_INTERIOR_GAP
        if not is_done(result) and (self._has_few_rows or is_wide):
            result = self._solve_interior_point(objective, rule, masses, result)
        if not is_done(result):
            result = self._generate_columns(objective, rule, enough, result)
        return result

    def ensemble(self, weights: FloatArray) -> StumpEnsemble:
        """Return the scoring function of these weights; zeros are left out."""
        used, chosen = np.flatnonzero(weights), self.hypotheses
        return StumpEnsemble(chosen.column[used], weights[used], chosen.threshold[used])

    def _generate_columns(
        self,
        objective: MarginObjective,
        rule: StoppingRule,
        enough: float,
        start: MarginResult | None,
        n_left: float = np.inf,
    ) -> MarginResult:
        """Generate columns from `start` on, in at most `n_left` iterations."""

        def report(progress: Progress) -> bool:
            return self.limits.report(progress._replace(gap=progress.value - bound))

        whole = replace(
            rule, callback=lambda at: self.limits.is_over or -at.value >= enough
        )
        # no weighting of stumps has a margin above this, whatever the risk
        watch, bound = whole.watch(), -self._first_edge
        closeness = max(_GAP_SHARE * self._first_edge, _MIN_CLOSENESS)
        here = Start(objective.origin())
        if start is not None:
            self._widen_cuts(start.cuts)
            here = Start(Point(self._widened(start.weights), start.scores), start.cuts)
        while True:
            # a round over the chosen stumps, solved more closely than over all; margins
            # are at most 1, so with this floor the tolerance is an absolute gap
            most, seconds = int(min(n_left, rule.max_iter)), self.limits.seconds_left
            inner = StoppingRule(closeness, most, seconds, report, floor=1.0)
            solution = SOLVERS["auto"](inner).minimize(objective, L1Ball(), here)
            self.limits.n_iter += solution.n_iter
            n_left -= solution.n_iter
            row_weights = -solution.cuts.mixed_source()
            best = self._sweep(row_weights)
            bound = max(bound, -self._upper_bound(best))
            is_done = watch.should_stop(objective.n_passes, solution.value, bound)
            if is_done or n_left <= 0:
                break
            useful = best.edge > -solution.value
            n_new = self.hypotheses.add(best.column[useful], best.threshold[useful])
            # without new stumps, what is left of the gap is the round's own
            gap = watch.history[-1].gap
            closeness = min(closeness, _GAP_SHARE * (gap if n_new else closeness))
            allowed = rule.tol * max(abs(solution.value), rule.floor)
            if closeness < max(_MIN_TOLERANCE_SHARE * allowed, _MIN_CLOSENESS):
                break
            self._widen_cuts(solution.cuts)
            point = Point(self._widened(solution.point.parameters), solution.point[1])
            here = Start(point, solution.cuts)
        return MarginResult(
            self.risk,
            *solution.point,
            0.0 - solution.value,  # not -0.0
            watch.history[-1].gap,
            watch.converged,
            row_weights,
            solution.cuts,
        )

    def _interior_masses(self, rule: StoppingRule) -> Masses | None:
        """Return the masses of the interior-point method; None if it does not suit."""
        if rule.tol < _MIN_INTERIOR_TOL:
            return None
        n_rows, n_columns = self.stumps.X.shape
        if not self._has_few_rows and n_rows * n_columns**2 > _MAX_INTERIOR_WORK:
            return None
        masses = masses_of(self.risk, self.labels, self.sample_weight)
        if masses is None or not (self._has_few_rows or masses.serve_many_rows):
            return None
        return masses

    @property
    def _has_few_rows(self) -> bool:
        """Whether products of rows with each other are formed in each step."""
        n_rows, n_columns = self.stumps.X.shape
        work = n_rows * n_rows * n_columns
        return bool(n_rows <= _MAX_INTERIOR_ROWS and work <= _MAX_INTERIOR_WORK)

    @cached_property
    def _grid(self) -> StumpGrid:
        return StumpGrid(self.stumps.X)

    def _solve_interior_point(
        self,
        objective: MarginObjective,
        rule: StoppingRule,
        masses: Masses,
        known: MarginResult,
    ) -> MarginResult:
        """Maximise over all stumps; return what is known, if that is better."""
        close = replace(
            rule, tol=_INTERIOR_TOL * rule.tol, max_time=self.limits.seconds_left
        )
        watch, grid = close.watch(), self._grid

        def should_stop(found: MarginResult) -> bool:
            objective.n_passes += grid.n_products_since() / 2.0
            best = max(found.margin, known.margin)
            upper = min(found.margin + found.gap, known.margin + known.gap)
            return watch.should_stop(objective.n_passes, -best, -upper)

        with one_blas_thread():
            found = follow_central_path(
                *(grid, masses, objective.risk, should_stop),
                few_stumps=not self._has_few_rows,
            )
        self.limits.n_iter += len(watch.history)
        if found.row_weights is not None:
            upper = self._upper_bound(self._sweep(found.row_weights))
            if upper < known.margin + known.gap:
                gap = upper - known.margin
                known = replace(known, gap=gap, row_weights=found.row_weights)
        return self._with_fewest_stumps(objective, rule, found.weights, known)

    def _with_fewest_stumps(
        self,
        objective: MarginObjective,
        rule: StoppingRule,
        of_grid: FloatArray,
        known: MarginResult,
    ) -> MarginResult:
        """Choose the stumps of the grid that matter; return the better result."""
        grid = self._grid
        used = np.flatnonzero(of_grid)
        order = used[np.argsort(-np.abs(of_grid[used]))]

        def first(n_kept: int) -> Point:
            weights: FloatArray = np.zeros(of_grid.size)
            weights[order[:n_kept]] = of_grid[order[:n_kept]]
            weights /= max(np.abs(weights).sum(), np.finfo(float).tiny)
            objective.n_passes += 0.5
            return Point(weights, grid.scores(weights))

        # the fewest stumps, largest first, that cost half of what the gap leaves
        risk = objective.risk
        whole = -risk.value(first(order.size).scores)
        allowed = rule.tol * max(abs(whole), rule.floor)
        least = whole - 0.5 * (1.0 - _INTERIOR_TOL) * allowed
        too_few, enough = 0, order.size
        while enough - too_few > 1:
            middle = (too_few + enough) // 2
            if -risk.value(first(middle).scores) >= least:
                enough = middle
            else:
                too_few = middle
        weights, chosen = first(enough).parameters, order[:enough]
        column, threshold = grid.column[chosen], grid.threshold[chosen]
        self.hypotheses.add(column, threshold)
        spread: FloatArray = np.zeros(self.hypotheses.n_hypotheses)
        spread[self.hypotheses.places(column, threshold)] = weights[chosen]
        point = objective.at(spread)
        margin = 0.0 - risk.value(point.scores)
        if known.margin > margin:
            point = Point(self._widened(known.weights), known.scores)
            margin = known.margin
        gap = max(known.margin + known.gap - margin, 0.0)
        return replace(
            known,
            weights=point.parameters,
            scores=point.scores,
            margin=margin,
            gap=gap,
            converged=rule.is_reached(margin, gap),
        )

    def _largest_edge(self, row_weights: FloatArray) -> float:
        """Choose each column's best stump under the first row weights."""
        best = self._sweep(row_weights)
        self.hypotheses.add(best.column, best.threshold)
        self._first_edge = float(best.edge.max(initial=0.0))
        return self._first_edge

    @property
    def _precision(self) -> float:
        return float(np.finfo(np.float64).eps)  # of the stumps, not of the data

    def _sweep(self, row_weights: FloatArray) -> BestStumps:
        """Find each column's best stump; a sweep reads as much as half a pass."""
        self._objective.n_passes += 0.5
        return self.stumps.best(row_weights)

    def _upper_bound(self, best: BestStumps) -> float:
        """Return the largest edge, plus what a tie within rounding may hide."""
        return (1.0 + _MAX_TIE) * float(best.edge.max(initial=0.0))

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
