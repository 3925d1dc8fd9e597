"""A linear model under a risk: what a solver sees of the data."""

import copy
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from scipy import sparse

from aucmax._core.row_matrix import RowMatrix, as_row_matrix
from aucmax._core.threshold import balanced_threshold
from aucmax._core.validation import FloatArray, IntArray
from aucmax.risks.contract import BoundRisk, Support
from aucmax.solvers.risk_objective import RiskObjective
from aucmax.solvers.solver import Point


class LinearObjective(RiskObjective):
    """C times the risk of ``X @ w``.

    The data are read through ``X @ w`` and ``X.T @ g`` alone, float32 or float64, never
    copied as a whole; sums are in float64.

    With `column_scales`, weights are those of the columns divided by them; `unscaled`
    gives the weights of the columns themselves.
    """

    def __init__(
        self,
        X: Any,
        risk: BoundRisk,
        C: float,
        column_scales: FloatArray | None = None,
    ) -> None:
        super().__init__(risk, C)
        self.X = X
        self.column_scales = column_scales

    @property
    def n_parameters(self) -> int:
        """Number of features."""
        return int(self.X.shape[1])

    @property
    def _matrix(self) -> RowMatrix:
        return as_row_matrix(self.X)

    @property
    def is_smooth(self) -> bool:
        """Whether the risk has a gradient everywhere."""
        return self.risk.is_smooth

    @property
    def relative_error(self) -> float:
        """By how much the risk may be off, as a share of it."""
        return self.risk.relative_error

    def with_risk(self, risk: BoundRisk) -> Self:
        """Return the same data under another risk; passes go on being counted."""
        other = copy.copy(self)
        other.risk = risk
        return other

    def at(self, parameters: FloatArray) -> Point:
        """Score the parameters: the forward half of a pass."""
        if not parameters.any():
            return Point(parameters, np.zeros(self.X.shape[0]))
        return Point(
            parameters,
            self._product(self._matrix.matvec, self.unscaled(parameters)),
        )

    def unscaled(self, parameters: FloatArray) -> FloatArray:
        """Return weights of the columns themselves; or slopes over scaled weights."""
        if self.column_scales is None:
            return parameters
        return parameters / self.column_scales

    def pull_back(self, support: Support) -> FloatArray:
        """Turn a slope over scores into one over features: the backward half."""
        return self.unscaled(self._product(self._matrix.rmatvec, support.subgradient))

    def columns(self, which: IntArray) -> Any:
        """Return some columns in float64, dense or sparse: their share of a pass."""
        matrix: Any = self.X
        chosen = matrix[:, which].astype(np.float64)
        is_sparse = sparse.issparse(chosen)
        if is_sparse:
            chosen = sparse.csr_array(chosen)
            self.n_passes += chosen.nnz / max(matrix.nnz, 1)
        else:
            self.n_passes += which.size / matrix.shape[1]
        if self.column_scales is None:
            return chosen
        scales = 1.0 / self.column_scales[which]
        return chosen @ sparse.diags_array(scales) if is_sparse else chosen * scales

    def scores_of(self, parameters: FloatArray) -> FloatArray:
        """Score each row of parameters: the forward half of one pass for all."""
        weights = self.unscaled(parameters)
        return np.ascontiguousarray(self._product(self._matrix.matvec, weights.T).T)

    def slopes_of(self, subgradients: FloatArray) -> FloatArray:
        """Pull each row of slopes over scores back: the backward half for all."""
        slopes = np.ascontiguousarray(
            self._product(self._matrix.rmatvec, subgradients.T).T
        )
        return self.unscaled(slopes)

    def curvature(self, point: Point, width: float, rows_per_class: int) -> FloatArray:
        """Estimate the risk's Hessian over features from a sample of the rows.

        Up to `rows_per_class` rows of each class are drawn from those with any weight,
        always the same ones; from some of the queries, if pairs are those of queries.
        With all rows in the sample this is the Hessian of the smoothed risk itself.
        """
        rows = self.risk.draw_rows(rows_per_class, np.random.default_rng(0))
        drawn_rows: Any = self._matrix.take(rows)
        is_sparse = sparse.issparse(drawn_rows)
        if is_sparse:
            drawn_rows = drawn_rows.toarray()
        sample = self.unscaled(drawn_rows.astype(np.float64, copy=False))
        scores = self._scores_of_rows(point, rows, sample)
        return self.risk.at_rows(rows).curvature(scores, width)(sample)

    def threshold(self, point: Point) -> float:
        """Return where `predict` cuts the scores."""
        return balanced_threshold(point.scores, self.labels, self.sample_weight)

    def _scores_of_rows(
        self, point: Point, rows: IntArray, X: FloatArray
    ) -> FloatArray:
        """Return the scores of some rows, which are also given as a matrix."""
        return point.scores[rows]

    def _product(
        self, product: Callable[[FloatArray], FloatArray], vector: FloatArray
    ) -> FloatArray:
        with np.errstate(over="ignore", invalid="ignore"):
            result = product(vector)
        self.n_passes += 0.5
        if not np.isfinite(result).all():
            raise FloatingPointError("a product with the data is not finite")
        return result
