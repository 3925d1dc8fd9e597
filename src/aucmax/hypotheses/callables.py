"""Hypotheses that are functions of the user's own."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from aucmax._core.validation import FloatArray
from aucmax.hypotheses.base import range_tolerance

__all__ = ["evaluate_callables"]


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
        Handed to the functions as it is.

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
        label = _label(function, k)
        try:
            returned = np.asarray(function(X))
        except Exception as error:
            error.add_note(f"Raised by {label}.")
            raise
        values[:, k] = _checked(returned, n_rows, label)
    return values


def _label(function: Any, k: int) -> str:
    name = getattr(function, "__name__", type(function).__name__)
    return f"hypothesis {k} ({name})"


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
    inside = np.abs(values) <= 1.0 + range_tolerance(precision)
    if not inside.all():
        row = int(np.argmin(inside))
        raise ValueError(
            f"{label} must lie within [-1, 1], but is {values[row]:.17g} in row {row}."
        )
    return values
