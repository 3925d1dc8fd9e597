"""Columns of different scales: powers of 2 that divide them, and standardization."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from aucmax._core.features import explain_non_finite
from aucmax._core.row_matrix import as_row_matrix
from aucmax._core.validation import BoolArray, FloatArray

_LARGEST_RATIO = 1e6  # of the largest entries of two columns
_LARGEST_SCALE = 1e100  # beyond it, or below its inverse, squares leave the range
_ENTRIES_BESIDE = 2**11  # of a long row made of rows side by side
_ENTRIES_AT_ONCE = 2**17  # that stay in the cache
_LARGEST_MISMATCH = 30.0  # decades of C times the squared scale, if C was meant for it


def largest_entries(X: Any) -> FloatArray:
    """Return the largest absolute value in each column."""
    if X.shape[0] == 0 or X.shape[1] == 0:
        return np.zeros(X.shape[1])
    chosen = np.ones(X.shape[0], dtype=bool)
    found = as_row_matrix(X).reduce_rows(_largest_of_block, chosen)
    return np.asarray(np.max(found, axis=0), dtype=np.float64)


def _largest_of_block(X: Any, of_rows: BoolArray) -> FloatArray:
    if not of_rows.all():
        X = X[of_rows]
    if X.shape[0] == 0:
        return np.zeros(X.shape[1])
    with np.errstate(invalid="ignore"):  # what is not finite is refused elsewhere
        if sparse.issparse(X):
            matrix: Any = X
            high = matrix.max(axis=0).toarray().ravel()
            low = matrix.min(axis=0).toarray().ravel()
        elif _has_few_columns_in_sequence(X):
            high, low = _column_ends(X)
        else:
            high, low = X.max(axis=0), X.min(axis=0)
    return np.asarray(np.maximum(high, -low), dtype=np.float64)


def _has_few_columns_in_sequence(X: Any) -> bool:
    is_in_sequence = isinstance(X, np.ndarray) and X.flags.c_contiguous
    return is_in_sequence and bool(2 * X.shape[1] <= _ENTRIES_BESIDE)


def _column_ends(X: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the highest and the lowest value of each of a few columns.

    Some rows side by side are one long row, of which NumPy compares many entries at
    once, and both ends are taken of what is in the cache.
    """
    n_rows, n_columns = X.shape
    n_beside = min(_ENTRIES_BESIDE // n_columns, n_rows)
    n_whole = n_rows // n_beside * n_beside
    long_rows = X[:n_whole].reshape(-1, n_beside * n_columns)
    high, low = long_rows[0].copy(), long_rows[0].copy()
    step = _ENTRIES_AT_ONCE // _ENTRIES_BESIDE
    for k in range(0, long_rows.shape[0], step):
        np.maximum(high, long_rows[k : k + step].max(axis=0), out=high)
        np.minimum(low, long_rows[k : k + step].min(axis=0), out=low)
    highs, lows = (
        np.concatenate([found.reshape(-1, n_columns), X[n_whole:]])
        for found in (high, low)
    )
    return highs.max(axis=0), lows.min(axis=0)


def column_scales(largest: FloatArray, C: float = 1.0) -> FloatArray | None:
    """Return a power of 2 near each column's scale, or None if they are alike.

    Columns of one scale are left alone if C, which stands against squared weights, is
    in keeping with it.

    Dividing by a power of 2 is exact, so that a model of the divided columns is, up to
    rounding, one of the columns: its weights have to be divided likewise.
    """
    used = largest[largest > 0.0]
    if not used.size or not np.isfinite(largest).all():
        return None
    high, low = float(used.max()), float(used.min())
    mismatch = abs(np.log10(float(C)) + 2.0 * np.log10(high))
    is_ordinary = high <= _LARGEST_SCALE and low >= 1.0 / _LARGEST_SCALE
    is_ordinary |= mismatch <= _LARGEST_MISMATCH
    if is_ordinary and high / low <= _LARGEST_RATIO:
        return None
    # then the largest entry is from 2 to 4, about that of a standardised column
    exponents = np.frexp(largest)[1] - 2
    # within 2^-1020 and 2^1020, so that their inverses are numbers as well
    return np.where(largest > 0.0, np.ldexp(1.0, np.clip(exponents, -1020, 1020)), 1.0)


def extreme_scales(largest: FloatArray) -> FloatArray:
    """Return a power of 2 near the scale of columns whose squares leave the range."""
    is_extreme = (largest > _LARGEST_SCALE) | (largest < 1.0 / _LARGEST_SCALE)
    # weights are divided by it, and must stay finite
    exponents = np.clip(np.frexp(largest)[1] - 1, -950, 1020)
    return np.where(is_extreme & (largest > 0.0), np.ldexp(1.0, exponents), 1.0)


def standardized(
    X: Any, weight: FloatArray | None, names: Any, *, wanted: bool
) -> tuple[Any, FloatArray, FloatArray]:
    """Return the data on one scale, with what was subtracted and divided by.

    Sparse data are not centred. A column of zeros and ones keeps its scale: of a rare
    category, scaling would make a large number.
    """
    rows = as_row_matrix(X)
    weights = np.ones(rows.shape[0]) if weight is None else weight
    is_counted = np.ones(rows.shape[0], dtype=bool)
    if not all(rows.reduce_rows(_is_finite, is_counted)):
        raise ValueError(explain_non_finite(X, names))
    powers = extreme_scales(largest_entries(X))
    if rows.is_sparse or not wanted:
        if (powers != 1.0).any():
            X = rows.transform(_divided, scale=powers)
        return X, np.zeros(rows.shape[1]), powers
    total = weights.sum()
    found = rows.reduce_rows(_sums, weights, powers=powers)
    centre = sum(sums for sums, _ in found) / total
    squares = rows.reduce_rows(_squares, weights, powers=powers, centre=centre)
    spread = np.sqrt(sum(squares) / total)
    is_indicator = np.all([indicators for _, indicators in found], axis=0)
    scale = np.where((spread > 0.0) & ~is_indicator, spread, 1.0)
    scaled = rows.transform(_scaled, powers=powers, centre=centre, scale=scale)
    return scaled, centre * powers, scale * powers


def _is_finite(block: Any, of_rows: BoolArray) -> bool:
    is_sparse: bool = sparse.issparse(block)
    values = block.data if is_sparse else block
    with np.errstate(over="ignore", invalid="ignore"):
        is_sum_finite = np.isfinite(values.sum(dtype=np.float64))  # needs no copy
    return bool(is_sum_finite or np.isfinite(values).all())


def _sums(
    block: Any, of_rows: FloatArray, powers: FloatArray
) -> tuple[FloatArray, BoolArray]:
    block = block / powers
    return of_rows @ block, (block * block == block).all(axis=0)


def _squares(
    block: Any, of_rows: FloatArray, powers: FloatArray, centre: FloatArray
) -> FloatArray:
    squares: FloatArray = of_rows @ (block / powers - centre) ** 2
    return squares


def _divided(block: Any, scale: FloatArray) -> Any:
    is_sparse: bool = sparse.issparse(block)
    if is_sparse:
        return block @ sparse.diags_array(1.0 / scale)
    return block / scale


def _scaled(
    block: Any, powers: FloatArray, centre: FloatArray, scale: FloatArray
) -> FloatArray:
    scaled: FloatArray = (block / powers - centre) / scale
    return scaled
