"""Columns of rows in parts on one scale, each part on its worker."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from aucmax._core.validation import BoolArray, FloatArray
from aucmax.dask.matrix import PartedMatrix

__all__ = ["standardized"]


def standardized(
    X: PartedMatrix, weight: FloatArray | None, names: Any, *, wanted: bool
) -> tuple[PartedMatrix, FloatArray, FloatArray]:
    """Return the data on one scale, with what was taken off and divided by.

    Sparse data stay as they are. A column of zeros and ones keeps its scale: of a rare
    category, scaling would make a large number.
    """
    if not all(X.of_parts(_is_finite)):
        raise ValueError(X.explain_non_finite(names))
    centre, scale = np.zeros(X.shape[1]), np.ones(X.shape[1])
    if X.is_sparse or not wanted:
        return X, centre, scale
    weights = np.ones(X.shape[0]) if weight is None else weight
    total = weights.sum()
    centre = np.sum(X.of_parts_with_rows(_sums, weights), axis=0) / total
    squares = X.of_parts_with_rows(_squares, weights, centre=centre)
    spread = np.sqrt(np.sum(squares, axis=0) / total)
    scale = np.where(spread > 0.0, spread, 1.0)
    scale[np.all(X.of_parts(_is_indicator), axis=0)] = 1.0
    scaled = X.mapped(_scaled, centre=centre, scale=scale)
    X.release()
    return scaled, centre, scale


def _is_finite(part: Any) -> bool:
    matrix: Any = part
    values = matrix.data if sparse.issparse(part) else matrix
    return bool(np.isfinite(values).all())


def _sums(part: Any, of_rows: FloatArray) -> FloatArray:
    sums: FloatArray = of_rows @ part.astype(np.float64, copy=False)
    return sums


def _squares(part: Any, of_rows: FloatArray, centre: FloatArray) -> FloatArray:
    squares: FloatArray = of_rows @ (part - centre) ** 2
    return squares


def _is_indicator(part: Any) -> BoolArray:
    return np.asarray((part * part == part).all(axis=0))


def _scaled(part: Any, centre: FloatArray, scale: FloatArray) -> FloatArray:
    scaled: FloatArray = (part - centre) / scale
    return scaled
