r"""A matrix whose rows are in parts, as the solvers see it.

They ask for ``X @ w`` and ``X.T @ g`` alone. Parts are made from their source wherever
they are needed, never sent: w travels to the parts and their scores come back, or the
part of g that belongs to their rows, and one sum for each column comes back. Sums are
added in the order of the parts, so that the result is the same bit for bit, whatever
worker did what.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from aucmax._core.features import explain_non_finite
from aucmax._core.products import in_memory_order, product
from aucmax._core.threads import one_blas_thread
from aucmax._core.validation import BoolArray, FloatArray, IntArray
from aucmax.dask.cluster import HeldParts
from aucmax.dask.score_cells import RowsInCells
from aucmax.dask.tasks import Tasks
from aucmax.hypotheses.column_access import column_ranges

__all__ = ["PartedMatrix", "RowsOfParts"]

#: rows beyond which counts in cells travel in place of scores, where that is possible
MOST_SCORES = 5_000_000


class PartedMatrix:
    """Rows in parts.

    Parameters
    ----------
    parts : HeldParts
        float32 or float64 arrays, or CSR matrices.
    lengths : sequence of int or None
        Rows of each part; counted if they are not known.
    n_columns : int
        Columns of all of them.
    dtype : dtype
        Their type.
    is_sparse : bool
        Whether they are sparse.
    """

    ndim = 2

    def __init__(
        self,
        parts: HeldParts,
        lengths: Sequence[int] | None,
        n_columns: int,
        dtype: np.dtype[Any],
        is_sparse: bool,
    ) -> None:
        self._parts = parts
        if lengths is None:
            lengths = self.of_parts(_n_rows)
        self._ends = np.concatenate(([0], np.cumsum(lengths))).astype(int)
        self.shape = (int(self._ends[-1]), n_columns)
        self.dtype = dtype
        self.is_sparse = is_sparse

    def __matmul__(self, other: NDArray[Any]) -> NDArray[Any]:
        found = self.of_parts(_forward, other=other)
        return np.concatenate(found)

    @property
    def T(self) -> _Transposed:
        """The same matrix the other way round, for a product from the left."""
        return _Transposed(self)

    def __getitem__(self, rows: IntArray) -> RowsOfParts:
        return RowsOfParts(self, rows)

    def of_parts(self, function: Callable[..., Any], **options: Any) -> list[Any]:
        """Call a function with each part and the options; return what it returns."""
        return self._run(function, [options] * len(self._parts))

    def of_parts_with_rows(
        self, function: Callable[..., Any], of_rows: NDArray[Any], **options: Any
    ) -> list[Any]:
        """Call a function with each part, what belongs to its rows, and the options."""
        return self._run(
            function,
            [
                {"of_rows": of_rows[start:end], **options}
                for start, end in zip(self._ends, self._ends[1:], strict=False)
            ],
        )

    def collect(self, rows: IntArray) -> Any:
        """Return some rows, in ascending order, as a matrix of this process."""
        bounds = np.searchsorted(rows, self._ends)
        found = self._run(
            _rows_of_part,
            [
                {"rows": rows[first:last] - start}
                for first, last, start in zip(
                    bounds, bounds[1:], self._ends, strict=False
                )
            ],
        )
        return sparse.vstack(found).tocsr() if self.is_sparse else np.concatenate(found)

    @property
    def prefers_cells(self) -> bool:
        """Whether there are more rows than scores should travel."""
        return self.shape[0] > MOST_SCORES

    def in_cells(
        self, is_positive: BoolArray, weight: FloatArray | None, width: float
    ) -> RowsInCells:
        """Return the rows with labels, to be counted in cells of their scores."""
        return RowsInCells(self._parts, is_positive, weight, self._ends, width)

    def mapped(self, function: Callable[..., Any], **options: Any) -> PartedMatrix:
        """Return a matrix of other values, made from each part."""
        source = Tasks(self._parts.source.graph)
        keys = [source.add(function, part, **options) for part in self._parts.keys]
        lengths = np.diff(self._ends).tolist()
        dtype = np.dtype(np.float64)
        parts = HeldParts(source, keys, self._parts.cluster)
        return PartedMatrix(parts, lengths, self.shape[1], dtype, self.is_sparse)

    def release(self) -> None:
        """Let the workers forget the parts; they are made anew when need be."""
        self._parts.release()

    def column_ranges(self, names: Any) -> tuple[FloatArray, FloatArray]:
        """Return the smallest and the largest value of each column."""
        return self.ranges_of(np.ones(self.shape[0], dtype=bool), names)

    def ranges_of(self, chosen: BoolArray, names: Any) -> tuple[FloatArray, FloatArray]:
        """Return the ranges of the columns over some of the rows."""
        found = [one for one in self.of_parts_with_rows(_ranges, chosen) if one]
        if any(isinstance(one, str) for one in found):
            raise ValueError(self.explain_non_finite(names))
        low, high = zip(*found, strict=True)
        return np.min(low, axis=0), np.max(high, axis=0)

    def explain_non_finite(self, names: Any) -> str:
        """Say in which partition, row and column the data are not finite."""
        found = self.of_parts(_complaint, names=names)
        for number, complaint in enumerate(found):
            if complaint is not None:
                return f"In partition {number}: {complaint}"
        return (
            "X holds values whose products overflow. Scale the columns first, for "
            "example by dividing each one by its largest absolute value."
        )

    def _run(
        self, function: Callable[..., Any], options: Sequence[dict[str, Any]]
    ) -> list[Any]:
        return self._parts.call(
            _on_part, [{"call": function, "options": own} for own in options]
        )


class _Transposed:
    def __init__(self, matrix: PartedMatrix | RowsOfParts) -> None:
        self._matrix = matrix
        self.dtype = matrix.dtype
        self.shape = matrix.shape[::-1]

    def __matmul__(self, other: NDArray[Any]) -> NDArray[Any]:
        total: NDArray[Any] = np.zeros((self.shape[0], *other.shape[1:]))
        for one in self._matrix.of_parts_with_rows(_backward, other):
            total += one
        return total


class RowsOfParts:
    """Some rows of a matrix in parts, in any order; the parts stay as they are."""

    ndim = 2

    def __init__(self, matrix: PartedMatrix, rows: IntArray) -> None:
        self._matrix = matrix
        self._rows = rows
        self.shape = (rows.size, matrix.shape[1])
        self.dtype = matrix.dtype
        self.is_sparse = matrix.is_sparse

    def __matmul__(self, other: NDArray[Any]) -> NDArray[Any]:
        scores: NDArray[Any] = (self._matrix @ other)[self._rows]
        return scores

    @property
    def T(self) -> _Transposed:
        """The same matrix the other way round, for a product from the left."""
        return _Transposed(self)

    def __getitem__(self, rows: IntArray) -> RowsOfParts:
        return RowsOfParts(self._matrix, self._rows[rows])

    def of_parts(self, function: Callable[..., Any], **options: Any) -> list[Any]:
        """Call a function that returns something of each row; choose these rows."""
        found = np.concatenate(self._matrix.of_parts(function, **options))
        return [found[self._rows]]

    def of_parts_with_rows(
        self, function: Callable[..., Any], of_rows: NDArray[Any], **options: Any
    ) -> list[Any]:
        """Call a function that adds up over rows; other rows count as 0."""
        spread = self._spread(of_rows)
        return self._matrix.of_parts_with_rows(function, spread, **options)

    def column_ranges(self, names: Any) -> tuple[FloatArray, FloatArray]:
        """Return the smallest and the largest value of each column."""
        chosen = self._spread(np.ones(self._rows.size, dtype=bool))
        return self._matrix.ranges_of(chosen, names)

    def _spread(self, of_rows: NDArray[Any]) -> NDArray[Any]:
        spread = np.zeros((self._matrix.shape[0], *of_rows.shape[1:]), of_rows.dtype)
        spread[self._rows] = of_rows
        return spread

    def local(self) -> Any:
        """Return these rows as a matrix of this process."""
        order = np.argsort(self._rows, kind="stable")
        found = self._matrix.collect(self._rows[order])
        return found[np.argsort(order)]

    def explain_non_finite(self, names: Any) -> str:
        """Say in which partition, row and column the data are not finite."""
        return self._matrix.explain_non_finite(names)


def _on_part(part: Any, call: Callable[..., Any], options: dict[str, Any]) -> Any:
    part = in_memory_order(part)
    with one_blas_thread(), np.errstate(over="ignore", invalid="ignore"):
        return call(part, **options)


def _ranges(part: Any, of_rows: BoolArray) -> Any:
    """Return the ranges of the columns, nothing without rows, or a complaint."""
    if not of_rows.any():
        return None
    try:
        return column_ranges(part if of_rows.all() else part[of_rows])
    except ValueError as error:
        return str(error)


def _n_rows(part: Any) -> int:
    return int(part.shape[0])


def _forward(part: Any, other: NDArray[Any]) -> NDArray[Any]:
    return product(part, other)


def _backward(part: Any, of_rows: NDArray[Any]) -> NDArray[Any]:
    return product(part.T, of_rows)


def _rows_of_part(part: Any, rows: IntArray) -> Any:
    return part[rows]


def _complaint(part: Any, names: Any) -> str | None:
    matrix: Any = part
    values = matrix.data if sparse.issparse(part) else matrix
    return None if np.isfinite(values).all() else explain_non_finite(part, names)
