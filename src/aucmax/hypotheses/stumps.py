"""Decision stumps: every threshold of every column, in both directions."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from aucmax._core.sorting import RowNumbers, row_number_type, sort_with_order
from aucmax._core.validation import BoolArray, FloatArray, IntArray
from aucmax.hypotheses import _stump_kernels, column_access
from aucmax.hypotheses.column_access import COLUMNS_AT_ONCE


class BestStumps(NamedTuple):
    """The best stump of each column that has any; arrays of shape (n_best,)."""

    column: IntArray  # ascending
    threshold: FloatArray  # compared by ``x > threshold``
    direction: FloatArray  # 1 if the stump is 1 above the threshold, -1 if up to it
    edge: FloatArray  # never negative


class Stumps:
    r"""All stumps on some data, sorted once, so that one sweep finds the best.

    .. math:: h(x) = \mathrm{direction} \cdot
              \begin{cases} 1 & x_k > \mathrm{threshold} \\ -1 & \text{else}
              \end{cases}

    for every column k and threshold halfway between two neighbouring values; where that
    rounds to the upper value, the lower one is the threshold. The edge of a stump under
    signed row weights g is :math:`\sum_r g_r h(x_r)`. Kept are row numbers, four bytes
    for each value that is not zero. Sparse data are never made dense.
    """

    def __init__(self, X: Any) -> None:
        self.X = X
        self._sorted = _sort_columns(X)
        self._n_thresholds = int(np.count_nonzero(self._sorted.order < 0))

    @classmethod
    def fit(cls, X: Any, names: Any = None) -> Self:
        """Check that all values are finite, and sort each column."""
        column_access.column_ranges(X, names)
        return cls(X)

    @property
    def n_stumps(self) -> int:
        """Number of stumps: two for each threshold."""
        return 2 * self._n_thresholds

    def best(self, row_weights: FloatArray, *, per_column: bool = True) -> BestStumps:
        """Find the stump with the largest edge in each column that is not constant."""
        # of edges equal up to 1e-9, the lowest threshold wins, direction 1 before -1,
        # and the lowest column; without per_column, only the best of all
        places = np.empty(self._sorted.middles.size, dtype=np.int64)
        edges = np.empty(places.size)
        _stump_kernels.best_places(
            np.ascontiguousarray(row_weights, dtype=np.float64),
            float(row_weights.sum()),
            *self._sorted,
            places,
            edges,
        )
        column = np.flatnonzero(places >= 0)
        if not per_column and column.size:
            strengths = np.abs(edges[column])
            first = np.argmax(strengths >= strengths.max() * (1.0 - _stump_kernels.TIE))
            column = column[first : first + 1]
        edge = edges[column]
        threshold = self._thresholds(column, places[column])
        return BestStumps(
            column, threshold, np.where(edge < 0.0, -1.0, 1.0), np.abs(edge)
        )

    def _thresholds(self, column: IntArray, place: IntArray) -> FloatArray:
        """Return the thresholds next to these places of the order."""
        middle = self._sorted.middles[column]
        neighbour = np.where(place < middle, place + 1, place - 1)
        # between the last place below the zeros and the first above lie the zeros
        is_zero = (place < middle) == (neighbour >= middle)
        own, other = self._values(column, place), np.zeros(column.size)
        other[~is_zero] = self._values(column[~is_zero], neighbour[~is_zero])
        return midpoints(np.minimum(own, other), np.maximum(own, other))

    def _values(self, column: IntArray, place: IntArray) -> FloatArray:
        values: Any = self.X[self._sorted.rows(place), column]
        # the type that sparse matrices return depends on SciPy's version
        values = values.toarray() if hasattr(values, "toarray") else values
        return np.asarray(values, dtype=np.float64).ravel()


def stump(values: FloatArray, threshold: float) -> FloatArray:
    """Return 1 where a value is above the threshold, else -1."""
    return np.where(values > threshold, 1.0, -1.0)


def midpoints(lower: FloatArray, upper: FloatArray) -> FloatArray:
    """Return thresholds that part values: halfway, or the lower one by rounding."""
    middle = lower / 2.0 + upper / 2.0
    return np.where((lower <= middle) & (middle < upper), middle, lower)


_Entries: TypeAlias = Iterator[tuple[NDArray[Any], NDArray[Any]]]


class _SortedColumns(NamedTuple):
    """Where the thresholds of each column lie; see `best_places`."""

    order: RowNumbers
    starts: IntArray  # where each column starts in `order`, and the end
    # where the column's zeros belong in `order`, if any; else its end
    middles: IntArray

    def rows(self, places: IntArray) -> RowNumbers:
        """Return the rows at these places of the order."""
        stored = self.order[places]
        return np.where(stored < 0, ~stored, stored)


def _sort_columns(X: Any) -> _SortedColumns:
    """Sort each column of a dense or sparse matrix, without its zeros."""
    n_rows, n_columns = X.shape
    read = _sparse_entries if sparse.issparse(X) else _dense_entries
    counts, entries = read(X)
    starts = np.zeros(n_columns + 1, dtype=np.int64)
    np.cumsum(counts, out=starts[1:])
    middles = starts[1:].copy()
    order = np.empty(starts[-1], dtype=row_number_type(n_rows))
    for column, (rows, values) in enumerate(entries):
        if rows.size == 0:
            continue
        places, ascending = sort_with_order(values.astype(np.float64))
        own = order[starts[column] : starts[column + 1]]
        own[:] = rows[places]
        has_zeros = own.size < n_rows
        middle = int(np.searchsorted(ascending, 0.0)) if has_zeros else own.size
        middles[column] = starts[column] + middle
        marks = _near_thresholds(ascending, middle, has_zeros)
        own[marks] = ~own[marks]
    return _SortedColumns(order, starts, middles)


def _near_thresholds(ascending: FloatArray, middle: int, has_zeros: bool) -> BoolArray:
    """Return which values have a threshold next to them, on the side of the zeros."""
    changes = np.empty(ascending.size + 1, dtype=bool)
    np.not_equal(ascending[1:], ascending[:-1], out=changes[1:-1])
    changes[[0, middle, -1]] = has_zeros
    # changes[k] is about the gap before value k: below the zeros, a mark is for the gap
    # after a value, above them for the gap before it
    return np.concatenate([changes[1 : middle + 1], changes[middle:-1]])


def _sparse_entries(X: Any) -> tuple[NDArray[Any], _Entries]:
    """Return each column's number of entries other than zero, and those entries."""
    X = column_access.summed(X.tocsc())
    if not X.data.all():
        X = X.copy()
        X.eliminate_zeros()

    def entries() -> _Entries:
        for start, end in pairwise(X.indptr):
            yield X.indices[start:end], X.data[start:end]

    return np.diff(X.indptr), entries()


def _dense_entries(X: Any) -> tuple[NDArray[Any], _Entries]:
    """Return each column's number of entries other than zero, and those entries."""
    counts = np.zeros(X.shape[1], dtype=np.int64)
    for rows, columns in column_access.tiles(X):
        counts[columns] += np.count_nonzero(X[rows, columns], axis=0)

    def entries() -> _Entries:
        for left in range(0, X.shape[1], COLUMNS_AT_ONCE):
            # a single column of rows would fetch its neighbours from memory each time
            block = np.asfortranarray(X[:, left : left + COLUMNS_AT_ONCE])
            for values in block.T:
                rows = np.flatnonzero(values)
                yield rows, values[rows]

    return counts, entries()
