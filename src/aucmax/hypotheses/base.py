"""The interface that sets of hypotheses share."""

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from aucmax._core.validation import BoolArray, FloatArray

__all__ = ["Hypotheses", "column_label", "dense_columns", "range_tolerance"]


class Hypotheses(Protocol):
    """Hypotheses on some rows, seen as a matrix H that need not be kept.

    ``H[r, k]`` is the value of hypothesis k on row r, within [-1, 1]. The data are read
    through one product in each direction; what comes out is float64.

    Attributes
    ----------
    X : ndarray, memmap or sparse array of shape (n_rows, n_columns)
        The data as they were given.
    constant : ndarray of bool of shape (n_hypotheses,)
        Hypotheses that are equal on all rows, so that they rank nothing.
    """

    X: Any

    @property
    def constant(self) -> BoolArray:
        """Which hypotheses are equal on all rows."""

    @property
    def n_rows(self) -> int:
        """Number of rows."""

    @property
    def n_hypotheses(self) -> int:
        """Number of hypotheses."""

    def scores(self, weights: FloatArray) -> FloatArray:
        """Return ``H @ weights``, of shape (n_rows,): the forward half of a pass."""

    def edges(self, row_weights: FloatArray) -> FloatArray:
        """Return ``H.T @ row_weights``, of shape (n_hypotheses,): the backward half."""

    def columns(self, indices: Any) -> FloatArray:
        """Return ``H[:, indices]`` itself, dense."""


def dense_columns(X: Any, indices: Any) -> NDArray[Any]:
    """Return some columns of a dense or sparse matrix as a dense copy."""
    chosen: Any = X[:, indices]
    return np.asarray(chosen.toarray() if sparse.issparse(X) else chosen)


def column_label(column: int, names: Any) -> str:
    """Name a column in a message: by number, and by name if it has one."""
    return f"column {column}" + ("" if names is None else f" ({names[column]!r})")


def range_tolerance(dtype: np.dtype[Any]) -> float:
    """Return by how much rounding may carry a value out of [-1, 1]."""
    return 8.0 * float(np.finfo(dtype).eps)
