"""Zip archives: the one file of data in it, and none that unpacks to gigabytes."""

from typing import IO, BinaryIO
from zipfile import BadZipFile, ZipFile, ZipInfo

__all__ = ["check_members", "member_name", "open_member"]

# a folder of macOS beside the files, and what file managers leave behind
_LITTER = ("__MACOSX/", ".")


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


def check_members(raw: BinaryIO, largest: int) -> None:
    """Raise BadZipFile if an archive is damaged, or unpacks to more than `largest`.

    What the directory says of sizes is true if the checksums are: no more than the size
    that is said is read of each file.
    """
    with ZipFile(raw) as archive:
        n_bytes = sum(info.file_size for info in archive.infolist())
        if n_bytes > largest:
            raise BadZipFile(f"it unpacks to {n_bytes >> 20} MiB")
        if (name := archive.testzip()) is not None:
            raise BadZipFile(f"the part {name!r} is damaged")
