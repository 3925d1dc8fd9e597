"""Many graphs as one: their nodes and edges one after the other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucmax._core.validation import FloatArray, IntArray
from aucmax.graphs.graph import Graph, as_graph


@dataclass(frozen=True, eq=False, repr=False)
class GraphBatch:
    """Graphs with the same features, one after the other in one large graph; copies."""

    # graph m has the nodes from node_offsets[m] up to node_offsets[m + 1]
    node_features: FloatArray
    edges: IntArray
    edge_features: FloatArray
    node_offsets: IntArray
    edge_offsets: IntArray

    @property
    def n_graphs(self) -> int:
        """Number of graphs."""
        return self.node_offsets.size - 1

    @property
    def n_nodes(self) -> int:
        """Number of nodes of all graphs."""
        return len(self.node_features)

    @property
    def graph_of_node(self) -> IntArray:
        """The number of its graph for each node."""
        return np.repeat(np.arange(self.n_graphs), np.diff(self.node_offsets))

    @classmethod
    def of(
        cls,
        X: Iterable[Any],
        n_node_features: int | None = None,
        n_edge_features: int | None = None,
    ) -> GraphBatch:
        """Join graphs of the same features: those a model has learned, if given."""
        graphs = _as_graphs(X)
        _check_widths(list(enumerate(graphs)), "node", n_node_features)
        width = _edge_width(graphs, n_edge_features)
        node_offsets = _offsets([graph.n_nodes for graph in graphs])
        edge_offsets = _offsets([graph.n_edges for graph in graphs])
        starts = np.repeat(node_offsets[:-1], np.diff(edge_offsets))
        edge_features = [np.empty((0, width))]
        edge_features += [graph.edge_features for graph in graphs if graph.n_edges]
        return cls(
            np.concatenate([graph.node_features for graph in graphs]),
            np.concatenate([graph.edges for graph in graphs]) + starts[:, np.newaxis],
            np.concatenate(edge_features),
            node_offsets,
            edge_offsets,
        )

    def take(self, chosen: IntArray) -> GraphBatch:
        """Return the graphs of these numbers, in the given order."""
        nodes = _ranges(self.node_offsets, chosen)
        edges = _ranges(self.edge_offsets, chosen)
        new_number = np.full(self.n_nodes, -1, dtype=np.int64)
        new_number[nodes] = np.arange(nodes.size)
        return GraphBatch(
            self.node_features[nodes],
            new_number[self.edges[edges]],
            self.edge_features[edges],
            _offsets(np.diff(self.node_offsets)[chosen]),
            _offsets(np.diff(self.edge_offsets)[chosen]),
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
    listed = [as_graph(item, f"X[{position}]") for position, item in enumerate(X)]
    if not listed:
        raise ValueError("X is empty; at least one graph is needed.")
    return listed


def _ranges(offsets: IntArray, chosen: IntArray) -> IntArray:
    """Return the positions from offsets[m] up to offsets[m + 1] for each m, in turn."""
    return np.concatenate([np.arange(offsets[m], offsets[m + 1]) for m in chosen])


def _offsets(sizes: Any) -> IntArray:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def _check_widths(
    graphs: Sequence[tuple[int, Graph]], kind: str, expected: int | None
) -> int:
    """Return the number of node or edge features, the same in all graphs."""
    widths = [getattr(graph, f"{kind}_features").shape[1] for _, graph in graphs]
    whose = "the model has learned"
    if expected is None:
        expected, whose = widths[0], f"X[{graphs[0][0]}] has"
    which = "graphs" if kind == "node" else "graphs with edges"
    for (position, _), width in zip(graphs, widths, strict=True):
        if width != expected:
            raise ValueError(
                f"X[{position}] has {width} {kind} features, but {whose} "
                f"{expected}; all {which} need the same."
            )
    return expected


def _edge_width(graphs: list[Graph], expected: int | None) -> int:
    """Return the number of edge features, the same in all graphs that have edges."""
    linked = [(p, graph) for p, graph in enumerate(graphs) if graph.n_edges]
    if not linked:
        return graphs[0].edge_features.shape[1] if expected is None else expected
    with_features = [p for p, graph in linked if graph.has_edge_features]
    without = [p for p, graph in linked if not graph.has_edge_features]
    if with_features and without:
        raise ValueError(
            f"X[{without[0]}] has edges without features, but the edges of "
            f"X[{with_features[0]}] have features. Pass edge features for every graph "
            "with edges, or for none."
        )
    return _check_widths(linked, "edge", expected)
