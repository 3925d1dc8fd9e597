"""Wide data in as few columns as rows.

Weights that minimise a risk and an L2 penalty are a sum of rows, so that they are known
by their products with the rows. In an orthonormal basis of the rows' span, scores and
lengths of weights are the same.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from aucmax._core.products import product
from aucmax._core.row_matrix import as_row_matrix
from aucmax._core.validation import FloatArray

__all__ = ["RowSpace"]

_MIN_EIGENVALUE = 1e-13  # share of the largest; less is rounding
_MAX_ROWS = 3000  # with more, their products take longer than passes over the data
_COLUMNS_AT_ONCE = 4096  # of dense data, whose products are summed in float64


class RowSpace(NamedTuple):
    """Data to fit on, and the way from their weights to those of the columns."""

    X: Any  # the rows in an orthonormal basis of their span, or unchanged if smaller
    rows: Any  # the rows unchanged
    mixture: FloatArray | None = None  # the basis as sums of rows; None: unchanged

    @classmethod
    def of(cls, X: Any) -> "RowSpace":
        """Change the basis where that makes the data smaller."""
        if not _is_smaller(X):
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


def _is_smaller(X: Any) -> bool:
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
