"""Matrices that stay on disk: maps of files without a name, gone with their map."""

import mmap
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucmax._core.atomic import DISK_FULL
from aucmax._core.validation import FloatArray, IntArray

_CELLS_AT_ONCE = 1 << 21  # 16 megabytes of float64


class MapWriter:
    """Writes the rows of a matrix, block by block, and maps them in the end."""

    def __init__(self, n_columns: int, dtype: Any = np.float64) -> None:
        self._n_columns = n_columns
        self._dtype = np.dtype(dtype)
        self._file: Any = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115

    def write(self, block: NDArray[Any]) -> None:
        """Add rows."""
        rows = np.ascontiguousarray(block, dtype=self._dtype)
        left = rows.reshape(-1).view(np.uint8).data
        with explain_full_disk():
            while left:  # the system may take less at a time
                left = left[self._file.write(left) :]

    def finish(self) -> NDArray[Any]:
        """Return all rows as a read-only array on disk."""
        with self._file:
            if not self._file.tell():
                return np.empty((0, self._n_columns), dtype=self._dtype)
            pages = mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_READ)
        return np.frombuffer(pages, self._dtype).reshape(-1, self._n_columns)

    def close(self) -> None:
        """Delete the file."""
        self._file.close()


@contextmanager
def explain_full_disk() -> Iterator[None]:
    """Add advice to the error of a full disk for temporary files."""
    try:
        yield
    except OSError as error:
        if error.errno not in DISK_FULL:
            raise
        raise OSError(
            error.errno,
            "the disk is full: the rows of the table do not fit. Free some space, or "
            "set the environment variable TMPDIR to another folder",
            tempfile.gettempdir(),
        ) from error


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
    writer = MapWriter(X.shape[1])
    for rows in row_blocks(X):
        writer.write(function(X[rows]))
    return writer.finish()


def take_rows(X: Any, rows: IntArray) -> Any:
    """Return ``X[rows]``; of a memory map as another map."""
    if not is_mapped(X):
        return X[rows]
    writer = MapWriter(X.shape[1], X.dtype)
    for block in row_blocks(X, rows.size):
        writer.write(X[rows[block]])
    return writer.finish()
