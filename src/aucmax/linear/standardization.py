"""Columns on one scale: of rows in memory, on disk or on workers."""

from typing import Any

import numpy as np
from scipy import sparse

from aucmax._core.features import explain_non_finite
from aucmax._core.row_matrix import as_row_matrix
from aucmax._core.validation import BoolArray, FloatArray
from aucmax.linear.column_scales import extreme_scales, largest_entries

__all__ = ["standardized"]


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
