"""Stumps as a matrix: the chosen ones as bytes, all of them as sums."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.spatial.distance import pdist, squareform

from aucmax._core.validation import FloatArray, IntArray
from aucmax.hypotheses import _stump_kernels
from aucmax.hypotheses.column_access import COLUMNS_AT_ONCE, summed
from aucmax.hypotheses.stumps import midpoints


class StumpColumns:
    """A growing list of stumps on some rows, 1 above the threshold and -1 up to it."""

    # one byte per row and stump, also for sparse data; directions are signs of weights
    def __init__(self, X: Any) -> None:
        self.X = X
        self.column: IntArray = np.empty(0, dtype=np.int64)
        self.threshold: FloatArray = np.empty(0)
        self._values = np.empty((0, X.shape[0]), dtype=np.int8)

    @property
    def n_hypotheses(self) -> int:
        """Number of stumps so far."""
        return self.column.size

    def add(self, column: IntArray, threshold: FloatArray) -> int:
        """Add the stumps that are new; return how many there were."""
        known = set(zip(self.column.tolist(), self.threshold.tolist(), strict=True))
        fresh = np.zeros(column.size, dtype=bool)
        for k, one in enumerate(zip(column.tolist(), threshold.tolist(), strict=True)):
            fresh[k] = one not in known
            known.add(one)
        column = column[fresh]
        # float64: compared with a narrower threshold, float32 data may change sides
        threshold = threshold[fresh].astype(np.float64)
        split = _split_sparse if sparse.issparse(self.X) else _split_dense
        self._values = np.concatenate([self._values, split(self.X, column, threshold)])
        self.column = np.concatenate([self.column, column])
        self.threshold = np.concatenate([self.threshold, threshold])
        return column.size

    def places(self, column: IntArray, threshold: FloatArray) -> IntArray:
        """Return the indices of stumps that were added before."""
        stumps = zip(self.column.tolist(), self.threshold.tolist(), strict=True)
        numbers = {stump: number for number, stump in enumerate(stumps)}
        asked = zip(column.tolist(), threshold.tolist(), strict=True)
        return np.array([numbers[stump] for stump in asked], dtype=np.int64)

    def scores(self, weights: FloatArray) -> FloatArray:
        """Return ``H @ weights``, of shape (n_rows,); weights of 0 cost nothing."""
        scores = np.zeros(self.X.shape[0])
        _stump_kernels.add_rows(self._values, weights, scores)
        return scores

    def edges(self, row_weights: FloatArray, first: int = 0) -> FloatArray:
        """Return ``H.T @ row_weights`` from the stump `first` on."""
        edges = np.empty(self.n_hypotheses - first)
        _stump_kernels.dot_rows(self._values[first:], row_weights, edges)
        return edges

    def columns(self, indices: Any) -> FloatArray:
        """Return ``H[:, indices]`` itself, dense."""
        return np.asarray(self._values[indices].T, dtype=np.float64)

    def up_to_constants(self, indices: Any) -> tuple[FloatArray, float]:
        """Return ``H[:, indices]``, and the share of the stumps that is read."""
        return self.columns(indices), indices.size / self.n_hypotheses


def _split_dense(X: Any, column: IntArray, threshold: FloatArray) -> NDArray[np.int8]:
    """Evaluate stumps, one in each row of the result."""
    values = np.empty((column.size, X.shape[0]), dtype=np.int8)
    for left in range(0, column.size, COLUMNS_AT_ONCE):
        some = slice(left, left + COLUMNS_AT_ONCE)
        above = np.asarray(X[:, column[some]]) > threshold[some]
        values[some] = above.T
    values *= 2
    values -= 1
    return values


def _split_sparse(X: Any, column: IntArray, threshold: FloatArray) -> NDArray[np.int8]:
    """Evaluate stumps, one in each row of the result, from the stored entries."""
    values = np.empty((column.size, X.shape[0]), dtype=np.int8)
    values[:] = np.where(threshold < 0.0, 1, -1)[:, None]
    stored = summed(X[:, column].tocsc())
    which = np.repeat(np.arange(column.size), np.diff(stored.indptr))
    above = stored.data > threshold[which]
    values[which, stored.indices] = np.where(above, 1, -1)
    return values


class StumpGrid:
    r"""Every threshold of every column, 1 above it and -1 up to it.

    Two rows differ in the stumps between their places alone, so that with C the sums of
    D up to a row's place in each column, products cost sums along the thresholds:

    .. math:: (H D H^T)_{ij} = \sum_h D_h - 2 \sum_k | C_{ik} - C_{jk} |.
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
        """Return a grid of some of the stumps, given by ascending indices."""
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
        """Return the number of products, with any stumps, since the last call."""
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
        _stump_kernels.edges_of_grid(
            self._places, self._ends, row_weights, float(row_weights.sum()), edges
        )
        return edges

    def scores(self, weights: FloatArray) -> FloatArray:
        """Return ``H @ weights``."""
        self._whole._n_products += 1
        scores = np.empty(self._places.shape[1])
        weights = np.ascontiguousarray(weights)
        _stump_kernels.scores_of_grid(self._places, self._ends, weights, scores)
        return scores

    def peaks(self, edges: FloatArray, least: float, most: int) -> IntArray:
        """Return the strongest stumps of each column, no two of one peak."""
        # a peak is a run of neighbouring stumps of one sign with edges above least
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
        below = np.empty(self._places.shape)
        _stump_kernels.sums_below(
            self._places, self._ends, np.ascontiguousarray(weights), below
        )
        below = np.ascontiguousarray(below.T)
        products: FloatArray = squareform(pdist(below, "cityblock"))
        products *= -2.0
        products += weights.sum()
        return products

    def column_products(self, row_weights: FloatArray) -> FloatArray:
        """Return the upper half of ``H.T @ diag(row_weights) @ H``, in O(m k^2)."""
        products = np.empty((self.n_stumps, self.n_stumps))
        width = int(np.diff(self._ends, prepend=0).max()) + 2
        _stump_kernels.products_of_grid(
            self._places,
            self._ends,
            row_weights,
            float(row_weights.sum()),
            np.empty((width, width)),
            products,
        )
        return products
