"""How much memory there is, for this process."""

import os
from contextlib import suppress
from pathlib import Path

__all__ = ["free_memory"]

_GROUP = Path("/sys/fs/cgroup")  # of a container, as it sees itself
_STATUS = Path("/proc/meminfo")
_PROCESS = Path("/proc/self/statm")


def free_memory() -> float:
    """Return how many bytes may still be used; infinity if that is not known.

    The least of what the machine has left, what the limits of the container leave
    (``memory.max``), and what those of the process do (``ulimit -d``, ``ulimit -v``).
    """
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
    with suppress(OSError, ValueError):
        limit = int((_GROUP / "memory.max").read_text())  # "max" is no number
        return float(limit - int((_GROUP / "memory.current").read_text()))
    return float("inf")


def _of_process() -> float:
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
