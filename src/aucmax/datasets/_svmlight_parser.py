"""Turn the bytes of an svmlight file into blocks of arrays, or say what is wrong."""

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aucmax._core.parameters import check_integer
from aucmax.datasets import _kernels
from aucmax.datasets.encodings import read_text_chunks
from aucmax.datasets.opening import PathLike, find_source
from aucmax.exceptions import DataFileError

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

LONGEST_LINE = 1 << 30
LARGEST_INDEX = 2**63 - 2


class Block(NamedTuple):
    """Views of what one text held, valid until the next; row r ends at row_ends[r]."""

    values: Floats
    indices: Integers
    row_ends: Integers
    labels: Floats
    queries: Integers


class SvmlightParser:
    """Turns the texts of one file into blocks, and knows where in the file it is."""

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
        self.smallest, self.largest = LARGEST_INDEX, -1
        self.capacity = 0
        self.state = np.zeros(5, dtype=np.int64)
        if needs_queries:
            self.state[_kernels.QUERIES] = _kernels.PRESENT
        self.state[_kernels.LOWEST] = 1 if zero_based is False else 0
        self.state[_kernels.HIGHEST] = (
            LARGEST_INDEX if n_features is None else n_features - (zero_based is True)
        )

    def read(self, compression: str) -> Iterator[Block]:
        """Yield the blocks of the file."""
        n_rows = 0
        for text in _whole_lines(self.path, compression):
            block = self._parse(text)
            n_rows += block.labels.size
            yield block
        if not n_rows:
            raise DataFileError(f"{self.path}: the file holds no rows.")

    def _parse(self, text: bytes) -> Block:
        if len(text) > self.capacity:
            self._make_room(len(text))
        status, n_rows, n_values, n_hard = _kernels.parse_svmlight(
            np.frombuffer(text, dtype=np.uint8),
            self.values,
            self.indices,
            self.rows,
            self.labels,
            self.hard,
            self.state,
        )
        if status != _kernels.DONE:
            raise self._refusal(status, text, int(self.state[_kernels.STOPPED]))
        self._resolve(self.hard[:n_hard], text)
        indices = self.indices[:n_values]
        if n_values:
            self.smallest = min(self.smallest, int(indices.min()))
            self.largest = max(self.largest, int(indices.max()))
        return Block(
            self.values[:n_values],
            indices,
            self.rows[:n_rows, 0],
            self.labels[:n_rows],
            self.rows[:n_rows, 1],
        )

    def _make_room(self, size: int) -> None:
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
                status = _kernels.BAD_VALUE if place >= 0 else _kernels.BAD_LABEL
                raise self._refusal(status, text, start)
            if place >= 0:
                self.values[place] = value
            else:
                self.labels[-1 - place] = value

    @property
    def offset(self) -> int:
        """What to subtract from the indices: 1 if they count from one."""
        if self.zero_based == "auto":
            # without any index, nothing speaks for counting from one
            return int(self.largest >= 0 and self.smallest > 0)
        return 0 if self.zero_based else 1

    def n_columns(self) -> int:
        """Return the number of columns, at least one, as scikit-learn has it."""
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
        return bool(self.state[_kernels.QUERIES] == _kernels.PRESENT)

    def _refusal(self, status: int, text: bytes, position: int) -> DataFileError:
        # state counts lines up to where reading stopped, which may be further on
        passed = text.count(b"\n", position, int(self.state[_kernels.STOPPED]))
        line = int(self.state[_kernels.LINES]) - passed + 1
        column = position - text.rfind(b"\n", 0, position)
        start = re.match(rb"[^\s#]{0,40}", text[position : position + 40])
        token = start[0].decode("utf-8", "backslashreplace") if start else ""
        return DataFileError(
            f"{self.path}: line {line}, column {column}: {self._why(status, token)}"
        )

    def _why(self, status: int, token: str) -> str:
        if status == _kernels.BAD_LABEL:
            return _why_no_label(token)
        if status == _kernels.BAD_VALUE:
            return f"the value {token!r} {_why_no_number(token)}."
        if status == _kernels.BAD_INDEX:
            return _why_no_feature(token)
        if status == _kernels.INDEX_OUT_OF_RANGE:
            low, high = self.state[[_kernels.LOWEST, _kernels.HIGHEST]]
            return f"the feature index of {token!r} is not within {low} to {high}."
        return {
            _kernels.BAD_QID: f"{token!r} is not a query; write it like qid:7.",
            _kernels.QID_MISSING: (
                "this row has no qid: after its label; all rows need one here."
            ),
            _kernels.QID_UNEXPECTED: (
                f"{token!r}, but the rows before name no query; all rows or none need "
                "one."
            ),
            _kernels.INDEX_NOT_INCREASING: (
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
    """Yield texts of whole lines, each ending with a newline."""
    pieces: list[bytes] = []
    size = 0
    for chunk in read_text_chunks(path, compression):
        end = chunk.rfind(b"\n") + 1
        pieces.append(chunk[:end] if end else chunk)
        if end:
            yield b"".join(pieces)
            pieces, size = [chunk[end:]], 0
        size += len(pieces[-1])
        if size > LONGEST_LINE:
            raise DataFileError(
                f"{path}: a line is longer than {LONGEST_LINE >> 20} MiB; is this text?"
            )
    last = b"".join(pieces)
    if last:
        yield last + b"\n"
