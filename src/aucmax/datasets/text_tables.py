"""CSV and TSV: find encoding and separator, check that it is a table, parse it."""

import codecs
import csv
import io
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import islice
from typing import TypeAlias

import numpy as np
import polars as pl

from aucmax._core.validation import BoolArray, IntArray
from aucmax.datasets import opening
from aucmax.datasets.column_names import name_columns
from aucmax.datasets.memory import require_memory
from aucmax.datasets.opening import MEMORY_OF_A_CELL, MEMORY_OF_TEXT, PathLike
from aucmax.exceptions import DataFileError

# from the names of all columns to those that are wanted
Selection: TypeAlias = Callable[[Sequence[str]], list[str]]

_SEPARATORS = (",", ";", "\t", "|")
_SAMPLE_SIZE, _N_RECORDS = 1 << 16, 50  # decide the separator
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

_INTEGER = "^[+-]?[0-9]+$"
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
) -> tuple[pl.DataFrame, list[str], str, list[str]]:
    """Return cells as strings, made-up names, the separator, and remarks."""
    size = opening.size_on_disk(path)
    text, used = read_text(path, compression, encoding)
    if not text.strip(_BLANKS):
        raise DataFileError(f"{path}: the file is empty.")
    mark = separator or _find_separator(text, quote_char)
    detected = {}
    if encoding == "auto" and used != "utf-8":
        detected["encoding"] = used
    if separator is None and mark != ",":
        detected["separator"] = mark
    frame, unnamed = _parse(path, text, size, mark, quote_char, has_header, select)
    remarks = []
    if detected:
        what = ", ".join(f"{name} {value!r}" for name, value in detected.items())
        options = ", ".join(f"{name}=" for name in detected)
        remarks.append(f"found {what} (to change: --read {options})")
    return frame, unnamed, mark, remarks


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


def _find_records(
    path: PathLike, text: bytes, separator: str, quote_char: str | None
) -> tuple[IntArray, IntArray, BoolArray, str | None]:
    """Return starts of records, numbers of fields, blank ones, and the quote if used.

    Raise DataFileError for wrong quotes.
    """
    content = np.frombuffer(text, dtype=np.uint8)
    ends = np.flatnonzero(content == ord("\n"))
    marks = np.flatnonzero(content == ord(separator))
    quotes = np.flatnonzero(content == ord(quote_char)) if quote_char else ends[:0]
    before = content[quotes - 1]
    opens = (quotes == 0) | (before == ord(separator)) | (before == ord("\n"))
    if not opens.any():  # no field begins with a quote
        quote_char = None
    if quote_char is not None:
        behind = np.append(content, ord("\n"))[quotes + 1]
        closes = np.isin(behind, list(f"{separator}\n\r{quote_char}".encode()))
        # a doubled quote closes a field and opens it again
        opens |= np.append(False, np.diff(quotes) == 1)
        is_wrong = np.where(np.arange(quotes.size) % 2 == 0, ~opens, ~closes)
        is_wrong[-1] |= quotes.size % 2 == 1  # never closed
        for place in quotes[is_wrong][:1].tolist():
            why = (
                f"this {quote_char} neither opens nor closes a field, or is never "
                "closed; double a quote within a quoted field, or read the file with "
                "quote_char=None."
            )
            raise _flaw_at(path, text, separator, place, why)
        # outside of quoted fields, the number of quotes before a byte is even
        ends = ends[np.searchsorted(quotes, ends) % 2 == 0]
        marks = marks[np.searchsorted(quotes, marks) % 2 == 0]
    starts = np.append(0, ends + 1)
    starts = starts[starts < content.size]
    n_fields = np.diff(np.searchsorted(marks, np.append(starts, content.size))) + 1
    is_blank = n_fields == 1
    if is_blank.any():
        is_filled = ~np.isin(content, np.frombuffer(_BLANKS, dtype=np.uint8))
        is_blank &= ~np.logical_or.reduceat(is_filled, starts)
    return starts, n_fields, is_blank, quote_char


def _flaw_at(
    path: PathLike, text: bytes, separator: str, position: int, why: str
) -> DataFileError:
    start = text.rfind(b"\n", 0, position) + 1
    line = text.count(b"\n", 0, position) + 1
    column = text.count(separator.encode(), start, position) + 1
    return DataFileError(f"{path}: line {line}, column {column}: {why}")


