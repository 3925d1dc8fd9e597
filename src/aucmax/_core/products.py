"""Products with the data: exact sums of float32, equal bits wherever rows lie."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

_BLOCK = 2**17  # numbers of float32 that are converted at a time


def product(matrix: Any, vector: NDArray[Any]) -> NDArray[Any]:
    """Return ``matrix @ vector`` in float64, in which products of float32 are exact."""
    # float32 is read block by block, so that no copy of the matrix is made
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
    """Return a part whose products have the same last bits wherever it came from."""
    if sparse.issparse(part):
        return part
    # one from another worker may lie at an odd address: numpy multiplies it otherwise
    return np.require(part, requirements=["ALIGNED", "C_CONTIGUOUS"])
