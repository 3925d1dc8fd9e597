"""Open files, compressed or not, and read their bytes; explain failures."""

import bz2
import gzip
import importlib
import io
import lzma
import os
import re
import stat
import sys
import zlib
from collections.abc import Callable, Iterator
from glob import glob, has_magic
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple
from zipfile import BadZipFile, ZipFile, ZipInfo

from aucmax._core.parameters import check_choice
from aucmax.datasets.column_names import near_names
from aucmax.datasets.memory import require_memory
from aucmax.exceptions import DataFileError


class Piped(NamedTuple):
    """The bytes of a pipe, which can be read once."""

    name: str
    content: bytes

    def __str__(self) -> str:
        """Name it in messages."""
        return self.name


PathLike = str | Path | Piped

#: The file name that means standard input.
STANDARD_INPUT = "-"

_ENDINGS = {
    "csv": ".csv",
    "tsv": ".tsv .tab",
    "parquet": ".parquet .pq",
    "feather": ".feather .arrow .ipc",
    "jsonl": ".jsonl .ndjson",
    "excel": ".xlsx .xlsm .xlsb .xls .ods",
    "svmlight": ".svm .svmlight .libsvm .letor",
}
#: The format of a file by its extension, before that of a compression.
FORMATS = {end: kind for kind, ends in _ENDINGS.items() for end in ends.split()}
#: The compression of a file by its extension.
COMPRESSIONS = {".gz": "gzip", ".bz2": "bzip2", ".xz": "xz", ".zst": "zstd"}
COMPRESSIONS[".zip"] = "zip"

# zipfile raises these for encrypted files and unknown methods
ZIP_ERRORS = (BadZipFile, RuntimeError, NotImplementedError)
# files that macOS and file managers add
_LITTER = ("__MACOSX/", ".")

CHUNK = 1 << 20
ZSTD_PIECE = 1 << 14

# A text file takes 4 times its size in memory while it is read, and 40 bytes per cell.
MEMORY_OF_TEXT, MEMORY_OF_A_CELL = 4, 40

_LETOR_ROW = re.compile(rb"\s*[-+]?[0-9.]+\s+qid:[0-9]+\s+[0-9]+:")

_LOOKS_LIKE = {
    b"\x1f\x8b": ("gzip data", ".gz"),
    b"BZh": ("bzip2 data", ".bz2"),
    b"\xfd7zXZ\x00": ("xz data", ".xz"),
    b"\x28\xb5\x2f\xfd": ("zstd data", ".zst"),
    b"PAR1": ("a Parquet file", ".parquet"),
    b"PK\x03\x04": ("a zip archive, or a spreadsheet", ".zip or .xlsx"),
    b"\xd0\xcf\x11\xe0": ("a spreadsheet", ".xls"),
    b"ARROW1": ("a Feather file", ".feather"),
}


def file_format(path: PathLike) -> str:
    """Return the format of a file by its name, or of LETOR by its first line."""
    if isinstance(path, Piped) or str(path) == STANDARD_INPUT:
        return "csv"
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    if suffixes and suffixes[-1] in COMPRESSIONS:
        packed = COMPRESSIONS[suffixes.pop()]
        if packed == "zip" and (not suffixes or suffixes[-1] not in FORMATS):
            return file_format(_name_within(path))
    kind = FORMATS.get(suffixes[-1]) if suffixes else None
    if kind is None and not Path(path).is_dir():
        require_file(path)  # a missing file is a clearer error than an unknown format
    if kind in (None, "csv", "tsv") and _starts_with_a_query(Path(path)):
        return "svmlight"
    if kind is not None:
        return kind
    raise DataFileError(
        f"{path}: the name does not show the format. Names may end in "
        f"{', '.join(FORMATS)}, then {', '.join(COMPRESSIONS)} if compressed. For text "
        'of any other name pass format="csv" or another in Python, or rename the file; '
        "export other tables as CSV or Parquet."
    )


def _starts_with_a_query(path: Path) -> bool:
    """Return whether the first line of a file is a row of LETOR: 2 qid:1 1:0.5 ..."""
    if not path.is_file():
        return False
    kind = compression_of(path)
    errors: Any = (ValueError, EOFError, OSError, *_errors_of(path, kind))
    try:
        with open_raw(path) as raw:
            chunk = next(_DECOMPRESSORS[kind](raw), b"")
    except errors:
        return False  # reading the file raises the error
    return _LETOR_ROW.match(chunk) is not None


