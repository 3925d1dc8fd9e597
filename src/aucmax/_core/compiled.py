"""Numba's ``njit``, which compiles for large arrays only, and survives a bad cache.

A first `AUCSVC.fit` of 300 rows takes 0.3 s; if numba ran its loops, 7 s with an empty
cache and 3 s in each later process (two cores at 2.5 GHz). So Python runs a loop over
few rows, with equal bits, until its time adds up. The outermost loop decides for the
loops that it calls.
"""

import os
import sys
import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import suppress
from functools import cached_property, partial, update_wrapper
from typing import Any

import numpy as np

MAX_ELEMENTS = 10_000  # in the arrays of a loop that Python runs; microseconds each
_MAX_SECONDS = 0.1  # of Python for one loop; compiling it takes five times as long
_PAUSE = 0.1  # seconds: a signal that another thread gets does not end a wait
_PATIENCE = 1.0  # seconds of waiting, after which a terminal shows the reason
_thread = threading.local()  # has `runs_python` while Python runs a loop
_reported: set[str] = set()  # each once per process


def njit(*, cache: bool = False, nogil: bool = False, inline: str = "never") -> Any:
    """Return a decorator that makes a `Loop` of a function."""
    # no loop divides by 0; omitting the check saves a sixth of the compile time
    return partial(Loop, cache=cache, nogil=nogil, inline=inline, error_model="numpy")


class Loop:
    """A function that Python runs over few elements, and numba over many."""

    def __init__(self, function: Any, **options: Any) -> None:
        update_wrapper(self, function)
        self._function, self._options, self._seconds = function, options, 0.0

    def __call__(self, *args: Any) -> Any:
        if hasattr(_thread, "runs_python"):
            return self._function(*args)
        if self._seconds >= _MAX_SECONDS or _n_elements(args) > MAX_ELEMENTS:
            self._seconds = np.inf
            return self.dispatcher(*args)
        _thread.runs_python, start = True, time.thread_time()
        try:
            with np.errstate(all="ignore"):  # compiled loops do not warn either
                return _plain(self._function(*args))
        finally:
            del _thread.runs_python
            self._seconds += time.thread_time() - start

    @cached_property
    def dispatcher(self) -> Any:
        """The function as numba runs it, or unchanged if NUMBA_DISABLE_JIT is set."""
        return _run_in_thread(_decorate, self._function, self._options)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.dispatcher, name)  # so numba finds a loop in another one

    def __reduce__(self) -> str:
        return str(self.__name__)


def _n_elements(args: tuple[Any, ...]) -> int:
    arrays = (one for one in args if isinstance(one, np.ndarray | tuple))
    return sum(_n_elements(a) if isinstance(a, tuple) else a.size for a in arrays)


def _plain(result: Any) -> Any:
    """Return Python's numbers for NumPy's, as compiled loops do."""
    if type(result) is tuple:
        return tuple(map(_plain, result))
    return result.item() if isinstance(result, np.generic) else result


def _decorate(function: Any, options: dict[str, Any]) -> Any:
    import numba  # half a second; half of it, after Ctrl-C, could not be imported again

    folder = os.environ.get("NUMBA_CACHE_DIR", os.path.dirname(__file__))
    dispatcher = _try_cache(folder, numba.njit(**options), function)
    dispatcher = dispatcher or numba.njit(**options | {"cache": False})(function)
    if hasattr(dispatcher, "compile"):
        dispatcher.compile = partial(_run_in_thread, dispatcher.compile)
        kept, use = dispatcher._cache, partial(_try_cache, dispatcher._cache.cache_path)
        kept.load_overload = partial(use, kept.load_overload)
        kept.save_overload = partial(use, kept.save_overload)
    return dispatcher


def _try_cache(folder: str, use: Any, *args: Any) -> Any:
    """Use numba's cache; if that fails, warn and return None, so that it compiles."""
    try:
        return use(*args)
    except Exception as error:  # of any class, as numba unpickles damaged files
        if "cache" not in _reported:
            _reported.add("cache")
            text = f"compiling again, as the cache in {folder} failed ({error!r}): "
            text += "delete its *.nbi files, or set NUMBA_CACHE_DIR to another folder."
            warnings.warn(text, RuntimeWarning, stacklevel=2)


def _run_in_thread(work: Any, *args: Any) -> Any:
    """Compile in a thread: the main thread gets Ctrl-C, which LLVM would lose."""
    if threading.current_thread() is not threading.main_thread():
        return work(*args)
    outcome = ThreadPoolExecutor(1, "aucmax-compiler").submit(work, *args)
    start = time.monotonic()
    while wait([outcome], _PAUSE).not_done:
        if time.monotonic() - start > _PATIENCE and "wait" not in _reported:
            _reported.add("wait")
            with suppress(AttributeError, OSError, ValueError):  # no stream, or closed
                if sys.stderr.isatty():
                    sys.stderr.write("preparing compiled loops, a few seconds ...\n")
    return outcome.result()
