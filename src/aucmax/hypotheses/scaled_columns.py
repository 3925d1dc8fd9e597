"""Columns mapped onto [-1, 1] without a copy, and hypotheses of the user's own."""

from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from aucmax._core.row_matrix import as_row_matrix
from aucmax._core.validation import FloatArray
from aucmax.hypotheses.column_access import column_ranges, dense_columns

# sums lose as many digits of a hypothesis as its column has before those that vary
_MIN_RANGE = 1e-7  # share of the largest entry
_MAX_SIZE = 1e150  # of the largest entry, and of its inverse: squares are finite


class ScaledColumns:
    r"""One hypothesis per column: its range is mapped linearly onto [-1, 1].

    .. math:: h_k(x) = \frac{(x_k - \mathrm{low}_k) - (\mathrm{high}_k - x_k)}
              {\mathrm{high}_k - \mathrm{low}_k}
              = \mathrm{scale}_k \, x_k + \mathrm{shift}_k

    A constant column has scale and shift 0. Data are never copied: with the scale s and
    shift b,

    .. math:: H w = X (s \circ w) + \langle b, w \rangle, \qquad
              H^\top g = s \circ (X^\top g) + b \textstyle\sum_r g_r

    Where b is large, these two terms cancel: time stamps of one day in seconds since
    1970 have b of about 4e4, and hypotheses of 11 digits. `fit` rejects b above 1e7.
    """

    def __init__(self, X: Any, low: FloatArray, high: FloatArray) -> None:
        self.X = X
        self.dtype: np.dtype[Any] = np.dtype(X.dtype)
        self._rows = as_row_matrix(X)
        self.low = low
        self.high = high
        # halves, because the difference of two large numbers may overflow
        half_range = high / 2.0 - low / 2.0
        self.constant = half_range <= 0.0
        divisor = np.where(self.constant, 1.0, half_range)
        self.scale = np.where(self.constant, 0.0, 1.0 / divisor)
        self.shift = np.where(self.constant, 0.0, -(high / 2.0 + low / 2.0) / divisor)

    @classmethod
    def fit(cls, X: Any, names: Any = None) -> Self:
        """Find the range of each column in one read; reject one that loses digits."""
        low, high = column_ranges(X, names)
        columns = cls(X, low, high)
        size = np.maximum(np.abs(low), np.abs(high))
        is_extreme = (high / 2.0 - low / 2.0 < _MIN_RANGE * size) | (size > _MAX_SIZE)
        is_extreme = ~columns.constant & (is_extreme | (size < 1.0 / _MAX_SIZE))
        if is_extreme.any():
            column = int(np.argmax(is_extreme))
            name = "" if names is None else f" ({names[column]!r})"
            raise ValueError(
                f"column {column}{name} runs from {low[column]:.17g} to "
                f"{high[column]:.17g}, too little for its size, or a size that leaves "
                "the range of float64. Scale the columns first, for example with "
                "scikit-learn's StandardScaler, or drop this one."
            )
        return columns

    @property
    def n_hypotheses(self) -> int:
        """Number of columns."""
        return int(self.X.shape[1])

    def scores(self, weights: FloatArray) -> FloatArray:
        """Return ``H @ weights``, of shape (n_rows,): the forward half of a pass."""
        scores = self._rows.matvec(self.scale * weights)
        scores += self.shift @ weights
        return scores

    def edges(self, row_weights: FloatArray) -> FloatArray:
        """Return ``H.T @ row_weights``, of shape (n_hypotheses,): the backward half."""
        edges = self._rows.rmatvec(row_weights)
        edges *= self.scale
        edges += self.shift * row_weights.sum()
        return edges

    def columns(self, indices: Any) -> FloatArray:
        """Return ``H[:, indices]``, dense, each hypothesis within [-1, 1]."""
        return on_range(
            dense_columns(self.X, indices), self.low[indices], self.high[indices]
        )

    def up_to_constants(self, indices: Any) -> tuple[Any, float]:
        """Return ``H[:, indices]`` less a constant per column, and the share read."""
        matrix: Any = self.X
        if not sparse.issparse(self.X):
            return self.columns(indices), indices.size / self.n_hypotheses
        chosen = sparse.csr_array(matrix[:, indices].astype(np.float64))
        share = chosen.nnz / max(matrix.nnz, 1)
        return chosen @ sparse.diags_array(self.scale[indices]), share

    def values(self, number: int, column: FloatArray) -> FloatArray:
        """Evaluate one hypothesis on other rows, given their values of its column."""
        return on_range(column, float(self.low[number]), float(self.high[number]))


def on_range(
    values: NDArray[Any], low: FloatArray | float, high: FloatArray | float
) -> FloatArray:
    """Return ``((x - low) - (high - x)) / (high - low)``, or 0 without a range."""
    # halves, because the difference of two large numbers may overflow
    low, high = low / 2.0, high / 2.0
    constant = high <= low
    halves = np.divide(values, 2.0, dtype=np.float64)
    formed: FloatArray = halves - low
    formed -= np.subtract(high, halves, out=halves)
    formed /= np.where(constant, 1.0, high - low)
    np.copyto(formed, 0.0, where=constant)
    return formed


class PrecomputedColumns(ScaledColumns):
    """One hypothesis per column, used unchanged: H is X."""

    # values may leave [-1, 1] by 8 units in the last place; constant columns count, too
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
    """Return the values of each function on all rows, checked to be in [-1, 1]."""
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
