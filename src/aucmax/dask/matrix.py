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
    """Rows in parts: float32 or float64 arrays, or CSR matrices.

    With `rows`, a matrix of some of the rows, in any order; others count as 0.
    """

    on_workers = True

    def __init__(
        self,
        parts: HeldParts,
        lengths: Sequence[int] | None,
        n_columns: int,
        dtype: np.dtype[Any],
        is_sparse: bool,
        rows: IntArray | None = None,
    ) -> None:
        self.parts = parts
        self._lengths = parts.call(_n_rows) if lengths is None else lengths
        self.ends = np.concatenate(([0], np.cumsum(self._lengths))).astype(int)
        self._rows = rows
        n_rows = int(self.ends[-1]) if rows is None else rows.size
        self.shape = (n_rows, n_columns)
        self.dtype = dtype
        self.is_sparse = is_sparse

    def __getitem__(self, rows: IntArray) -> PartedMatrix:
        rows = rows if self._rows is None else self._rows[rows]
        return self._with(self.parts, self.dtype, rows)

    def _with(
        self, parts: HeldParts, dtype: np.dtype[Any], rows: IntArray | None
    ) -> PartedMatrix:
        n_columns = self.shape[1]
        return PartedMatrix(
            parts, self._lengths, n_columns, dtype, self.is_sparse, rows
        )

    def matvec(self, weights: NDArray[np.generic]) -> NDArray[Any]:
        """Return ``X @ weights``."""
        return self.map_rows(product, vector=weights)

    def rmatvec(self, row_values: NDArray[np.generic]) -> NDArray[Any]:
        """Return ``X.T @ row_values``, added up in the order of the parts."""
        total: NDArray[Any] = np.zeros((self.shape[1], *row_values.shape[1:]))
        for term in self.reduce_rows(_backward, row_values):
            total += term
        return total

    def map_rows(self, function: Callable[..., Any], **options: Any) -> NDArray[Any]:
        """Call the function with each part; return the results of the rows."""
        results = self._run(function, [options] * len(self.parts))
        values: NDArray[Any] = np.concatenate(results)
        return values if self._rows is None else values[self._rows]

    def reduce_rows(
        self, function: Callable[..., Any], row_values: NDArray[Any], **options: Any
    ) -> list[Any]:
        """Call the function with each part and the values of its rows."""
        if self._rows is not None:
            shape = int(self.ends[-1]), *row_values.shape[1:]
            all_values = np.zeros(shape, row_values.dtype)
            all_values[self._rows] = row_values
            row_values = all_values
        return self._run(
            function,
            [
                {"row_values": row_values[start:end], **options}
                for start, end in pairwise(self.ends)
            ],
        )

    def transform(self, function: Callable[..., Any], **options: Any) -> PartedMatrix:
        """Return a matrix in as many parts; the workers drop those of this one."""
        source = Tasks(self.parts.source.graph)
        keys = [source.add(function, part, **options) for part in self.parts.keys]
        parts = HeldParts(source, keys, self.parts.cluster)
        self.parts.release()
        return self._with(parts, np.dtype(np.float64), self._rows)

    def take(self, rows: IntArray) -> Any:
        """Return some rows, in any order, as a matrix of this process."""
        if self._rows is not None:
            rows = self._rows[rows]
        order = np.argsort(rows, kind="stable")
        rows = rows[order]
        starts = self.ends[:-1]
        ranges = pairwise(np.searchsorted(rows, self.ends))
        parts = self._run(
            _rows_of_part,
            [
                {"rows": rows[first:last] - start}
                for (first, last), start in zip(ranges, starts, strict=True)
            ],
        )
        back = np.argsort(order)
        if self.is_sparse:
            return sparse.vstack(parts).tocsr()[back]
        return np.concatenate(parts)[back]

    def locate(self, block: int) -> tuple[str, int]:
        """Return the partition; its rows are counted from 0."""
        return f"In partition {block}: ", 0

    def _run(
        self, function: Callable[..., Any], options: Sequence[dict[str, object]]
    ) -> list[Any]:
        calls = [
            {"call": function, "options": part_options} for part_options in options
        ]
        return self.parts.call(_on_part, calls)


def _on_part(part: object, call: Callable[..., Any], options: dict[str, object]) -> Any:
    part = in_memory_order(part)
    with one_blas_thread(), np.errstate(over="ignore", invalid="ignore"):
        return call(part, **options)


def _n_rows(part: Any) -> int:
    return int(part.shape[0])


def _backward(part: Any, row_values: NDArray[np.generic]) -> NDArray[Any]:
    return product(part.T, row_values)


def _rows_of_part(part: Any, rows: IntArray) -> Any:
    return part[rows]


def in_memory_order(part: object) -> Any:
    """Return a part whose products have the same last bits wherever it lies."""
    if sparse.issparse(part):
        return part
    # numpy multiplies an unaligned array, as another worker may send, differently
    return np.require(part, requirements=["ALIGNED", "C_CONTIGUOUS"])
