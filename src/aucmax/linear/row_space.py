"""Wide data in as few columns as rows.

The weights that minimise a risk and an L2 penalty are a sum of rows, so that they are
known by their products with the rows. In an orthonormal basis of the rows' span, scores
and lengths of weights are what they were.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from aucmax._validation import FloatArray

__all__ = ["RowSpace"]

# Eigenvalues of the products of rows below this share of the largest are rounding.
_LEAST_EIGENVALUE = 1e-13
# With more rows their products take longer than passes over the data.
_MOST_ROWS = 3000


class RowSpace(NamedTuple):
    """Data to fit on, and the way from their weights to those of the columns.

    Attributes
    ----------
    X : ndarray or sparse matrix of shape (n_rows, n_coordinates)
        The rows in the basis, or as they came where that is smaller.
    basis : ndarray of shape (n_features, n_coordinates) or None
        Orthonormal columns; None where the rows are as they came.
    """

    X: Any
    basis: FloatArray | None = None

    @classmethod
    def of(cls, X: Any) -> "RowSpace":
        """Change the basis where that makes the data smaller."""
        if hasattr(X, "of_parts"):  # rows in parts are too many
            return cls(X)
        is_sparse = sparse.issparse(X)
        matrix: Any = X
        n_rows, size = X.shape[0], matrix.nnz if is_sparse else matrix.size
        if n_rows > _MOST_ROWS or n_rows * n_rows >= size:
            return cls(X)
        with np.errstate(over="ignore", invalid="ignore"):
            products = matrix @ matrix.T
        if is_sparse:
            products = products.toarray()
        products = products.astype(np.float64, copy=False)
        if not np.isfinite(products).all():  # left to the fit to complain about
            return cls(X)
        squares, directions = np.linalg.eigh(products)
        used = squares > _LEAST_EIGENVALUE * squares[-1]
        if not used.any():
            return cls(X)
        lengths = np.sqrt(squares[used])
        basis = np.asarray(matrix.T @ (directions[:, used] / lengths))
        return cls(directions[:, used] * lengths, basis)

    def weights_of(self, weights: FloatArray) -> FloatArray:
        """Return the weights of the columns as they came."""
        return weights if self.basis is None else self.basis @ weights
