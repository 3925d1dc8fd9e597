"""A matrix whose columns are hypotheses already."""

from typing import Any, Self

import numpy as np

from aucmax._core.validation import FloatArray
from aucmax.hypotheses._ranges import column_ranges
from aucmax.hypotheses.base import column_label, dense_columns, range_tolerance
from aucmax.hypotheses.scaled_columns import ScaledColumns

__all__ = ["PrecomputedColumns"]


class PrecomputedColumns(ScaledColumns):
    """One hypothesis per column, used as it is: H is X.

    Values may leave [-1, 1] by rounding, up to 8 units in the last place of the data's
    precision. See :meth:`fit`. A column that is equal on all rows is a hypothesis, too.
    """

    @classmethod
    def fit(cls, X: Any, names: Any = None) -> Self:
        """Check that the data are hypotheses, in one read of them.

        As :meth:`ScaledColumns.fit`, but a value outside [-1, 1] is an error, too.
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
        ones = np.ones(X.shape[1])
        columns = cls(X, -ones, ones)
        columns.constant = low == high
        return columns

    def columns(self, indices: Any) -> FloatArray:
        """Return ``H[:, indices]`` itself, dense."""
        return dense_columns(self.X, indices).astype(np.float64)

    def values(self, number: int, column: FloatArray) -> FloatArray:
        """Return a hypothesis on other rows, which is their column."""
        return column
