"""Graphs to rank: features of nodes, edges, and features of edges."""

from __future__ import annotations

import operator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from aucmax._core.validation import FloatArray, IntArray
from aucmax.graphs._graph_checks import check_edges, check_table
from aucmax.graphs.adjacency import read_adjacency


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
        if nodes.shape[0] == 0:
            raise ValueError("node_features has no rows; a graph needs a node.")
        checked = check_edges(edges, nodes.shape[0])
        table = _edge_table(edge_features, len(checked))
        merged = _merge_edges(
            checked, table, nodes.shape[0], add=edge_features is not None
        )
        # a frozen dataclass
        vars(self).update(
            node_features=nodes,
            edges=merged[0],
            edge_features=merged[1],
            has_edge_features=edge_features is not None,
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
        sums = [
            np.bincount(ends, np.repeat(column, 2), n)
            for column in self.edge_features.T
        ]
        columns = np.column_stack([self.node_features, *sums])
        given = self.edge_features if self.has_edge_features else None
        return Graph(columns, self.edges, given)

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
        of_length = f" of length {len(item)}" if is_tuple else ""
        raise TypeError(
            f"{name} must be a Graph, or a tuple (node_features, edges) or "
            f"(node_features, edges, edge_features), got a {type(item).__name__}"
            f"{of_length}. Graph.from_adjacency reads matrices."
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
    pixels = np.arange(height * width, dtype=np.int64)
    row, column = np.divmod(pixels, width)
    has_right, has_below = column < width - 1, row < height - 1
    # later neighbours, in ascending order: right, below left, below, below right
    steps = np.array([1, width - 1, width, width + 1], dtype=np.int64)
    exists = np.stack(
        [has_right, has_below & (column > 0), has_below, has_below & has_right], axis=1
    )
    if neighbours == 4:
        exists[:, [1, 3]] = False
    first, which = np.nonzero(exists)
    return np.stack([first, first + steps[which]], axis=1)


def _edge_table(edge_features: Any, n_edges: int) -> FloatArray:
    """Return the features of the edges, before equal edges are merged."""
    # without edges, an empty list may stand for an empty table
    if edge_features is None or (
        n_edges == 0 and np.shape(edge_features) in ((0,), (0, 0))
    ):
        return np.ones((n_edges, 1))
    table = check_table(edge_features, "edge_features")
    if len(table) != n_edges:
        raise ValueError(
            f"edge_features has {len(table)} rows, but there are {n_edges} edges; each "
            "edge needs one row."
        )
    return table


def _merge_edges(
    edges: IntArray, features: FloatArray, n_nodes: int, *, add: bool
) -> tuple[IntArray, FloatArray]:
    """Sort the edges; of equal ones, add the features up or keep the first."""
    first, second = edges.min(axis=1), edges.max(axis=1)
    key = first * n_nodes + second
    if (key[1:] > key[:-1]).all():
        return np.stack([first, second], axis=1), features
    order = np.argsort(key, kind="stable")
    key, features = key[order], features[order]
    starts = np.flatnonzero(np.concatenate([[True], key[1:] > key[:-1]]))
    if starts.size < key.size:
        key = key[starts]
        features = (
            np.add.reduceat(features, starts, axis=0) if add else features[starts]
        )
    return np.stack(np.divmod(key, n_nodes), axis=1), features
