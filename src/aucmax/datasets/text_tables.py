"""CSV and TSV: find encoding and separator, check that it is a table, parse it."""

import codecs
import csv
import io
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from aucmax.datasets import opening
from aucmax.datasets.column_names import name_columns
from aucmax.datasets.memory import require_memory
from aucmax.datasets.opening import MEMORY_OF_A_CELL, MEMORY_OF_TEXT, PathLike
from aucmax.exceptions import DataFileError

if TYPE_CHECKING:
    import polars as pl

# from the names of all columns to those that are wanted
Selection: TypeAlias = Callable[[Sequence[str]], list[str]]

_SEPARATORS = (",", ";", "\t", "|")
_SAMPLE_SIZE, _N_RECORDS = 1 << 16, 50  # by which the separator is found
_BLANKS = b" \t\r\n"

_MARKS = {
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_SINGLE_BYTE = "cp1252"  # of text that is not UTF-8: latin-1 with a few more letters
# the bytes of one character beyond ASCII, in UTF-8
_WIDE_CHARACTER = re.compile(
    rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}"
)
_BEYOND_ASCII = re.compile(rb"[\x80-\xff]")
_UNDEFINED = re.compile(rb"[\x81\x8d\x8f\x90\x9d]")

# numbers with a decimal comma, and points between thousands; 0.100 has no thousands
_COMMA_NUMBER = (
    r"^[+-]?([0-9]+(,[0-9]*)?|,[0-9]+)([eE][+-]?[0-9]+)?$"
    r"|^[+-]?[1-9][0-9]{0,2}(\.[0-9]{3})+(,[0-9]+)?$"
)


def read_text_table(
    path: PathLike,
    compression: str,
    encoding: str,
    separator: str | None,
    quote_char: str | None,
    has_header: bool,
    select: Selection,
) -> tuple["pl.DataFrame", list[str], str, dict[str, str]]:
    """Return cells as strings, made-up names, the separator, and what was found."""
    found: dict[str, str] = {}
    is_auto = encoding == "auto"
    if is_auto and (encoding := marked_encoding(path, compression)) != "utf-8":
        found["encoding"] = encoding
    # not mapped: another process that truncates the file would kill this one
    size = opening.size_on_disk(path)
    require_memory(path, 2 * size, size)
    text = b"".join(read_text_chunks(path, compression, encoding))
    if is_auto and encoding == "utf-8" and _is_single_byte(text):
        found["encoding"] = _SINGLE_BYTE
        text = text.decode(_SINGLE_BYTE).encode()
    if not text.strip(_BLANKS):
        raise DataFileError(f"{path}: the file is empty.")
    mark = separator or _find_separator(text, quote_char)
    if separator is None and mark != ",":
        found["separator"] = mark
    frame, unnamed = _parse(path, text, size, mark, quote_char, has_header, select)
    return frame, unnamed, mark, found


def _find_separator(text: bytes, quote_char: str | None) -> str:
    """Return the separator that gives the first records equally many fields."""
    sample = text[:_SAMPLE_SIZE].decode(errors="replace")
    if len(text) >= _SAMPLE_SIZE:
        sample = sample[: sample.rfind("\n") + 1]  # the last record may be cut
    n_columns = {}
    for mark in _SEPARATORS:
        try:
            records = _csv_records(sample, mark, quote_char)
            filled = (record for record in records if any(map(str.strip, record)))
            widths = {len(record) for record in islice(filled, _N_RECORDS)}
        except csv.Error:
            widths = set()
        n_columns[mark] = widths.pop() if len(widths) == 1 else 1
    if n_columns[","] > 1:
        return ","
    return max(_SEPARATORS, key=n_columns.__getitem__)


def _csv_records(
    text: str, separator: str, quote_char: str | None
) -> Iterator[list[str]]:
    """Parse the records that are not blank."""
    reader = csv.reader(
        io.StringIO(text, newline=""),
        delimiter=separator,
        quotechar=quote_char,
        quoting=csv.QUOTE_MINIMAL if quote_char else csv.QUOTE_NONE,
    )
    return (row for row in reader if len(row) > 1 or any(map(str.strip, row)))


