"""Products with the data: exact sums of float32, and one thread where that is faster.

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
from numpy.typing import NDArray
from scipy import sparse
from threadpoolctl import ThreadpoolController

__all__ = ["in_memory_order", "one_blas_thread", "product"]

_BLOCK = 2**17  # numbers of float32 that are converted at a time


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


def product(matrix: Any, vector: NDArray[Any]) -> NDArray[Any]:
    """Return ``matrix @ vector`` in float64, which holds products of float32 exactly.

    float32 is read block by block, so that no copy of the matrix is made.
    """
    is_sparse: bool = sparse.issparse(matrix)
    if matrix.dtype != np.float32 or not (is_sparse or isinstance(matrix, np.ndarray)):
        return np.asarray(matrix @ vector, dtype=np.float64)  # in parts: by each worker
    if is_sparse:
        by_rows, size = matrix.format == "csr", matrix.nnz
    else:
        by_rows, size = matrix.strides[0] >= matrix.strides[1], matrix.size
    length = matrix.shape[0 if by_rows else 1]
    step = max(1, _BLOCK * length // max(size, 1))
    total = np.zeros((matrix.shape[0], *vector.shape[1:]))
    for first in range(0, length, step):
        span = slice(first, min(first + step, length))
        if is_sparse:
            block = _sparse_block(matrix, span, by_rows)
        else:
            block = (matrix[span] if by_rows else matrix[:, span]).astype(np.float64)
        if by_rows:
            total[span] = block @ vector
        else:
            total += block @ vector[span]
    return total


def _sparse_block(matrix: Any, span: slice, by_rows: bool) -> Any:
    """Return some of the rows, or of the columns, in float64; indices are shared."""
    starts = matrix.indptr[span.start : span.stop + 1]
    own = slice(starts[0], starts[-1])
    width, other = starts.size - 1, matrix.shape[1 if by_rows else 0]
    return type(matrix)(
        (matrix.data[own].astype(np.float64), matrix.indices[own], starts - starts[0]),
        shape=(width, other) if by_rows else (other, width),
    )


def in_memory_order(part: Any) -> Any:
    """Return a part whose products have the same last bits wherever it came from.

    One that came from another worker may lie at an odd address, and numpy then
    multiplies in another way.
    """
    if sparse.issparse(part):
        return part
    return np.require(part, requirements=["ALIGNED", "C_CONTIGUOUS"])
