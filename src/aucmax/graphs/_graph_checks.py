"""Check graphs: tables of numbers, edges between existing nodes, labels of nodes."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from aucmax._core.row_matrix import check_sparse_structure
from aucmax._core.validation import (
    BoolArray,
    FloatArray,
    IntArray,
    check_binary_labels,
    check_scores,
    labels_among,
    reject_missing_labels,
    reject_unreadable,
)

_MAX_ASYMMETRY = 1e-10  # difference of mirrored entries, relative to the largest


def check_table(values: Any, name: str) -> FloatArray:
    """Return a C-contiguous float64 matrix of finite numbers with a column."""
    if sparse.issparse(values):
        raise TypeError(f"{name} is sparse; a dense array is needed: call toarray().")
    array = _as_array(values, name, "is not a table of numbers")
    if array.ndim != 2:
        hint = " Use reshape(-1, 1) on a single column." if array.ndim == 1 else ""
        raise ValueError(
            f"{name} must be two-dimensional, got an array of shape {array.shape}."
            f"{hint}"
        )
    if array.shape[1] == 0:
        raise ValueError(f"{name} has no columns; at least one is needed.")
    if array.dtype.kind in "biuf":
        table = np.ascontiguousarray(array, dtype=np.float64)
        if np.isfinite(table).all():
            return table
    names = [f"{name}[:, {column}]" for column in range(array.shape[1])]
    columns = zip(array.T, names, strict=True)
    return np.column_stack([check_scores(cells, name=name) for cells, name in columns])


def check_edges(values: Any, n_nodes: int) -> IntArray:
    """Return the edges as int64, or reject the first bad one."""
    if sparse.issparse(values):
        raise TypeError(
            "edges is a sparse matrix; use Graph.from_adjacency(node_features, edges)."
        )
    array = _as_array(values, "edges", "must be pairs of nodes")
    if array.size == 0 and array.ndim in (1, 2):
        return np.empty((0, 2), dtype=np.int64)
    if array.ndim != 2 or array.shape[1] != 2:
        hint = " Transpose it." if array.ndim == 2 and array.shape[0] == 2 else ""
        raise ValueError(
            "edges must be of shape (n_edges, 2), a pair of nodes for each edge, got "
            f"shape {array.shape}.{hint}"
        )
    if array.dtype.kind == "O":  # whole numbers too large for int64, or mixed types
        columns = [check_scores(array[:, c], name=f"edges[:, {c}]") for c in (0, 1)]
        array = np.column_stack(columns)
    if array.dtype.kind not in "iuf":
        raise TypeError(
            f"edges must hold the numbers of nodes, got dtype {array.dtype} (edges[0] "
            f"is {tuple(array[0].tolist())}). Number the nodes from 0."
        )
    is_node = (array >= 0) & (array < n_nodes) & (array == np.floor(array))
    if not is_node.all():
        edge = int(np.argmin(is_node.all(axis=1)))
        hint = ""
        if array.min() == 1 and array.max() == n_nodes:
            hint = " If yours are numbered from 1, subtract 1."
        raise ValueError(
            f"edges[{edge}] is {tuple(array[edge].tolist())}, but the {n_nodes} nodes "
            f"are numbered from 0 to {n_nodes - 1}.{hint}"
        )
    edges = np.ascontiguousarray(array, dtype=np.int64)
    is_loop = edges[:, 0] == edges[:, 1]
    if is_loop.any():
        edge = int(np.argmax(is_loop))
        raise ValueError(
            f"edges[{edge}] joins node {edges[edge, 0]} to itself. Remove such edges; "
            "make them a node feature if they matter."
        )
    return edges


def read_adjacency(adjacency: Any, n_nodes: int) -> tuple[IntArray, FloatArray]:
    """Return the edges of a symmetric matrix and its entries as their features."""
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
    entries, difference = matrix.tocoo(), (matrix - matrix.T).tocoo()
    tolerance = _MAX_ASYMMETRY * np.abs(entries.data).max(initial=0.0)
    faults = {
        "must be finite": (entries, ~np.isfinite(entries.data)),
        "must have a diagonal of 0": (entries, entries.row == entries.col),
        "must be symmetric": (difference, np.abs(difference.data) > tolerance),
    }
    for rule, (cells, is_bad) in faults.items():
        if is_bad.any():
            k = int(np.argmax(is_bad))
            i, j = int(cells.row[k]), int(cells.col[k])
            mirrored = f" and adjacency[{j}, {i}] is {matrix[j, i]:g}" if i != j else ""
            raise ValueError(
                f"adjacency {rule}, but adjacency[{i}, {j}] is {matrix[i, j]:g}"
                f"{mirrored}. Repair it: an edge has one finite weight, as by "
                "0.5 * (adjacency + adjacency.T), and joins two nodes."
            )
    upper = sparse.triu(matrix, k=1, format="coo")
    edges = np.stack([upper.row, upper.col], axis=1).astype(np.int64)
    return edges, upper.data[:, np.newaxis]


def check_edge_weights(
    values: Any, n_edges: int, name: str, *, hint: str | None = None
) -> FloatArray:
    """Return finite weights, one per edge; with a hint, reject negative ones."""
    shape = np.shape(values)
    if shape != (n_edges,):
        raise ValueError(
            f"{name} must have one number for each of the {n_edges} edges, got shape "
            f"{shape}."
        )
    weights = check_scores(values, name=name) if n_edges else np.empty(0)
    if hint is not None and (weights < 0.0).any():
        edge = int(np.argmax(weights < 0.0))
        raise ValueError(
            f"{name} must not be negative, but {name}[{edge}] is {weights[edge]}.{hint}"
        )
    return weights


def check_node_labels(
    y: Sequence[ArrayLike], node_offsets: IntArray, classes: NDArray[Any] | None = None
) -> tuple[NDArray[Any], BoolArray]:
    """Return the two classes, and which nodes of all graphs are positive."""
    if not isinstance(y, Iterable):
        raise TypeError(
            "y must be a list with one array of labels per graph, got a "
            f"{type(y).__name__}."
        )
    expected = "is not one label per node"
    parts = [_as_array(part, f"y[{m}]", expected) for m, part in enumerate(y)]
    sizes = np.diff(node_offsets)
    if len(parts) != sizes.size:
        raise ValueError(
            f"y has {len(parts)} entries for {sizes.size} graphs; each graph needs "
            "one array of labels."
        )
    for m, part in enumerate(parts):
        if part.shape != (sizes[m],):
            raise ValueError(
                f"y[{m}] has shape {part.shape}, but X[{m}] has {sizes[m]} nodes; each "
                "node needs one label."
            )
        reject_missing_labels(part, f"y[{m}]")
    if classes is None:
        return check_binary_labels(np.concatenate(parts), "y")
    positive = [labels_among(classes, part, f"y[{m}]") for m, part in enumerate(parts)]
    return classes, np.concatenate(positive)


def _as_array(values: Any, name: str, fault: str) -> NDArray[Any]:
    reject_unreadable(values, name)
    try:
        return np.asarray(values)
    except ValueError as error:
        raise ValueError(f"{name} {fault}: {error}") from None


def check_edge_features(edge_features: FloatArray, edge_offsets: IntArray) -> None:
    """Reject negative features, which could make a pair weight negative."""
    is_negative = edge_features < 0.0
    if is_negative.any():
        edge, column = (int(place) for place in np.argwhere(is_negative)[0])
        m = int(np.searchsorted(edge_offsets, edge, "right")) - 1
        raise ValueError(
            f"edge features must not be negative with pair_weights='nonnegative', but "
            f"X[{m}] has {edge_features[edge, column]} at edge "
            f"{edge - edge_offsets[m]}, column {column}. Shift or split the "
            "column, or set pair_weights='free', which solves a linear program "
            "per graph with a negative pair weight."
        )