class _Records:
    """Where the records of a text and their fields are."""

    # a quote is outside of quoted fields if the number of quotes before it is even, and
    # so is a separator or the end of a line
    def __init__(self, text: bytes, separator: str, quote_char: str | None) -> None:
        self.text = text
        content = np.frombuffer(text, dtype=np.uint8)
        ends = np.flatnonzero(content == ord("\n"))
        marks = np.flatnonzero(content == ord(separator))
        quotes = np.flatnonzero(content == ord(quote_char)) if quote_char else ends[:0]
        before = content[quotes - 1]
        opens = (quotes == 0) | (before == ord(separator)) | (before == ord("\n"))
        if not opens.any():  # a quote is a mere letter
            quote_char, quotes, opens = None, quotes[:0], opens[:0]
        self.quote_char, self.quotes, self.opens = quote_char, quotes, opens
        behind = np.append(content, ord("\n"))[quotes + 1]
        enders = [separator, "\n", "\r", *([quote_char] if quote_char else [])]
        self.closes = np.isin(behind, list(map(ord, enders)))
        if quotes.size:
            ends = ends[np.searchsorted(quotes, ends) % 2 == 0]
            marks = marks[np.searchsorted(quotes, marks) % 2 == 0]
        self.marks = marks
        self.starts = np.append(0, ends + 1)
        self.stops = np.append(ends, content.size)
        if self.starts[-1] == content.size:
            self.starts, self.stops = self.starts[:-1], self.stops[:-1]
        self.first_marks = np.searchsorted(marks, self.starts)
        self.n_fields = np.searchsorted(marks, self.stops) - self.first_marks + 1
        self.is_blank = self.n_fields == 1
        if self.is_blank.any():
            is_filled = ~np.isin(content, np.frombuffer(_BLANKS, dtype=np.uint8))
            self.is_blank &= ~np.logical_or.reduceat(is_filled, self.starts)

    def flaws(self) -> Iterator[tuple[int, str]]:
        """Yield places and descriptions of wrong bytes and quotes."""
        yield from _wrong_bytes(self.text)
        quote, quotes = self.quote_char, self.quotes
        # a doubled quote closes a field and opens it again
        doubled = np.append(np.zeros(1, dtype=bool), np.diff(quotes) == 1)[
            : quotes.size
        ]
        for position in quotes[0::2][~(self.opens | doubled)[0::2]][:1]:
            yield (
                int(position),
                f"a {quote} within a field that is not quoted, in a file with quoted "
                "fields; quote the field and double the quote, or read the file with "
                "quote_char=None.",
            )
        for position in quotes[1::2][~self.closes[1::2]][:1]:
            yield (
                int(position) + 1,
                f"text after the closing {quote}; double a quote that belongs to the "
                "field.",
            )
        if quotes.size % 2:
            yield int(quotes[-1]), f"the {quote} that opens this field is never closed."

    def ragged(self, first: int, n_columns: int) -> Iterator[tuple[int, str]]:
        """Yield the place of the first record with other fields than the header."""
        is_ragged = (self.n_fields != n_columns) & ~self.is_blank
        is_ragged[:first] = False
        for k in np.flatnonzero(is_ragged)[:1]:
            n = int(self.n_fields[k])
            if n < n_columns:
                why = f"missing: this row has {n} of {n_columns} fields."
                yield int(self.stops[k]), why
            else:
                mark = self.marks[self.first_marks[k] + n_columns - 1]
                yield (
                    int(mark),
                    f"more fields than the {n_columns} columns of the table.",
                )

    def describe(self, path: PathLike, position: int, why: str, names: Any) -> str:
        """Return a message with line and column; why it is missing is of the next."""
        row = np.searchsorted(self.starts, position, side="right") - 1
        field = int(np.searchsorted(self.marks, position) - self.first_marks[row])
        line = self.text.count(b"\n", 0, position) + 1
        if why.startswith("missing"):
            field, line = field + 1, self.text.count(b"\n", 0, self.starts[row]) + 1
        elif why.startswith("more fields"):
            field += 1
        name = f" ({names[field]!r})" if field < len(names) else ""
        return f"{path}: line {line}, column {field + 1}{name}: {why}"


