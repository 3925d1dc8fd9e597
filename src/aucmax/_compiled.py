"""Numba's ``njit``, which says what a first call waits for, and can always be cached.

Numba keeps compiled loops next to the source or in the user's cache folder, and raises
an error at import if it can write to neither, as in a container with a read-only disk
and no home. Then they are kept in a temporary folder that nobody else can write to, or
if there is none, for the time of the process.
"""

import os
import stat
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from functools import cache
from typing import Any

import numba
from numba.core import event

__all__ = ["CompilingNote", "njit"]

_PATIENCE = 1.0  # seconds of compiling, after which the user is told


class CompilingNote(event.Listener):
    """Tells the user, once and on a terminal alone, what the first fit waits for."""

    def __init__(self) -> None:
        self._depth = 0  # a loop is compiled while another one waits for it
        self._start = 0.0
        self._seconds = 0.0
        self._told = False

    def on_start(self, event: Any) -> None:
        """Take note that a loop is about to be compiled."""
        is_ours = event.data["dispatcher"].py_func.__module__.startswith("aucmax.")
        if self._depth == 0:
            if not is_ours:
                return
            self._start = time.perf_counter()
        self._depth += 1
        passed = self._seconds + time.perf_counter() - self._start
        if passed >= _PATIENCE and not self._told:
            self._told = True
            if sys.stderr is not None and sys.stderr.isatty():
                sys.stderr.write("aucmax: compiling once, a few seconds ...\n")

    def on_end(self, event: Any) -> None:
        """Take note that a loop was compiled."""
        if self._depth == 0:
            return
        self._depth -= 1
        if self._depth == 0:
            self._seconds += time.perf_counter() - self._start


event.register("numba:compile", CompilingNote())  # type: ignore[no-untyped-call]


def njit(*args: Any, **options: Any) -> Any:
    """Compile a function, as ``numba.njit`` does; the cache is never an obstacle.

    No loop divides by 0, as the tests without the compiler see; not to check for it
    saves a sixth of the time that compiling takes.
    """
    options = {"error_model": "numpy", **options}
    if args:
        return _compile(args[0], options)
    return lambda function: _compile(function, options)


def _compile(function: Callable[..., Any], options: dict[str, Any]) -> Any:
    try:
        return numba.njit(**options)(function)
    except RuntimeError as error:
        if "no locator available" not in str(error):
            raise
    folder = _private_folder()
    if folder is None:
        return numba.njit(**{**options, "cache": False})(function)
    settings: Any = numba.config
    before = settings.CACHE_DIR
    try:
        # read while decorating, and never again
        settings.CACHE_DIR = folder
        return numba.njit(**options)(function)
    finally:
        settings.CACHE_DIR = before


@cache
def _private_folder() -> str | None:
    """Return a temporary folder of this user's alone, or None; tell which."""
    user = os.getuid() if hasattr(os, "getuid") else 0
    try:
        folder = os.path.join(tempfile.gettempdir(), f"aucmax-compiled-{user}")
        os.makedirs(folder, mode=0o700, exist_ok=True)
        status = os.lstat(folder)
        # numba executes what it finds there
        is_ours = stat.S_ISDIR(status.st_mode) and status.st_uid in (user, 0)
        if not is_ours or status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            folder = tempfile.mkdtemp(prefix="aucmax-compiled-")
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError:
        _warn("compiled loops are kept for this process alone, which takes seconds")
        return None
    _warn(f"compiled loops are kept in {folder}")
    return folder


def _warn(what: str) -> None:
    warnings.warn(
        f"neither the folder of aucmax nor a cache folder can be written: {what}. Set "
        "the environment variable NUMBA_CACHE_DIR to a folder that lasts.",
        RuntimeWarning,
        stacklevel=5,
    )
