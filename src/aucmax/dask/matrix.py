"""A matrix in parts on workers; sums run in the order of the parts, with equal bits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from aucmax._core.row_matrix import RowMatrix, product
from aucmax._core.threads import one_blas_thread
from aucmax._core.validation import IntArray
from aucmax.dask.cluster import HeldParts
from aucmax.dask.tasks import Tasks


class PartedMatrix(RowMatrix):
    """Rows in parts: float32 or float64 arrays, or CSR matrices."""

    on_workers = True

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
            lengths = parts.call(_n_rows)
        self._ends = np.concatenate(([0], np.cumsum(lengths))).astype(int)
        self.shape = (int(self._ends[-1]), n_columns)
        self.dtype = dtype
        self.is_sparse = is_sparse

    def __getitem__(self, rows: IntArray) -> RowsOfParts:
        return RowsOfParts(self, rows)

    def matvec(self, weights: NDArray[Any]) -> NDArray[Any]:
        """Return ``X @ weights``."""
        return self.map_rows(product, vector=weights)

    def rmatvec(self, row_values: NDArray[Any]) -> NDArray[Any]:
        """Return ``X.T @ row_values``, added up in the order of the parts."""
        total: NDArray[Any] = np.zeros((self.shape[1], *row_values.shape[1:]))
        for one in self.reduce_rows(_backward, row_values):
            total += one
        return total

    def map_rows(self, function: Callable[..., Any], **options: Any) -> NDArray[Any]:
        """Call the function with each part."""
        return np.concatenate(self._run(function, [options] * len(self._parts)))

    def reduce_rows(
        self, function: Callable[..., Any], row_values: NDArray[Any], **options: Any
    ) -> list[Any]:
        """Call the function with each part."""
        return self._run(
            function,
            [
                {"row_values": row_values[start:end], **options}
                for start, end in pairwise(self._ends)
            ],
        )

    def transform(self, function: Callable[..., Any], **options: Any) -> PartedMatrix:
        """Return a matrix in as many parts; the workers drop those of this one."""
        source = Tasks(self._parts.source.graph)
        keys = [source.add(function, part, **options) for part in self._parts.keys]
        lengths = np.diff(self._ends).tolist()
        parts = HeldParts(source, keys, self._parts.cluster)
        self._parts.release()
        dtype = np.dtype(np.float64)
        return PartedMatrix(parts, lengths, self.shape[1], dtype, self.is_sparse)

    def take(self, rows: IntArray) -> Any:
        """Return some rows, in any order, as a matrix of this process."""
        order = np.argsort(rows, kind="stable")
        rows = rows[order]
        bounds = np.searchsorted(rows, self._ends)
        found = self._run(
            _rows_of_part,
            [
                {"rows": rows[first:last] - start}
                for (first, last), start in zip(
                    pairwise(bounds), self._ends, strict=False
                )
            ],
        )
        back = np.argsort(order)
        if self.is_sparse:
            return sparse.vstack(found).tocsr()[back]
        return np.concatenate(found)[back]

    def locate(self, block: int) -> tuple[str, int]:
        """Return the partition; its rows are counted from 0."""
        return f"In partition {block}: ", 0

    def _run(
        self, function: Callable[..., Any], options: Sequence[dict[str, Any]]
    ) -> list[Any]:
        return self._parts.call(
            _on_part, [{"call": function, "options": own} for own in options]
        )


class RowsOfParts(RowMatrix):
    """Some rows of a matrix in parts, in any order; the parts stay on their workers."""

    on_workers = True

    def __init__(self, matrix: PartedMatrix, rows: IntArray) -> None:
        self._matrix = matrix
        self._rows = rows
        self.shape = (rows.size, matrix.shape[1])
        self.dtype = matrix.dtype
        self.is_sparse = matrix.is_sparse

    def __getitem__(self, rows: IntArray) -> RowsOfParts:
        return RowsOfParts(self._matrix, self._rows[rows])

    def matvec(self, weights: NDArray[Any]) -> NDArray[Any]:
        """Return ``X @ weights``."""
        scores: NDArray[Any] = self._matrix.matvec(weights)[self._rows]
        return scores

    def rmatvec(self, row_values: NDArray[Any]) -> NDArray[Any]:
        """Return ``X.T @ row_values``; other rows count as 0."""
        return self._matrix.rmatvec(self._at_all_rows(row_values))

    def map_rows(self, function: Callable[..., Any], **options: Any) -> NDArray[Any]:
        """Call the function with each part; choose these rows."""
        found: NDArray[Any] = self._matrix.map_rows(function, **options)[self._rows]
        return found

    def reduce_rows(
        self, function: Callable[..., Any], row_values: NDArray[Any], **options: Any
    ) -> list[Any]:
        """Call the function with each part; other rows count as 0."""
        return self._matrix.reduce_rows(
            function, self._at_all_rows(row_values), **options
        )

    def transform(self, function: Callable[..., Any], **options: Any) -> RowsOfParts:
        """Return the same rows of another matrix."""
        return RowsOfParts(self._matrix.transform(function, **options), self._rows)

    def take(self, rows: IntArray) -> Any:
        """Return some of these rows as a matrix of this process."""
        return self._matrix.take(self._rows[rows])

    def locate(self, block: int) -> tuple[str, int]:
        """Return the partition."""
        return self._matrix.locate(block)

    def _at_all_rows(self, row_values: NDArray[Any]) -> NDArray[Any]:
        shape = self._matrix.shape[0], *row_values.shape[1:]
        values = np.zeros(shape, row_values.dtype)
        values[self._rows] = row_values
        return values


def _on_part(part: Any, call: Callable[..., Any], options: dict[str, Any]) -> Any:
    part = in_memory_order(part)
    with one_blas_thread(), np.errstate(over="ignore", invalid="ignore"):
        return call(part, **options)


def _n_rows(part: Any) -> int:
    return int(part.shape[0])


def _backward(part: Any, row_values: NDArray[Any]) -> NDArray[Any]:
    return product(part.T, row_values)


def _rows_of_part(part: Any, rows: IntArray) -> Any:
    return part[rows]


def in_memory_order(part: Any) -> Any:
    """Return a part whose products have the same last bits wherever it lies."""
    if sparse.issparse(part):
        return part
    # numpy multiplies an unaligned array, as another worker may send, differently
    return np.require(part, requirements=["ALIGNED", "C_CONTIGUOUS"])
