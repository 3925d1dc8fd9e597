"""All stumps of few rows at once, without a matrix of them."""

from typing import Any

import numpy as np
from scipy import sparse
from scipy.spatial.distance import pdist, squareform

from aucmax._validation import FloatArray, IntArray
from aucmax.hypotheses import _kernels
from aucmax.hypotheses.stumps import midpoints

__all__ = ["StumpGrid"]


class StumpGrid:
    r"""Every threshold of every column, 1 above it and -1 up to it.

    With H the matrix of all stumps, products with H, its transpose, and
    :math:`H D H^T` cost sums along the thresholds: two rows differ in the stumps
    between their places alone, so that with C the sums of D up to a row's place in each
    column,

    .. math:: (H D H^T)_{ij} = \sum_h D_h - 2 \sum_k | C_{ik} - C_{jk} |.

    Parameters
    ----------
    X : ndarray, memmap, or CSR or CSC array of shape (n_rows, n_columns)
        Finite data, float32 or float64; sparse data are made dense.

    Attributes
    ----------
    column : ndarray of int64 of shape (n_stumps,)
        The column of each stump.
    threshold : ndarray of float64 of shape (n_stumps,)
        Its threshold.

    Examples
    --------
    >>> import numpy as np
    >>> from aucmax.hypotheses import StumpGrid
    >>> grid = StumpGrid(np.array([[1.0], [2.0], [5.0], [5.0]]))
    >>> grid.threshold
    array([1.5, 3.5])
    >>> grid.edges(np.array([1.0, 1.0, -1.0, -1.0]))
    array([-2., -4.])
    >>> grid.scores(np.array([0.0, 1.0]))
    array([-1., -1.,  1.,  1.])
    """

    column: IntArray
    threshold: FloatArray

    def __init__(self, X: Any) -> None:
        dense: Any = X
        dense = dense.toarray() if sparse.issparse(X) else np.asarray(X)
        values = dense.T.astype(np.float64, order="C")
        order = np.argsort(values, axis=1, kind="stable")
        ascending = np.take_along_axis(values, order, axis=1)
        rises = np.diff(ascending, axis=1) > 0.0
        self.column, place = np.nonzero(rises)
        self.threshold = midpoints(
            ascending[self.column, place], ascending[self.column, place + 1]
        )
        self._ends = np.cumsum(rises.sum(axis=1))
        # how many stumps, of all columns in a row, lie below each value
        below = np.zeros(values.shape, dtype=np.int32)
        np.cumsum(rises, axis=1, out=below[:, 1:])
        below[1:] += self._ends[:-1, None].astype(np.int32)
        self._places = np.empty_like(below)
        np.put_along_axis(self._places, order, below, axis=1)
        self._n_products = 0

    def n_products_since(self) -> int:
        """Return how many products were formed since this was asked last."""
        n_products, self._n_products = self._n_products, 0
        return n_products

    @property
    def n_stumps(self) -> int:
        """Number of thresholds."""
        return self.column.size

    def edges(self, row_weights: FloatArray) -> FloatArray:
        """Return ``H.T @ row_weights``."""
        self._n_products += 1
        edges = np.empty(self.n_stumps)
        row_weights = np.ascontiguousarray(row_weights)
        _kernels.edges_of_grid(
            self._places, self._ends, row_weights, float(row_weights.sum()), edges
        )
        return edges

    def scores(self, weights: FloatArray) -> FloatArray:
        """Return ``H @ weights``."""
        self._n_products += 1
        below = self._sums_below(weights)
        return np.asarray(2.0 * below.sum(axis=0) - weights.sum())

    def row_products(self, weights: FloatArray) -> FloatArray:
        """Return ``H @ diag(weights) @ H.T``, in O(n_rows^2 * n_columns)."""
        below = np.ascontiguousarray(self._sums_below(weights).T)
        products: FloatArray = squareform(pdist(below, "cityblock"))
        products *= -2.0
        products += weights.sum()
        return products

    def _sums_below(self, weights: FloatArray) -> FloatArray:
        """Sum the weights of the stumps of each column below each row's value."""
        below = np.empty(self._places.shape)
        _kernels.sums_below(
            self._places, self._ends, np.ascontiguousarray(weights), below
        )
        return below
