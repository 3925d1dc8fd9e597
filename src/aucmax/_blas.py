"""One thread for products, whose last bits then do not depend on the machine.

NumPy and SciPy bring a BLAS each, with threads that wait in a loop for their next work
and keep those of the other from the cores: where small systems are solved and
multiplied in turn, one thread is up to three times as fast as two.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from scipy import sparse
from threadpoolctl import ThreadpoolController

__all__ = ["in_memory_order", "one_blas_thread"]


class _Limit:
    """A limit of the whole process, from the first who needs it to the last."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._n_users = 0
        self._controller: ThreadpoolController | None = None
        self._limit: Any = None  # while it is in force
        self._before: Any = None

    def begin(self) -> None:
        with self._lock:
            if self._limit is None:
                if self._controller is None:
                    self._controller = ThreadpoolController()
                self._before = self._controller.info()
                self._limit = self._controller.limit(limits=1, user_api="blas")
            self._n_users += 1

    def end(self) -> None:
        with self._lock:
            self._n_users -= 1
            if self._n_users == 0 and self._controller is not None:
                self._limit.restore_original_limits()
                # OpenBLAS listens to the main thread alone: the next one there lifts it
                if self._controller.info() == self._before:
                    self._limit = None


_LIMIT = _Limit()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Let products of this process use one thread, while anyone needs that."""
    _LIMIT.begin()
    try:
        yield
    finally:
        _LIMIT.end()


def in_memory_order(part: Any) -> Any:
    """Return a part whose products have the same last bits wherever it came from.

    One that came from another worker may lie at an odd address, and numpy then
    multiplies in another way.
    """
    if sparse.issparse(part):
        return part
    return np.require(part, requirements=["ALIGNED", "C_CONTIGUOUS"])