def _parse(
    path: PathLike,
    text: bytes,
    size: int,
    separator: str,
    quote_char: str | None,
    has_header: bool,
    select: Selection,
) -> tuple["pl.DataFrame", list[str]]:
    """Check that each record has the fields of the first, and parse by polars."""
    import polars as pl

    records = _Records(text, separator, quote_char)
    starts, flaws = records.starts, sorted(records.flaws())
    head = int(np.argmin(records.is_blank))
    if flaws and flaws[0][0] < records.stops[head]:
        raise DataFileError(records.describe(path, *flaws[0], ()))
    header = text[starts[head] : records.stops[head]]
    names = _cells_of(path, header, separator, records.quote_char)
    unnamed: list[str] = []
    if has_header:
        names, unnamed = name_columns(names)
        _check_names(path, names, separator)
    else:
        names = [f"column_{k + 1}" for k in range(len(names))]
    first = head + has_header
    flaws = sorted([*flaws, *records.ragged(first, len(names))])
    if flaws:
        raise DataFileError(records.describe(path, *flaws[0], names))
    filled = np.flatnonzero(~records.is_blank[first:]) + first
    if not filled.size:
        raise DataFileError(f"{path}: the file has a header but no rows.")
    is_row = ~records.is_blank[filled[0] : filled[-1] + 1]
    wanted = select(names)
    needed = MEMORY_OF_A_CELL * is_row.size * len(wanted) + MEMORY_OF_TEXT * len(text)
    require_memory(path, needed, size)
    place = {name: k for k, name in enumerate(names)}
    try:
        frame = pl.read_csv(
            text,
            has_header=False,
            schema=dict.fromkeys(names, pl.String()),
            columns=[place[name] for name in wanted],
            skip_lines=text.count(b"\n", 0, int(starts[filled[0]])),
            separator=separator,
            quote_char=records.quote_char,
            glob=False,
        )
    except (pl.exceptions.PolarsError, OSError) as failure:
        raise DataFileError(f"{path}: {failure}") from failure
    n_parsed = starts.size - int(filled[0])
    if frame.height != n_parsed:
        raise DataFileError(
            f"{path}: parsed {frame.height} rows instead of {n_parsed}; has the file "
            "changed meanwhile?"
        )
    frame = frame.select(wanted).head(is_row.size)
    if len(names) > 1 and not is_row.all():
        frame = frame.filter(pl.Series(is_row))
    return frame, unnamed


def _wrong_bytes(text: bytes) -> Iterator[tuple[int, str]]:
    """Yield the first byte that is NUL, and the first that is not UTF-8."""
    nul = text.find(b"\0")
    if nul >= 0:
        yield nul, "a NUL byte; is this text? If it is UTF-16, pass encoding='utf-16'."
    if text.isascii():
        return
    try:
        text.decode()
    except UnicodeDecodeError as failure:
        place = failure.start
        yield (
            place,
            f"byte 0x{text[place]:02x} is not valid UTF-8; save the file as UTF-8, or "
            "pass its encoding in Python, such as encoding='latin-1'.",
        )


def _cells_of(
    path: PathLike, record: bytes, separator: str, quote_char: str | None
) -> list[str]:
    try:
        rows = list(_csv_records(record.decode(), separator, quote_char))
    except csv.Error as failure:
        raise DataFileError(f"{path}: line 1: {failure}.") from failure
    if len(rows) != 1:
        raise DataFileError(
            f"{path}: line 1: a carriage return within the line; end lines with a "
            "newline (LF or CR LF)."
        )
    return [cell.strip(" \t\r") for cell in rows[0]]


def _check_names(path: PathLike, names: list[str], separator: str) -> None:
    for other in _SEPARATORS[1:] if len(names) == 1 and separator == "," else ():
        if other in names[0]:
            raise DataFileError(
                f"{path}: line 1: the header has one column, {names[0][:40]!r}; if "
                f"{other!r} separates the columns, use commas, or pass "
                f"separator={other!r} in Python."
            )
    seen: dict[str, int] = {}
    for column, name in enumerate(names, start=1):
        if name in seen:
            raise DataFileError(
                f"{path}: line 1, column {column} ({name!r}): column {seen[name]} has "
                "the same name; rename one."
            )
        seen[name] = column


