"""Turn the bytes of an svmlight file into arrays, or say what is wrong."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from aucmax._core.parameters import check_integer
from aucmax.datasets import _svmlight_kernels as kernels
from aucmax.datasets.opening import PathLike, find_source
from aucmax.datasets.text_tables import read_text_chunks
from aucmax.exceptions import DataFileError

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

MAX_LINE_BYTES = 1 << 30
MAX_INDEX = 2**63 - 2
MAX_INT32 = 2**31 - 1

# the C library gives memory of this size back to the system, whatever it learned before
SEGMENT_BYTES = 1 << 25

# a dense array above this size is rejected if mostly zero: one stray index does it
LARGE_DENSE_BYTES = 1 << 30
SPARSE_SHARE = 0.01


class SvmlightBlock(NamedTuple):
    """Views of what one text held, valid until the next; row r ends at row_ends[r]."""

    values: Floats
    indices: Integers
    row_ends: Integers
    labels: Floats
    queries: Integers


class SvmlightParser:
    """Turns the bytes of one file into blocks, and knows where in the file it is."""

    def __init__(
        self,
        path: PathLike,
        n_features: int | None,
        zero_based: bool | Literal["auto"],
        needs_queries: bool = False,
    ) -> None:
        if n_features is not None:
            check_integer("n_features", n_features)
        if zero_based not in (True, False, "auto"):
            raise ValueError(
                f"zero_based must be True, False or 'auto', got {zero_based!r}."
            )
        self.path = find_source(path)
        self.n_features = n_features
        self.zero_based = zero_based
        self.smallest, self.largest = MAX_INDEX, -1
        self.capacity = 0
        self.state = np.zeros(5, dtype=np.int64)
        if needs_queries:
            self.state[kernels.QUERIES] = kernels.PRESENT
        self.state[kernels.LOWEST] = 1 if zero_based is False else 0
        self.state[kernels.HIGHEST] = (
            MAX_INDEX if n_features is None else n_features - (zero_based is True)
        )

    def read(self, compression: str) -> Iterator[SvmlightBlock]:
        """Yield the blocks of the file."""
        n_rows = 0
        for text in _whole_lines(self.path, compression):
            block = self._parse(text)
            n_rows += block.labels.size
            yield block
        if not n_rows:
            raise DataFileError(f"{self.path}: the file holds no rows.")

    def _parse(self, text: bytes) -> SvmlightBlock:
        if len(text) > self.capacity:
            self._allocate(len(text))
        status, n_rows, n_values, n_hard = kernels.parse_svmlight(
            np.frombuffer(text, dtype=np.uint8),
            self.values,
            self.indices,
            self.rows,
            self.labels,
            self.hard,
            self.state,
        )
        if status != kernels.DONE:
            raise self._refusal(status, text, int(self.state[kernels.STOPPED]))
        self._resolve(self.hard[:n_hard], text)
        indices = self.indices[:n_values]
        if n_values:
            self.smallest = min(self.smallest, int(indices.min()))
            self.largest = max(self.largest, int(indices.max()))
        return SvmlightBlock(
            self.values[:n_values],
            indices,
            self.rows[:n_rows, 0],
            self.labels[:n_rows],
            self.rows[:n_rows, 1],
        )

    def _allocate(self, size: int) -> None:
        # the shortest row is "1\n", the shortest feature " 1:1"; every number that is
        # left to Python has twenty digits or an exponent
        self.capacity = size
        self.values = np.empty(size // 4 + 1)
        self.indices = np.empty(size // 4 + 1, dtype=np.int64)
        self.rows = np.empty((size // 2 + 1, 2), dtype=np.int64)
        self.labels = np.empty(size // 2 + 1)
        self.hard = np.empty((size // 4 + 1, 3), dtype=np.int64)

    def _resolve(self, hard: Integers, text: bytes) -> None:
        """Let Python read the numbers that the compiled loop was not sure of."""
        for place, start, end in hard.tolist():
            value = float(text[start:end])
            if not np.isfinite(value):
                status = kernels.BAD_VALUE if place >= 0 else kernels.BAD_LABEL
                raise self._refusal(status, text, start)
            if place >= 0:
                self.values[place] = value
            else:
                self.labels[-1 - place] = value

    @property
    def offset(self) -> int:
        """Offset of the indices: 1 if they count from one."""
        if self.zero_based == "auto":
            # without any index, nothing speaks for counting from one
            return int(self.largest >= 0 and self.smallest > 0)
        return 0 if self.zero_based else 1

    def n_columns(self) -> int:
        """Return the number of columns, at least one, as in scikit-learn."""
        found = max(self.largest + 1 - self.offset, 1)
        if self.n_features is not None and found > self.n_features:
            raise DataFileError(
                f"{self.path}: n_features is {self.n_features}, but index "
                f"{self.largest} and index 0 both occur, so indices count from zero; "
                f"pass n_features={found} or more."
            )
        return found if self.n_features is None else self.n_features

    @property
    def has_queries(self) -> bool:
        """Whether the rows so far name their queries."""
        return bool(self.state[kernels.QUERIES] == kernels.PRESENT)

    def _refusal(self, status: int, text: bytes, position: int) -> DataFileError:
        # state counts lines up to where reading stopped, which may be further on
        passed = text.count(b"\n", position, int(self.state[kernels.STOPPED]))
        line = int(self.state[kernels.LINES]) - passed + 1
        column = position - text.rfind(b"\n", 0, position)
        start = re.match(rb"[^\s#]{0,40}", text[position : position + 40])
        token = start[0].decode("utf-8", "backslashreplace") if start else ""
        return DataFileError(
            f"{self.path}: line {line}, column {column}: {self._why(status, token)}"
        )

    def _why(self, status: int, token: str) -> str:
        if status == kernels.BAD_LABEL:
            return _why_no_label(token)
        if status == kernels.BAD_VALUE:
            return f"the value {token!r} {_why_no_number(token)}."
        if status == kernels.BAD_INDEX:
            return _why_no_feature(token)
        if status == kernels.INDEX_OUT_OF_RANGE:
            low, high = self.state[[kernels.LOWEST, kernels.HIGHEST]]
            return f"the feature index of {token!r} is not within {low} to {high}."
        return {
            kernels.BAD_QID: f"{token!r} is not a query; write it like qid:7.",
            kernels.QID_MISSING: (
                "this row has no qid: after its label; all rows need one here."
            ),
            kernels.QID_UNEXPECTED: (
                f"{token!r}, but the rows before name no query; all rows or none need "
                "one."
            ),
            kernels.INDEX_NOT_INCREASING: (
                f"the index of {token!r} does not exceed the one before it; sort the "
                "features of a line and name each once."
            ),
        }[status]


def _why_no_number(token: str) -> str:
    if token.lower().strip("+-") in ("nan", "inf", "infinity"):
        return "is not finite; leave the feature out or replace it"
    try:
        float(token.replace("_", "?"))
    except ValueError:
        return "is not a number" if token else "is missing"
    return "is too large for a 64-bit float"


def _why_no_label(token: str) -> str:
    if ":" in token:
        return (
            f"the row starts with {token!r} instead of a label; put 0 in front of rows "
            "without one."
        )
    if "," in token:
        return f"the label {token!r} is a list; only one label per row can be read."
    return f"the label {token!r} {_why_no_number(token)}."


def _why_no_feature(token: str) -> str:
    if token.startswith("-"):
        return f"the index of {token!r} is negative; indices start at 1 (or 0)."
    if token.startswith("qid"):
        return f"{token!r} must stand right after the label."
    return f"expected index:value, found {token!r}."


def _whole_lines(path: PathLike, compression: str) -> Iterator[bytes]:
    """Yield whole lines, each ending with a newline."""
    pieces: list[bytes] = []
    size = 0
    for chunk in read_text_chunks(path, compression):
        end = chunk.rfind(b"\n") + 1
        pieces.append(chunk[:end] if end else chunk)
        if end:
            yield b"".join(pieces)
            pieces, size = [chunk[end:]], 0
        size += len(pieces[-1])
        if size > MAX_LINE_BYTES:
            raise DataFileError(
                f"{path}: a line is longer than {MAX_LINE_BYTES >> 20} MiB; is this "
                "text?"
            )
    last = b"".join(pieces)
    if last:
        yield last + b"\n"


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
            n_allocated = max(n, SEGMENT_BYTES // self.dtype.itemsize)
            # pages of zeros, which the system provides only when written to
            self._segments.append(np.zeros(n_allocated, dtype=self.dtype))
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

    def append(self, block: SvmlightBlock) -> None:
        """Append the rows of a block."""
        if block.indices.size and block.indices.max() > MAX_INT32:
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
        narrow = max(n_columns, values.size) <= MAX_INT32
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
    """Rows in a dense array, laid out again when a block needs more columns."""

    def __init__(self, path: PathLike) -> None:
        self.path = path
        self.cells = Growing(np.float64)
        self.n_columns = self.offset = 0
        self.n_rows = self.n_values = 0

    def append(self, block: SvmlightBlock, n_columns: int, offset: int) -> None:
        """Append the rows of a block, n_columns wide; offset as in `SparseRows`."""
        n_rows = block.labels.size
        self._reject_zeros(self.n_rows + n_rows, n_columns, block.values.size)
        if (n_columns, offset) != (self.n_columns, self.offset):
            self._lay_out(n_columns, offset)
        rows = np.repeat(np.arange(n_rows), np.diff(block.row_ends, prepend=0))
        cells = self.cells.more(n_rows * n_columns).reshape(n_rows, n_columns)
        cells[rows, block.indices - offset] = block.values
        self.n_rows += n_rows
        self.n_values += block.values.size

    def _reject_zeros(self, n_rows: int, n_columns: int, n_new: int) -> None:
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
