"""Graphs to rank: features of nodes, edges, and features of edges."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aucmax._core.validation import FloatArray, IntArray
from aucmax.graphs._graph_checks import check_edges, check_table, read_adjacency


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Graph:
    r"""An undirected graph whose nodes are to be ranked.

    With weights w of node features x and v of edge features f, a set of nodes z (0 or
    1 for each) scores

    .. math:: \sum_i w^\top x_i \, z_i + \sum_{(i, j)} v^\top f_{ij} \, z_i z_j

    An edge given several times, in either direction, is one edge with the sum of the
    features. Costs O(n + E log E) for n nodes and E edges. Tables of features that are
    float64 and in order already are kept, not copied.

    Parameters
    ----------
    node_features : array-like of shape (n_nodes, n_node_features)
        Finite numbers; one row for each node, at least one.
    edges : array-like of int of shape (n_edges, 2)
        The two nodes of each edge, numbered from 0. By default there are no edges.
    edge_features : array-like of shape (n_edges, n_edge_features), optional
        Finite numbers. By default each edge, also a repeated one, has the feature 1.

    Attributes
    ----------
    node_features, edge_features : ndarray of float64
        C-contiguous; one row per node, and per row of `edges`.
    edges : ndarray of int64 of shape (n_edges, 2)
        Distinct, the smaller node first, in ascending order.
    has_edge_features : bool
        Whether edge features were given.

    Examples
    --------
    >>> from aucmax.graphs import Graph
    >>> graph = Graph([[0.5], [1.0], [0.2]], [[2, 1], [0, 1]])
    >>> graph
    Graph(n_nodes=3, n_edges=2, n_node_features=1, n_edge_features=1)
    >>> graph.edges.tolist()
    [[0, 1], [1, 2]]
    """

    node_features: FloatArray
    edges: IntArray
    edge_features: FloatArray
    has_edge_features: bool = field(init=False)

    def __init__(
        self,
        node_features: ArrayLike,
        edges: ArrayLike = (),
        edge_features: ArrayLike | None = None,
    ) -> None:
        nodes = check_table(node_features, "node_features")
        n, has_features = len(nodes), edge_features is not None
        if n == 0:
            raise ValueError("node_features has no rows; a graph needs a node.")
        ends = check_edges(edges, n)
        # without edges, an empty list may stand for an empty table
        table = np.ones((len(ends), 1))
        given: Any = edge_features
        is_empty = not len(ends) and np.shape(given) in ((0,), (0, 0))
        if has_features and not is_empty:
            table = check_table(given, "edge_features")
        if len(table) != len(ends):
            raise ValueError(
                f"edge_features has {len(table)} rows, but there are {len(ends)} "
                "edges; each edge needs one row."
            )
        key = ends.min(axis=1) * n + ends.max(axis=1)
        if not (key[1:] > key[:-1]).all():
            order = np.argsort(key, kind="stable")
            key, table = key[order], table[order]
            starts = np.flatnonzero(np.diff(key, prepend=-1))
            if has_features:
                table = np.add.reduceat(table, starts, axis=0)
            key, table = key[starts], table[: starts.size]
        vars(self).update(  # a frozen dataclass
            node_features=nodes,
            edges=np.stack(np.divmod(key, n), axis=1),
            edge_features=table,
            has_edge_features=has_features,
        )

    def __repr__(self) -> str:
        return (
            f"Graph(n_nodes={self.n_nodes}, n_edges={self.n_edges}, "
            f"n_node_features={self.node_features.shape[1]}, "
            f"n_edge_features={self.edge_features.shape[1]})"
        )

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return len(self.node_features)

    @property
    def n_edges(self) -> int:
        """Number of distinct edges."""
        return len(self.edges)

    def with_edge_sums(self) -> Graph:
        r"""Return the graph with the sums of each node's edge features as columns.

        As :math:`z_i z_j = \frac12 (z_i + z_j - |z_i - z_j|)`, a node scores more the
        more edges it has. With these columns a model can subtract that, and keep the
        smoothing between neighbours alone.

        Returns
        -------
        Graph
            As many further node features as there are edge features. O(n + E).

        Examples
        --------
        >>> from aucmax.graphs import Graph
        >>> graph = Graph([[0.5], [1.0], [0.2]], [[0, 1], [1, 2]])
        >>> graph.with_edge_sums().node_features
        array([[0.5, 1. ],
               [1. , 2. ],
               [0.2, 1. ]])
        """
        ends, n = self.edges.ravel(), self.n_nodes
        parts = [np.repeat(column, 2) for column in self.edge_features.T]
        sums = [np.bincount(ends, part, n) for part in parts]
        columns = np.column_stack([self.node_features, *sums])
        features = self.edge_features if self.has_edge_features else None
        return Graph(columns, self.edges, features)

    @classmethod
    def from_adjacency(cls, node_features: Any, adjacency: Any) -> Graph:
        """Read the edges from a symmetric matrix, whose entries are their one feature.

        Parameters
        ----------
        node_features : array-like of shape (n_nodes, n_node_features)
            Finite numbers.
        adjacency : sparse matrix or array-like of shape (n_nodes, n_nodes)
            Symmetric up to rounding, with an empty diagonal. Zeros are not edges.

        Returns
        -------
        graph : Graph
            With one edge feature.

        Examples
        --------
        >>> from aucmax.graphs import Graph
        >>> graph = Graph.from_adjacency([[1.0], [2.0]], [[0.0, 0.3], [0.3, 0.0]])
        >>> graph.edges.tolist(), graph.edge_features.tolist()
        ([[0, 1]], [[0.3]])
        """
        nodes = check_table(node_features, "node_features")
        return cls(nodes, *read_adjacency(adjacency, len(nodes)))


def as_graph(item: Any, name: str) -> Graph:
    """Return a graph, or a tuple of its parts, as a :class:`Graph`."""
    if isinstance(item, Graph):
        return item
    is_tuple = isinstance(item, tuple | list)
    if not (is_tuple and len(item) in (2, 3)):
        length = f" of length {len(item)}" if is_tuple else ""
        raise TypeError(
            f"{name} must be a Graph, or a tuple (node_features, edges) or "
            f"(node_features, edges, edge_features), got a {type(item).__name__}"
            f"{length}. Graph.from_adjacency reads matrices."
        )
    try:
        return Graph(*item)
    except (TypeError, ValueError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"{name}: {error}") from error


def grid_edges(height: int, width: int, neighbours: int = 4) -> IntArray:
    """Return the edges between neighbouring pixels of an image.

    Parameters
    ----------
    height, width : int
        The size of the image; pixels are numbered as by ``image.ravel()``.
    neighbours : {4, 8}
        4: left, right, above and below; 8: diagonally, too.

    Returns
    -------
    edges : ndarray of int64 of shape (n_edges, 2)
        Distinct, the smaller pixel first, in ascending order.

    Examples
    --------
    >>> from aucmax.graphs import grid_edges
    >>> grid_edges(2, 2).tolist()
    [[0, 1], [0, 2], [1, 3], [2, 3]]
    """
    height, width = operator.index(height), operator.index(width)
    if height < 1 or width < 1:
        raise ValueError(
            f"height and width must be at least 1, got {height} and {width}."
        )
    if neighbours not in (4, 8):
        raise ValueError(f"neighbours must be 4 or 8, got {neighbours!r}.")
    pixels = np.arange(height * width, dtype=np.int64).reshape(height, width)
    pairs = [(pixels[:, :-1], pixels[:, 1:]), (pixels[:-1], pixels[1:])]
    if neighbours == 8:
        pairs.append((pixels[:-1, :-1], pixels[1:, 1:]))
        pairs.append((pixels[:-1, 1:], pixels[1:, :-1]))
    first, second = (
        np.concatenate([p.ravel() for p in ends]) for ends in zip(*pairs, strict=True)
    )
    order = np.lexsort((second, first))
    return np.stack([first[order], second[order]], axis=1)


@dataclass(frozen=True, eq=False, repr=False)
class GraphBatch:
    """Graphs with the same features, one after the other in one large graph; copies."""

    # graph m has the nodes from node_offsets[m] up to node_offsets[m + 1]
    graphs: list[Graph]
    node_features: FloatArray
    edges: IntArray
    edge_features: FloatArray
    node_offsets: IntArray
    edge_offsets: IntArray

    @property
    def n_graphs(self) -> int:
        """Number of graphs."""
        return len(self.graphs)

    @property
    def n_nodes(self) -> int:
        """Number of nodes of all graphs."""
        return len(self.node_features)

    @property
    def graph_of_node(self) -> IntArray:
        """The number of its graph for each node."""
        return np.repeat(np.arange(self.n_graphs), np.diff(self.node_offsets))

    @classmethod
    def from_graphs(
        cls,
        X: Iterable[Any],
        n_node_features: int | None = None,
        n_edge_features: int | None = None,
    ) -> GraphBatch:
        """Join graphs of the same features: those a model has learned, if given."""
        graphs = _as_graphs(X)
        _feature_width(graphs, "node", n_node_features)
        _reject_mixed_edges(graphs)
        width = _feature_width(graphs, "edge", n_edge_features)
        node_offsets = np.cumsum([0, *(graph.n_nodes for graph in graphs)])
        edge_offsets = np.cumsum([0, *(graph.n_edges for graph in graphs)])
        starts = np.repeat(node_offsets[:-1], np.diff(edge_offsets))
        edge_features = [np.empty((0, width))]
        edge_features += [graph.edge_features for graph in graphs if graph.n_edges]
        return cls(
            graphs,
            np.concatenate([graph.node_features for graph in graphs]),
            np.concatenate([graph.edges for graph in graphs]) + starts[:, np.newaxis],
            np.concatenate(edge_features),
            node_offsets,
            edge_offsets,
        )

    def split(self, values: NDArray[Any]) -> list[NDArray[Any]]:
        """Return views of the values of all nodes, one per graph."""
        return np.split(values, self.node_offsets[1:-1])


def _as_graphs(X: Any) -> list[Graph]:
    is_pair = isinstance(X, tuple | list) and len(X) in (2, 3)
    if isinstance(X, Graph) or (is_pair and hasattr(X[0], "shape")):
        raise TypeError(
            "X must be a list of graphs, got a single one; wrap it in a list: [graph]."
        )
    if not isinstance(X, Iterable):
        raise TypeError(f"X must be a list of graphs, got a {type(X).__name__}.")
    graphs = [as_graph(item, f"X[{position}]") for position, item in enumerate(X)]
    if not graphs:
        raise ValueError("X is empty; at least one graph is needed.")
    return graphs


def _feature_width(graphs: Sequence[Graph], kind: str, expected: int | None) -> int:
    """Return the number of node or edge features, the same in all graphs."""
    owners = [p for p, graph in enumerate(graphs) if kind == "node" or graph.n_edges]
    widths = [getattr(graph, f"{kind}_features").shape[1] for graph in graphs]
    whose = "the model has learned"
    if expected is None:
        first = owners[0] if owners else 0
        expected, whose = widths[first], f"X[{first}] has"
    for position in owners:
        if widths[position] != expected:
            which = "graphs" if kind == "node" else "graphs with edges"
            raise ValueError(
                f"X[{position}] has {widths[position]} {kind} features, but {whose} "
                f"{expected}; all {which} need the same."
            )
    return expected


def _reject_mixed_edges(graphs: Sequence[Graph]) -> None:
    """Reject edges without features beside those of other graphs with features."""
    linked = [(p, graph) for p, graph in enumerate(graphs) if graph.n_edges]
    kinds = {graph.has_edge_features: p for p, graph in reversed(linked)}
    if len(kinds) == 2:
        raise ValueError(
            f"X[{kinds[False]}] has edges without features, but the edges of "
            f"X[{kinds[True]}] have features. Pass edge features for every graph "
            "with edges, or for none."
        )
