"""Hypotheses of the user's own: a matrix of their values, or functions."""

from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from aucmax._core.validation import FloatArray
from aucmax.hypotheses.column_access import column_ranges, dense_columns
from aucmax.hypotheses.scaled_columns import ScaledColumns


class PrecomputedColumns(ScaledColumns):
    """One hypothesis per column, used unchanged: H is X.

    Values may leave [-1, 1] by rounding, up to 8 units in the last place of the data's
    precision. A column that is equal on all rows is a hypothesis, too.
    """

    @classmethod
    def fit(cls, X: Any, names: Any = None) -> Self:
        """Check in one read that all values are finite and within [-1, 1]."""
        low, high = column_ranges(X, names)
        limit = 1.0 + _range_tolerance(X.dtype)
        outside = np.flatnonzero((low < -limit) | (high > limit))
        if outside.size:
            column = int(outside[0])
            values = dense_columns(X, [column])[:, 0]
            row = int(np.argmax(np.abs(values) > limit))
            name = "" if names is None else f" ({names[column]!r})"
            raise ValueError(
                "A hypothesis must lie within [-1, 1], but "
                f"column {column}{name} is {values[row]:.17g} in row {row}. "
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


def evaluate_callables(
    functions: Sequence[Callable[[Any], ArrayLike]], X: Any
) -> FloatArray:
    """Evaluate each function on all rows, and check that it is a hypothesis.

    Parameters
    ----------
    functions : sequence of callables
        Each takes X and returns one value per row, within [-1, 1]; booleans count as
        0 and 1. Rounding may carry a value outside by 8 units in the last place.
    X : any table with rows
        Passed to the functions unchanged.

    Returns
    -------
    ndarray of float64 of shape (n_rows, n_functions)
        The hypotheses' values, one column each, stored by column.

    Raises
    ------
    ValueError
        If a function returns a wrong shape, or a value that is not finite or outside
        [-1, 1]; the message names the hypothesis and the row.

    Examples
    --------
    >>> import numpy as np
    >>> from aucmax.hypotheses import evaluate_callables
    >>> evaluate_callables([lambda X: np.sign(X[:, 0]), lambda X: X[:, 1] > 2],
    ...                    np.array([[-3.0, 1.0], [5.0, 4.0]]))
    array([[-1.,  0.],
           [ 1.,  1.]])
    """
    n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
    values = np.empty((n_rows, len(functions)), order="F")
    for k, function in enumerate(functions):
        name = getattr(function, "__name__", type(function).__name__)
        label = f"hypothesis {k} ({name})"
        try:
            returned = np.asarray(function(X))
        except Exception as error:
            error.add_note(f"Raised by {label}.")
            raise
        values[:, k] = _checked(returned, n_rows, label)
    return values


def _checked(returned: Any, n_rows: int, label: str) -> FloatArray:
    if returned.shape != (n_rows,):
        raise ValueError(
            f"{label} must return one value for each of the {n_rows} rows, "
            f"got shape {returned.shape}."
        )
    if returned.dtype.kind not in "biuf":
        raise ValueError(
            f"{label} must return real numbers, got dtype {returned.dtype}."
        )
    values: FloatArray = returned.astype(np.float64)
    precision = returned.dtype if returned.dtype.kind == "f" else values.dtype
    inside = np.abs(values) <= 1.0 + _range_tolerance(precision)
    if not inside.all():
        row = int(np.argmin(inside))
        raise ValueError(
            f"{label} must lie within [-1, 1], but is {values[row]:.17g} in row {row}."
        )
    return values


def _range_tolerance(dtype: np.dtype[Any]) -> float:
    """Return by how much rounding may carry a value out of [-1, 1]."""
    return 8.0 * float(np.finfo(dtype).eps)
