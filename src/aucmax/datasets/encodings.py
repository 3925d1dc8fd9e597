"""Text in any encoding, handed out as UTF-8."""

import codecs
import re
from collections.abc import Iterable, Iterator

from aucmax.datasets.opening import PathLike, read_chunks, refuse_other_kinds
from aucmax.exceptions import DataFileError

__all__ = [
    "SINGLE_BYTE",
    "check_encoding",
    "is_single_byte",
    "marked_encoding",
    "read_text_chunks",
]

#: What text is taken for that is not UTF-8: latin-1 with a few letters of Windows.
SINGLE_BYTE = "cp1252"

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


def check_encoding(encoding: str) -> str:
    """Return "auto" or the usual name of an encoding; refuse what is none."""
    if encoding == "auto":
        return encoding
    try:
        info = codecs.lookup(encoding)
        "a".encode(info.name)  # refuses codecs of other things than text
    except (LookupError, TypeError):
        raise ValueError(
            f"encoding must be 'auto' or the name of one, such as 'utf-8', 'latin-1' "
            f"or 'utf-16', got {encoding!r}."
        ) from None
    return "utf-8" if info.name == "utf-8-sig" else info.name


def marked_encoding(path: PathLike, compression: str = "auto") -> str:
    """Return "utf-16" or "utf-32" if the start of a file says so, else "utf-8"."""
    start = next(read_chunks(path, compression), b"")[:4000]
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
    """Tell whether text is Western European rather than damaged UTF-8."""
    n_bytes = n_in_utf8 = 0
    for chunk in read_chunks(path, compression):
        if _UNDEFINED.search(chunk):
            return False
        n_bytes += len(_BEYOND_ASCII.findall(chunk))
        n_in_utf8 += sum(map(len, _WIDE_CHARACTER.findall(chunk)))
    return 2 * n_in_utf8 < n_bytes


def read_text_chunks(
    path: PathLike, compression: str = "auto", encoding: str = "auto"
) -> Iterator[bytes]:
    """Yield a text file as UTF-8 without byte order mark; refuse binary files."""
    if encoding == "auto":
        encoding = marked_encoding(path, compression)
    chunks = _checked_start(path, read_chunks(path, compression))
    return chunks if encoding == "utf-8" else _as_utf8(path, chunks, encoding)


def _checked_start(path: PathLike, chunks: Iterable[bytes]) -> Iterator[bytes]:
    first = True
    for chunk in chunks:
        if first:
            refuse_other_kinds(path, chunk)
            chunk = chunk.removeprefix(codecs.BOM_UTF8)
            first = False
        yield chunk


def _as_utf8(path: PathLike, chunks: Iterable[bytes], encoding: str) -> Iterator[bytes]:
    decoder = codecs.getincrementaldecoder(encoding)()
    n_lines = 0
    try:
        for chunk in chunks:
            text = decoder.decode(chunk)
            n_lines += text.count("\n")
            yield text.encode()
        yield decoder.decode(b"", True).encode()
    except UnicodeError as error:
        raise DataFileError(
            f"{path}: near line {n_lines + 1}: not valid {encoding} ({error}); name "
            "the encoding of the file: encoding=, or --encoding on the command line."
        ) from error
