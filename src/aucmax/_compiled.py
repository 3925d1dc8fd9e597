"""Numba's ``njit``, which few rows need not wait for, and which can always be cached.

To compile a loop takes about half a second, and so does it to import numba, which then
loads a loop that it has compiled before in milliseconds. Over a thousand rows, Python
itself takes milliseconds. So small arrays are left to Python, by the same arithmetic
and with the same results, and numba takes over once there are many rows, or once
Python has taken long: sooner where an earlier process has compiled the loop.

Numba keeps compiled loops next to the source or in the user's cache folder, and raises
an error if it can write to neither, as in a container with a read-only disk
and no home. Then they are kept in a temporary folder that nobody else can write to, or
if there is none, for the time of the process.

Functions are compiled by another thread, while the main one waits, says so if it takes
long, and hears Ctrl-C. LLVM may be busy with a large function for seconds; and an
interrupt that comes while it calls Python back is lost, whereupon numba fails by an
error of its own.
"""

import os
import stat
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable
from concurrent.futures import Future
from functools import cache, cached_property, update_wrapper, wraps
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["Loop", "load_compiler", "njit"]

# Python runs a loop itself over arrays of so many elements in all, at most; it takes
# some microseconds for each.
MOST_ELEMENTS = 10_000

# Numba takes over once Python has taken so many seconds: for one loop, which is then
# compiled; for one loop that need only be loaded; and for all of them, before numba is
# imported to load any. Each is a part of what numba itself would take, so that little
# is lost whether more calls follow or not.
_BEFORE_COMPILING = 0.1
_BEFORE_LOADING = 0.01
_BEFORE_IMPORTING = 0.1

_PAUSE = 0.1  # seconds; without an end to it, waiting cannot be interrupted on Windows
_PATIENCE = 1.0  # seconds of waiting, after which the user is told what for


def njit(*args: Any, **options: Any) -> Any:
    """Compile a function, as ``numba.njit`` does, once it is worth that.

    No loop divides by 0, as the tests without the compiler see; not to check for it
    saves a sixth of the time that compiling takes.
    """
    options = {"error_model": "numpy", **options}
    if args:
        return Loop(args[0], options)
    return lambda function: Loop(function, options)


def load_compiler() -> None:
    """Let numba load what it needs for any loop, before the time of a fit is taken."""
    njit(_nothing).dispatcher()


def _nothing() -> None:
    """Do nothing, which is soon compiled."""


class _Turn(threading.local):
    """Whether it is Python's turn in a thread, while one loop calls others."""

    is_pythons = False


class _Python:
    """How long Python has run loops, in this process; endless once numba is in use."""

    seconds = 0.0


_turn = _Turn()
_one_at_a_time = threading.RLock()


class Loop:
    """A function that Python runs over few elements, and numba over many."""

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        update_wrapper(self, function)
        self._function, self._options = function, options
        self._dispatcher: Any = None
        self._seconds = 0.0

    def __call__(self, *args: Any) -> Any:
        if _turn.is_pythons:  # the outermost loop decides for all that it calls
            return self._function(*args)
        if self._dispatcher is None:
            if _n_elements(args) <= MOST_ELEMENTS and not self._has_taken_long():
                return self._run_as_python(args)
        return self.dispatcher(*args)

    @property
    def dispatcher(self) -> Any:
        """What numba has made of the function; without its compiler, the function."""
        if self._dispatcher is None:
            with _one_at_a_time:
                if self._dispatcher is None:
                    self._dispatcher = _compile(self._function, self._options)
                    _Python.seconds = float("inf")
        return self._dispatcher

    def __getattr__(self, name: str) -> Any:
        # by `_numba_type_` and others, numba finds one loop that another one calls
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.dispatcher, name)

    def __reduce__(self) -> str:
        return str(self.__name__)

    def _has_taken_long(self) -> bool:
        """Tell whether Python has taken longer than it should be left to."""
        return self._seconds >= _BEFORE_COMPILING or (
            self._seconds >= _BEFORE_LOADING
            and _Python.seconds >= _BEFORE_IMPORTING
            and self._was_compiled_before
        )

    @cached_property
    def _was_compiled_before(self) -> bool:
        """Whether numba has kept the loop, for arguments of whatever types."""
        with _one_at_a_time:
            stats = getattr(_decorate(self._function, self._options), "stats", None)
        if stats is None or stats.cache_path is None:  # nothing is compiled, or kept
            return False
        code = self._function.__code__
        name = f"{Path(code.co_filename).stem}.{code.co_qualname}"
        return any(Path(stats.cache_path).glob(f"{name}-{code.co_firstlineno}.*.nbi"))

    def _run_as_python(self, args: tuple[Any, ...]) -> Any:
        _turn.is_pythons = True
        start = time.thread_time()
        try:
            with np.errstate(all="ignore"):  # compiled loops do not warn either
                return _plain(self._function(*args))
        finally:
            _turn.is_pythons = False
            taken = time.thread_time() - start
            self._seconds += taken
            _Python.seconds += taken


def _n_elements(args: tuple[Any, ...]) -> int:
    """Count the elements of all arrays."""
    total = 0
    for one in args:
        if isinstance(one, np.ndarray):
            total += one.size
        elif isinstance(one, tuple):
            total += _n_elements(one)
    return total


def _plain(result: Any) -> Any:
    """Return Python's numbers for NumPy's, as compiled loops do."""
    if isinstance(result, np.generic):
        return result.item()
    if type(result) is tuple:
        return tuple(map(_plain, result))
    return result


class _Wait:
    """How long this process has waited for compiled loops, and what the user knows."""

    seconds = 0.0
    is_told = False


def _compile(function: Callable[..., Any], options: dict[str, Any]) -> Any:
    dispatcher = _decorate(function, options)
    if hasattr(dispatcher, "compile"):  # not where NUMBA_DISABLE_JIT is set
        dispatcher.compile = _beside(dispatcher.compile)
    return dispatcher


def _beside(compile_function: Callable[..., Any]) -> Callable[..., Any]:
    """Let another thread compile; if the main one is interrupted, it still ends."""

    @wraps(compile_function)
    def wait_for_it(*args: Any) -> Any:
        if threading.current_thread() is not threading.main_thread():
            return compile_function(*args)
        outcome: Future[Any] = Future()

        def work() -> None:
            try:
                outcome.set_result(compile_function(*args))
            except BaseException as error:
                outcome.set_exception(error)

        worker = threading.Thread(target=work, name="aucmax-compiler")
        start = time.monotonic()
        before = _Wait.seconds
        worker.start()
        while worker.is_alive():
            worker.join(_PAUSE)
            _Wait.seconds = before + time.monotonic() - start
            _tell_who_waits()
        return outcome.result()

    return wait_for_it


def _tell_who_waits() -> None:
    """Say on a terminal, once, what a first call waits for."""
    if _Wait.is_told or _Wait.seconds < _PATIENCE:
        return
    _Wait.is_told = True
    if sys.stderr is not None and sys.stderr.isatty():
        sys.stderr.write("aucmax: compiling once, a few seconds ...\n")


def _decorate(function: Callable[..., Any], options: dict[str, Any]) -> Any:
    import numba  # takes half a second

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
