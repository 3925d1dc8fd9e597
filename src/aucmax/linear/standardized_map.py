"""Columns of a memory map on one scale, as another map."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucmax._core.mapped import map_blocks, row_blocks
from aucmax._core.validation import FloatArray
from aucmax.linear.column_scales import extreme_scales, largest_entries

__all__ = ["standardized_map"]


def standardized_map(
    X: NDArray[Any], weight: FloatArray | None
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the data on one scale, with what was taken off and divided by.

    A column of zeros and ones keeps its scale: of a rare category, scaling would make a
    large number.
    """
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
