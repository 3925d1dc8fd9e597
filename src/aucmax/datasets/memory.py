"""The memory that this process can use, and the limit for the rows of a file."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path

from aucmax.exceptions import DataFileError

# Limits of the memory for rows, whatever the size of their file, and in times its size.
# Compressed tables of zeros expand about a thousand times.
FREE_BYTES = 4 << 30
MAX_EXPANSION = 200

_chosen: ContextVar[float | None] = ContextVar("max_memory", default=None)

_GROUP = Path("/sys/fs/cgroup")  # of a container, as it sees itself
_STATUS = Path("/proc/meminfo")
_PROCESS = Path("/proc/self/statm")


@contextmanager
def max_memory(n_bytes: float) -> Iterator[None]:
    """Limit the memory for the rows of a file.

    By default a file is not read if its rows would take more memory than is free, or
    more than 4 GiB and 200 times the size of the file, as those of a file made to
    exhaust the memory do. The size is estimated before memory is allocated.

    Parameters
    ----------
    n_bytes : float
        The limit, for all readers within the ``with`` block.

    Yields
    ------
    None

    Examples
    --------
    >>> from aucmax.datasets import load_demo, max_memory
    >>> with max_memory(20e9):
    ...     rows = load_demo()  # or load_table("clicks.csv.zst")
    """
    if not n_bytes > 0:
        raise ValueError(f"n_bytes must be above 0, got {n_bytes!r}.")
    token = _chosen.set(n_bytes)
    try:
        yield
    finally:
        _chosen.reset(token)


def require_memory(source: object, needed: float, file_size: float) -> None:
    """Raise DataFileError if the rows of a file take more memory than allowed."""
    limit = free_memory()
    if _chosen.get() is None:
        limit = min(limit, max(FREE_BYTES, MAX_EXPANSION * file_size))
    if needed > limit:
        raise DataFileError(
            f"{source} takes {format_bytes(needed)} of memory or more, and "
            f"{format_bytes(limit)} are allowed for a file of this size; if you trust "
            "it, allow more in Python by aucmax.datasets.max_memory."
        )


def format_bytes(n_bytes: float) -> str:
    """Return a size in MB or GB as text."""
    value = n_bytes / 1e9
    return f"{value:.1f} GB" if value >= 0.1 else f"{n_bytes / 1e6:.0f} MB"


def free_memory() -> float:
    """Return the number of bytes that can still be used; infinity if unknown."""
    if (chosen := _chosen.get()) is not None:
        return chosen
    return max(0.0, min(_of_machine(), _of_container(), _of_process()))


def _of_machine() -> float:
    with suppress(OSError, ValueError, StopIteration, IndexError):
        lines = _STATUS.read_text().splitlines()
        line = next(line for line in lines if line.startswith("MemAvailable:"))
        return 1024.0 * int(line.split()[1])
    with suppress(AttributeError, OSError, ValueError):  # not on all systems
        return float(os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    return float("inf")


def _of_container() -> float:
    """Return the bytes left below the container's limit (``memory.max``)."""
    with suppress(OSError, ValueError):
        limit = int((_GROUP / "memory.max").read_text())  # "max" is not a number
        return float(limit - int((_GROUP / "memory.current").read_text()))
    return float("inf")


def _of_process() -> float:
    """Return the bytes left below the process limits (``ulimit -d``, ``-v``)."""
    try:
        import resource
    except ImportError:  # Windows
        return float("inf")
    free = float("inf")
    for kind, field in ((resource.RLIMIT_DATA, 5), (resource.RLIMIT_AS, 0)):
        limit, used = resource.getrlimit(kind)[0], 0.0
        with suppress(OSError, ValueError, IndexError):
            pages = int(_PROCESS.read_text().split()[field])
            used = float(pages * resource.getpagesize())
        if limit != resource.RLIM_INFINITY:
            free = min(free, limit - used)
    return free
