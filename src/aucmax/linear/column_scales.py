"""Columns of different scales: powers of 2 that divide them, and standardization."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from aucmax._core.dask_dispatch import dask_version
from aucmax._core.features import explain_non_finite
from aucmax._core.mapped import is_mapped, map_blocks, row_blocks
from aucmax._core.validation import FloatArray

__all__ = ["column_scales", "extreme_scales", "largest_entries", "standardized"]

_MAX_RATIO = 1e6  # of the largest entries of two columns
_MAX_SCALE = 1e100  # beyond it, or below its inverse, squares leave the range
_ENTRIES_BESIDE = 2**11  # of a long row made of rows side by side
_ENTRIES_AT_ONCE = 2**17  # that stay in the cache
_MAX_MISMATCH = 30.0  # decades of C times the squared scale, if C was meant for it


def largest_entries(X: Any) -> FloatArray:
    """Return the largest absolute value in each column."""
    if X.shape[0] == 0 or X.shape[1] == 0:
        return np.zeros(X.shape[1])
    if hasattr(X, "column_ranges"):  # of rows in parts
        low, high = X.column_ranges(None)
        largest: FloatArray = np.maximum(high, -low)
        return largest
    with np.errstate(invalid="ignore"):  # what is not finite is refused elsewhere
        if _has_few_columns_in_sequence(X):
            high, low = _column_ends(X)
        else:
            high, low = X.max(axis=0), X.min(axis=0)
    if sparse.issparse(X):
        high, low = high.toarray().ravel(), low.toarray().ravel()
    return np.asarray(np.maximum(high, -low), dtype=np.float64)


def _has_few_columns_in_sequence(X: Any) -> bool:
    is_in_sequence = isinstance(X, np.ndarray) and X.flags.c_contiguous
    return is_in_sequence and bool(2 * X.shape[1] <= _ENTRIES_BESIDE)


def _column_ends(X: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the highest and the lowest value of each of a few columns."""
    # Some rows side by side are one long row, of which NumPy compares many entries at
    # once, and both ends are taken of what is in the cache.
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

    Columns of one scale stay if C, which stands against squared weights, is in keeping
    with it. Dividing by a power of 2 is exact: a model of the divided columns is, up to
    rounding, one of the columns, its weights divided by the same powers.
    """
    used = largest[largest > 0.0]
    if not used.size or not np.isfinite(largest).all():
        return None
    high, low = float(used.max()), float(used.min())
    mismatch = abs(np.log10(float(C)) + 2.0 * np.log10(high))
    is_ordinary = high <= _MAX_SCALE and low >= 1.0 / _MAX_SCALE
    is_ordinary |= mismatch <= _MAX_MISMATCH
    if is_ordinary and high / low <= _MAX_RATIO:
        return None
    # then the largest entry is from 2 to 4, about that of a standardised column
    exponents = np.frexp(largest)[1] - 2
    # within 2^-1020 and 2^1020, so that their inverses are numbers as well
    return np.where(largest > 0.0, np.ldexp(1.0, np.clip(exponents, -1020, 1020)), 1.0)


def extreme_scales(largest: FloatArray) -> FloatArray:
    """Return a power of 2 near the scale of columns whose squares leave the range."""
    is_extreme = (largest > _MAX_SCALE) | (largest < 1.0 / _MAX_SCALE)
    # weights are divided by it, and must stay finite
    exponents = np.clip(np.frexp(largest)[1] - 1, -950, 1020)
    return np.where(is_extreme & (largest > 0.0), np.ldexp(1.0, exponents), 1.0)


def standardized(
    X: Any,
    weight: FloatArray | None,
    names: Sequence[str] | None,
    *,
    wanted: bool,
) -> tuple[Any, FloatArray, FloatArray]:
    """Return the data on one scale, with what was taken off and divided by.

    Sparse data keep their scale, and so does a column of zeros and ones: of a rare
    category, scaling would make a large number.
    """
    if hasattr(X, "of_parts"):
        scaled: tuple[Any, FloatArray, FloatArray] = dask_version("standardized")(
            X, weight, names, wanted=wanted
        )
        return scaled
    matrix: Any = X
    values = matrix.data if sparse.issparse(X) else matrix
    with np.errstate(over="ignore", invalid="ignore"):
        is_fine = np.isfinite(values.sum(dtype=np.float64))
    if not is_fine and not np.isfinite(values).all():
        raise ValueError(explain_non_finite(X, names))
    if is_mapped(X) and wanted:
        return _standardized_map(X, weight)
    powers = extreme_scales(largest_entries(X))
    if (powers != 1.0).any():
        X = matrix = X @ sparse.diags_array(1.0 / powers)
    if sparse.issparse(X) or not wanted:
        return X, np.zeros(X.shape[1]), powers
    centre = np.average(X.astype(np.float64, copy=False), axis=0, weights=weight)
    spread = np.sqrt(np.average((X - centre) ** 2, axis=0, weights=weight))
    scale = np.where(spread > 0.0, spread, 1.0)
    scale[(matrix * matrix == matrix).all(axis=0)] = 1.0
    return (X - centre) / scale, centre * powers, scale * powers


def _standardized_map(
    X: NDArray[Any], weight: FloatArray | None
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Standardize a memory map block by block, as another map."""
    weights = np.ones(X.shape[0]) if weight is None else weight
    blocks, total = row_blocks(X), weights.sum()
    sums, squares = np.zeros(X.shape[1]), np.zeros(X.shape[1])
    is_indicator = np.ones(X.shape[1], dtype=np.bool_)
    powers = extreme_scales(largest_entries(X))
    for rows in blocks:
        block = X[rows].astype(np.float64) / powers
        sums += weights[rows] @ block
        is_indicator &= (block * block == block).all(axis=0)
    centre = sums / total
    for rows in blocks:
        squares += weights[rows] @ (X[rows] / powers - centre) ** 2
    spread = np.sqrt(squares / total)
    scale = np.where((spread > 0.0) & ~is_indicator, spread, 1.0)
    mapped = map_blocks(X, lambda block: (block / powers - centre) / scale)
    return mapped, centre * powers, scale * powers
