"""Columns of different scales: powers of 2 that divide them, and standardization."""

from typing import Any

import numpy as np
from scipy import sparse

from aucmax._core.features import explain_non_finite
from aucmax._core.row_matrix import as_row_matrix
from aucmax._core.validation import BoolArray, FloatArray
from aucmax.hypotheses.column_access import column_ends

_MAX_RATIO = 1e6  # of the largest entries of two columns
_MAX_SCALE = 1e100  # beyond it, or below its inverse, squares leave the range
_MAX_MISMATCH = 30.0  # decades of C times the squared scale, if C was meant for it


def largest_entries(X: Any) -> FloatArray:
    """Return the largest absolute value in each column."""
    if X.shape[0] == 0 or X.shape[1] == 0:
        return np.zeros(X.shape[1])
    low, high = column_ends(X)
    return np.maximum(high, -low)


def column_scales(largest: FloatArray, C: float = 1.0) -> FloatArray | None:
    """Return a power of 2 near each column's scale, or None if they are similar."""
    # columns of one extreme scale are left alone if C matches it
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
    X: Any, weight: FloatArray | None, names: Any, *, wanted: bool
) -> tuple[Any, FloatArray, FloatArray]:
    """Return the data on one scale, the centres and the scales."""
    # sparse data are not centred; a column of zeros and ones keeps its scale, which
    # would make a large number of a rare category
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
