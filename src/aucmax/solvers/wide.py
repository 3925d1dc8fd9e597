"""Wide data in as few columns as rows, and cutting planes there.

Weights that minimise a risk and an L2 penalty are a sum of rows, so that they are known
by their products with the rows. In an orthonormal basis of the rows' span, scores and
lengths of weights are the same.
"""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from aucmax._core.row_matrix import as_row_matrix, product
from aucmax._core.validation import FloatArray
from aucmax.regularizers.regularizer import QuadraticRegularizer
from aucmax.risks.contract import Support
from aucmax.solvers.bundle import BundleSolver
from aucmax.solvers.cuts import Cuts
from aucmax.solvers.risk_objective import RiskObjective
from aucmax.solvers.solver import Point, Solution, Start, StoppingRule, value_at

_MIN_EIGENVALUE = 1e-13  # share of the largest; less is rounding
_MAX_ROWS = 3000  # with more, their products take longer than passes over the data
_COLUMNS_AT_ONCE = 4096  # of dense data, whose products are summed in float64
_ROUNDING = 1e-13  # share of a bound's terms by which it may be too high


class RowSpace(NamedTuple):
    """Data to fit on, and the way from their weights to those of the columns."""

    X: Any  # the rows in an orthonormal basis of their span, or unchanged if smaller
    rows: Any  # the rows unchanged
    mixture: FloatArray | None = None  # the basis as sums of rows; None: unchanged

    @classmethod
    def of(cls, X: Any) -> "RowSpace":
        """Change the basis where that makes the data smaller."""
        if not suits_row_space(X):
            return cls(X, X)
        products = _products_of_rows(X)
        if not np.isfinite(products).all():  # left to the fit to raise an error
            return cls(X, X)
        squares, directions = np.linalg.eigh(products)
        used = squares > _MIN_EIGENVALUE * squares[-1]
        if not used.any():
            return cls(X, X)
        lengths = np.sqrt(squares[used])
        directions = directions[:, used]
        return cls(directions * lengths, X, directions / lengths)

    def weights_of(self, weights: FloatArray) -> FloatArray:
        """Return the weights of the original columns: half a pass."""
        if self.mixture is None:
            return weights
        return product(self.rows.T, self.mixture @ weights)


def suits_row_space(X: Any) -> bool:
    """Return whether the rows have fewer numbers in a basis of their span."""
    if as_row_matrix(X).on_workers:  # the rows are too many
        return False
    matrix: Any = X
    n_rows = matrix.shape[0]
    n_numbers = matrix.nnz if sparse.issparse(X) else matrix.size
    return bool(n_rows <= _MAX_ROWS and n_rows * n_rows < n_numbers)


def _products_of_rows(X: Any) -> FloatArray:
    """Return X X^T in float64; dense data are read once, a few columns at a time."""
    if sparse.issparse(X):
        matrix: Any = X
        matrix = matrix.astype(np.float64)
        return np.asarray((matrix @ matrix.T).toarray())
    n_rows, n_columns = X.shape
    products: FloatArray = np.zeros((n_rows, n_rows))
    with np.errstate(over="ignore", invalid="ignore"):
        for left in range(0, n_columns, _COLUMNS_AT_ONCE):
            block = X[:, left : left + _COLUMNS_AT_ONCE].astype(np.float64, copy=False)
            products += block @ block.T
    return products


@dataclass(frozen=True)
class WideSolver:
    r"""Minimise with L2 by smoothed cutting planes in the span of the rows.

    Only the products of all rows, and the certificate, touch the data. The shares of
    the cuts mix a slope g over scores and an offset o, which bound the objective on the
    data themselves by :math:`C\,o - \frac{C^2}{2 \kappa} \|X^T g\|^2`.
    """

    stopping: StoppingRule

    def minimize(
        self,
        objective: Any,
        regularizer: QuadraticRegularizer,
        start: Start | None = None,
    ) -> Solution:
        """See :meth:`Solver.minimize`; of a start, the cuts are not used."""
        solver = BundleSolver(self.stopping, smoothing=True)
        space = RowSpace.of(objective.X)
        objective.n_passes += 1.0
        if space.mixture is None:
            return solver.minimize(objective, regularizer, start)
        inside = _SpanObjective(objective, space.X)
        cuts = Cuts(inside.n_parameters, keep_sources=True)
        if start is None:
            start = Start(objective.at(np.zeros(objective.n_parameters)))
        weights = space.mixture.T @ start.point.scores
        begin = Start(inside.at(weights), cuts, start.history)
        found = solver.minimize(inside, regularizer, begin)
        return self._certified(space, objective, regularizer, found)

    def _certified(
        self,
        space: RowSpace,
        objective: Any,
        regularizer: QuadraticRegularizer,
        found: Solution,
    ) -> Solution:
        """Return the solution with its value and gap on the data: 1.5 passes."""
        point = objective.at(space.weights_of(found.point.parameters))
        value = value_at(point, objective, regularizer)
        offset = float(found.cuts.offsets @ found.cuts.multipliers)
        line = Support(value, found.cuts.mixed_source(), offset)
        cuts = Cuts(objective.n_parameters)
        cuts.add(objective.pull_back(line), line)
        objective.n_passes += 0.5  # of the weights
        height = objective.C * offset
        bound = cuts.minimize(regularizer, objective.C).lower_bound
        bound -= _ROUNDING * (abs(height) + abs(height - bound))
        gap = max(value - max(bound, objective.C * objective.least_risk), 0.0)
        last = found.history[-1]
        last = last._replace(value=value, gap=gap, n_passes=objective.n_passes)
        return replace(
            found,
            point=point,
            value=value,
            gap=gap,
            cuts=cuts,
            converged=self.stopping.is_reached(value, gap),
            history=[*found.history[:-1], last],
        )


class _SpanObjective(RiskObjective):
    """The same objective in the span of the rows, where no product is a pass."""

    def __init__(self, objective: RiskObjective, X: FloatArray) -> None:
        super().__init__(objective.risk, objective.C)
        self.n_passes = objective.n_passes
        self._X = X

    @property
    def n_parameters(self) -> int:
        """Number of dimensions of the span."""
        return int(self._X.shape[1])

    def at(self, parameters: FloatArray) -> Point:
        """Score the parameters: no pass."""
        return Point(parameters, self._X @ parameters)

    def pull_back(self, support: Support) -> FloatArray:
        """Turn a slope over scores into one over parameters: no pass."""
        slope: FloatArray = support.subgradient @ self._X
        return slope
