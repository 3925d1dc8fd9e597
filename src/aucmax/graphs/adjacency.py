"""Read the edges of a graph from its adjacency matrix."""

from typing import Any

import numpy as np
from scipy import sparse

from aucmax._core.row_matrix import check_sparse_structure
from aucmax._core.validation import FloatArray, IntArray, reject_unreadable

_MAX_ASYMMETRY = 1e-10  # difference of mirrored entries, relative to the largest


def read_adjacency(adjacency: Any, n_nodes: int) -> tuple[IntArray, FloatArray]:
    """Return the edges of a symmetric matrix and its entries as their features."""
    matrix = _square_matrix(adjacency, n_nodes)
    entries = matrix.tocoo()
    finite = np.isfinite(entries.data)
    if not finite.all():
        k = int(np.argmin(finite))
        raise ValueError(
            f"adjacency must be finite, but adjacency[{entries.row[k]}, "
            f"{entries.col[k]}] is {entries.data[k]}."
        )
    loops = np.flatnonzero(matrix.diagonal())
    if loops.size:
        i = int(loops[0])
        raise ValueError(
            f"adjacency[{i}, {i}] is {matrix[i, i]:g}, which joins node {i} to itself. "
            "Set the diagonal to 0, and make its entries a node feature if they matter."
        )
    difference = (matrix - matrix.T).tocoo()
    tolerance = _MAX_ASYMMETRY * np.abs(entries.data).max(initial=0.0)
    uneven = np.flatnonzero(np.abs(difference.data) > tolerance)
    if uneven.size:
        i, j = int(difference.row[uneven[0]]), int(difference.col[uneven[0]])
        raise ValueError(
            f"adjacency must be symmetric, but adjacency[{i}, {j}] is "
            f"{matrix[i, j]:g} and adjacency[{j}, {i}] is {matrix[j, i]:g}. Use, for "
            "example, 0.5 * (adjacency + adjacency.T)."
        )
    upper = sparse.triu(matrix, k=1, format="coo")
    edges = np.stack([upper.row, upper.col], axis=1).astype(np.int64)
    return edges, upper.data[:, np.newaxis]


def _square_matrix(adjacency: Any, n_nodes: int) -> Any:
    """Return the matrix in rows, float64, sorted, without stored zeros."""
    check_sparse_structure(adjacency, "adjacency")
    reject_unreadable(adjacency, "adjacency")
    if not sparse.issparse(adjacency):
        adjacency = np.asarray(adjacency)
    if adjacency.shape != (n_nodes, n_nodes):
        raise ValueError(
            f"adjacency must be of shape ({n_nodes}, {n_nodes}), a row and a column "
            f"for each node, got shape {adjacency.shape}."
        )
    if adjacency.dtype.kind not in "biuf":
        raise TypeError(f"adjacency must hold numbers, got dtype {adjacency.dtype}.")
    matrix = sparse.csr_array(adjacency, dtype=np.float64, copy=True)
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    return matrix
