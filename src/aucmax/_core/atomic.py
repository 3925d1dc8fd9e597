"""Write a file whole or not at all."""

import errno
import os
import re
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_SUFFIX = ".aucmax-partial"
#: error numbers of a full disk
DISK_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


@contextmanager
def atomic_output(
    path: str | os.PathLike[str], *, overwrite: bool = False
) -> Iterator[BinaryIO]:
    """Open a file that appears under its name only when it is complete.

    The bytes go to a hidden file in the same folder, are flushed to the disk, and the
    finished file is then renamed in one step. If the block raises (Ctrl-C included) the
    hidden file is removed and an older file of that name is untouched. The next writer
    removes hidden files of killed processes for this name, but not those that another
    process is still writing.

    Parameters
    ----------
    path : str or path-like
        Where to write the file. A symbolic link is followed.
    overwrite : bool, default=False
        Whether to replace an existing file.

    Yields
    ------
    file
        The file, open for bytes.

    Examples
    --------
    >>> import os, tempfile
    >>> from aucmax._core.atomic import atomic_output
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with atomic_output(os.path.join(folder, "a.txt")) as file:
    ...         _ = file.write(b"whole")
    ...     os.listdir(folder)
    ['a.txt']
    """
    target = Path(os.path.realpath(path))
    permissions = _check_target(target, overwrite)
    _remove_dead_partials(target)
    partial, descriptor = _create_partial(target)
    try:
        with open(descriptor, "wb") as file:
            if permissions is not None and hasattr(os, "fchmod"):
                os.fchmod(descriptor, permissions)
            yield file
            file.flush()
            os.fsync(descriptor)
            # On Windows a file must be closed before it can be renamed. Elsewhere it
            # stays open, and so locked, until it has its name.
            if os.name == "nt":
                file.close()
            _publish(partial, target, overwrite)
    except BaseException as error:
        with suppress(OSError):
            partial.unlink()
        if isinstance(error, OSError) and error.errno in DISK_FULL:
            raise _explained(error, target) from None
        raise
    _sync_folder(target.parent)


def _check_target(target: Path, overwrite: bool) -> int | None:
    """Reject a target that cannot be written; return the old file's permissions."""
    try:
        status = target.stat()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _explained(error, target) from None
    if stat.S_ISDIR(status.st_mode):
        raise _explained(OSError(errno.EISDIR, ""), target)
    if not stat.S_ISREG(status.st_mode):
        raise _explained(OSError(errno.EINVAL, ""), target)
    if not overwrite:
        raise _explained(OSError(errno.EEXIST, ""), target)
    if not os.access(target, os.W_OK):
        raise PermissionError(
            errno.EACCES,
            "the old file is write-protected; choose another name, or change its "
            "permissions",
            str(target),
        )
    return status.st_mode & 0o777  # never setuid, setgid or sticky


def _explained(error: OSError, target: Path) -> OSError:
    """Return the error with advice, if its number has any."""
    folder = str(target.parent)
    no_permission = f"no permission to write in {folder!r}; choose another folder"
    full = "the disk is full; nothing was written. Free some space, or choose another "
    hints = {
        **dict.fromkeys(DISK_FULL, full + "folder"),
        errno.ENOENT: f"the folder {folder!r} does not exist; create it first",
        errno.ENOTDIR: f"{folder!r} is not a folder; choose another path",
        errno.EACCES: no_permission,
        errno.EPERM: no_permission,
        errno.EROFS: f"{folder!r} is on a read-only disk; choose another folder",
        errno.ENAMETOOLONG: "the name is too long; choose a shorter one",
        errno.EISDIR: "this is a folder; give the name of a file",
        errno.EINVAL: "not a regular file, so it cannot be replaced",
        errno.EEXIST: "a file of this name exists already; choose another name, or "
        "allow overwriting it (overwrite=True)",
    }
    if error.errno not in hints:
        return error
    # OSError picks the fitting subclass from the number
    return OSError(error.errno, hints[error.errno], str(target))


def _create_partial(target: Path) -> tuple[Path, int]:
    """Create and lock a hidden file beside `target` under a unique name."""
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    while True:
        partial = target.with_name(_prefix(target) + secrets.token_hex(8) + _SUFFIX)
        try:
            # 0o666 less the umask: what `open` would give
            descriptor = os.open(partial, flags, 0o666)
        except OSError as error:
            raise _explained(error, target) from None
        if _lock(descriptor) is not False and partial.exists():
            return partial, descriptor
        # another writer removed the file before it was locked
        os.close(descriptor)


def _prefix(target: Path) -> str:
    # a long name is cut so that the longer hidden name still fits
    return f".{target.name.encode()[:180].decode(errors='ignore')}."


def _lock(descriptor: int) -> bool | None:
    """Lock a file: True if done, False if another holds it, None if impossible."""
    if fcntl is None:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # some network file systems have no locks
        return None
    return True


def _remove_dead_partials(target: Path) -> None:
    pattern = re.escape(_prefix(target)) + "[0-9a-f]{16}" + re.escape(_SUFFIX)
    try:
        names = os.listdir(target.parent)
    except OSError:  # a folder may be writable and yet not listable
        return
    for name in names:
        if re.fullmatch(pattern, name):
            _remove_if_dead(target.with_name(name))


def _remove_if_dead(partial: Path) -> None:
    """Remove a hidden file unless its writer is alive and so holds a lock."""
    with suppress(OSError):
        if fcntl is None:  # Windows cannot remove an open file
            partial.unlink()
            return
        descriptor = os.open(partial, os.O_RDWR | os.O_NOFOLLOW)
        try:
            if _lock(descriptor):
                partial.unlink()
        finally:
            os.close(descriptor)


def _publish(partial: Path, target: Path, overwrite: bool) -> None:
    if overwrite:
        os.replace(partial, target)
        return
    # Both fail if the name exists by now; rename does so on Windows only.
    take_name = os.rename if os.name == "nt" else os.link
    try:
        take_name(partial, target)
    except FileExistsError as error:
        raise _explained(error, target) from None
    except OSError:  # a file system without hard links
        if target.exists():
            raise _explained(OSError(errno.EEXIST, ""), target) from None
        os.replace(partial, target)
    with suppress(OSError):
        partial.unlink()


def _sync_folder(folder: Path) -> None:
    """Make the new name survive a power cut, if the system supports that."""
    if os.name == "nt":
        return
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
