"""Matrices made of columns: dense, sparse, on disk, on Dask's workers."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, TypeVar

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import sparse

from aucmax._core.mapped import MapWriter
from aucmax.tables import _cell_values
from aucmax.tables._column_types import Column, Date, Number, OneHot

T = TypeVar("T")

_MAX_INT32 = np.iinfo(np.int32).max


def assemble_dense(
    parts: Iterator[NDArray[np.float64] | OneHot], shape: tuple[int, int]
) -> NDArray[np.float64]:
    """Fill an array."""
    matrix = np.zeros(shape)
    position = 0
    for part in parts:
        if isinstance(part, OneHot):
            (rows,) = np.nonzero(part.codes >= 0)
            matrix[rows, position + part.codes[rows]] = 1.0
            position += part.width
        else:
            matrix[:, position] = part
            position += 1
    return matrix


def assemble_sparse(
    parts: Iterator[NDArray[np.float64] | OneHot], shape: tuple[int, int]
) -> sparse.csr_array:
    """Build CSR rows, with 32-bit indices, which every scikit-learn solver takes."""
    rows, columns, values = [], [], []
    position = 0
    for part in parts:
        if isinstance(part, OneHot):
            (filled,) = np.nonzero(part.codes >= 0)
            columns.append(position + part.codes[filled])
            values.append(np.ones(filled.size))
            position += part.width
        else:
            (filled,) = np.nonzero(part)
            columns.append(np.full(filled.size, position))
            values.append(part[filled])
            position += 1
        rows.append(filled)
    places = tuple(np.concatenate(p).astype(np.int32) for p in (rows, columns))
    return sparse.csr_array((np.concatenate(values), places), shape=shape)


def of_pieces(
    table: Any,
    columns: Iterable[Column],
    function: Callable[[pl.DataFrame, slice], T],
    *,
    are_settled: bool = False,
) -> Iterator[T]:
    """Yield the result of a function for each piece: a frame, and its rows."""
    # whether a column of numbers has too many words is decided for all rows together,
    # unless that are_settled, as of training rows; then they are missing
    written = _written(table, columns)
    if not are_settled:
        for column in written:
            series = table[column.name]
            kind = "numbers" if isinstance(column, Number) else "dates"
            _cell_values.warn_of_strays(series, _cells_of(column, series), kind)
    ends = np.cumsum([0, *(piece.height for piece in table.pieces())])
    pieces = [
        (piece, slice(int(start), int(end)))
        for piece, start, end in zip(table.pieces(), ends, ends[1:], strict=False)
    ]
    if not table.on_workers:
        for piece, rows in pieces:
            yield _of_piece(piece, rows, written, function)
        return
    import dask

    work, kept = dask.delayed(_of_piece), dask.delayed(function)
    yield from dask.compute(
        *(work(piece, rows, written, kept) for piece, rows in pieces)
    )


def _of_piece(
    piece: Any,
    rows: slice,
    written: Sequence[Number | Date],
    function: Callable[[pl.DataFrame, slice], T],
) -> T:
    frame = piece.read()
    # what is not text any more has no strays
    frame = frame.with_columns(
        pl.Series(column.name, _cells_of(column, frame[column.name]).values)
        for column in written
    )
    try:
        return function(frame, rows)
    except ValueError as error:
        raise ValueError(
            f"{piece.file.path}, rows counted from {piece.start + 1} on: {error}"
        ) from error


def matrix_on_workers(
    table: Any, columns: Iterable[Column], function: Callable[..., Any], width: int
) -> Any:
    """Return an array of Dask, whose blocks a function makes on the workers."""
    import dask
    import dask.array as da

    written = _written(table, columns)
    work, kept, start, blocks = (
        dask.delayed(_dense_block),
        dask.delayed(function),
        0,
        [],
    )
    for piece in table.pieces():
        rows = slice(start, start + piece.height)
        block = work(piece, rows, written, kept)
        blocks.append(da.from_delayed(block, (piece.height, width), np.float64))
        start = rows.stop
    return da.concatenate(blocks)


def _dense_block(*arguments: Any) -> NDArray[np.float64]:
    block: Any = _of_piece(*arguments)
    is_sparse = sparse.issparse(block)
    return np.asarray(block.toarray() if is_sparse else block)


def _written(table: Any, columns: Iterable[Column]) -> list[Number | Date]:
    """Return the columns whose numbers or dates are written as text."""
    return [
        column
        for column in columns
        if isinstance(column, Number | Date)
        and table.schema.get(column.name) == pl.String
    ]


def _cells_of(column: Number | Date, series: pl.Series) -> _cell_values.Cells:
    if isinstance(column, Number):
        return _cell_values.read_numbers(series, column.decimal_comma)
    return _cell_values.read_dates(series, column.regional)


def matrix_on_disk(blocks: Iterable[Any]) -> Any:
    """Write blocks of rows one after the other; return them as one mapped matrix."""
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
        if starts[-1] > _MAX_INT32:
            indices = indices.astype(np.int64)
        else:
            starts = starts.astype(np.int32)
        arrays = (values.finish().ravel(), indices, starts)
        return sparse.csr_array(arrays, shape=(starts.size - 1, width))
    finally:
        values.close()
        places.close()
