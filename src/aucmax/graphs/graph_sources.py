"""Read adjacency matrices, NetworkX graphs and data frames, without importing them."""

from collections.abc import Hashable, Sequence
from itertools import repeat
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from aucmax._core.sparse_structure import check_sparse_structure
from aucmax._core.validation import (
    FloatArray,
    IntArray,
    check_qid,
    check_scores,
    reject_unreadable,
)

Names: TypeAlias = str | Sequence[str]

_MAX_ASYMMETRY = 1e-10  # difference of mirrored entries, relative to the largest


def read_adjacency(adjacency: Any, n_nodes: int) -> tuple[IntArray, FloatArray]:
    """Return the edges of a symmetric matrix and its entries as their features."""
    matrix = _square_matrix(adjacency, n_nodes)
    weights = matrix.data
    if not np.isfinite(weights).all():
        place = int(np.argmin(np.isfinite(weights)))
        row, column = _entry(matrix, place)
        raise ValueError(
            f"adjacency must be finite, but adjacency[{row}, {column}] is "
            f"{weights[place]}."
        )
    loops = np.flatnonzero(matrix.diagonal())
    if loops.size:
        i = int(loops[0])
        raise ValueError(
            f"adjacency[{i}, {i}] is {matrix[i, i]:g}, which joins node {i} to itself. "
            "Set the diagonal to 0, and make its entries a node feature if they matter."
        )
    difference = (matrix - matrix.T).tocsr()
    tolerance = _MAX_ASYMMETRY * np.abs(weights).max(initial=0.0)
    uneven = np.flatnonzero(np.abs(difference.data) > tolerance)
    if uneven.size:
        i, j = _entry(difference, int(uneven[0]))
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


def _entry(matrix: Any, place: int) -> tuple[int, int]:
    """Return the row and column of the entry stored at `place`."""
    row = int(np.searchsorted(matrix.indptr, place, side="right")) - 1
    return row, int(matrix.indices[place])


def is_networkx(item: Any) -> bool:
    """Return whether something is a NetworkX graph, by its methods."""
    return hasattr(item, "nodes") and hasattr(item, "is_directed")


def read_networkx(
    graph: Any, node_attributes: Names, edge_attributes: Names | None
) -> tuple[NDArray[Any], IntArray, NDArray[Any] | None]:
    """Return node features, edges and edge features of an undirected graph."""
    if not is_networkx(graph):
        raise TypeError(f"a NetworkX graph is needed, got a {type(graph).__name__}.")
    if graph.is_directed():
        raise ValueError("the graph is directed; call its to_undirected() first.")
    number = {name: i for i, name in enumerate(graph.nodes)}
    if not number:
        raise ValueError("the graph has no nodes; at least one is needed.")
    links = list(graph.edges(data=True))
    loop = next((first for first, second, _ in links if first == second), None)
    if loop is not None:
        raise ValueError(
            f"the graph joins node {loop!r} to itself. Remove such edges: "
            "graph.remove_edges_from(list(networkx.selfloop_edges(graph)))."
        )
    edges = np.array([(number[i], number[j]) for i, j, _ in links], dtype=np.int64)
    node_features = _attributes(list(graph.nodes(data=True)), node_attributes, "node")
    edge_features = None
    if edge_attributes is None and any("features" in data for *_, data in links):
        edge_attributes = "features"
    if edge_attributes is not None and links:
        labelled = [((i, j), data) for i, j, data in links]
        edge_features = _attributes(labelled, edge_attributes, "edge")
    return node_features, edges, edge_features


def _attributes(
    items: list[tuple[Any, dict[Any, Any]]], names: Names, what: str
) -> NDArray[Any]:
    """Return the attributes of nodes or edges as a table, one row for each."""
    if isinstance(names, list | tuple):
        columns = [_attribute(items, name, what) for name in names]
        titles = [f"attribute {name!r} of the {what}s" for name in names]
        return np.column_stack(
            [check_scores(c, name=t) for c, t in zip(columns, titles, strict=True)]
        )
    cells = _attribute(items, names, what)
    sizes = [np.size(cell) for cell in cells]
    for (label, _), size in zip(items, sizes, strict=True):
        if size != sizes[0]:
            raise ValueError(
                f"attribute {names!r} of {what} {label!r} holds {size} numbers, but "
                f"that of {items[0][0]!r} holds {sizes[0]}."
            )
    return np.array(cells).reshape(len(cells), -1)


