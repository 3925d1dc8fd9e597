"""CSV and TSV: find encoding and separator, check the table, parse it."""

import codecs
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, TypeAlias

from aucmax.datasets import opening, text_layout
from aucmax.datasets.memory import require_memory
from aucmax.datasets.opening import MEMORY_OF_A_CELL, MEMORY_OF_TEXT, PathLike
from aucmax.datasets.text_layout import Layout, NotUTF8Error
from aucmax.exceptions import DataFileError

if TYPE_CHECKING:
    import polars as pl

# from the names of all columns to those that are wanted
Selection: TypeAlias = Callable[[Sequence[str]], list[str]]

#: The encoding of text that is not UTF-8: latin-1 with a few more letters.
SINGLE_BYTE = "cp1252"
_START_SIZE = 4000

_MARKS = {
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}

# the bytes of one character beyond ASCII, in UTF-8
_WIDE_CHARACTER = re.compile(
    rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}"
)
_BEYOND_ASCII = re.compile(rb"[\x80-\xff]")
_UNDEFINED = re.compile(rb"[\x81\x8d\x8f\x90\x9d]")


def read_text_table(
    path: PathLike,
    compression: str,
    encoding: str,
    separator: str | None,
    quote_char: str | None,
    has_header: bool,
    select: Selection,
) -> tuple["pl.DataFrame", list[str], str, dict[str, str]]:
    """Return the cells as strings, the made-up names, the separator, what was found."""
    found: dict[str, str] = {}
    is_auto = encoding == "auto"
    if is_auto and (encoding := marked_encoding(path, compression)) != "utf-8":
        found["encoding"] = encoding
    # not mapped: another process that truncates the file would kill this one. The
    # chunks are in memory beside the whole for a moment.
    size = opening.size_on_disk(path)
    require_memory(path, 2 * size, size)
    text = b"".join(read_text_chunks(path, compression, encoding))
    mark = separator or text_layout.find_separator(text, quote_char)
    if separator is None and mark != ",":
        found["separator"] = mark
    try:
        layout = text_layout.find_layout(path, text, mark, quote_char, has_header)
    except NotUTF8Error:
        if not is_auto or not is_single_byte(path, compression):
            raise
        frame, unnamed, mark, found = read_text_table(
            path, compression, SINGLE_BYTE, separator, quote_char, has_header, select
        )
        return frame, unnamed, mark, found | {"encoding": SINGLE_BYTE}
    wanted = select(layout.names)
    of_cells = MEMORY_OF_A_CELL * layout.n_records * len(wanted)
    require_memory(path, of_cells + MEMORY_OF_TEXT * len(text), size)
    frame = _parse(path, text, layout, mark, wanted)
    return frame, layout.unnamed, mark, found


def _parse(
    path: PathLike, text: bytes, layout: Layout, separator: str, wanted: list[str]
) -> "pl.DataFrame":
    import polars as pl

    place = {name: i for i, name in enumerate(layout.names)}
    try:
        frame = pl.read_csv(
            text,
            has_header=False,
            schema=dict.fromkeys(layout.names, pl.String()),
            columns=[place[name] for name in wanted],
            skip_lines=layout.skip_lines,
            separator=separator,
            quote_char=layout.quote_char,
            glob=False,
        )
    except (pl.exceptions.PolarsError, OSError) as error:
        raise DataFileError(f"{path}: {error}") from error
    expected = layout.n_records + layout.n_trailing
    if frame.height != expected:
        raise DataFileError(
            f"{path}: parsed {frame.height} rows instead of {expected}; has the file "
            "changed meanwhile?"
        )
    frame = frame.select(wanted).head(layout.n_records)
    if len(layout.names) > 1 and layout.blanks.size:
        keep = pl.Series([True]).new_from_index(0, frame.height)
        frame = frame.filter(keep.scatter(layout.blanks, False))
    return frame


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
    start = next(opening.read_chunks(path, compression), b"")[:_START_SIZE]
    for mark, encoding in _MARKS.items():
        if start.startswith(mark):
            return encoding
    # no mark, but every second byte of Western text is 0
    for first, encoding in enumerate(("utf-16-be", "utf-16-le")):
        zeros = start[first::2].count(0)
        if 4 * zeros > len(start) and not start[1 - first :: 2].count(0):
            return encoding
    return "utf-8"


def is_single_byte(path: PathLike, compression: str) -> bool:
    """Return whether text is Western European rather than damaged UTF-8."""
    n_bytes = n_in_utf8 = 0
    for chunk in opening.read_chunks(path, compression):
        if _UNDEFINED.search(chunk):
            return False
        n_bytes += len(_BEYOND_ASCII.findall(chunk))
        n_in_utf8 += sum(map(len, _WIDE_CHARACTER.findall(chunk)))
    return 2 * n_in_utf8 < n_bytes


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
            f"{path}: near line {n_lines + 1}: not valid {encoding} ({error}); pass "
            "the encoding of the file: encoding=, or --encoding on the command line."
        ) from error
