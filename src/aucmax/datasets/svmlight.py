"""Rows of SVM-light, LIBSVM and LETOR: ``label qid:id index:value ... # comment``."""

import re
from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from aucmax._core.parameters import check_integer
from aucmax.datasets import _svmlight_kernels as kernels
from aucmax.datasets.opening import PathLike, find_source
from aucmax.datasets.text_tables import read_text_chunks
from aucmax.exceptions import DataFileError

_MAX_LINE_BYTES = 1 << 30
_MAX_INDEX = 2**63 - 2
_MAX_INT32 = 2**31 - 1

# the C library gives memory of this size back to the system, whatever it learned before
_SEGMENT_BYTES = 1 << 25


class SvmlightData(NamedTuple):
    """The rows of an svmlight file.

    Attributes
    ----------
    X : csr_matrix of shape (n_samples, n_features)
        The values, float64; sparse indices are int32 if they fit.
    y : ndarray of shape (n_samples,)
        The labels, float64.
    qid : ndarray of shape (n_samples,), or None
        The query of each row, int64; None if the file has no queries.
    """

    X: Any
    y: NDArray[np.float64]
    qid: NDArray[np.int64] | None


def load_svmlight(
    path: PathLike,
    *,
    n_features: int | None = None,
    zero_based: bool | Literal["auto"] = "auto",
    compression: str = "auto",
) -> SvmlightData:
    r"""Read an svmlight (LIBSVM) or LETOR file into a sparse matrix.

    Each line is ``label [qid:query] [index:value ...] [# comment]``; blank lines and
    lines with only a comment are skipped. Values are the float64 nearest to the decimal
    written, so they equal those of scikit-learn's reader bit for bit. The file is read
    about a mebibyte at a time; beyond the result, less than 100 MiB is held.

    Parameters
    ----------
    path : str or Path
        The file, plain or compressed (.gz, .bz2, .xz; .zst with ``aucmax[zstd]``).
    n_features : int, optional
        The number of columns. Files do not write trailing zeros, so give it to make
        several files match. By default the largest index found decides.
    zero_based : bool or "auto"
        Whether the first column has index 0. "auto": it has if index 0 occurs.
    compression : {"auto", "none", "gzip", "bzip2", "xz", "zstd"}
        "auto" goes by the file name.

    Returns
    -------
    SvmlightData
        A named tuple ``X, y, qid``.

    Raises
    ------
    DataFileError
        If the file cannot be read. The message names file, line and column (the
        character within the line).

    Notes
    -----
    Stricter than `sklearn.datasets.load_svmlight_file`, where its leniency loses data:
    ``nan``, ``inf`` and numbers that overflow are errors; so are files in which only
    some rows have a ``qid:`` or one is not an integer, files without any row, and
    digits grouped with an underscore. More lenient: an index may exceed 32 bits, and a
    byte order mark is skipped.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from aucmax.datasets import load_svmlight
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "two.svm"
    ...     _ = path.write_text("1 qid:7 1:0.5 3:2\n0 qid:7 2:1e-3 # second\n")
    ...     X, y, qid = load_svmlight(path)
    >>> X.toarray().tolist(), y.tolist(), qid.tolist()
    ([[0.5, 0.0, 2.0], [0.0, 0.001, 0.0]], [1.0, 0.0], [7, 7])
    """
    from scipy.sparse import csr_matrix

    parser = _Parser(path, n_features, zero_based)
    values, indices, ends = _Growing(np.float64), _Growing(np.int32), _Growing(np.int64)
    for more_values, more_indices, row_ends in parser.read(compression):
        if parser.largest > _MAX_INT32 and indices.dtype == np.int32:
            narrow, indices = indices.finish(), _Growing(np.int64)
            indices.extend(narrow)
        ends.extend(row_ends + values.size)
        values.extend(more_values)
        indices.extend(more_indices)
    n_columns = parser.n_columns()
    dtype: Any = np.int32 if max(n_columns, values.size) <= _MAX_INT32 else np.int64
    indptr = np.zeros(ends.size + 1, dtype=dtype)
    indptr[1:] = ends.finish()
    places: Any = indices.finish()
    places -= parser.offset
    X = csr_matrix(
        (values.finish(), places.astype(dtype, copy=False), indptr),
        shape=(indptr.size - 1, n_columns),
        copy=False,
    )
    X.has_canonical_format = True
    return SvmlightData(X, *parser.labels_and_queries())


