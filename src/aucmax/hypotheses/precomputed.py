"""A matrix whose columns are hypotheses already."""

from typing import Any, Self

import numpy as np

from aucmax._validation import BoolArray, FloatArray
from aucmax.hypotheses._ranges import column_ranges
from aucmax.hypotheses.base import (
    column_label,
    dense_columns,
    product,
    range_tolerance,
)

__all__ = ["PrecomputedColumns"]


class PrecomputedColumns:
    """One hypothesis per column, used as it is: H is X.

    Values may leave [-1, 1] by rounding, up to 8 units in the last place of the data's
    precision. A constant column is kept as it is.

    Parameters
    ----------
    X : ndarray, memmap, or CSR or CSC array of shape (n_rows, n_columns)
        Data within [-1, 1], float32 or float64; see :meth:`fit`.
    constant : ndarray of bool of shape (n_columns,)
        Columns that are equal on all rows.

    Attributes
    ----------
    scale, shift : ndarray of shape (n_columns,)
        Ones and zeros.
    """

    def __init__(self, X: Any, constant: BoolArray) -> None:
        self.X = X
        self.constant = constant
        self.scale = np.ones(X.shape[1])
        self.shift = np.zeros(X.shape[1])

    @classmethod
    def fit(cls, X: Any, names: Any = None) -> Self:
        """Check that the data are hypotheses, in one read of them.

        Parameters
        ----------
        X : ndarray, memmap, or CSR or CSC array of shape (n_rows, n_columns)
            Data, float32 or float64.
        names : sequence of str, optional
            Names of the columns, for messages.

        Raises
        ------
        ValueError
            If some value is NaN, infinite or outside [-1, 1]; the message names row
            and column.
        """
        low, high = column_ranges(X, names)
        limit = 1.0 + range_tolerance(X.dtype)
        outside = np.flatnonzero((low < -limit) | (high > limit))
        if outside.size:
            column = int(outside[0])
            values = dense_columns(X, [column])[:, 0]
            row = int(np.argmax(np.abs(values) > limit))
            raise ValueError(
                "A hypothesis must lie within [-1, 1], but "
                f"{column_label(column, names)} is {values[row]:.17g} in row {row}. "
                "Scale it first, or use hypotheses='features', which does."
            )
        return cls(X, low == high)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.X.shape[0])

    @property
    def n_hypotheses(self) -> int:
        """Number of columns."""
        return int(self.X.shape[1])

    def scores(self, weights: FloatArray) -> FloatArray:
        """Return ``H @ weights``, of shape (n_rows,): the forward half of a pass."""
        return product(self.X, weights)

    def edges(self, row_weights: FloatArray) -> FloatArray:
        """Return ``H.T @ row_weights``, of shape (n_hypotheses,): the backward half."""
        return product(self.X.T, row_weights)

    def columns(self, indices: Any) -> FloatArray:
        """Return ``H[:, indices]`` itself, dense."""
        return dense_columns(self.X, indices).astype(np.float64)
