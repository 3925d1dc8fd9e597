"""Check that CSV or TSV is a table (polars fills short rows); name line and column."""

import csv
import io
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from aucmax.datasets import _scan_kernels as kernels
from aucmax.datasets.column_names import name_columns
from aucmax.datasets.opening import PathLike
from aucmax.exceptions import DataFileError

SAMPLE_SIZE = 1 << 16
_SEPARATORS = (",", ";", "\t", "|")
_N_RECORDS = 50
# bytes up to which Python counts separators sooner than a compiled loop is loaded
_MAX_COUNTED = 1 << 22


class NotUTF8Error(DataFileError):
    """Text is not UTF-8; it may be valid in another encoding."""


class Layout(NamedTuple):
    """The layout of a table, for a parser."""

    names: list[str]
    unnamed: list[str]  # those among the names that the file does not have
    skip_lines: int  # in front of the first record of data
    n_records: int  # with blank lines between them but not after them
    n_trailing: int  # blank lines at the end
    blanks: NDArray[np.int64]  # which records, counted from 0, are blank lines
    quote_char: str | None  # None if no field is quoted: a quote is a mere letter


def find_separator(text: bytes, quote_char: str | None) -> str:
    """Return the separator that gives the first records equally many fields."""
    sample = text[:SAMPLE_SIZE].decode(errors="replace")
    if len(text) >= SAMPLE_SIZE:
        sample = sample[: sample.rfind("\n") + 1]  # the last record may be cut
    n_columns = {}
    for mark in _SEPARATORS:
        try:
            records = _records(sample, mark, quote_char)
            filled = (record for record in records if any(map(str.strip, record)))
            widths = {len(record) for record in islice(filled, _N_RECORDS)}
        except csv.Error:
            widths = set()
        n_columns[mark] = widths.pop() if len(widths) == 1 else 1
    if n_columns[","] > 1:
        return ","
    return max(_SEPARATORS, key=n_columns.__getitem__)


def _records(text: str, separator: str, quote_char: str | None) -> Iterator[list[str]]:
    """Parse the records that are not blank."""
    reader = csv.reader(
        io.StringIO(text, newline=""),
        delimiter=separator,
        quotechar=quote_char,
        quoting=csv.QUOTE_MINIMAL if quote_char else csv.QUOTE_NONE,
    )
    return (row for row in reader if len(row) > 1 or any(map(str.strip, row)))


def find_layout(
    path: PathLike,
    text: bytes,
    separator: str,
    quote_char: str | None,
    has_header: bool,
) -> Layout:
    """Return the layout of a table, or raise DataFileError at its first flaw."""
    scan = _Scan(path, text, separator, quote_char)
    end, _ = scan.run(0) if text else (0, None)
    if not text[:end].strip():
        raise DataFileError(f"{path}: the file is empty.")
    header, start = scan.cells_of(text[:end]), 0
    unnamed: list[str] = []
    if has_header:
        scan.names, unnamed = name_columns(header)
        _check_names(path, scan.names, separator)
        start = min(end + 1, len(text))
    else:
        scan.names = [f"column_{i + 1}" for i in range(len(header))]
    _, state = scan.run(start)
    if not state[kernels.RECORDS]:
        raise DataFileError(f"{path}: the file has a header but no rows.")
    blanks = np.empty(state[kernels.BLANKS], dtype=np.int64)
    if blanks.size:
        scan.run(start, blanks)
    first = start + int(state[kernels.FIRST])
    return Layout(
        scan.names,
        unnamed,
        text.count(b"\n", 0, first),
        int(state[kernels.RECORDS]),
        int(state[kernels.TRAILING]),
        blanks[blanks < state[kernels.RECORDS]],
        quote_char if state[kernels.QUOTED] else None,
    )


def _check_names(path: PathLike, names: list[str], separator: str) -> None:
    if len(names) == 1 and separator == ",":
        for other in _SEPARATORS[1:]:
            if other in names[0]:
                raise DataFileError(
                    f"{path}: line 1: the header has one column, {names[0][:40]!r}; if "
                    f"{other!r} separates the columns, pass separator={other!r}, or "
                    f"--separator {other!r} on the command line."
                )
    seen: dict[str, int] = {}
    for column, name in enumerate(names, start=1):
        if name in seen:
            raise DataFileError(
                f"{path}: line 1, column {column} ({name!r}): column {seen[name]} has "
                "the same name; rename one."
            )
        seen[name] = column


