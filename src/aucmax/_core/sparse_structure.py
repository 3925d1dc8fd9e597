"""Checks of sparse matrices, whose indices compiled code trusts."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse


def check_sparse_structure(X: Any, name: str = "X") -> None:
    """Reject a sparse matrix with indices out of range, in one pass over them."""
    fault = _sparse_fault(X) if sparse.issparse(X) else None
    if fault is not None:
        raise ValueError(
            f"{name} is a damaged sparse matrix: {fault}. Build it again, for example "
            "from its COO form."
        )


def _sparse_fault(X: Any) -> str | None:
    """Return the fault in the indices of a sparse matrix, if there is one."""
    if X.format == "coo":
        places = zip(X.coords, X.shape, strict=True)
        is_inside = all(_are_within(index, size) for index, size in places)
        lengths = {X.data.size, *(index.size for index in X.coords)}
        return None if is_inside and len(lengths) == 1 else "an index is out of range"
    if X.format not in ("csr", "csc", "bsr"):
        return None
    rows, columns = X.shape
    if X.format == "bsr":
        rows, columns = rows // X.blocksize[0], columns // X.blocksize[1]
    major, minor = (columns, rows) if X.format == "csc" else (rows, columns)
    if X.indptr.size != major + 1 or X.indptr[0] != 0:
        return f"indptr does not have {major + 1} entries from 0 on"
    if (np.diff(X.indptr) < 0).any():
        return "indptr falls"
    used = int(X.indptr[-1])
    if used > min(X.indices.size, len(X.data)):
        return f"indptr ends at {used}, behind the last entry"
    if not _are_within(X.indices[:used], minor):
        return f"an index is out of range, from {X.indices.min()} to {X.indices.max()}"
    return None


def _are_within(indices: NDArray[Any], size: int) -> bool:
    return bool(indices.size == 0 or (indices.min() >= 0 and indices.max() < size))