class _Growing:
    """A vector that grows by segments; each element is copied at most once."""

    # segments are of a size that the system takes back at once when freed, so the peak,
    # in finish, is its own size and one segment
    def __init__(self, dtype: DTypeLike) -> None:
        self.dtype = np.dtype(dtype)
        self.size = 0
        self._segments: list[NDArray[Any]] = []
        self._used: list[int] = []

    def extend(self, values: NDArray[Any]) -> None:
        """Append values."""
        if not self._segments or self._used[-1] + values.size > self._segments[-1].size:
            n_allocated = max(values.size, _SEGMENT_BYTES // self.dtype.itemsize)
            self._segments.append(np.empty(n_allocated, dtype=self.dtype))
            self._used.append(0)
        start = self._used[-1]
        self._segments[-1][start : start + values.size] = values
        self._used[-1] += values.size
        self.size += values.size

    def finish(self) -> NDArray[Any]:
        """Return the vector and free the segments."""
        whole = np.empty(self.size, dtype=self.dtype)
        end = self.size
        while self._segments:
            segment, used = self._segments.pop(), self._used.pop()
            whole[end - used : end] = segment[:used]
            end -= used
        return whole


class _Parser:
    """Parse one file in blocks; keep labels, queries and the range of the indices."""

    def __init__(
        self,
        path: PathLike,
        n_features: int | None,
        zero_based: bool | Literal["auto"],
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
        self.smallest, self.largest = _MAX_INDEX, -1
        self.labels, self.queries = _Growing(np.float64), _Growing(np.int64)
        highest = _MAX_INDEX
        if n_features is not None:
            highest = n_features - (zero_based is True)
        self.state = np.array([kernels.UNKNOWN, zero_based is False, highest])

    def read(self, compression: str) -> Iterator[tuple[Any, Any, Any]]:
        """Yield the values, indices and ends of the rows of each block."""
        n_lines = 0
        for text in _whole_lines(self.path, compression):
            status, position, rows, values, indices, hard = kernels.parse_svmlight(
                np.frombuffer(text, dtype=np.uint8), self.state
            )
            labels, queries, row_ends = rows
            if status == kernels.DONE:
                status, position = _read_hard(hard, text, values, labels)
            if status != kernels.DONE:
                line = n_lines + text.count(b"\n", 0, position) + 1
                column = position - text.rfind(b"\n", 0, position)
                start = re.match(rb"[^\s#]{0,40}", text[position:])
                token = start[0].decode("utf-8", "backslashreplace") if start else ""
                raise DataFileError(
                    f"{self.path}: line {line}, column {column}: "
                    f"{self._why(status, token)}"
                )
            n_lines += text.count(b"\n")
            self.labels.extend(labels)
            self.queries.extend(queries)
            self.smallest = int(indices.min(initial=self.smallest))
            self.largest = int(indices.max(initial=self.largest))
            yield values, indices, row_ends
        if not self.labels.size:
            raise DataFileError(f"{self.path}: the file holds no rows.")

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

    def labels_and_queries(self) -> tuple[Any, Any]:
        """Return the labels, and the queries if the rows have them."""
        has_queries = self.state[kernels.QUERIES] == kernels.PRESENT
        return self.labels.finish(), self.queries.finish() if has_queries else None

    def _why(self, status: int, token: str) -> str:
        """Explain a status at the place of a token."""
        low, high = self.state[[kernels.LOWEST, kernels.HIGHEST]]
        return {
            kernels.BAD_LABEL: _why_no_label(token),
            kernels.BAD_VALUE: f"the value {token!r} {_why_no_number(token)}.",
            kernels.BAD_INDEX: _why_no_feature(token),
            kernels.INDEX_OUT_OF_RANGE: (
                f"the feature index of {token!r} is not within {low} to {high}."
            ),
            kernels.BAD_QID: f"{token!r} is not a query; write it like qid:7.",
            kernels.QID_MISSING: "this row has no qid: after its label.",
            kernels.QID_UNEXPECTED: (
                f"{token!r}, but the rows before have no query; give all rows a query "
                "or none."
            ),
            kernels.INDEX_NOT_INCREASING: (
                f"the index of {token!r} does not exceed the one before it; sort the "
                "features of a line and name each once."
            ),
        }[status]


def _read_hard(hard: Any, text: bytes, values: Any, labels: Any) -> tuple[int, int]:
    """Read the numbers that the kernel left to Python; return the status and place."""
    numbers = np.array([float(text[start:end]) for _, start, end in hard.tolist()])
    is_value = hard[:, 0] >= 0
    values[hard[is_value, 0]] = numbers[is_value]
    labels[-1 - hard[~is_value, 0]] = numbers[~is_value]
    for place in np.flatnonzero(~np.isfinite(numbers)):
        status = kernels.BAD_VALUE if is_value[place] else kernels.BAD_LABEL
        return status, int(hard[place, 1])
    return kernels.DONE, 0


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
        return f"{token!r} must follow the label directly."
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
        if size > _MAX_LINE_BYTES:
            raise DataFileError(
                f"{path}: a line is longer than {_MAX_LINE_BYTES >> 20} MiB; is this "
                "text?"
            )
    last = b"".join(pieces)
    if last:
        yield last + b"\n"
