"""What a forked process must not do: wait for threads that it does not have.

A fork copies the memory of a process, but of its threads only the one that forks. The
pools of polars and of LightGBM's OpenMP are then there without their threads, and the
next task that is given to them never ends.
"""

import os
import sys
from pathlib import Path

from aucmax.exceptions import ForkedProcessError

__all__ = ["has_lost_threads", "note_threads", "require_polars_threads"]


class _Threads:
    """Which pools this process has started, and which it has lost by a fork."""

    def __init__(self) -> None:
        self.many_started = False  # by us, in LightGBM
        self.polars_started = False
        self.many_lost = False
        self.polars_lost = False

    def before_fork(self) -> None:
        """Look whether polars has threads, in whoever's service."""
        self.polars_started = "polars" in sys.modules and _has_polars_threads()

    def after_fork(self) -> None:
        """Take note, in the child, of what is lost."""
        self.many_lost |= self.many_started
        self.polars_lost |= self.polars_started
        self.many_started = self.polars_started = False


_THREADS = _Threads()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_THREADS.before_fork, after_in_child=_THREADS.after_fork)


def note_threads(n_threads: int) -> None:
    """Remember that OpenMP has been asked for several threads."""
    _THREADS.many_started |= n_threads > 1


def has_lost_threads() -> bool:
    """Tell whether OpenMP's threads were left behind by a fork."""
    return _THREADS.many_lost


def require_polars_threads() -> None:
    """Refuse to use polars where it would wait for ever."""
    if _THREADS.polars_lost:
        raise ForkedProcessError(
            "this process was forked from one that had used polars, whose threads do "
            "not survive a fork: reading or scoring a table would never end. Start "
            "processes by 'spawn' or 'forkserver', for example with multiprocessing."
            "get_context('spawn'), or fork before the first table is read or model "
            "loaded (gunicorn: without --preload)."
        )


def _has_polars_threads() -> bool:
    """Tell whether a thread bears the name of polars; yes, where that is not told."""
    try:
        names = [path.read_text() for path in Path("/proc/self/task").glob("*/comm")]
    except OSError:
        names = []
    return not names or any(name.startswith("polars") for name in names)
