"""Open a file, compressed or not, and hand out its bytes; say clearly why not."""

import bz2
import gzip
import importlib
import lzma
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from aucmax.datasets.names import near_names
from aucmax.exceptions import DataFileError

PathLike = str | Path

#: The endings that say what a file holds, before that of a compression.
FORMATS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".svm": "svmlight",
    ".svmlight": "svmlight",
    ".libsvm": "svmlight",
    ".letor": "letor",
}

#: The endings that say how a file is compressed.
COMPRESSIONS = {".gz": "gzip", ".bz2": "bzip2", ".xz": "xz", ".zst": "zstd"}

CHUNK = 1 << 20
ZSTD_PIECE = 1 << 14

_LOOKS_LIKE = {
    b"\x1f\x8b": "gzip data; give it a name ending in .gz",
    b"BZh": "bzip2 data; give it a name ending in .bz2",
    b"\xfd7zXZ\x00": "xz data; give it a name ending in .xz",
    b"\x28\xb5\x2f\xfd": "zstd data; give it a name ending in .zst",
    b"PAR1": "a Parquet file; give it a name ending in .parquet",
    b"PK\x03\x04": "a zip archive or spreadsheet; unpack it or export it as CSV",
    b"\xff\xfe": "UTF-16 text; save it as UTF-8",
    b"\xfe\xff": "UTF-16 text; save it as UTF-8",
}


class Stream(Protocol):
    """What a reader needs of an open file."""

    def read(self, size: int, /) -> bytes:
        """Return up to size bytes, none at the end."""
        ...


def file_format(path: PathLike) -> str:
    """Return what a file holds, judged by its name.

    Parameters
    ----------
    path : str or Path
        A file name, with or without the ending of a compression.

    Returns
    -------
    str
        One of the values of `FORMATS`: "csv", "tsv", "parquet", "svmlight" or "letor".

    Raises
    ------
    DataFileError
        If the ending is not among the keys of `FORMATS`.

    Examples
    --------
    >>> from aucmax.datasets import file_format
    >>> file_format("visits.tsv.gz")
    'tsv'
    """
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    if suffixes and suffixes[-1] in COMPRESSIONS:
        suffixes.pop()
    if suffixes and suffixes[-1] in FORMATS:
        return FORMATS[suffixes[-1]]
    raise DataFileError(
        f"{path}: cannot tell the format from this name; rename the file to end in one "
        f"of {', '.join(FORMATS)} (then {', '.join(COMPRESSIONS)} if compressed) or "
        "name the format."
    )


def compression_of(path: PathLike, compression: str = "auto") -> str | None:
    """Return how a file is compressed, None for not at all."""
    if compression == "auto":
        return COMPRESSIONS.get(Path(path).suffix.lower())
    if compression == "none":
        return None
    if compression in COMPRESSIONS.values():
        return compression
    known = ", ".join(repr(name) for name in ("auto", "none", *COMPRESSIONS.values()))
    raise ValueError(f"compression must be one of {known}, got {compression!r}.")


def read_chunks(path: PathLike, compression: str = "auto") -> Iterator[bytes]:
    """Yield the content of a file, decompressed, about a mebibyte at a time.

    Whatever goes wrong with the file is raised as DataFileError.
    """
    kind = compression_of(path, compression)
    try:
        with _open_raw(path) as raw:
            stream = _DECOMPRESSORS[kind](raw)
            while chunk := stream.read(CHUNK):
                yield chunk
    except EOFError as error:
        raise DataFileError(
            f"{path}: the {kind} data end too early; the file is cut short or empty, "
            "fetch or write it again."
        ) from error
    except _decompression_errors(path, kind) as error:
        raise DataFileError(
            f"{path}: not valid {kind} data ({error}); the file is damaged or its name "
            "promises the wrong compression."
        ) from error
    except OSError as error:
        raise DataFileError(f"{path}: reading failed: {error}.") from error


def read_text_chunks(path: PathLike, compression: str = "auto") -> Iterator[bytes]:
    """Yield chunks of a text file without its byte order mark; refuse binary files."""
    first = True
    for chunk in read_chunks(path, compression):
        if first:
            for magic, meaning in _LOOKS_LIKE.items():
                if chunk.startswith(magic):
                    raise DataFileError(f"{path}: this looks like {meaning}.")
            chunk = chunk.removeprefix(b"\xef\xbb\xbf")
            first = False
        yield chunk


def require_file(path: PathLike) -> None:
    """Raise DataFileError unless there is a file that may be read."""
    _open_raw(path).close()


def _open_raw(path: PathLike) -> BinaryIO:
    try:
        return Path(path).open("rb")
    except FileNotFoundError as error:
        folder = Path(path).parent
        names = [entry.name for entry in folder.iterdir()] if folder.is_dir() else []
        hint = near_names(Path(path).name, names, or_list=False)
        raise DataFileError(f"{path}: no such file.{hint}") from error
    except IsADirectoryError as error:
        raise DataFileError(f"{path}: a folder; name one file in it.") from error
    except PermissionError as error:
        raise DataFileError(f"{path}: permission to read it is denied.") from error
    except OSError as error:
        raise DataFileError(f"{path}: it cannot be opened: {error}.") from error


class _ZstdStream:
    """Decompressed zstd data; unlike zstandard's reader it notices a missing end."""

    def __init__(self, raw: BinaryIO) -> None:
        self._new_frame = _zstandard(raw.name).ZstdDecompressor().decompressobj
        self._frame: Any = None
        self._raw = raw

    def read(self, size: int, /) -> bytes:
        pieces: list[bytes] = []
        found = 0
        while found < size and (packed := self._raw.read(ZSTD_PIECE)):
            while packed:
                # a file may hold several frames, one after the other
                self._frame = self._frame or self._new_frame()
                pieces.append(self._frame.decompress(packed))
                found += len(pieces[-1])
                packed = self._frame.unused_data if self._frame.eof else b""
                if self._frame.eof:
                    self._frame = None
        if not found and self._frame is not None:
            raise EOFError
        return b"".join(pieces)


def _zstandard(path: PathLike) -> Any:
    try:
        return importlib.import_module("zstandard")
    except ImportError as error:
        raise DataFileError(
            f"{path}: reading zstd data needs a package: pip install 'aucmax[zstd]'."
        ) from error


def _decompression_errors(
    path: PathLike, kind: str | None
) -> tuple[type[Exception], ...]:
    if kind is None:
        return ()
    if kind == "zstd":
        return (_zstandard(path).ZstdError,)
    return (zlib.error, lzma.LZMAError, OSError)


_DECOMPRESSORS: dict[str | None, Callable[[BinaryIO], Stream]] = {
    None: lambda raw: raw,
    "gzip": lambda raw: gzip.GzipFile(fileobj=raw),
    "bzip2": bz2.BZ2File,
    "xz": lzma.LZMAFile,
    "zstd": _ZstdStream,
}
