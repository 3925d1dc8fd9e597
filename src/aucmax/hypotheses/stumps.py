"""Decision stumps: every threshold of every column, in both directions."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from aucmax._core.row_matrix import summed
from aucmax._core.sorting import RowNumbers, row_number_type, sort_with_order
from aucmax._core.validation import BoolArray, FloatArray, IntArray
from aucmax.hypotheses._stump_kernels import stump_edges
from aucmax.hypotheses.column_access import (
    COLUMNS_AT_ONCE,
    ColumnReader,
    column_ranges,
)

_PARTS_OF_A_COLUMN = 50  # with one peak each; measured on 600 to 300,000 rows
_MAX_TIE = 1e-9  # edges closer than this, relative to the largest, are equal


class Stumps:
    r"""All stumps on some data as a matrix H, one column per threshold, never formed.

    .. math:: h(x) = \begin{cases} 1 & x_k > \mathrm{threshold} \\ -1 & \text{else}
              \end{cases}

    for every column k and threshold halfway between two neighbouring values; where that
    rounds to the upper value, the lower one is the threshold. The edge of a stump under
    signed row weights g is :math:`\sum_r g_r h(x_r)`, that of the opposite direction
    its negative. Columns are sorted once, so that one sweep gives all edges. Kept are a
    row number for each value that is not zero, and the thresholds, in ascending order
    column by column. Sparse data are never made dense.
    """

    dtype = np.dtype(np.float64)

    def __init__(self, X: Any) -> None:
        self.X = X
        n_rows = X.shape[0]
        orders: list[RowNumbers] = [np.empty(0, row_number_type(n_rows))]
        thresholds, n_below = [np.empty(0)], []
        for rows, values in _nonzero_entries(X):
            places, ascending = sort_with_order(values.astype(np.float64))
            order = rows[places].astype(orders[0].dtype)
            has_zeros = order.size < n_rows
            n_below.append(
                int(np.searchsorted(ascending, 0.0)) if has_zeros else order.size
            )
            marks = _near_thresholds(ascending, n_below[-1], has_zeros)
            order[marks] = ~order[marks]
            if has_zeros:
                ascending = np.insert(ascending, n_below[-1], 0.0)
            orders.append(order)
            thresholds.append(_thresholds(ascending))
        self._order: RowNumbers = np.concatenate(orders)
        self._starts = np.cumsum([order.size for order in orders])
        # where the zeros belong, if any
        self._middles = self._starts[:-1] + np.array(n_below, dtype=np.int64)
        # of each column, its first threshold
        self._firsts = np.cumsum([column.size for column in thresholds])
        self.threshold: FloatArray = np.concatenate(thresholds)

    @classmethod
    def fit(cls, X: Any, names: Any = None) -> Self:
        """Check that all values are finite, and sort each column."""
        column_ranges(X, names)
        return cls(X)

    @property
    def n_hypotheses(self) -> int:
        """Number of thresholds."""
        return self.threshold.size

    def column(self, indices: Any) -> IntArray:
        """Return the columns of some stumps."""
        columns: IntArray = np.searchsorted(self._firsts, indices, side="right") - 1
        return columns

    def scores(self, weights: FloatArray) -> FloatArray:
        """Return ``H @ weights``; weights of 0 cost nothing."""
        used = np.flatnonzero(weights)
        columns, thresholds = self.column(used), self.threshold[used]
        return stump_scores(self.X, columns, thresholds, weights[used])

    def edges(self, row_weights: FloatArray) -> FloatArray:
        """Return ``H.T @ row_weights`` by one sweep."""
        edges = np.empty(self.n_hypotheses)
        weights = np.ascontiguousarray(row_weights, dtype=np.float64)
        stump_edges(
            *(weights, float(weights.sum()), self._order, self._starts),
            *(self._middles, self._firsts, edges),
        )
        return edges

    def best(self, row_weights: FloatArray) -> tuple[int, float]:
        """Return the stump with the largest edge in size, and that edge.

        Of edges equal up to rounding, the lowest column and threshold win.
        """
        edges = self.edges(row_weights)
        sizes = np.abs(edges)
        first = int(np.argmax(sizes >= sizes.max() * (1.0 - _MAX_TIE)))
        return first, float(edges[first])

    def is_peak(self, edges: FloatArray) -> BoolArray:
        """Return which stumps have an edge as large in size as those around it.

        These are its neighbours, and all in the same of 50 parts of the column. Of
        edges equal up to rounding only the first is a peak.
        """
        sizes = np.abs(edges)
        rises = sizes[1:] > sizes[:-1] * (1.0 + _MAX_TIE)
        is_peak: BoolArray = np.append(True, rises) & np.append(~rises, True)
        parts = [
            np.arange(start, end, -(-(end - start) // _PARTS_OF_A_COLUMN))
            for start, end in pairwise(self._firsts.tolist())
            if start < end
        ]
        starts = np.concatenate(parts)
        largest = np.maximum.reduceat(sizes, starts)
        is_peak &= sizes >= np.repeat(largest, np.diff(starts, append=sizes.size))
        return is_peak

    def as_bins(self, indices: IntArray) -> "StumpBins":
        """Return ascending stumps as sums of bins; reads each of their columns once."""
        columns, starts = np.unique(self.column(indices), return_index=True)
        ends = np.append(starts[1:], indices.size)
        reader = ColumnReader(self.X)
        bins = np.empty((self.X.shape[0], columns.size), dtype=np.int32)
        for k, (column, start, end) in enumerate(
            zip(columns, starts, ends, strict=True)
        ):
            values = reader.read(int(column))
            bins[:, k] = np.searchsorted(self.threshold[indices[start:end]], values)
        is_above = bins > 0
        row_ends = np.concatenate([[0], np.cumsum(is_above.sum(axis=1))])
        numbers = (bins + (starts - 1).astype(np.int32))[is_above]
        shape = bins.shape[0], indices.size
        table = sparse.csr_array(
            (np.ones(numbers.size), numbers, row_ends), shape=shape
        )
        return StumpBins(
            table, np.repeat(starts, ends - starts), np.repeat(ends, ends - starts)
        )


class StumpBins(NamedTuple):
    """Stumps as sums of bins; a bin is 1 up to the next threshold of the column.

    Up to a constant, a stump is twice the sum of its column's bins from its threshold
    on. A row is in at most one bin per column: memory is O(n_rows n_columns).
    """

    table: sparse.csr_array  # one row per row, one column per stump
    starts: IntArray  # of each stump, the first one of its column
    ends: IntArray  # and the first one of the next column

    def __matmul__(self, weights: FloatArray) -> FloatArray:
        """Return the weighted sum of the stumps, up to a constant."""
        sums = np.concatenate([[0.0], np.cumsum(weights)])
        return np.asarray(self.table @ (2.0 * (sums[1:] - sums[self.starts])))

    def hessian_over_stumps(self, hessian: FloatArray) -> FloatArray:
        """Turn the Hessian over the bins and a last column into that over stumps."""
        ends = np.append(self.ends, hessian.shape[0])
        for _ in range(2):
            sums = np.zeros((hessian.shape[0] + 1, hessian.shape[0]))
            np.cumsum(hessian[::-1], axis=0, out=sums[-2::-1])
            hessian = (sums[:-1] - sums[ends]).T
        hessian[:-1] *= 2.0
        hessian[:, :-1] *= 2.0
        return hessian


def stump(values: FloatArray, threshold: float) -> FloatArray:
    """Return 1 where a value is above the threshold, else -1."""
    return np.where(values > threshold, 1.0, -1.0)


def stump_scores(
    X: Any, columns: IntArray, thresholds: FloatArray, weights: FloatArray
) -> FloatArray:
    """Return the weighted sum of stumps, by a binary search per value of a column."""
    scores, reader = np.zeros(X.shape[0]), ColumnReader(X)
    order = np.lexsort((thresholds, columns))
    distinct, starts = np.unique(columns[order], return_index=True)
    for column, chosen in zip(distinct, np.split(order, starts[1:]), strict=False):
        steps = np.concatenate(([0.0], np.cumsum(2.0 * weights[chosen])))
        steps -= weights[chosen].sum()
        values = reader.read(int(column))
        scores += steps[np.searchsorted(thresholds[chosen], values)]
    return scores


def _thresholds(ascending: FloatArray) -> FloatArray:
    """Return thresholds between distinct values: halfway, or the lower by rounding."""
    rises = np.flatnonzero(ascending[1:] > ascending[:-1])
    lower, upper = ascending[rises], ascending[rises + 1]
    middle = lower / 2.0 + upper / 2.0
    return np.where((lower <= middle) & (middle < upper), middle, lower)


def _near_thresholds(ascending: FloatArray, middle: int, has_zeros: bool) -> BoolArray:
    """Return which values have a threshold next to them, on the side of the zeros."""
    changes = np.empty(ascending.size + 1, dtype=bool)
    np.not_equal(ascending[1:], ascending[:-1], out=changes[1:-1])
    changes[[0, middle, -1]] = has_zeros
    # changes[k] is about the gap before value k: below the zeros, a mark is for the gap
    # after a value, above them for the gap before it
    return np.concatenate([changes[1 : middle + 1], changes[middle:-1]])


def _nonzero_entries(X: Any) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
    """Yield the rows and the values of each column that are not zero."""
    if sparse.issparse(X):
        matrix: Any = X
        matrix = summed(matrix.tocsc())
        for start, end in pairwise(matrix.indptr):
            stored = np.flatnonzero(matrix.data[start:end]) + start
            yield matrix.indices[stored], matrix.data[stored]
        return
    for left in range(0, X.shape[1], COLUMNS_AT_ONCE):
        # a single column of rows would fetch its neighbours from memory each time
        for values in np.asfortranarray(X[:, left : left + COLUMNS_AT_ONCE]).T:
            rows = np.flatnonzero(values)
            yield rows, values[rows]
