"""Columns of dense and sparse data: their ranges, and how they are read."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from aucmax._core.features import explain_non_finite
from aucmax._core.row_matrix import as_row_matrix
from aucmax._core.validation import BoolArray, FloatArray

#: columns of rows that are read together: in float64, a cache line
COLUMNS_AT_ONCE = 8

_TILE_SIZE = 65_536  # entries, few enough to stay in the cache until the next read


def column_ranges(X: Any, names: Any = None) -> tuple[FloatArray, FloatArray]:
    """Return the least and largest value of each column; NaN or infinity raises."""
    if X.dtype not in (np.float32, np.float64):
        raise TypeError(
            f"X must be float32 or float64, got {X.dtype}: use X.astype(float)."
        )
    chosen = np.ones(X.shape[0], dtype=bool)
    ranges = as_row_matrix(X).reduce_rows(_block_ranges, chosen)
    low = np.min([low for low, _ in ranges], axis=0).astype(np.float64)
    high = np.max([high for _, high in ranges], axis=0).astype(np.float64)
    if not (np.isfinite(low).all() and np.isfinite(high).all()):
        raise ValueError(explain_non_finite(X, names))
    return low, high


def _block_ranges(X: Any, row_values: BoolArray) -> tuple[NDArray[Any], NDArray[Any]]:
    low = np.full(X.shape[1], np.inf, dtype=X.dtype)
    high = np.full(X.shape[1], -np.inf, dtype=X.dtype)
    if not row_values.all():
        X = X[row_values]
    with np.errstate(invalid="ignore"):  # NaN is explained by the caller
        if X.shape[0] and sparse.issparse(X):
            _sparse_ranges(X, low, high)
        elif X.shape[0]:
            _dense_ranges(X, low, high)
    return low, high


def _dense_ranges(X: Any, low: NDArray[Any], high: NDArray[Any]) -> None:
    for rows, columns in tiles(X):
        tile = X[rows, columns]
        np.minimum(low[columns], tile.min(axis=0), out=low[columns])
        np.maximum(high[columns], tile.max(axis=0), out=high[columns])


def tiles(X: Any) -> Iterator[tuple[slice, slice]]:
    """Cut a dense matrix along its memory into small tiles of rows and columns."""
    n_rows, n_columns = X.shape
    is_stored_by_column = X.flags.f_contiguous and not X.flags.c_contiguous
    wide = max(1, _TILE_SIZE // n_rows) if is_stored_by_column else n_columns
    tall = max(1, _TILE_SIZE // wide)
    for left in range(0, n_columns, wide):
        for top in range(0, n_rows, tall):
            yield slice(top, top + tall), slice(left, left + wide)


def summed(X: Any) -> Any:
    """Return a sparse matrix that stores no place twice: X itself if it does not."""
    if not X.has_canonical_format:
        X = X.copy()  # the caller's matrix stays unchanged
        X.sum_duplicates()
    return X


def _sparse_ranges(X: Any, low: NDArray[Any], high: NDArray[Any]) -> None:
    X = summed(X)
    if X.format == "csc":
        n_stored = np.diff(X.indptr)
        filled = np.flatnonzero(n_stored)
        if filled.size:
            low[filled] = np.minimum.reduceat(X.data, X.indptr[filled])
            high[filled] = np.maximum.reduceat(X.data, X.indptr[filled])
    else:
        n_stored = np.bincount(X.indices, minlength=X.shape[1])
        np.minimum.at(low, X.indices, X.data)
        np.maximum.at(high, X.indices, X.data)
    has_zero = n_stored < X.shape[0]
    np.minimum(low, 0.0, out=low, where=has_zero)
    np.maximum(high, 0.0, out=high, where=has_zero)


class ColumnReader:
    """Read columns of a matrix as dense float64 vectors; sparse data in CSC form."""

    def __init__(self, X: Any) -> None:
        self.X = X
        self._is_sparse = sparse.issparse(X)
        if self._is_sparse:
            self.X = summed(X.tocsc())

    def read(self, column: int) -> FloatArray:
        """Return one column; a view where the data are float64 and dense."""
        if not self._is_sparse:
            return np.asarray(self.X[:, column], dtype=np.float64)
        values = np.zeros(self.X.shape[0])
        stored = slice(self.X.indptr[column], self.X.indptr[column + 1])
        values[self.X.indices[stored]] = self.X.data[stored]
        return values


def dense_columns(X: Any, indices: Any) -> NDArray[Any]:
    """Return some columns of a dense or sparse matrix as a dense copy."""
    chosen: Any = X[:, indices]
    return np.asarray(chosen.toarray() if sparse.issparse(X) else chosen)
