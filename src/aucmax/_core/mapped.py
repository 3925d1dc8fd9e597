"""Matrices that stay on disk: maps of files without a name, gone with their map."""

import mmap
import tempfile
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucmax._core.atomic import DISK_FULL
from aucmax._core.validation import FloatArray, IntArray

_CELLS_AT_ONCE = 1 << 21  # 16 megabytes of float64


def write_map(
    blocks: Iterable[NDArray[Any]], n_columns: int, dtype: Any
) -> NDArray[Any]:
    """Write blocks of rows to a file without a name; return all as a read-only map."""
    try:
        with tempfile.TemporaryFile() as file:
            for block in blocks:
                file.write(np.ascontiguousarray(block, dtype=dtype).data)
            if not file.tell():
                return np.empty((0, n_columns), dtype=dtype)
            file.flush()
            pages = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except OSError as error:
        if error.errno not in DISK_FULL:
            raise
        raise OSError(
            error.errno,
            "the disk is full: the rows of the table do not fit. Free some space, or "
            "set the environment variable TMPDIR to another folder",
            tempfile.gettempdir(),
        ) from error
    return np.frombuffer(pages, dtype).reshape(-1, n_columns)


def is_mapped(X: Any) -> bool:
    """Return whether an array is a memory map, or a view of one."""
    while isinstance(X, np.ndarray):
        X = X.base
    return isinstance(X.obj if isinstance(X, memoryview) else X, mmap.mmap)


def row_blocks(X: NDArray[Any], n_rows: int | None = None) -> list[slice]:
    """Return the rows of a matrix, or N such rows, in blocks of a few megabytes."""
    step = max(1, _CELLS_AT_ONCE // max(1, X.shape[1]))
    stop = X.shape[0] if n_rows is None else n_rows
    return [slice(start, start + step) for start in range(0, stop, step)]


def map_blocks(
    X: NDArray[Any], function: Callable[[NDArray[Any]], FloatArray]
) -> FloatArray:
    """Return the results of a function of the rows, block by block, as a map."""
    blocks = (function(X[rows]) for rows in row_blocks(X))
    return write_map(blocks, X.shape[1], np.float64)


def take_rows(X: Any, rows: IntArray) -> Any:
    """Return ``X[rows]``; of a memory map as another map."""
    if not is_mapped(X):
        return X[rows]
    blocks = (X[rows[block]] for block in row_blocks(X, rows.size))
    return write_map(blocks, X.shape[1], X.dtype)
