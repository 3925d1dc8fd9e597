"""Stumps that were chosen one by one, kept as bytes: a matrix that grows."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from aucmax._core.validation import BoolArray, FloatArray, IntArray
from aucmax.hypotheses import _kernels
from aucmax.hypotheses._ranges import COLUMNS_AT_ONCE, summed

__all__ = ["StumpColumns"]


class StumpColumns:
    """A growing list of stumps on some rows, 1 above the threshold and -1 up to it.

    One byte per row and stump, also for sparse data. Directions are left to the sign of
    the weights. Products sum in float64, whatever the data are.

    Parameters
    ----------
    X : ndarray, memmap, or CSR or CSC array of shape (n_rows, n_columns)
        The data, float32 or float64.

    Attributes
    ----------
    column : ndarray of int64 of shape (n_hypotheses,)
        The column of each stump.
    threshold : ndarray of shape (n_hypotheses,)
        Its threshold.
    constant : ndarray of bool of shape (n_hypotheses,)
        All false: a stump splits the rows it was made from.
    """

    def __init__(self, X: Any) -> None:
        self.X = X
        self.column: IntArray = np.empty(0, dtype=np.int64)
        self.threshold: FloatArray = np.empty(0)
        self._values = np.empty((0, X.shape[0]), dtype=np.int8)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.X.shape[0])

    @property
    def n_hypotheses(self) -> int:
        """Number of stumps so far."""
        return self.column.size

    @property
    def constant(self) -> BoolArray:
        """No stump is constant."""
        return np.zeros(self.n_hypotheses, dtype=bool)

    def add(self, column: IntArray, threshold: FloatArray) -> int:
        """Take in those stumps that are new; return how many there were."""
        known = set(zip(self.column.tolist(), self.threshold.tolist(), strict=True))
        fresh = np.zeros(column.size, dtype=bool)
        for k, stump in enumerate(
            zip(column.tolist(), threshold.tolist(), strict=True)
        ):
            fresh[k] = stump not in known
            known.add(stump)
        column = column[fresh]
        # float64: compared with a narrower threshold, float32 data may change sides
        threshold = threshold[fresh].astype(np.float64)
        split = _split_sparse if sparse.issparse(self.X) else _split_dense
        self._values = np.concatenate([self._values, split(self.X, column, threshold)])
        self.column = np.concatenate([self.column, column])
        self.threshold = np.concatenate([self.threshold, threshold])
        return column.size

    def places(self, column: IntArray, threshold: FloatArray) -> IntArray:
        """Return the numbers of stumps that were taken in."""
        stumps = zip(self.column.tolist(), self.threshold.tolist(), strict=True)
        numbers = {stump: number for number, stump in enumerate(stumps)}
        asked = zip(column.tolist(), threshold.tolist(), strict=True)
        return np.array([numbers[stump] for stump in asked], dtype=np.int64)

    def scores(self, weights: FloatArray) -> FloatArray:
        """Return ``H @ weights``, of shape (n_rows,); weights of 0 cost nothing."""
        scores = np.zeros(self.n_rows)
        _kernels.add_rows(self._values, weights, scores)
        return scores

    def edges(self, row_weights: FloatArray, first: int = 0) -> FloatArray:
        """Return ``H.T @ row_weights`` from the stump `first` on."""
        edges = np.empty(self.n_hypotheses - first)
        _kernels.dot_rows(self._values[first:], row_weights, edges)
        return edges

    def columns(self, indices: Any) -> FloatArray:
        """Return ``H[:, indices]`` itself, dense."""
        return np.asarray(self._values[indices].T, dtype=np.float64)


def _split_dense(X: Any, column: IntArray, threshold: FloatArray) -> NDArray[np.int8]:
    """Evaluate stumps, one in each row of the result; a few at once, to be brief."""
    values = np.empty((column.size, X.shape[0]), dtype=np.int8)
    for left in range(0, column.size, COLUMNS_AT_ONCE):
        some = slice(left, left + COLUMNS_AT_ONCE)
        above = np.asarray(X[:, column[some]]) > threshold[some]
        values[some] = above.T
    values *= 2
    values -= 1
    return values


def _split_sparse(X: Any, column: IntArray, threshold: FloatArray) -> NDArray[np.int8]:
    """Evaluate stumps, one in each row of the result, from what is stored alone."""
    values = np.empty((column.size, X.shape[0]), dtype=np.int8)
    values[:] = np.where(threshold < 0.0, 1, -1)[:, None]
    stored = summed(X[:, column].tocsc())
    which = np.repeat(np.arange(column.size), np.diff(stored.indptr))
    above = stored.data > threshold[which]
    values[which, stored.indices] = np.where(above, 1, -1)
    return values