def _parse(
    path: PathLike,
    text: bytes,
    size: int,
    separator: str,
    quote_char: str | None,
    has_header: bool,
    select: Selection,
) -> tuple[pl.DataFrame, list[str]]:
    """Check that each record has the fields of the first, and parse by polars."""
    _check_bytes(path, text, separator)
    starts, n_fields, is_blank, quote_char = _find_records(
        path, text, separator, quote_char
    )
    head = int(np.argmin(is_blank))
    header = text[starts[head] :][: np.append(np.diff(starts), len(text))[head]]
    names = _cells_of(path, header, separator, quote_char)
    unnamed: list[str] = []
    if has_header:
        names, unnamed = name_columns(names)
        _check_names(path, names, separator)
    else:
        names = [f"column_{k + 1}" for k in range(len(names))]
    filled = np.flatnonzero(~is_blank)[int(has_header) :]
    if not filled.size:
        raise DataFileError(f"{path}: the file has a header but no rows.")
    for k in filled[n_fields[filled] != len(names)][:1]:
        line, n = text.count(b"\n", 0, int(starts[k])) + 1, len(names)
        where = f"{path}: line {line}, column {min(int(n_fields[k]), n) + 1}"
        if n_fields[k] > n:
            raise DataFileError(
                f"{where}: more fields than the {n} columns of the table."
            )
        raise DataFileError(
            f"{where} ({names[n_fields[k]]!r}): missing: this row has {n_fields[k]} of "
            f"{n} fields."
        )
    is_row = ~is_blank[filled[0] : filled[-1] + 1]
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
            quote_char=quote_char,
            glob=False,
        )
    except (pl.exceptions.PolarsError, OSError) as error:
        raise DataFileError(f"{path}: {error}") from error
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


def _check_bytes(path: PathLike, text: bytes, separator: str) -> None:
    """Raise DataFileError for a byte that is NUL or not UTF-8."""
    nul = text.find(b"\0")
    if nul >= 0:
        why = "a NUL byte; is this text? If it is UTF-16, pass encoding='utf-16'."
        raise _flaw_at(path, text, separator, nul, why)
    try:
        text.isascii() or text.decode()
    except UnicodeDecodeError as error:
        why = (
            f"byte 0x{text[error.start]:02x} is not valid UTF-8; save the file as "
            "UTF-8, or pass its encoding in Python, such as encoding='latin-1'."
        )
        raise _flaw_at(path, text, separator, error.start, why) from error


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
    frame: pl.DataFrame,
    text_columns: Collection[str],
    missing: Collection[str],
    decimal: str,
    separator: str | None,
) -> tuple[pl.DataFrame, list[str]]:
    """Turn strings into numbers, all cells of a column or none; return remarks too.

    Where commas separate columns, points separate thousands only beside commas.
    """
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
            f"{_some(with_commas)} (as numbers: --read decimal=,)"
        ]
    if doubtful and not shows_commas:
        return pl.DataFrame(typed), [
            f"points are read as separating thousands in {_some(doubtful)}, although "
            "no column has a comma (to change: --read decimal=.)"
        ]
    return pl.DataFrame(typed), []


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:5]) + ", ..." * (len(names) > 5)


def _fits_commas(cells: pl.Series) -> bool:
    return bool(cells.str.contains(_COMMA_NUMBER).all())


def _numbers(cells: pl.Series, decimal: str) -> pl.Series:
    """Return the cells as numbers if all are, or unchanged."""
    n_missing = cells.null_count()
    if n_missing == cells.len():
        return cells.cast(pl.Float64)
    plain = cells
    if decimal == "," and _fits_commas(cells):
        without = cells.str.replace_all(".", "", literal=True)
        plain = without.str.replace(",", ".", literal=True)
    # the first cells spare columns of fractions or words the checks of integers
    if plain.head(_N_RECORDS).str.contains(_INTEGER).all():
        integers = plain.cast(pl.Int64, strict=False)
        if integers.null_count() == n_missing:
            return integers
        # floats would make one number of different integers beyond 64 bits
        if plain.str.contains(_INTEGER).all():
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


def _is_single_byte(text: bytes) -> bool:
    """Return whether text is Western European rather than UTF-8, or damaged UTF-8."""
    if text.isascii() or _UNDEFINED.search(text) or b"\0" in text:
        return False
    n_in_utf8 = sum(map(len, _WIDE_CHARACTER.findall(text)))
    return 2 * n_in_utf8 < len(_BEYOND_ASCII.findall(text))


def read_text(
    path: PathLike, compression: str = "auto", encoding: str = "auto"
) -> tuple[bytes, str]:
    """Return text as UTF-8 without byte order mark, and the encoding of the file."""
    # not mapped: another process that truncates the file would kill this one
    size = opening.size_on_disk(path)
    require_memory(path, 2 * size, size)
    text = opening.read_content(path, compression)
    opening.reject_other_formats(path, text[:8])
    if encoding == "auto":
        marked = (name for mark, name in _MARKS.items() if text.startswith(mark))
        encoding = next(marked, _SINGLE_BYTE if _is_single_byte(text) else "utf-8")
    if encoding != "utf-8":
        try:
            text = text.decode(encoding).encode()
        except UnicodeError as error:
            line = text.count(b"\n", 0, getattr(error, "start", 0)) + 1
            raise DataFileError(
                f"{path}: near line {line}: not valid {encoding} ({error}); save the "
                "file as UTF-8, or pass encoding= in Python."
            ) from error
    return text.removeprefix(codecs.BOM_UTF8), encoding
