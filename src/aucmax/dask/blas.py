"""One thread for each product, so that its last bits do not depend on the machine."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from threadpoolctl import ThreadpoolController

__all__ = ["one_blas_thread"]


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
