"""Check that CSV or TSV text is a table, and say where it is not.

Parsers fill short rows with nothing and say little about where a file is broken. So the
text is scanned first (about 500 MB/s), in pieces, and polars parses what has passed.
"""

import codecs
import csv
import io
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from aucmax.datasets.opening import PathLike
from aucmax.datasets.unnamed import name_columns
from aucmax.exceptions import DataFileError


class NotUTF8Error(DataFileError):
    """Text is not UTF-8; it may be fine in another encoding."""


class Layout(NamedTuple):
    """What a parser must know of a table."""

    names: list[str]
    skip_lines: int  # in front of the first record of data
    n_records: int  # with blank lines between them but not after them
    n_trailing: int  # blank lines at the end
    blanks: NDArray[np.int64]  # which records, counted from 0, are blank lines
    quote_char: str | None  # None if no field is quoted: a quote is a mere letter
    unnamed: list[str]  # those among the names that the file does not have


def check_delimited(
    path: PathLike,
    texts: Iterable[bytes],
    *,
    separator: str,
    quote_char: str | None = '"',
    has_header: bool = True,
) -> Layout:
    """Return the layout of a table, or raise DataFileError at its first flaw.

    A header of one column that holds another usual separator than the comma given is
    refused.
    """
    scan = _Scan(path, separator, quote_char)
    pieces = _ending_with_newline(texts)
    head = b""
    end = -1
    while end < 0 and (text := next(pieces, None)) is not None:
        head += text
        end = scan.first_record_end(head)
    if not head.strip():
        raise DataFileError(f"{path}: the file is empty.")
    if end < 0:
        raise scan.unterminated()
    first = scan.decode_record(head[:end])
    if has_header:
        first, scan.unnamed = name_columns(first)
        _check_names(path, first, separator)
        scan.start(first, line=head.count(b"\n", 0, end + 1))
        head = head[end + 1 :]
    else:
        scan.start([f"column_{i + 1}" for i in range(len(first))], line=0)
    for text in chain([head], pieces):
        scan.feed(text)
    return scan.layout()


def _ending_with_newline(texts: Iterable[bytes]) -> Iterator[bytes]:
    last = b"\n"
    for text in texts:
        last = text[-1:] or last
        yield text
    if last != b"\n":
        yield b"\n"