def _attribute(
    items: list[tuple[Any, dict[Any, Any]]], name: Hashable, what: str
) -> list[Any]:
    for label, data in items:
        if name not in data:
            raise ValueError(
                f"{what} {label!r} has no attribute {name!r}; it has "
                f"{', '.join(map(repr, data)) or 'none'}. "
                "Pass other names of attributes to Graph.from_networkx."
            )
    return [data[name] for _, data in items]


def read_frames(
    nodes: Any,
    edges: Any,
    node: str,
    ends: tuple[str, str],
    node_features: Names | None,
    edge_features: Names | None,
) -> tuple[FloatArray, IntArray, FloatArray | None]:
    """Return node features, edges as row numbers of `nodes`, and edge features."""
    known = f"nodes[{node!r}]"
    rows = _rows_of_ids(_column(nodes, node, "nodes"), known)
    columns = _feature_names(nodes, [node], node_features)
    if not columns:
        raise ValueError(f"nodes has no columns of features, only {node!r}.")
    features = _features(nodes, columns, "nodes")
    if edges is None:
        return features, np.empty((0, 2), dtype=np.int64), None
    pairs = np.column_stack(
        [
            _find_rows(rows, _column(edges, end, "edges"), f"edges[{end!r}]", known)
            for end in ends
        ]
    )
    columns = _feature_names(edges, [*ends], edge_features)
    if not columns or not len(pairs):
        return features, pairs, None
    return features, pairs, _features(edges, columns, "edges")


def _rows_of_ids(ids: NDArray[Any], name: str) -> dict[Any, int]:
    """Return the row of each id, none missing or repeated; 3 is 3.0, but not "3"."""
    check_qid(ids, len(ids), name)
    rows: dict[Any, int] = {}
    for row, one in enumerate(ids.tolist()):
        if rows.setdefault(one, row) != row:
            raise ValueError(
                f"{name} must be all different, but {one!r} is in row {rows[one]} and "
                f"in row {row}."
            )
    return rows


def _find_rows(
    rows: dict[Any, int], wanted: NDArray[Any], name: str, known: str
) -> IntArray:
    """Return the row of each wanted id, or reject the first unknown."""
    found = np.fromiter(
        map(rows.get, wanted.tolist(), repeat(-1)), np.int64, len(wanted)
    )
    if (found < 0).any():
        row = int(np.argmin(found))
        unknown, first, hint = wanted.tolist()[row], next(iter(rows)), ""
        if type(first) is not type(unknown):
            hint = (
                f" The ids there are of type {type(first).__name__}, this one is of "
                f"type {type(unknown).__name__}."
            )
        raise ValueError(
            f"{name} is {unknown!r} in row {row}, which is not in {known}.{hint}"
        )
    return found


def _feature_names(frame: Any, ids: list[str], names: Names | None) -> list[str]:
    if names is None:
        return [name for name in frame.columns if name not in ids]
    return [names] if isinstance(names, str) else list(names)


def _features(frame: Any, names: list[str], table: str) -> FloatArray:
    columns = [
        check_scores(_column(frame, name, table), name=f"{table}[{name!r}]")
        for name in names
    ]
    return np.column_stack(columns)


def _column(frame: Any, name: str, table: str) -> NDArray[Any]:
    reject_unreadable(frame, table)
    if not hasattr(frame, "columns"):
        raise TypeError(
            f"{table} must be a pandas or polars DataFrame, got a "
            f"{type(frame).__name__}."
        )
    if name not in frame.columns:
        shown = ", ".join(repr(column) for column in list(frame.columns)[:12])
        raise ValueError(f"{table} has no column {name!r}; its columns are {shown}.")
    return np.asarray(frame[name])