def _name_within(path: PathLike) -> str:
    """Return the name of the only file in a zip archive."""
    with open_raw(path) as raw:
        try:
            return f"{path}/{_only_member(ZipFile(raw)).filename}"
        except BadZipFile as error:
            raise _damaged(path, "zip", error) from error


def find_files(path: PathLike) -> list[PathLike]:
    """Return the file, or the sorted files of a folder or a pattern with ``*``."""
    if isinstance(path, Piped) or not isinstance(path, str | os.PathLike):
        return [path]  # reading another type raises the error
    whole = Path(path)
    if str(path) == STANDARD_INPUT:
        return [path]
    if whole.is_dir():
        return _files_in(whole)
    if whole.exists() or not has_magic(str(path)):
        return [path]  # opening it fails if there is no such file
    matches = sorted(Path(name) for name in glob(str(path), recursive=True))
    files: list[PathLike] = [one for one in matches if one.is_file()]
    if not files:
        folders = " (only folders do)" if matches else ""
        raise DataFileError(f"no file matches {str(path)!r}{folders}.")
    return files


def _files_in(folder: Path) -> list[PathLike]:
    files: list[PathLike] = [
        path
        for path in sorted(folder.iterdir())
        if path.is_file() and not path.name.startswith((".", "_"))
    ]
    if not files:
        pattern = str(folder / "**" / "*.parquet")
        raise DataFileError(
            f"{folder}: the folder has no files; for those of its folders give a "
            f"pattern such as {pattern!r}."
        )
    return files


def find_source(path: PathLike) -> PathLike:
    """Return the path of a file, or the content of a pipe, which is read only once."""
    if isinstance(path, Piped):
        return path
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"path must be the path of a file, got {path!r}.")
    if str(path) == STANDARD_INPUT:
        if sys.stdin is None or sys.stdin.closed:
            raise DataFileError("standard input is closed; name a file, or pipe rows.")
        return _read_pipe("standard input", sys.stdin.buffer)
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return path  # opening it raises the error
    if stat.S_ISFIFO(mode) or stat.S_ISCHR(mode) or stat.S_ISSOCK(mode):
        with open_raw(path) as raw:
            return _read_pipe(str(path), raw)
    return path


def _read_pipe(name: str, raw: BinaryIO) -> Piped:
    """Read everything, up to the memory limit: a device may never end."""
    content = bytearray()
    while chunk := raw.read(CHUNK):
        content += chunk
        require_memory(name, MEMORY_OF_TEXT * len(content), float("inf"))
    return Piped(name, bytes(content))


def compression_of(path: PathLike, compression: str = "auto") -> str | None:
    """Return the compression of a file, None for none."""
    check_choice("compression", compression, ("auto", "none", *COMPRESSIONS.values()))
    if compression == "auto" and not isinstance(path, Piped):
        return COMPRESSIONS.get(Path(path).suffix.lower())
    return None if compression in ("auto", "none") else compression


def read_content(path: PathLike, compression: str = "auto") -> bytes:
    """Return the content of a file, decompressed, up to the memory limit."""
    kind = compression_of(path, compression)
    chunks: list[bytes] = []
    n_bytes = 0
    try:
        with open_raw(path) as raw:
            size = size_on_disk(path)
            for chunk in _DECOMPRESSORS[kind](raw):
                chunks.append(chunk)
                n_bytes += len(chunk)
                if kind is not None:
                    require_memory(path, MEMORY_OF_TEXT * n_bytes, size)
    except EOFError as error:
        raise DataFileError(
            f"{path}: the {kind} data end too early; the file is truncated or empty, "
            "fetch or write it again."
        ) from error
    except _errors_of(path, kind) as error:
        raise _damaged(path, kind, error) from error
    except OSError as error:
        raise DataFileError(f"{path}: reading failed: {error}.") from error
    return b"".join(chunks)


def size_on_disk(path: PathLike) -> int:
    """Return the size of a file, still compressed, or of the content of a pipe."""
    return len(path.content) if isinstance(path, Piped) else os.stat(path).st_size


