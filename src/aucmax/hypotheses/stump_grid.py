"""All stumps of few rows at once, without a matrix of them."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.spatial.distance import pdist, squareform

from aucmax._core.validation import FloatArray, IntArray
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
        column, place = np.nonzero(rises)
        threshold = midpoints(ascending[column, place], ascending[column, place + 1])
        ends = np.cumsum(rises.sum(axis=1))
        # how many stumps, of all columns in a row, lie below each value
        below = np.zeros(values.shape, dtype=np.int32)
        np.cumsum(rises, axis=1, out=below[:, 1:])
        below[1:] += ends[:-1, None].astype(np.int32)
        places = np.empty_like(below)
        np.put_along_axis(places, order, below, axis=1)
        self._keep(column, threshold, places, ends)

    def _keep(
        self,
        column: IntArray,
        threshold: FloatArray,
        places: NDArray[np.int32],
        ends: IntArray,
    ) -> None:
        self.column, self.threshold = column, threshold
        self._places, self._ends = places, ends
        self._n_products, self._whole = 0, self

    def some(self, chosen: IntArray) -> Self:
        """Return a grid of some of the stumps, given by ascending numbers."""
        # how many of the chosen stumps have a number below each number
        n_below = np.zeros(self.n_stumps + 1, dtype=np.int32)
        n_below[chosen + 1] = 1
        np.cumsum(n_below, out=n_below)
        part = type(self).__new__(type(self))
        part._keep(
            self.column[chosen],
            self.threshold[chosen],
            n_below[self._places],
            n_below[self._ends].astype(np.int64),
        )
        part._whole = self._whole
        return part

    def n_products_since(self) -> int:
        """Return how many products, with some or all stumps, are new since asked."""
        n_products, self._n_products = self._n_products, 0
        return n_products

    @property
    def n_stumps(self) -> int:
        """Number of thresholds."""
        return self.column.size

    def edges(self, row_weights: FloatArray) -> FloatArray:
        """Return ``H.T @ row_weights``."""
        self._whole._n_products += 1
        edges = np.empty(self.n_stumps)
        row_weights = np.ascontiguousarray(row_weights)
        _kernels.edges_of_grid(
            self._places, self._ends, row_weights, float(row_weights.sum()), edges
        )
        return edges

    def scores(self, weights: FloatArray) -> FloatArray:
        """Return ``H @ weights``."""
        self._whole._n_products += 1
        scores = np.empty(self._places.shape[1])
        weights = np.ascontiguousarray(weights)
        _kernels.scores_of_grid(self._places, self._ends, weights, scores)
        return scores

    def peaks(self, edges: FloatArray, least: float, most: int) -> IntArray:
        """Return the strongest stumps of each column, no two of one peak.

        A peak is a run of neighbouring stumps whose edges are above `least` in size, of
        one sign; so many of them per column, at most.
        """
        size = np.abs(edges)
        strong = np.flatnonzero(size > least)
        if strong.size == 0:
            return strong
        column, sign = self.column[strong], edges[strong] > 0.0
        is_first = np.ones(strong.size, dtype=bool)
        is_first[1:] = (
            (np.diff(strong) > 1) | (np.diff(column) > 0) | (sign[1:] != sign[:-1])
        )
        starts = np.flatnonzero(is_first)
        peak = np.cumsum(is_first) - 1
        is_top = size[strong] == np.maximum.reduceat(size[strong], starts)[peak]
        _, first_top = np.unique(peak[is_top], return_index=True)
        tops = strong[is_top][first_top]
        order = np.lexsort((-size[tops], self.column[tops]))
        tops = tops[order]
        # the place of each top among those of its column
        place = np.arange(tops.size)
        place -= np.searchsorted(self.column[tops], self.column[tops])
        return np.sort(tops[place < most])

    def row_products(self, weights: FloatArray) -> FloatArray:
        """Return ``H @ diag(weights) @ H.T``, in O(n_rows^2 * n_columns)."""
        below = np.ascontiguousarray(self._sums_below(weights).T)
        products: FloatArray = squareform(pdist(below, "cityblock"))
        products *= -2.0
        products += weights.sum()
        return products

    def column_products(self, row_weights: FloatArray) -> FloatArray:
        """Return ``H.T @ diag(row_weights) @ H``, in O(n_rows * n_columns^2).

        Only what is on the diagonal or above it: the rest is not defined.
        """
        products = np.empty((self.n_stumps, self.n_stumps))
        width = int(np.diff(self._ends, prepend=0).max()) + 2
        _kernels.products_of_grid(
            self._places,
            self._ends,
            row_weights,
            float(row_weights.sum()),
            np.empty((width, width)),
            products,
        )
        return products

    def _sums_below(self, weights: FloatArray) -> FloatArray:
        """Sum the weights of the stumps of each column below each row's value."""
        below = np.empty(self._places.shape)
        _kernels.sums_below(
            self._places, self._ends, np.ascontiguousarray(weights), below
        )
        return below
