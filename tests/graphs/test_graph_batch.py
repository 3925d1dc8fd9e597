import re

import numpy as np
import pandas as pd
import polars as pl
import pytest

from aucmax.graphs.graph import Graph, GraphBatch, grid_edges


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


def test_edges_of_a_batch_stay_sorted_and_contiguous():
    batch = GraphBatch.from_graphs(
        random_graphs(np.random.default_rng(1))
    )  # a generator
    key = batch.edges @ [batch.n_nodes, 1]
    assert (np.diff(key) > 0).all()
    for array in (batch.node_features, batch.edges, batch.edge_features):
        assert array.flags.c_contiguous
        assert array.flags.writeable
    assert batch.edges.dtype == batch.node_offsets.dtype == np.int64


def test_a_batch_of_one_graph_does_not_share_its_arrays():
    graph = Graph(np.ones((3, 2)), [[0, 1]], [[4.0]])
    batch = GraphBatch.from_graphs([graph])
    assert batch.node_offsets.tolist() == [0, 3]
    assert batch.edge_offsets.tolist() == [0, 1]
    batch.edges[0, 1] = 2
    batch.node_features[:] = 0
    batch.edge_features[:] = 0
    assert graph.edges.tolist() == [[0, 1]]
    assert graph.node_features.min() == 1
    assert graph.edge_features.tolist() == [[4.0]]


def test_split_returns_the_values_of_each_graph():
    batch = GraphBatch.from_graphs([(np.ones((n, 1)), []) for n in (2, 1, 3)])
    parts = batch.split(np.arange(6.0))
    assert [part.tolist() for part in parts] == [[0, 1], [2], [3, 4, 5]]


def test_graphs_and_tuples_can_be_mixed():
    image = np.random.default_rng(0).normal(size=(12, 1))
    batch = GraphBatch.from_graphs([Graph(image, grid_edges(3, 4)), (image, [[3, 1]])])
    assert len(batch.edges) == 18
    assert batch.edges[-1].tolist() == [13, 15]
    assert (batch.edge_features == 1).all()


def test_an_array_of_graphs_is_a_sequence_of_graphs():
    graphs = np.empty(2, dtype=object)
    graphs[:] = [Graph([[1.0]]), Graph([[2.0]])]
    assert GraphBatch.from_graphs(graphs).node_features.tolist() == [[1.0], [2.0]]


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
        (
            [(ONE, []), (ONE, [[0, 2]])],
            "X[1]: edges[0] is (0, 2), but the 2 nodes",
        ),
        ([(ONE, []), (ONE, [[1, 1]])], "X[1]: edges[0] joins node 1 to itself"),
    ],
)
def test_graphs_that_do_not_belong_together_are_named(graphs, message):
    with raises(message):
        GraphBatch.from_graphs(graphs)


def test_graphs_must_have_the_features_a_model_has_learned():
    graphs = [(ONE, []), (ONE, [[0, 1]], [[1.0]])]
    batch = GraphBatch.from_graphs(graphs, n_node_features=1, n_edge_features=1)
    assert batch.n_graphs == 2
    with raises("X[0] has 1 node features, but the model has learned 4"):
        GraphBatch.from_graphs(graphs, n_node_features=4)
    with raises("X[1] has 1 edge features, but the model has learned 2"):
        GraphBatch.from_graphs(graphs, n_edge_features=2)


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
