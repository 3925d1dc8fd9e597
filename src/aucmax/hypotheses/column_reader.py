"""Single columns of the data, read as often as there are rounds."""

from typing import Any

import numpy as np
from scipy import sparse

from aucmax._core.validation import FloatArray

__all__ = ["ColumnReader"]


class ColumnReader:
    """Reads columns of a matrix as dense float64 vectors.

    Dense data are read in place. Sparse data are read from their CSC form, which is a
    copy unless they have it already.

    Parameters
    ----------
    X : ndarray, memmap, or CSR or CSC array of shape (n_rows, n_columns)
        The data. Entries that a sparse matrix stores twice add up.

    Attributes
    ----------
    X : ndarray, memmap or CSC array of shape (n_rows, n_columns)
        The same data, as they are read.
    """

    def __init__(self, X: Any) -> None:
        self.X = X
        self._is_sparse = sparse.issparse(X)
        if self._is_sparse:
            self.X = X.tocsc()
            if not self.X.has_canonical_format:
                self.X = self.X.copy() if self.X is X else self.X
                self.X.sum_duplicates()

    def read(self, column: int) -> FloatArray:
        """Return one column; a view where the data are float64 and dense."""
        if not self._is_sparse:
            return np.asarray(self.X[:, column], dtype=np.float64)
        values = np.zeros(self.X.shape[0])
        stored = slice(self.X.indptr[column], self.X.indptr[column + 1])
        values[self.X.indices[stored]] = self.X.data[stored]
        return values
