"""Columns as hypotheses: Newton steps over those in use, or cutting planes."""

from dataclasses import replace

import numpy as np

from aucmax._core.validation import BoolArray, FloatArray, IntArray
from aucmax.hypotheses import FeatureEnsemble, ScaledColumns
from aucmax.margin.margin_problem import MarginProblem, MarginResult, max_cuts
from aucmax.regularizers.l1 import L1Ball, Simplex
from aucmax.risks.contract import Risk, Support
from aucmax.solvers import (
    ColumnNewtonSolver,
    LevelBundleSolver,
    Point,
    Start,
    StoppingRule,
    suits_column_steps,
)

_MAX_COLUMN_STEPS = 300  # before cutting planes take over


class ColumnProblem(MarginProblem):
    """Columns as hypotheses, which may count with either sign if they are `signed`."""

    hypotheses: ScaledColumns

    def __init__(
        self,
        hypotheses: ScaledColumns,
        labels: BoolArray,
        sample_weight: FloatArray | None,
        stopping: StoppingRule,
        usable: IntArray | None = None,
        *,
        signed: bool,
    ) -> None:
        super().__init__(hypotheses, labels, sample_weight, stopping, usable)
        self.signed = signed

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
        """Take Newton steps over the signed columns in use, or cutting planes."""
        objective = self._under(risk)
        rule = self.limits.rule(self.floor, looseness, enough)
        first = solution = None
        if start is not None:
            point = Point(objective.narrowed(start.weights), start.scores)
            first = Start(point, start.cuts if reuse_cuts else None)
        is_served = self.signed and objective.is_smoothable
        if is_served and suits_column_steps(
            self.hypotheses.X, self.limits.stopping.tol
        ):
            steps = replace(rule, max_iter=min(rule.max_iter, _MAX_COLUMN_STEPS))
            newton = ColumnNewtonSolver(steps, keep_row_weights)
            solution = newton.minimize(objective, L1Ball(), first)
            first = Start(solution.point, solution.cuts, solution.history)
        is_over = solution is not None and (
            solution.converged
            or solution.stopped_by_callback
            or self.limits.is_over
            or solution.n_iter >= rule.max_iter
        )
        if solution is None or not is_over:
            bundle = LevelBundleSolver(rule)
            if keep_row_weights:
                n_cuts = max_cuts(self.labels.size)
                bundle = LevelBundleSolver(rule, max_cuts=n_cuts, keep_sources=True)
            hull = L1Ball() if self.signed else Simplex()
            solution = bundle.minimize(objective, hull, first)
        self.limits.n_iter += solution.n_iter
        return MarginResult(
            self.risk,
            objective.widened(solution.point.parameters),
            solution.point.scores,
            0.0 - solution.value,  # not -0.0
            solution.gap,
            solution.converged,
            -solution.cuts.mixed_source() if keep_row_weights else None,
            solution.cuts,
        )

    def ensemble(self, weights: FloatArray) -> FeatureEnsemble:
        """Return the scoring function of these weights; zeros are left out."""
        used, columns = np.flatnonzero(weights), self.hypotheses
        return FeatureEnsemble(used, weights[used], columns.low, columns.high)

    def _largest_edge(self, row_weights: FloatArray) -> float:
        edges = self._objective.pull_back(Support(0.0, row_weights, 0.0))
        return float(np.abs(edges).max())