def type_columns(
    frame: "pl.DataFrame",
    text_columns: Collection[str],
    missing: Collection[str],
    decimal: str,
    separator: str | None,
) -> tuple["pl.DataFrame", list[str]]:
    """Turn strings into numbers, all cells of a column or none; return remarks too.

    Where commas separate columns, points separate thousands only beside commas.
    """
    import polars as pl

    typed: list[pl.Series] = []
    with_commas: list[str] = []
    doubtful: list[str] = []
    shows_commas = False
    for name in frame.columns:
        cells = frame[name].str.strip_chars(" \t\r")
        cells = cells.set(cells.is_in(list(missing)), None)
        if name not in text_columns:
            marked = cells.filter(cells.str.contains("[.,]").fill_null(False))
            has_comma = marked.str.contains(",", literal=True).any()
            is_plain = decimal == "." or (separator == "," and not has_comma)
            text, cells = cells, _numbers(cells, "." if is_plain else ",")
            example = f"{marked[0]!r}" if marked.len() else ""
            shows_commas |= bool(has_comma and cells.dtype.is_numeric())
            if has_comma and cells.dtype == text.dtype and _fits_commas(text):
                with_commas.append(f"{name!r} ({example})")
            elif example and not (is_plain or has_comma) and cells.dtype == pl.Int64:
                doubtful.append(f"{name!r} ({example})")
        typed.append(cells)
    if decimal == "." and with_commas:
        return pl.DataFrame(typed), [
            "columns of numbers with decimal commas are read as text: "
            f"{_some(with_commas)} (as numbers: --decimal ,)"
        ]
    if doubtful and not shows_commas:
        return pl.DataFrame(typed), [
            f"points are read as separating thousands in {_some(doubtful)}, although "
            "no column has a comma (to change: --decimal .)"
        ]
    return pl.DataFrame(typed), []


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:5]) + ", ..." * (len(names) > 5)


def _fits_commas(cells: "pl.Series") -> bool:
    return bool(cells.str.contains(_COMMA_NUMBER).all())


def _numbers(cells: "pl.Series", decimal: str) -> "pl.Series":
    """Return the cells as numbers if all are, or unchanged."""
    import polars as pl

    n_missing = cells.null_count()
    if n_missing == cells.len():
        return cells.cast(pl.Float64)
    plain = cells
    if decimal == "," and _fits_commas(cells):
        without = cells.str.replace_all(".", "", literal=True)
        plain = without.str.replace(",", ".", literal=True)
    numbers = plain.cast(pl.Int64, strict=False)
    if numbers.null_count() > n_missing:
        # floats would make one number of different integers beyond 64 bits
        if plain.str.contains("^[+-]?[0-9]+$").all():
            return cells
        numbers = plain.cast(pl.Float64, strict=False)
    return numbers if numbers.null_count() == n_missing else cells


def check_encoding(encoding: str) -> str:
    """Return "auto" or the standard name of an encoding; reject unknown ones."""
    if encoding == "auto":
        return encoding
    try:
        info = codecs.lookup(encoding)
        "a".encode(info.name)  # rejects codecs of other things than text
    except (LookupError, TypeError):
        raise ValueError(
            f"encoding must be 'auto' or an encoding such as 'utf-8', 'latin-1' or "
            f"'utf-16', got {encoding!r}."
        ) from None
    return "utf-8" if info.name == "utf-8-sig" else info.name


def marked_encoding(path: PathLike, compression: str = "auto") -> str:
    """Return "utf-16" or "utf-32" by the first bytes of a file, else "utf-8"."""
    start = next(opening.read_chunks(path, compression), b"")
    found = (encoding for mark, encoding in _MARKS.items() if start.startswith(mark))
    return next(found, "utf-8")


def _is_single_byte(text: bytes) -> bool:
    """Return whether text is Western European rather than UTF-8, or damaged UTF-8."""
    if text.isascii() or _UNDEFINED.search(text) or b"\0" in text:
        return False
    n_in_utf8 = sum(map(len, _WIDE_CHARACTER.findall(text)))
    return 2 * n_in_utf8 < len(_BEYOND_ASCII.findall(text))


def read_text_chunks(
    path: PathLike, compression: str = "auto", encoding: str = "auto"
) -> Iterator[bytes]:
    """Yield text as UTF-8 without byte order mark; reject binary files."""
    if encoding == "auto":
        encoding = marked_encoding(path, compression)
    decoder = codecs.getincrementaldecoder(encoding)()
    n_lines = 0
    try:
        for k, chunk in enumerate(chain(opening.read_chunks(path, compression), [b""])):
            if k == 0:
                opening.reject_other_formats(path, chunk)
                chunk = chunk.removeprefix(codecs.BOM_UTF8)
            if encoding != "utf-8":
                text = decoder.decode(chunk, final=not chunk)
                n_lines += text.count("\n")
                chunk = text.encode()
            yield chunk
    except UnicodeError as error:
        raise DataFileError(
            f"{path}: near line {n_lines + 1}: not valid {encoding} ({error}); save "
            "the file as UTF-8, or pass encoding= in Python."
        ) from error