class _Scan:
    """Run the compiled scan and turn its findings into messages."""

    def __init__(
        self, path: PathLike, text: bytes, separator: str, quote_char: str | None
    ) -> None:
        self.path = path
        self.text = text
        self.separator = separator
        self.quote_char = quote_char
        self.names: list[str] = []
        self.flaw = _first_flaw(text)

    def cells_of(self, record: bytes) -> list[str]:
        """Return the cells of the only record that is not blank."""
        try:
            rows = list(_records(record.decode(), self.separator, self.quote_char))
        except csv.Error as error:
            raise DataFileError(f"{self.path}: line 1: {error}.") from error
        if len(rows) != 1:
            raise DataFileError(
                f"{self.path}: line 1: a carriage return within the line; end lines "
                "with a newline (LF or CR LF)."
            )
        return [cell.strip(" \t\r") for cell in rows[0]]

    def run(
        self, start: int, blanks: NDArray[np.int64] | None = None
    ) -> tuple[int, NDArray[np.int64]]:
        """Check the records from a byte on; without names, the first of them alone."""
        if blanks is None and (found := self._count_plain_lines(start)) is not None:
            return found
        # errors before the first invalid byte are reported first
        text = np.frombuffer(self.text, dtype=np.uint8)[start : self.flaw]
        n_columns = len(self.names)
        blanks = np.empty(0, dtype=np.int64) if blanks is None else blanks
        quote = ord(self.quote_char) if self.quote_char else -1
        status, position, field, state = kernels.scan_delimited(
            text, ord(self.separator), quote, n_columns, blanks
        )
        if status == kernels.DONE and self.flaw is None:
            status, position, field = kernels.finish_scan(
                state, text.size, n_columns, blanks
            )
        if status == kernels.DONE and self.flaw is not None:
            raise self._wrong_byte(self.flaw, field)
        if status == kernels.TOO_FEW_FIELDS:
            position = state[kernels.START]
        messages = {
            kernels.TOO_MANY_FIELDS: f"more fields than the {n_columns} columns of the "
            "table.",
            kernels.TOO_FEW_FIELDS: f"missing: this row has {field} of {n_columns} "
            "fields.",
            kernels.TEXT_AFTER_QUOTE: f"text after the closing {self.quote_char}; "
            "double a quote that belongs to the field.",
            kernels.NEVER_CLOSED: f"the {self.quote_char} that opens this field is "
            "never closed.",
            kernels.STRAY_QUOTE: f"a {self.quote_char} within a field that is not "
            "quoted, in a file with quoted fields; quote the field and double the "
            "quote, or read the file with quote_char=None.",
        }
        if status in messages:
            raise self._error(start + int(position), int(field), messages[status])
        return start + int(position), state

    def _count_plain_lines(self, start: int) -> tuple[int, NDArray[np.int64]] | None:
        """Return the result of `run` for lines without quotes or flaws, else None."""
        # numba, which half a second goes to, is not needed for them
        quote = (self.quote_char or "").encode()
        if (
            len(self.text) > _MAX_COUNTED
            or self.flaw is not None
            or (quote and quote in self.text)
        ):
            return None
        state = np.zeros(kernels.STATE_SIZE, dtype=np.int64)
        if not self.names:  # the header alone
            line, _, _ = self.text[start:].partition(b"\n")
            return (start + len(line), state) if line.strip(b" \t\r") else None
        lines = self.text[start:].removesuffix(b"\n").split(b"\n")
        widths = {line.count(self.separator.encode()) + 1 for line in lines}
        if widths != {len(self.names)} or widths == {1}:  # one cell may be blank
            return None
        state[kernels.RECORDS] = len(lines)
        return len(self.text), state

    def _wrong_byte(self, position: int, field: int) -> Exception:
        byte = self.text[position]
        if byte == 0:
            return self._error(position, field, "a NUL byte; is this text?")
        why = (
            f"byte 0x{byte:02x} is not valid UTF-8; save the file as UTF-8, or pass "
            "its encoding, such as encoding='latin-1' (--encoding latin-1 on the "
            "command line)."
        )
        return self._error(position, field, why, NotUTF8Error)

    def _error(
        self, position: int, field: int, why: str, kind: type[Exception] = DataFileError
    ) -> Exception:
        line = self.text.count(b"\n", 0, position) + 1
        name = f" ({self.names[field]!r})" if field < len(self.names) else ""
        return kind(f"{self.path}: line {line}, column {field + 1}{name}: {why}")


def _first_flaw(text: bytes) -> int | None:
    """Return the place of the first byte that is NUL or not UTF-8, None for none."""
    nul = text.find(b"\0")
    end = None if nul < 0 else nul
    if not text.isascii():
        try:
            str(memoryview(text)[:end], "utf-8")
        except UnicodeDecodeError as error:
            return error.start
    return end
