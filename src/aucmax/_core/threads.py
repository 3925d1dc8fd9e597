"""Other libraries: their import, and their threads.

A fork copies only the thread that forks: the next task of the pools of polars and of
LightGBM's OpenMP would never end. NumPy and SciPy have a BLAS each, whose waiting
threads occupy the cores: small systems are solved up to three times as fast with one.
"""

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from threadpoolctl import ThreadpoolController

from aucmax.exceptions import ForkedProcessError

_started: set[str] = set()  # pools of this process, "openmp" and "polars"
_lost: set[str] = set()  # those that a fork has left without threads


def _before_fork() -> None:
    if "polars" in sys.modules and _has_polars_threads():
        _started.add("polars")


def _after_fork() -> None:
    _lost.update(_started)
    _started.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_child=_after_fork)


def import_package(name: str, user: str) -> Any:
    """Import a module of another package; the error says how to install it."""
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        package = name.partition(".")[0]
        if error.name not in (name, package):
            raise  # the package is there, and lacks another one
        raise ImportError(
            f"{user} needs {package}, which is not installed: pip install {package}."
        ) from error


def note_threads(n_threads: int) -> None:
    """Record that OpenMP runs several threads."""
    if n_threads > 1:
        _started.add("openmp")


def has_lost_threads() -> bool:
    """Return whether a fork has left OpenMP without threads."""
    return "openmp" in _lost


def require_polars_threads() -> None:
    """Raise if polars is not installed, or would wait forever."""
    import_package("polars", "a table")
    if "polars" in _lost:
        raise ForkedProcessError(
            "this process was forked from one that had used polars, whose threads do "
            "not survive a fork: reading or scoring a table would never end. Start "
            "processes by 'spawn' or 'forkserver', for example with multiprocessing."
            "get_context('spawn'), or fork before the first table is read or model "
            "loaded (gunicorn: without --preload)."
        )


def _has_polars_threads() -> bool:
    """Return whether polars has threads, or True if that is unknown."""
    try:
        names = [path.read_text() for path in Path("/proc/self/task").glob("*/comm")]
    except OSError:
        names = []
    return not names or any(name.startswith("polars") for name in names)


class _Blas:
    """The BLAS libraries of the process, limited to one thread while `limit` is set."""

    lock = threading.Lock()
    n_users = 0
    controller: Any = None
    limit: Any = None
    before: Any = None


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit BLAS to one thread in the whole process, until the last user leaves."""
    with _Blas.lock:
        if _Blas.limit is None:
            _Blas.controller = _Blas.controller or ThreadpoolController()
            _Blas.before = _Blas.controller.info()
            _Blas.limit = _Blas.controller.limit(limits=1, user_api="blas")
        _Blas.n_users += 1
    try:
        yield
    finally:
        with _Blas.lock:
            _Blas.n_users -= 1
            if _Blas.n_users == 0:
                _Blas.limit.restore_original_limits()
                # OpenBLAS obeys the main thread alone: the next user there restores it
                if _Blas.controller.info() == _Blas.before:
                    _Blas.limit = None
