"""Quadratic forms of few columns, dense or sparse: V -> V^T L V."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from aucmax._core.sorting import RowNumbers
from aucmax._core.validation import FloatArray, IntArray

_MAX_NUMBERS_AT_ONCE = 2**20  # of sparse columns made dense
_ROUNDING = 1e-8  # share of a column's curvature; rounding of it leaves less


def gram(columns: Any, weights: FloatArray) -> FloatArray:
    """Return the inner products of columns whose rows have weights."""
    if sparse.issparse(columns):
        matrix: Any = columns
        return np.asarray((matrix.T @ (sparse.diags_array(weights) @ matrix)).toarray())
    products: FloatArray = columns.T @ (weights[:, None] * columns)
    return products


def append_column(columns: Any, column: FloatArray) -> Any:
    """Append a dense column."""
    if sparse.issparse(columns):
        both: Any = [columns, sparse.csr_array(column[:, None])]
        return sparse.hstack(both, format="csr")
    return np.column_stack([columns, column])


def without_threshold(
    hessian: FloatArray, pulls: FloatArray, stiffness: float
) -> FloatArray:
    """Return the Hessian if the threshold follows: 0 where rounding alone is left."""
    if not stiffness > 0.0:
        return hessian
    followed: FloatArray = hessian - np.outer(pulls, pulls) / stiffness
    is_rounding = followed.diagonal() <= _ROUNDING * hessian.diagonal()
    followed[is_rounding] = 0.0
    followed[:, is_rounding] = 0.0
    return followed


def _window_sums(own: Any, others: Any, first: IntArray, last: IntArray) -> FloatArray:
    """Return the sum over rows of own row times the sum of a window of other rows."""
    # Windows go from first to before last; their sums are differences of prefix sums.
    # Both matrices are sparse. O(rows * columns), some columns at a time.
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
    n_at_once = max(1, _MAX_NUMBERS_AT_ONCE // first.size)
    for start in range(0, n_columns, n_at_once):
        some = slice(start, start + n_at_once)
        prefixes = np.cumsum(parts_of_others[:, some].toarray(), axis=0)
        sums[:, some] = own @ (prefixes[right] - prefixes[left])
    return sums


def window_laplacian(
    positive: tuple[RowNumbers, FloatArray],
    lifted: tuple[RowNumbers, FloatArray],
    first: IntArray,
    last: IntArray,
) -> Callable[[FloatArray], FloatArray]:
    """Return the Laplacian L of rows that are joined in windows, as V -> V^T L V."""
    # a positive is joined with the lifted negatives from first to before last, by the
    # product of their weights
    positive_weights, lifted_weights = positive[1], lifted[1]
    weights_before = _prefix_sums(lifted_weights)
    positive_degrees = positive_weights * (weights_before[last] - weights_before[first])
    n_positive, n = positive_weights.size, lifted_weights.size
    entering = np.bincount(first, positive_weights, minlength=n + 1)
    leaving = np.bincount(last, positive_weights, minlength=n + 1)
    lifted_degrees = lifted_weights * np.cumsum(entering - leaving)[:n]
    degrees = np.concatenate([positive_degrees, lifted_degrees])
    rows = np.concatenate([positive[0], lifted[0]])

    def form(columns: Any) -> FloatArray:
        ordered = columns[rows]
        if sparse.issparse(ordered):
            return _sparse_form(ordered)
        partners = _prefix_sums(lifted_weights[:, None] * ordered[n_positive:])
        pulled = degrees[:, None] * ordered
        # both halves of the symmetric cross term at once; made symmetric below
        crossed = partners[last]
        crossed -= partners[first]
        crossed *= (2.0 * positive_weights)[:, None]
        pulled[:n_positive] -= crossed
        hessian: FloatArray = ordered.T @ pulled
        return (hessian + hessian.T) / 2.0

    def _sparse_form(ordered: Any) -> FloatArray:
        positives = sparse.diags_array(positive_weights) @ ordered[:n_positive]
        negatives = sparse.diags_array(lifted_weights) @ ordered[n_positive:]
        crossed = _window_sums(positives, negatives, first, last)
        return gram(ordered, degrees) - crossed - crossed.T

    return form


def _prefix_sums(rows: FloatArray) -> FloatArray:
    """Return the sums of the first 0, 1, 2, ... rows."""
    sums = np.zeros((rows.shape[0] + 1, *rows.shape[1:]))
    np.cumsum(rows, axis=0, out=sums[1:])
    return sums