def _check_names(path: PathLike, names: list[str], separator: str) -> None:
    if len(names) == 1 and separator == ",":
        for other in (";", "\t", "|"):
            if other in names[0]:
                raise DataFileError(
                    f"{path}: line 1: the header has one column, {names[0][:40]!r}; if "
                    f"{other!r} separates the columns, say so: separator={other!r}, or "
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
    """Feeds texts to the compiled scan and turns its findings into messages."""

    def __init__(self, path: PathLike, separator: str, quote_char: str | None) -> None:
        from aucmax.datasets import _scan_kernels

        self.path = path
        self.separator = separator
        self.quote_char = quote_char
        self.kernels = _scan_kernels
        self.names: list[str] = []
        self.unnamed: list[str] = []
        self.blanks: list[NDArray[np.int64]] = []
        self.buffer = np.empty(0, dtype=np.int64)
        self.decoder = codecs.getincrementaldecoder("utf-8")()
        self.state = np.empty(_scan_kernels.STATE_SIZE, dtype=np.int64)

    def start(self, names: list[str], line: int) -> None:
        """Begin with a new record, after `line` lines."""
        self.names = names
        self.state[:] = 0
        self.state[[self.kernels.LINE, self.kernels.START_LINE]] = line
        self.state[self.kernels.STRAY_LINE] = -1

    def first_record_end(self, head: bytes) -> int:
        """Return where the newline after the first record stands, -1 if not here."""
        self.start([], line=0)
        status, position = self._scan(head)
        if status == self.kernels.RECORD_ENDS:
            return position
        if status == self.kernels.DONE:
            return -1
        raise self._refusal(status)

    def decode_record(self, record: bytes) -> list[str]:
        """Return the cells of the only record that is not blank."""
        decoder = codecs.getincrementaldecoder("utf-8")()
        position, byte = _first_flaw(decoder, record, final=True)
        if position >= 0:
            self.start([], line=0)
            self._scan(record[:position])
            raise self._flaw(byte)
        reader = csv.reader(
            io.StringIO(record.decode(), newline=""),
            delimiter=self.separator,
            quotechar=self.quote_char,
            quoting=csv.QUOTE_MINIMAL if self.quote_char else csv.QUOTE_NONE,
        )
        try:
            rows = [row for row in reader if len(row) > 1 or any(map(str.strip, row))]
        except csv.Error as error:
            raise DataFileError(f"{self.path}: line 1: {error}.") from error
        if len(rows) != 1:
            raise DataFileError(
                f"{self.path}: line 1: a carriage return within the line; end lines "
                "with a newline (LF or CR LF)."
            )
        return [cell.strip(" \t\r") for cell in rows[0]]

    def feed(self, text: bytes) -> None:
        """Check the next piece of the table."""
        position, byte = _first_flaw(self.decoder, text)
        status, _ = self._scan(text if position < 0 else text[:position])
        if status != self.kernels.DONE:
            raise self._refusal(status)
        if position >= 0:
            raise self._flaw(byte)

    def _scan(self, text: bytes) -> tuple[int, int]:
        if len(text) > self.buffer.size:
            self.buffer = np.empty(len(text), dtype=np.int64)
        status, position, n_blanks = self.kernels.scan_delimited(
            np.frombuffer(text, dtype=np.uint8),
            ord(self.separator),
            ord(self.quote_char) if self.quote_char else -1,
            len(self.names),
            self.state,
            self.buffer,
        )
        if n_blanks:
            self.blanks.append(self.buffer[:n_blanks].copy())
        return status, position

    def layout(self) -> Layout:
        """Return what was found, once all is scanned."""
        kernels, state = self.kernels, self.state
        if state[kernels.PLACE] == kernels.WITHIN:
            raise self.unterminated()
        n_records = int(state[kernels.RECORDS])
        if not n_records:
            raise DataFileError(f"{self.path}: the file has a header but no rows.")
        quoted = bool(state[kernels.QUOTED])
        if quoted and state[kernels.STRAY_LINE] >= 0:
            raise self._located(
                state[kernels.STRAY_LINE],
                state[kernels.STRAY_FIELD],
                f"a {self.quote_char} within a field that is not quoted, in a file "
                "with quoted fields; quote the field and double the quote, or read the "
                "file with quote_char=None.",
            )
        blanks = np.concatenate([np.empty(0, dtype=np.int64), *self.blanks])
        return Layout(
            self.names,
            int(state[kernels.SKIPPED]),
            n_records,
            int(state[kernels.TRAILING]),
            blanks[blanks < n_records],
            self.quote_char if quoted else None,
            self.unnamed,
        )

    def unterminated(self) -> DataFileError:
        """Return the error of a quote that never closes."""
        return self._located(
            self.state[self.kernels.OPENED_LINE],
            self.state[self.kernels.OPENED_FIELD],
            f"the {self.quote_char} that opens this field is never closed.",
        )

    def _flaw(self, byte: int) -> DataFileError:
        line, field = self.state[[self.kernels.LINE, self.kernels.FIELD]]
        if byte == 0:
            return self._located(line, field, "a NUL byte; is this a text file?")
        why = (
            f"byte 0x{byte:02x} is not valid UTF-8; save the file as UTF-8, or name "
            "its encoding: encoding='latin-1' or the like, --encoding latin-1 on the "
            "command line."
        )
        return NotUTF8Error(str(self._located(line, field, why)))

    def _refusal(self, status: int) -> DataFileError:
        kernels, state = self.kernels, self.state
        line, field = state[kernels.LINE], state[kernels.FIELD]
        expected = len(self.names)
        if status == kernels.TOO_MANY_FIELDS:
            why = f"more fields than the {expected} columns of the table."
            return self._located(line, field + 1, why)
        if status == kernels.TOO_FEW_FIELDS:
            why = f"missing: this row has {field + 1} of {expected} fields."
            return self._located(state[kernels.START_LINE], field + 1, why)
        why = (
            f"text after the closing {self.quote_char}; double a quote that belongs "
            "to the field."
        )
        return self._located(line, field, why)

    def _located(self, line: int, field: int, why: str) -> DataFileError:
        name = f" ({self.names[field]!r})" if field < len(self.names) else ""
        return DataFileError(
            f"{self.path}: line {line + 1}, column {field + 1}{name}: {why}"
        )


def _first_flaw(
    decoder: codecs.IncrementalDecoder, text: bytes, final: bool = False
) -> tuple[int, int]:
    """Return place and value of the first byte that is NUL or not UTF-8; -1: none."""
    nul = text.find(b"\0")
    if not text.isascii() or decoder.getstate()[0]:
        try:
            decoder.decode(text, final)
        except UnicodeDecodeError as error:
            # the decoder may have kept the first bytes of a character from before
            kept = len(error.object) - len(text)
            position = max(error.start - kept, 0)
            if not 0 <= nul < position:
                return position, error.object[error.start]
    return nul, 0