def _damaged(path: PathLike, kind: str | None, error: Exception) -> DataFileError:
    return DataFileError(
        f"{path}: not valid {kind} data ({error}); the file is damaged, or this is "
        "not its compression."
    )


def reject_other_formats(path: PathLike, start: bytes) -> None:
    """Raise DataFileError if text starts like a file of another format."""
    for magic, (kind, ending) in _LOOKS_LIKE.items():
        if start.startswith(magic):
            remedy = f"give it a name ending in {ending}"
            if isinstance(path, Piped):
                remedy = "unpack it, or name its format"
            raise DataFileError(f"{path}: this looks like {kind}; {remedy}.")


def require_file(path: PathLike) -> None:
    """Raise DataFileError unless there is a readable file."""
    open_raw(path).close()


def open_raw(path: PathLike) -> BinaryIO:
    """Open a file without decompression; raise DataFileError if that fails."""
    if isinstance(path, Piped):
        return io.BytesIO(path.content)
    try:
        return Path(path).open("rb")
    except FileNotFoundError as error:
        folder = Path(path).parent
        names = [entry.name for entry in folder.iterdir()] if folder.is_dir() else []
        hint = near_names(Path(path).name, names, or_list=False)
        raise DataFileError(f"{path}: no such file or folder.{hint}") from error
    except OSError as error:
        raise DataFileError(f"{path}: cannot be opened: {error.strerror}.") from error


def _only_member(archive: ZipFile) -> ZipInfo:
    """Return the only file in an archive; raise BadZipFile for none or several."""
    members = [
        info
        for info in archive.infolist()
        if not info.is_dir()
        and not info.filename.startswith(_LITTER)
        and not info.filename.rpartition("/")[2].startswith(".")
    ]
    if len(members) == 1:
        return members[0]
    names = ", ".join(repr(info.filename) for info in members[:5])
    raise BadZipFile(
        f"it holds {len(members)} files, {names}{', ...' if len(members) > 5 else ''}; "
        "one is needed"
        if members
        else "it holds no file"
    )


def _zstd_chunks(raw: BinaryIO) -> Iterator[bytes]:
    """Yield decompressed data; unlike zstandard's reader detect a truncated file."""
    zstandard = _zstandard(getattr(raw, "name", "the data"))
    frame = None
    for packed in _chunks(raw, ZSTD_PIECE):
        while packed:
            # a file may hold several frames, one after the other
            frame = frame or zstandard.ZstdDecompressor().decompressobj()
            yield frame.decompress(packed)
            packed, frame = (frame.unused_data, None) if frame.eof else (b"", frame)
    if frame is not None:
        raise EOFError


def _chunks(stream: Any, size: int = CHUNK) -> Iterator[bytes]:
    return iter(lambda: stream.read(size), b"")


def _zip_chunks(raw: BinaryIO) -> Iterator[bytes]:
    archive = ZipFile(raw)
    try:
        return _chunks(archive.open(_only_member(archive)))
    except ValueError as error:  # a damaged directory may point before the file
        raise BadZipFile(str(error)) from error


def import_reader(path: object, module: str, what: str, extra: str) -> Any:
    """Import an optional package; raise DataFileError that names the extra."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise DataFileError(
            f"{path}: reading {what} needs another package: pip install "
            f"'aucmax[{extra}]', or write the file in another format."
        ) from error


def _zstandard(path: object) -> Any:
    return import_reader(path, "zstandard", "zstd data", "zstd")


def _errors_of(path: PathLike, kind: str | None) -> tuple[type[Exception], ...]:
    if kind is None:
        return ()
    if kind == "zstd":
        return (_zstandard(path).ZstdError,)
    return (zlib.error, lzma.LZMAError, OSError, *ZIP_ERRORS)


# read_content closes the file
_DECOMPRESSORS: dict[str | None, Callable[[BinaryIO], Iterator[bytes]]] = {
    None: _chunks,
    "gzip": lambda raw: _chunks(gzip.open(raw)),  # noqa: SIM115
    "bzip2": lambda raw: _chunks(bz2.open(raw)),  # noqa: SIM115
    "xz": lambda raw: _chunks(lzma.open(raw)),  # noqa: SIM115
    "zstd": _zstd_chunks,
    "zip": _zip_chunks,
}
