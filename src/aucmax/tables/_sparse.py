"""Sparse matrices: every feature on one scale, zeros stay zeros."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from aucmax._core.memory import require_memory
from aucmax.tables import _scaling

__all__ = ["Scales", "as_rows", "fit_width", "learn_scales", "scale", "to_unit_scale"]

Floats = NDArray[np.float64]
Scales = dict[str, Floats]

# A fit takes this much per column, empty or not: its scales, weights and steps.
_MEMORY_OF_A_COLUMN = 200


def as_rows(matrix: Any) -> sparse.csr_array:
    """Return CSR rows of float64 without infinities or NaN, which are refused."""
    rows = sparse.csr_array(matrix, dtype=np.float64)
    unusable = ~np.isfinite(rows.data)
    if unusable.any():
        position = int(np.argmax(unusable))
        row = int(np.searchsorted(rows.indptr, position, side="right"))
        raise ValueError(
            f"row {row}, feature {int(rows.indices[position]) + 1}: "
            f"{rows.data[position]} is not usable; leave the feature out of the row or "
            "put a finite number there."
        )
    return rows


def learn_scales(rows: sparse.csr_array) -> Scales:
    """Learn the typical size of each feature where it is not zero.

    As in :mod:`aucmax.tables._scaling`, with the centre at zero, so that the matrix
    stays sparse; the squashed values get a mean square of one. A single large index
    makes as many columns; whether there is memory for them is checked here.
    """
    source = f"a sparse matrix of {rows.shape[1]} columns"
    require_memory(source, _MEMORY_OF_A_COLUMN * rows.shape[1], rows.data.nbytes)
    columns = sparse.csc_array(rows)
    columns.eliminate_zeros()
    filled = np.diff(columns.indptr) > 0
    feature = np.repeat(np.arange(columns.shape[1]), np.diff(columns.indptr))
    half_spread, size = np.ones(columns.shape[1]), np.ones(columns.shape[1])
    half_spread[filled] = _medians(np.abs(columns.data) / 2, feature, columns.indptr)
    half_spread[half_spread == 0] = 1.0
    squashed = _scaling.squash(columns.data, 0.0, half_spread[feature])
    squares = np.bincount(feature, squashed**2, minlength=columns.shape[1])
    size[filled] = np.sqrt(squares[filled] / np.diff(columns.indptr)[filled])
    size[size == 0] = 1.0
    return {"half_spread": half_spread, "size": size}


def _medians(values: Floats, group: NDArray[Any], starts: NDArray[Any]) -> Floats:
    """Lower median of each nonempty group; groups stand one after the other."""
    ordered = values[np.lexsort((values, group))]
    starts, ends = starts[:-1], starts[1:]
    middle = (starts + ends - 1) // 2
    return np.asarray(ordered[middle[ends > starts]])


def scale(rows: sparse.csr_array, scales: Scales) -> sparse.csr_array:
    """Squash and scale the stored values."""
    half_spread = scales["half_spread"][rows.indices]
    values = _scaling.squash(rows.data, 0.0, half_spread)
    return _with_values(rows, values / scales["size"][rows.indices])


def to_unit_scale(rows: sparse.csr_array, scales: Scales) -> sparse.csr_array:
    """Multiply every feature by a power of two, for trees."""
    exponents = np.frexp(scales["half_spread"])[1].astype(np.int64)
    values = _scaling.to_unit_scale(rows.data, exponents[rows.indices])
    return _with_values(rows, values)


def fit_width(rows: sparse.csr_array, n_features: int) -> sparse.csr_array:
    """Crop features beyond `n_features` or add empty ones up to it."""
    if rows.shape[1] > n_features:
        return sparse.csr_array(rows[:, :n_features])
    return sparse.csr_array(
        (rows.data, rows.indices, rows.indptr), shape=(rows.shape[0], n_features)
    )


def _with_values(rows: sparse.csr_array, values: Floats) -> sparse.csr_array:
    return sparse.csr_array((values, rows.indices, rows.indptr), shape=rows.shape)
