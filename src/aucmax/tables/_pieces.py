"""Rows of a table on disk, some at a time, as if they were read together."""

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any, TypeVar

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import sparse

from aucmax._mapped import MapWriter
from aucmax.tables import _cells
from aucmax.tables._columns import Column, Date, Number

__all__ = ["matrix_on_disk", "of_pieces"]

T = TypeVar("T")

_MOST_SMALL = np.iinfo(np.int32).max


def of_pieces(
    table: Any,
    columns: Iterable[Column],
    function: Callable[[pl.DataFrame, slice], T],
    *,
    are_settled: bool = False,
) -> Iterator[T]:
    """Yield what a function says of each piece: a frame, and which rows they are.

    Whether a column of numbers has too many other words is decided for all its rows
    together, unless that `are_settled`, as of training rows; then they are gaps.
    """
    written = [
        column
        for column in columns
        if isinstance(column, Number | Date)
        and table.schema.get(column.name) == pl.String
    ]
    if not are_settled:
        for column in written:
            series = table[column.name]
            kind = "numbers" if isinstance(column, Number) else "dates"
            _cells.warn_of_strays(series, _cells_of(column, series), kind)
    start = 0
    for piece in table.pieces():
        frame = piece.read()
        # what is no text any more has no strays
        frame = frame.with_columns(
            pl.Series(column.name, _cells_of(column, frame[column.name]).values)
            for column in written
        )
        try:
            found = function(frame, slice(start, start + frame.height))
        except ValueError as error:
            raise ValueError(
                f"{piece.file.path}, rows counted from {piece.start + 1} on: {error}"
            ) from error
        yield found
        start += frame.height


def _cells_of(column: Number | Date, series: pl.Series) -> _cells.Cells:
    if isinstance(column, Number):
        return _cells.numbers(series, column.decimal_comma)
    return _cells.dates(series, column.regional)


def matrix_on_disk(blocks: Iterable[Any]) -> Any:
    """Write blocks of rows one after the other; return them as one mapped matrix.

    Sparse blocks give a sparse matrix of mapped arrays.
    """
    found = iter(blocks)
    first = next(found)
    if sparse.issparse(first):
        return _sparse_on_disk(first, found)
    writer = MapWriter(first.shape[1])
    try:
        writer.write(first)
        for block in found:
            writer.write(block)
        return writer.finish()
    finally:
        writer.close()


def _sparse_on_disk(first: Any, others: Iterator[Any]) -> sparse.csr_array:
    values, places = MapWriter(1), MapWriter(1, np.int32)
    ends: list[NDArray[Any]] = [np.zeros(1, dtype=np.int64)]
    width = first.shape[1]
    try:
        for block in chain([first], others):
            values.write(block.data)
            places.write(block.indices)
            ends.append(block.indptr[1:].astype(np.int64) + ends[-1][-1])
        starts = np.concatenate(ends)
        indices: Any = places.finish().ravel()
        if starts[-1] > _MOST_SMALL:
            indices = indices.astype(np.int64)
        else:
            starts = starts.astype(np.int32)
        arrays = (values.finish().ravel(), indices, starts)
        return sparse.csr_array(arrays, shape=(starts.size - 1, width))
    finally:
        values.close()
        places.close()
