"""Columns on one scale: centred, and divided by their standard deviations."""

from typing import Any

import numpy as np

from aucmax._core.row_matrix import as_row_matrix
from aucmax._core.validation import BoolArray, FloatArray


def standardized(
    X: Any, weight: FloatArray | None
) -> tuple[Any, FloatArray, FloatArray]:
    """Return dense data on one scale, the centres and the scales."""
    # a column of zeros and ones keeps its scale, which would make a large number of a
    # rare category
    rows = as_row_matrix(X)
    weights = np.ones(rows.shape[0]) if weight is None else weight
    total = weights.sum()
    found = rows.reduce_rows(_sums, weights)
    centre = sum(sums for sums, _ in found) / total
    squares = sum(rows.reduce_rows(_squares, weights, centre=centre))
    spread = np.sqrt(squares / total)
    is_indicator = np.all([indicators for _, indicators in found], axis=0)
    scale = np.where((spread > 0.0) & ~is_indicator, spread, 1.0)
    return rows.transform(_scaled, centre=centre, scale=scale), centre, scale


def _sums(block: Any, of_rows: FloatArray) -> tuple[FloatArray, BoolArray]:
    return of_rows @ block, (block * block == block).all(axis=0)


def _squares(block: Any, of_rows: FloatArray, centre: FloatArray) -> FloatArray:
    squares: FloatArray = of_rows @ (block - centre) ** 2
    return squares


def _scaled(block: Any, centre: FloatArray, scale: FloatArray) -> FloatArray:
    scaled: FloatArray = (block - centre) / scale
    return scaled
