"""Wide data in as few columns as rows.

The weights that minimise a risk and an L2 penalty are a sum of rows, so that they are
known by their products with the rows. In an orthonormal basis of the rows' span, scores
and lengths of weights are what they were.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from aucmax._core.products import product
from aucmax._core.row_matrix import as_row_matrix
from aucmax._core.validation import FloatArray

__all__ = ["RowSpace"]

# Eigenvalues of the products of rows below this share of the largest are rounding.
_LEAST_EIGENVALUE = 1e-13
# With more rows their products take longer than passes over the data.
_MOST_ROWS = 3000
_COLUMNS_AT_ONCE = 4096  # of dense data, whose products are summed in float64


class RowSpace(NamedTuple):
    """Data to fit on, and the way from their weights to those of the columns.

    Attributes
    ----------
    X : ndarray or sparse matrix of shape (n_rows, n_coordinates)
        The rows in an orthonormal basis of their span, or as they came where that is
        smaller.
    rows : ndarray or sparse matrix of shape (n_rows, n_features)
        The rows as they came.
    mixture : ndarray of shape (n_rows, n_coordinates) or None
        The basis as sums of rows; None where the rows are as they came.
    """

    X: Any
    rows: Any
    mixture: FloatArray | None = None

    @classmethod
    def of(cls, X: Any) -> "RowSpace":
        """Change the basis where that makes the data smaller."""
        if not cls.is_smaller(X):
            return cls(X, X)
        products = _products_of_rows(X)
        if not np.isfinite(products).all():  # left to the fit to complain about
            return cls(X, X)
        squares, directions = np.linalg.eigh(products)
        used = squares > _LEAST_EIGENVALUE * squares[-1]
        if not used.any():
            return cls(X, X)
        lengths = np.sqrt(squares[used])
        directions = directions[:, used]
        return cls(directions * lengths, X, directions / lengths)

    @staticmethod
    def is_smaller(X: Any) -> bool:
        """Tell whether the rows have fewer numbers in a basis of their span."""
        if as_row_matrix(X).on_workers:  # the rows are too many
            return False
        matrix: Any = X
        n_rows = matrix.shape[0]
        n_numbers = matrix.nnz if sparse.issparse(X) else matrix.size
        return bool(n_rows <= _MOST_ROWS and n_rows * n_rows < n_numbers)

    def weights_of(self, weights: FloatArray) -> FloatArray:
        """Return the weights of the columns as they came: half a pass."""
        if self.mixture is None:
            return weights
        return product(self.rows.T, self.mixture @ weights)

    def coordinates(self, scores: FloatArray) -> FloatArray:
        """Return the weights in the basis that give these scores, if any do."""
        return scores if self.mixture is None else self.mixture.T @ scores


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
