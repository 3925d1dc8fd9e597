"""Quadratic forms of few columns, dense or sparse: V -> V^T L V."""

from typing import Any

import numpy as np
from scipy import sparse

from aucmax._core.validation import FloatArray, IntArray

__all__ = ["beside", "gram", "sums_of_windows"]

_MOST_NUMBERS_AT_ONCE = 2**20  # of sparse columns made dense


def gram(columns: Any, weights: FloatArray) -> FloatArray:
    """Return the inner products of columns whose rows have weights."""
    if sparse.issparse(columns):
        matrix: Any = columns
        return np.asarray((matrix.T @ (sparse.diags_array(weights) @ matrix)).toarray())
    products: FloatArray = columns.T @ (weights[:, None] * columns)
    return products


def beside(columns: Any, column: FloatArray) -> Any:
    """Append a dense column."""
    if sparse.issparse(columns):
        both: Any = [columns, sparse.csr_array(column[:, None])]
        return sparse.hstack(both, format="csr")
    return np.column_stack([columns, column])


def sums_of_windows(
    own: Any, others: Any, first: IntArray, last: IntArray
) -> FloatArray:
    """Return the sum over rows of own row times the sum of a window of other rows.

    A row's window are the others from its `first` to before its `last`; their sums are
    differences of prefix sums, of which only those at the ends of windows are needed.
    Both matrices are sparse. Costs O(rows * columns), for some columns at a time.
    """
    ends = np.unique(np.concatenate([first, last]))
    left, right = np.searchsorted(ends, first), np.searchsorted(ends, last)
    n_others, n_columns = others.shape
    # prefix k sums the others before ends[k]
    parts = np.searchsorted(ends, np.arange(n_others), side="right")
    inside = np.flatnonzero(parts < ends.size)
    to_parts = sparse.csr_array(
        (np.ones(inside.size), (parts[inside], inside)), shape=(ends.size, n_others)
    )
    parts_of_others, own = (to_parts @ others).tocsc(), own.T.tocsr()
    sums = np.empty((own.shape[0], n_columns))
    n_at_once = max(1, _MOST_NUMBERS_AT_ONCE // first.size)
    for start in range(0, n_columns, n_at_once):
        some = slice(start, start + n_at_once)
        prefixes = np.cumsum(parts_of_others[:, some].toarray(), axis=0)
        sums[:, some] = own @ (prefixes[right] - prefixes[left])
    return sums
