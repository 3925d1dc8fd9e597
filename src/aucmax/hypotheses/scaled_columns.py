"""Columns mapped onto [-1, 1] without a copy, and hypotheses of the user's own."""

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from aucmax._core.row_matrix import as_row_matrix
from aucmax._core.validation import FloatArray
from aucmax.hypotheses.column_access import column_ranges, dense_columns

_MIN_RANGE = float(np.finfo(np.float64).tiny)  # whose inverse is still finite
# beyond these, a sum in float64 would lose the hypothesis' digits:
# the largest offset in half ranges, and the largest scale or its inverse
_MAX_OFFSET = 1e3
_MAX_SCALE = 1e250
_BLOCK_SIZE = 32_768  # entries of a block of formed hypotheses


class ScaledColumns:
    r"""One hypothesis per column: its range is mapped linearly onto [-1, 1].

    .. math:: h_k(x) = \frac{(x_k - \mathrm{low}_k) - (\mathrm{high}_k - x_k)}
              {\mathrm{high}_k - \mathrm{low}_k}
              = \mathrm{scale}_k \, x_k + \mathrm{shift}_k

    A column without a range above 4e-308 has scale and shift 0. Data are never copied:
    with the scale s and shift b,

    .. math:: H w = X (s \circ w) + \langle b, w \rangle, \qquad
              H^\top g = s \circ (X^\top g) + b \textstyle\sum_r g_r

    Where b is large, these two terms cancel: time stamps in seconds since 1970 have b
    of about 1e6. Columns with b above 1e3 half ranges, or a scale beyond 1e250, are
    formed from the first formula, block by block: exactly -1 and 1 at the ends.
    """

    def __init__(self, X: Any, low: FloatArray, high: FloatArray) -> None:
        self.X = X
        self._rows = as_row_matrix(X)
        self.low = low
        self.high = high
        # halves, because the difference of two large numbers may overflow
        half_range = high / 2.0 - low / 2.0
        self.constant = half_range < _MIN_RANGE
        divisor = np.where(self.constant, 1.0, half_range)
        self.scale = np.where(self.constant, 0.0, 1.0 / divisor)
        self.shift = np.where(self.constant, 0.0, -(high / 2.0 + low / 2.0) / divisor)
        self._is_delicate = ~self.constant & (
            (np.abs(self.shift) > _MAX_OFFSET)
            | (self.scale > _MAX_SCALE)
            | (self.scale < 1.0 / _MAX_SCALE)
        )
        self._delicate = np.flatnonzero(self._is_delicate)

    @classmethod
    def fit(cls, X: Any, names: Any = None) -> Self:
        """Find the range of each column in one read; all values must be finite."""
        return cls(X, *column_ranges(X, names))

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the data."""
        dtype: np.dtype[Any] = np.dtype(self.X.dtype)
        return dtype

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
        if self._are_parts_delicate:
            ends = self.low, self.high
            return self._rows.map_rows(_scores_of_part, ends=ends, weights=weights)
        plain = np.where(self._is_delicate, 0.0, weights)
        scores = self._rows.matvec(self.scale * plain)
        scores += self.shift @ plain
        if self._delicate.size:
            formed = weights[self._delicate]
            for rows, block, base in self._formed_blocks():
                scores[rows] += block @ formed + base @ formed
        return scores

    def edges(self, row_weights: FloatArray) -> FloatArray:
        """Return ``H.T @ row_weights``, of shape (n_hypotheses,): the backward half."""
        if self._are_parts_delicate:
            ends = self.low, self.high
            parts = self._rows.reduce_rows(_edges_of_part, row_weights, ends=ends)
            return np.asarray(sum(parts))
        with np.errstate(over="ignore", invalid="ignore"):
            edges = self._rows.rmatvec(row_weights)
            edges *= self.scale
        edges += self.shift * row_weights.sum()
        if self._delicate.size:
            edges[self._delicate] = 0.0
            for rows, block, base in self._formed_blocks():
                weights = row_weights[rows]
                edges[self._delicate] += block.T @ weights + base * weights.sum()
        return edges

    @property
    def _are_parts_delicate(self) -> bool:
        """Whether rows in parts have hypotheses to form, each part by itself."""
        return bool(self._delicate.size) and self._rows.on_workers

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
        if self._is_delicate[indices].any():
            return self.columns(indices), share
        return chosen @ sparse.diags_array(self.scale[indices]), share

    def values(self, number: int, column: FloatArray) -> FloatArray:
        """Evaluate one hypothesis on other rows, given their values of its column."""
        return on_range(column, float(self.low[number]), float(self.high[number]))

    def _formed_blocks(self) -> Iterator[tuple[slice, Any, FloatArray]]:
        """Yield rows, and a block and a base whose sum are the delicate hypotheses."""
        if sparse.issparse(self.X):
            yield slice(None), *self._sparse_delicate
            return
        low, high = self.low[self._delicate], self.high[self._delicate]
        base = np.zeros(low.size)
        n_block_rows = max(1, _BLOCK_SIZE // low.size)
        for top in range(0, self.n_rows, n_block_rows):
            rows = slice(top, top + n_block_rows)
            yield rows, on_range(self.X[rows, self._delicate], low, high), base

    @cached_property
    def _sparse_delicate(self) -> tuple[Any, FloatArray]:
        """The delicate columns, less what they are at an entry that is not stored."""
        low, high = self.low[self._delicate], self.high[self._delicate]
        chosen = self.X[:, self._delicate].tocsc()
        chosen.sum_duplicates()
        n_stored = np.diff(chosen.indptr)
        base = on_range(np.zeros(low.size), low, high)
        base[n_stored == self.n_rows] = 0.0
        which = np.repeat(np.arange(low.size), n_stored)
        values = on_range(chosen.data, low[which], high[which]) - base[which]
        return sparse.csc_array(
            (values, chosen.indices, chosen.indptr), shape=chosen.shape
        ), base


def _scores_of_part(
    part: Any, ends: tuple[FloatArray, FloatArray], weights: FloatArray
) -> FloatArray:
    return ScaledColumns(part, *ends).scores(weights)


def _edges_of_part(
    part: Any, row_values: FloatArray, ends: tuple[FloatArray, FloatArray]
) -> FloatArray:
    return ScaledColumns(part, *ends).edges(row_values)


def on_range(
    values: NDArray[Any], low: FloatArray | float, high: FloatArray | float
) -> FloatArray:
    """Return ``((x - low) - (high - x)) / (high - low)``, or 0 without a range."""
    # halves, because the difference of two large numbers may overflow
    low, high = low / 2.0, high / 2.0
    constant = high - low < _MIN_RANGE
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
