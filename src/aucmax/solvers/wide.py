"""Cutting planes in the span of the rows, for data with far more columns than rows."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from aucmax._core.row_matrix import as_row_matrix, product
from aucmax._core.validation import FloatArray
from aucmax.regularizers.regularizer import QuadraticRegularizer
from aucmax.risks.contract import Support
from aucmax.solvers.bundle import BundleSolver
from aucmax.solvers.cuts import Cuts
from aucmax.solvers.risk_objective import LinearObjective, value_at
from aucmax.solvers.solver import Solution, Start, StoppingRule

_MIN_EIGENVALUE = 1e-13  # share of the largest; less is rounding
_MAX_ROWS = 3000  # with more, their products take longer than passes over the data
_COLUMNS_AT_ONCE = 4096  # of dense data, whose products are summed in float64


def suits_row_space(X: Any) -> bool:
    """Return whether the rows have fewer numbers in a basis of their span."""
    if as_row_matrix(X).on_workers:  # the rows are too many
        return False
    matrix: Any = X
    n_rows = matrix.shape[0]
    n_numbers = matrix.nnz if sparse.issparse(X) else matrix.size
    return bool(n_rows <= _MAX_ROWS and n_rows * n_rows < n_numbers)


@dataclass(frozen=True)
class WideSolver:
    r"""Minimise a convex risk plus L2 by smoothed cutting planes in the rows' span.

    The minimiser is a sum of rows, and an orthonormal basis of their span keeps scores
    and norms. The dual variables of the planes mix a gradient g over the scores and an
    offset o, which bound the objective on the data themselves by :math:`C\,o -
    \frac{C^2}{2 \kappa} \|X^T g\|^2`.
    """

    stopping: StoppingRule

    def minimize(
        self,
        objective: LinearObjective,
        regularizer: QuadraticRegularizer,
        start: Start | None = None,
    ) -> Solution:
        """See :meth:`Solver.minimize`; the cuts of a start are not used."""
        objective.require_certifiable("a cutting-plane method", bounded=False)
        solver = BundleSolver(self.stopping, smoothing=True)
        basis = _basis_of_span(objective.X)
        objective.n_passes += 1.0
        if basis is None:
            return solver.minimize(objective, regularizer, start)
        rows, mixture = basis
        inside = LinearObjective(rows, objective.risk, objective.C)
        inside.product_cost, inside.n_passes = 0.0, objective.n_passes
        inside.keeps_row_weights = True
        if start is not None:
            point = inside.at(mixture.T @ start.point.scores)
            start = Start(point, history=start.history)
        solution = solver.minimize(inside, regularizer, start)

        point = objective.at(
            product(objective.X.T, mixture @ solution.point.parameters)
        )
        objective.n_passes += 0.5
        value = value_at(point, objective, regularizer)
        offset = float(solution.cuts.offsets @ solution.cuts.multipliers)
        plane = Support(value, solution.cuts.mixed_source(), offset)
        cuts = Cuts(objective.n_parameters)
        cuts.add(objective.pull_back(plane), plane)
        bound = cuts.minimize(regularizer, objective.C)[1]
        gap = max(value - max(bound, objective.least_value), 0.0)
        last = solution.history[-1]._replace(
            value=value, gap=gap, n_passes=objective.n_passes
        )
        return replace(
            solution,
            point=point,
            value=value,
            gap=gap,
            cuts=cuts,
            converged=self.stopping.is_reached(value, gap),
            history=[*solution.history[:-1], last],
        )


def _basis_of_span(X: Any) -> tuple[FloatArray, FloatArray] | None:
    """Return the rows in an orthonormal basis of their span, and it as sums of rows."""
    products = _products_of_rows(X)
    if not np.isfinite(products).all():  # the solver on the data raises an error
        return None
    squares, directions = np.linalg.eigh(products)
    used = squares > _MIN_EIGENVALUE * squares[-1]
    if not used.any():
        return None
    lengths = np.sqrt(squares[used])
    directions = directions[:, used]
    return directions * lengths, directions / lengths


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
