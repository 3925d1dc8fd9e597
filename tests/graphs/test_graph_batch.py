import re

import numpy as np
import pandas as pd
import polars as pl
import pytest

from aucmax.graphs.graph import Graph, GraphBatch


def raises(message, kind=ValueError):
    return pytest.raises(kind, match=re.escape(message))


def random_graphs(rng, n_graphs=12):
    for _ in range(n_graphs):
        n = int(rng.integers(1, 9))
        edges = rng.integers(0, n, size=(int(rng.integers(0, 12)), 2))
        edges = edges[edges[:, 0] != edges[:, 1]]
        yield Graph(rng.normal(size=(n, 3)), edges, rng.normal(size=(len(edges), 2)))


def test_each_graph_is_found_again_in_the_batch():
    graphs = list(random_graphs(np.random.default_rng(0)))
    batch = GraphBatch.from_graphs(graphs)
    assert batch.n_graphs == len(graphs)
    assert batch.n_nodes == sum(graph.n_nodes for graph in graphs)
    assert len(batch.edges) == sum(graph.n_edges for graph in graphs)
    for m, graph in enumerate(graphs):
        nodes = slice(*batch.node_offsets[m : m + 2])
        edges = slice(*batch.edge_offsets[m : m + 2])
        np.testing.assert_array_equal(batch.node_features[nodes], graph.node_features)
        np.testing.assert_array_equal(batch.edge_features[edges], graph.edge_features)
        local = batch.edges[edges] - batch.node_offsets[m]
        np.testing.assert_array_equal(local, graph.edges)


@pytest.mark.parametrize("features", [None, [], np.empty((0, 5))])
@pytest.mark.parametrize("first", [True, False])
def test_a_graph_without_edges_fits_edge_features_of_any_width(features, first):
    bare = Graph(np.ones((2, 1)), [], features)
    full = Graph(np.ones((3, 1)), [[0, 2]], [[7.0, 8.0]])
    batch = GraphBatch.from_graphs([bare, full] if first else [full, bare])
    assert batch.edge_features.tolist() == [[7.0, 8.0]]
    assert batch.edge_offsets.tolist() == ([0, 0, 1] if first else [0, 1, 1])


def test_without_any_edges_the_first_graph_tells_the_width():
    bare = (np.ones((2, 1)), [], np.empty((0, 4)))
    assert GraphBatch.from_graphs([bare, bare]).edge_features.shape == (0, 4)
    assert GraphBatch.from_graphs([bare], n_edge_features=6).edge_features.shape == (
        0,
        6,
    )
    assert GraphBatch.from_graphs([(np.ones((2, 1)), [])]).edge_features.shape == (0, 1)


ONE = np.ones((2, 1))


@pytest.mark.parametrize(
    ("graphs", "message"),
    [
        ([], "X is empty"),
        (
            [(ONE, []), (np.ones((2, 3)), [])],
            "X[1] has 3 node features, but X[0] has 1",
        ),
        (
            [(ONE, []), (ONE, [[0, 1]], [[1.0]]), (ONE, [[0, 1]], [[1.0, 2.0]])],
            "X[2] has 2 edge features, but X[1] has 1",
        ),
        (
            [(ONE, [[0, 1]], [[1.0]]), (ONE, []), (ONE, [[0, 1]])],
            "X[2] has edges without features, but the edges of X[0] have",
        ),
        (
            [(ONE, [[0, 1]]), (ONE, [[0, 1]], [[1.0, 2.0]])],
            "X[0] has edges without features, but the edges of X[1] have",
        ),
    ],
)
def test_graphs_that_do_not_belong_together_are_named(graphs, message):
    with raises(message):
        GraphBatch.from_graphs(graphs)


@pytest.mark.parametrize(
    "graph",
    [
        Graph(ONE),
        (ONE, [[0, 1]]),
        [ONE, [[0, 1]], [[1.0]]],
        (pl.DataFrame(ONE), []),
        (pd.DataFrame(ONE), []),
    ],
)
def test_a_single_graph_must_be_wrapped_in_a_list(graph):
    with raises("got a single one; wrap it in a list", TypeError):
        GraphBatch.from_graphs(graph)


@pytest.mark.parametrize(
    ("graphs", "message"),
    [
        (5, "X must be a list of graphs, got a int"),
        (None, "got a NoneType"),
        (np.ones((4, 2)), "X[0] must be a Graph, or a tuple"),
        ([Graph(ONE), "abc"], "X[1] must be a Graph, or a tuple"),
    ],
)
def test_what_is_no_list_of_graphs_is_rejected(graphs, message):
    with raises(message, TypeError):
        GraphBatch.from_graphs(graphs)
