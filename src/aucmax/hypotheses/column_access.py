"""Columns of dense and sparse data: their ranges, and how they are read."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from aucmax._core.features import explain_non_finite
from aucmax._core.row_matrix import column_ends, summed
from aucmax._core.validation import FloatArray

#: columns of rows that are read together: in float64, a cache line
COLUMNS_AT_ONCE = 8


def column_ranges(X: Any, names: Any = None) -> tuple[FloatArray, FloatArray]:
    """Return the least and largest value of each column; NaN or infinity raises."""
    if X.dtype not in (np.float32, np.float64):
        raise TypeError(
            f"X must be float32 or float64, got {X.dtype}: use X.astype(float)."
        )
    low, high = column_ends(X)
    if not (np.isfinite(low).all() and np.isfinite(high).all()):
        raise ValueError(explain_non_finite(X, names))
    return low, high


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
