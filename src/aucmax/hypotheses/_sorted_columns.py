"""The rows of each column in the order of their values, zeros left out."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from aucmax._core.sorting import RowNumbers, row_number_type, sort_with_order
from aucmax._core.validation import FloatArray, IntArray
from aucmax.hypotheses._ranges import COLUMNS_AT_ONCE, summed, tiles

__all__ = ["SortedColumns", "sort_columns"]

Entries: TypeAlias = Iterator[tuple[NDArray[Any], NDArray[Any]]]


class SortedColumns(NamedTuple):
    """Where the thresholds of each column lie.

    `order` has the rows whose value is not zero, column by column, ascending by value.
    A row is stored as ``~row`` where a threshold lies next to it: right after it, up to
    the column's middle, and right before it from there on.
    """

    order: RowNumbers
    starts: IntArray  # where each column starts in `order`, and the end
    # where the column's zeros belong in `order`, if any; else its end
    middles: IntArray

    def rows(self, places: IntArray) -> RowNumbers:
        """Return the rows at these places of the order."""
        stored = self.order[places]
        return np.where(stored < 0, ~stored, stored)


def sort_columns(X: Any) -> SortedColumns:
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
        marks = _beside_thresholds(ascending, middle, has_zeros)
        own[marks] = ~own[marks]
    return SortedColumns(order, starts, middles)


def _beside_thresholds(
    ascending: FloatArray, middle: int, has_zeros: bool
) -> NDArray[np.bool_]:
    """Tell which values have a threshold next to them, on the side of the zeros."""
    changes = np.empty(ascending.size + 1, dtype=bool)
    np.not_equal(ascending[1:], ascending[:-1], out=changes[1:-1])
    changes[[0, middle, -1]] = has_zeros
    # changes[k] is about the gap before value k: below the zeros, a mark is for the gap
    # after a value, above them for the gap before it
    return np.concatenate([changes[1 : middle + 1], changes[middle:-1]])


def _sparse_entries(X: Any) -> tuple[NDArray[Any], Entries]:
    """Return each column's number of entries other than zero, and those entries."""
    X = summed(X.tocsc())
    if not X.data.all():
        X = X.copy()
        X.eliminate_zeros()

    def entries() -> Entries:
        for start, end in pairwise(X.indptr):
            yield X.indices[start:end], X.data[start:end]

    return np.diff(X.indptr), entries()


def _dense_entries(X: Any) -> tuple[NDArray[Any], Entries]:
    """Return each column's number of entries other than zero, and those entries."""
    counts = np.zeros(X.shape[1], dtype=np.int64)
    for rows, columns in tiles(X):
        counts[columns] += np.count_nonzero(X[rows, columns], axis=0)

    def entries() -> Entries:
        for left in range(0, X.shape[1], COLUMNS_AT_ONCE):
            # a single column of rows would fetch its neighbours from memory each time
            block = np.asfortranarray(X[:, left : left + COLUMNS_AT_ONCE])
            for values in block.T:
                rows = np.flatnonzero(values)
                yield rows, values[rows]

    return counts, entries()
