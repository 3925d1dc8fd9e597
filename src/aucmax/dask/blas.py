"""One thread for each product, so that its last bits do not depend on the machine."""

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
    """A limit of the whole process, from the first task that needs it to the last."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._n_users = 0
        self._controller: ThreadpoolController | None = None
        self._limit: Any = None

    def begin(self) -> None:
        with self._lock:
            if self._n_users == 0:
                if self._controller is None:
                    self._controller = ThreadpoolController()
                self._limit = self._controller.limit(limits=1, user_api="blas")
            self._n_users += 1

    def end(self) -> None:
        with self._lock:
            self._n_users -= 1
            if self._n_users == 0:
                self._limit.restore_original_limits()


_LIMIT = _Limit()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Let products of this process use one thread, while any task needs that."""
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
