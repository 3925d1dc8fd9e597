"""Collect parsed rows in arrays that grow, without holding them all twice."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from aucmax.datasets._svmlight_parser import Block
from aucmax.datasets.opening import PathLike
from aucmax.exceptions import DataFileError

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

LARGEST_INT32 = 2**31 - 1

# the C library gives memory of this size back to the system, whatever it learned before
SEGMENT_BYTES = 1 << 25

# a dense array above this size is refused if mostly zero: one stray index does it
LARGE_DENSE_BYTES = 1 << 30
SPARSE_SHARE = 0.01


class Growing:
    """A vector that grows at its end; each element is copied at most once.

    It grows by whole segments, of a size that the system takes back at once when freed.
    So at the peak, in `finish`, it takes its own size and that of one segment.
    """

    def __init__(self, dtype: DTypeLike) -> None:
        self.dtype = np.dtype(dtype)
        self.size = 0
        self._segments: list[NDArray[Any]] = []
        self._used: list[int] = []

    def more(self, n: int) -> NDArray[Any]:
        """Return a view of the next n elements, zeros."""
        if not self._segments or self._used[-1] + n > self._segments[-1].size:
            n_room = max(n, SEGMENT_BYTES // self.dtype.itemsize)
            # pages of zeros, which the system provides only when written to
            self._segments.append(np.zeros(n_room, dtype=self.dtype))
            self._used.append(0)
        start = self._used[-1]
        self._used[-1] += n
        self.size += n
        return self._segments[-1][start : start + n]

    def extend(self, values: NDArray[Any]) -> None:
        """Append values."""
        self.more(values.size)[:] = values

    def finish(self) -> NDArray[Any]:
        """Return the vector and let go of it."""
        whole = np.empty(self.size, dtype=self.dtype)
        end = self.size
        while self._segments:
            segment, used = self._segments.pop(), self._used.pop()
            whole[end - used : end] = segment[:used]
            end -= used
        self.size = 0
        return whole


class SparseRows:
    """Rows in compressed form; indices have 32 bits as long as they fit."""

    def __init__(self) -> None:
        self.values = Growing(np.float64)
        self.indices = Growing(np.int32)
        self.row_ends = Growing(np.int64)

    def append(self, block: Block) -> None:
        """Append the rows of a block."""
        if block.indices.size and block.indices.max() > LARGEST_INT32:
            self._widen()
        self.row_ends.extend(block.row_ends + self.values.size)
        self.values.extend(block.values)
        self.indices.extend(block.indices)

    def _widen(self) -> None:
        if self.indices.dtype == np.int32:
            narrow = self.indices.finish()
            self.indices = Growing(np.int64)
            self.indices.extend(narrow)

    def finish(self, n_columns: int, offset: int) -> "csr_matrix[np.float64]":
        """Return the matrix; offset is subtracted from the indices."""
        from scipy.sparse import csr_matrix

        values, indices = self.values.finish(), self.indices.finish()
        row_ends = self.row_ends.finish()
        indices -= offset
        narrow = max(n_columns, values.size) <= LARGEST_INT32
        dtype = np.dtype(np.int32 if narrow else np.int64)
        indptr = np.zeros(row_ends.size + 1, dtype=dtype)
        indptr[1:] = row_ends
        X = csr_matrix(
            (values, indices.astype(dtype, copy=False), indptr),
            shape=(indptr.size - 1, n_columns),
            copy=False,
        )
        X.has_canonical_format = True
        return X


class DenseRows:
    """Rows in a dense array, laid out anew when a block needs more columns."""

    def __init__(self, path: PathLike) -> None:
        self.path = path
        self.cells = Growing(np.float64)
        self.n_columns = self.offset = 0
        self.n_rows = self.n_values = 0

    def append(self, block: Block, n_columns: int, offset: int) -> None:
        """Append the rows of a block, n_columns wide; offset as in `SparseRows`."""
        n_rows = block.labels.size
        self._refuse_zeros(self.n_rows + n_rows, n_columns, block.values.size)
        if (n_columns, offset) != (self.n_columns, self.offset):
            self._lay_out(n_columns, offset)
        rows = np.repeat(np.arange(n_rows), np.diff(block.row_ends, prepend=0))
        cells = self.cells.more(n_rows * n_columns).reshape(n_rows, n_columns)
        cells[rows, block.indices - offset] = block.values
        self.n_rows += n_rows
        self.n_values += block.values.size

    def _refuse_zeros(self, n_rows: int, n_columns: int, n_new: int) -> None:
        n_cells = n_rows * n_columns
        n_values = self.n_values + n_new
        if n_cells * 8 > LARGE_DENSE_BYTES and n_values < SPARSE_SHARE * n_cells:
            raise DataFileError(
                f"{self.path}: {n_rows} rows by {n_columns} features would be a dense "
                f"array of {n_cells * 8 / 2**30:.1f} GiB, nearly all zero; use "
                "load_svmlight."
            )

    def _lay_out(self, n_columns: int, offset: int) -> None:
        old = self.cells.finish().reshape(self.n_rows, self.n_columns)
        self.cells = Growing(np.float64)
        new = self.cells.more(self.n_rows * n_columns).reshape(self.n_rows, n_columns)
        if self.n_values:
            # the offset falls from 1 to 0 when index 0 turns up; it never rises again
            shift = self.offset - offset
            kept = old[:, : n_columns - shift]
            new[:, shift : shift + kept.shape[1]] = kept
        self.n_columns, self.offset = n_columns, offset

    def finish(self) -> NDArray[np.float64]:
        """Return the array."""
        return self.cells.finish().reshape(self.n_rows, self.n_columns)
