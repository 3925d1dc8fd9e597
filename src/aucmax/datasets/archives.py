"""Zip archives: the one file of data in it, and none that unpacks to gigabytes."""

import re
from functools import reduce
from typing import IO, BinaryIO
from zipfile import BadZipFile, ZipFile, ZipInfo

from aucmax._core.memory import require_memory

__all__ = ["check_spreadsheet", "member_name", "open_member"]

# a folder of macOS beside the files, and what file managers leave behind
_LITTER = ("__MACOSX/", ".")

# where a cell of a sheet is, such as r="B12", or a row; at most 40 bytes are between
# its first and its last
_PLACE = re.compile(rb"""\br\s{0,9}=\s{0,9}["']([A-Z]{0,3})(\d{1,7})""")
_PLACE_BYTES = 40
# The reader of spreadsheets fills the rectangle from the first cell to the last.
_MEMORY_OF_A_CELL = 40


def _only_member(archive: ZipFile) -> ZipInfo:
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


def member_name(raw: BinaryIO) -> str:
    """Return the name of the only file in an archive; raise BadZipFile for others."""
    with ZipFile(raw) as archive:
        return _only_member(archive).filename


def open_member(raw: BinaryIO) -> IO[bytes]:
    """Return the content of the only file in an archive."""
    archive = ZipFile(raw)
    return archive.open(_only_member(archive))


def check_spreadsheet(source: object, raw: BinaryIO, file_size: int) -> None:
    """Raise an error if an archive is damaged, or its sheets take too much memory.

    What the directory says of sizes is true if the checksums are: no more than the size
    that is said is read of each file.
    """
    with ZipFile(raw) as archive:
        n_bytes = sum(info.file_size for info in archive.infolist())
        require_memory(source, n_bytes, file_size)
        for info in archive.infolist():
            with archive.open(info) as member:
                n_cells = _n_cells(member)
            require_memory(source, n_bytes + _MEMORY_OF_A_CELL * n_cells, file_size)


def _n_cells(member: IO[bytes]) -> int:
    """Count the cells between the first and the last of a sheet, empty ones too."""
    columns: set[bytes] = set()
    rows: set[bytes] = set()
    end = b""
    while chunk := member.read(1 << 20):
        places = _PLACE.findall(end + chunk)
        columns.update(column for column, _ in places)
        rows.update(row for _, row in places)
        end = chunk[-_PLACE_BYTES:]
    numbers = (reduce(lambda n, c: 26 * n + c - 64, name, 0) for name in columns)
    return max(numbers, default=0) * max(map(int, rows), default=0)
