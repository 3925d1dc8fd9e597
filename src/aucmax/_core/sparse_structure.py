"""Checks of sparse matrices, whose indices compiled code trusts."""

from typing import Any

from scipy import sparse


def check_sparse_structure(X: Any, name: str = "X") -> None:
    """Reject a sparse matrix with indices out of range, in one pass over them."""
    is_sparse: bool = sparse.issparse(X)
    kind = X.format if is_sparse else None
    try:
        # SciPy checks another matrix of the same arrays, so that X stays as it is
        if kind == "coo":
            type(X)((X.data, X.coords), shape=X.shape)
        elif kind in ("csr", "csc", "bsr"):
            parts = X.data, X.indices, X.indptr
            type(X)(parts, shape=X.shape).check_format(full_check=True)
    except (ValueError, IndexError) as error:
        raise ValueError(
            f"{name} is a damaged sparse matrix: {error}. Build it again, for example "
            "from its COO form."
        ) from error
