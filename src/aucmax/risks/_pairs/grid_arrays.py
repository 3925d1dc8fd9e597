"""The loops of `logistic_grid` in NumPy, with equal bits: no compiler for few rows."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucmax._core.validation import FloatArray


def add_moments(
    rows: Any, place: Any, first: int, last: int, moments: FloatArray
) -> None:
    """Add the powers of the places of some rows to the moments of class and cell."""
    n_cells, n_powers = moments.shape[1:]
    w = _counted(rows, first, last)
    x, cells = _places(rows, place, first, last, n_cells)
    for k in range(n_powers):
        added = np.bincount(cells, w, minlength=2 * n_cells)
        moments[:, :, k] += added.reshape(2, n_cells)
        w = w * x


def read_off(
    rows: Any,
    place: Any,
    first: int,
    last: int,
    series: FloatArray,
    gradient: NDArray[Any],
    hessian: NDArray[Any],
) -> None:
    """Fill in both derivatives by the scores of some rows, times the rows' weights."""
    n_cells, n_powers = series.shape[1:3]
    w = _counted(rows, first, last)
    x, cells = _places(rows, place, first, last, n_cells)
    of_cells = series.reshape(2 * n_cells, n_powers, 2)
    values = np.zeros((x.size, 2))
    for k in range(n_powers - 1, -1, -1):
        values = values * x[:, np.newaxis] + of_cells[cells, k]
    gradient[first:last] = w * values[:, 0]
    hessian[first:last] = w * values[:, 1]


def _places(
    rows: Any, place: Any, first: int, last: int, n_cells: int
) -> tuple[FloatArray, Any]:
    """Return the places of some rows in their cells, and the cells by class."""
    x = (rows.scores[first:last] - place.low) * place.scale
    cells = np.minimum(x.astype(np.int64), n_cells - 1)
    x = 2.0 * (x - cells) - 1.0
    return x, cells + n_cells * rows.classes[first:last].astype(np.int64)


def _counted(rows: Any, first: int, last: int) -> FloatArray:
    """Return how much each of some rows counts."""
    weights = rows.weights[first:last] if rows.weights.size else np.ones(last - first)
    if rows.cuts.size == 0:
        return weights
    scores = rows.scores[first:last]
    start, share_at_start, end, share_at_end = rows.cuts[rows.classes[first:last]].T
    before = np.where(scores == start, share_at_start, scores > start)
    share = np.where(scores == end, share_at_end, scores > end) - before
    share = np.where(scores >= end, share, 0.0)
    counted: FloatArray = weights * (share + rows.outside * (1.0 - share))
    return counted
