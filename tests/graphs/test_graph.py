import copy
import dataclasses
import pickle
import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from aucmax.graphs.graph import Graph, as_graph, grid_edges

NODES = np.arange(10.0).reshape(5, 2)


def raises(message, kind=ValueError):
    return pytest.raises(kind, match=re.escape(message))


def merged_by_definition(edges, features):
    """Edges without direction, each once, with the sum of the features."""
    sums = {}
    for (i, j), row in zip(edges, features, strict=True):
        pair = (min(i, j), max(i, j))
        sums[pair] = sums.get(pair, 0) + np.asarray(row)
    return sorted(sums), [sums[pair] for pair in sorted(sums)]


def test_a_graph_keeps_what_is_in_order_already():
    edges = np.array([[0, 1], [0, 4], [2, 3]])
    features = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    graph = Graph(NODES, edges, features)
    assert graph.node_features is NODES
    assert graph.edge_features is features
    np.testing.assert_array_equal(graph.edges, edges)
    assert (graph.n_nodes, graph.n_edges) == (5, 3)
    assert graph.has_edge_features


@settings(deadline=None)
@given(st.data())
def test_edges_in_any_order_and_direction_are_merged_by_sum(data):
    n = data.draw(st.integers(2, 6))
    pair = st.permutations(range(n)).map(lambda order: order[:2])
    edges = data.draw(st.lists(pair, max_size=20))
    row = st.tuples(st.integers(-9, 9), st.integers(-9, 9))
    features = data.draw(st.lists(row, min_size=len(edges), max_size=len(edges)))
    graph = Graph(np.ones((n, 1)), edges, features)
    pairs, sums = merged_by_definition(edges, features)
    assert graph.edges.shape == (len(pairs), 2)
    assert [tuple(edge) for edge in graph.edges.tolist()] == pairs
    if pairs:
        np.testing.assert_array_equal(graph.edge_features, sums)
    assert graph.edges.flags.c_contiguous
    assert graph.edge_features.flags.c_contiguous


def test_edges_without_features_count_once_however_often_given():
    graph = Graph(NODES, [[1, 0], [0, 1], [3, 2], [0, 1]])
    assert graph.edges.tolist() == [[0, 1], [2, 3]]
    assert graph.edge_features.tolist() == [[1.0], [1.0]]
    assert not graph.has_edge_features


@pytest.mark.parametrize(
    "dtype", [np.int8, np.uint8, np.int32, np.uint64, np.int64, np.float32, object]
)
def test_whole_numbers_of_any_type_are_edges(dtype):
    graph = Graph(NODES, np.array([[4, 1], [0, 3]], dtype=dtype))
    assert graph.edges.tolist() == [[0, 3], [1, 4]]
    assert graph.edges.dtype == np.int64


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames_of_numbers_serve_as_tables(frame):
    nodes = frame({"a": [1, 2, 3], "b": [0.5, 1.5, 2.5]})
    graph = Graph(nodes, frame({"i": [2, 0], "j": [1, 1]}), frame({"w": [7, 8]}))
    assert graph.node_features.tolist() == [[1, 0.5], [2, 1.5], [3, 2.5]]
    assert graph.edges.tolist() == [[0, 1], [1, 2]]
    assert graph.edge_features.tolist() == [[8.0], [7.0]]


def test_arrays_may_be_read_only_and_are_never_changed():
    nodes, edges = NODES.copy(), np.array([[3, 1], [0, 2], [1, 3]])
    features = np.array([[1.0], [2.0], [3.0]])
    for array in (nodes, edges, features):
        array.flags.writeable = False
    graph = Graph(nodes, edges, features)
    assert graph.edges.tolist() == [[0, 2], [1, 3]]
    assert graph.edge_features.tolist() == [[2.0], [4.0]]
    assert edges.tolist() == [[3, 1], [0, 2], [1, 3]]


def test_large_node_numbers_in_small_integers_do_not_overflow():
    n = 200_000
    ends = np.array([[n - 1, 0], [n - 1, n - 2], [0, n - 1]], dtype=np.int32)
    graph = Graph(np.zeros((n, 1)), ends)
    assert graph.edges.tolist() == [[0, n - 1], [n - 2, n - 1]]


def test_a_graph_is_frozen_and_can_be_copied():
    graph = Graph(NODES, [[0, 1]], [[2.0]])
    with pytest.raises(dataclasses.FrozenInstanceError):
        graph.edges = np.empty((0, 2))
    for again in (pickle.loads(pickle.dumps(graph)), copy.deepcopy(graph)):
        assert again.edges.tolist() == [[0, 1]]
        assert again.has_edge_features
    wider = dataclasses.replace(graph, node_features=np.ones((5, 7)))
    assert repr(wider) == (
        "Graph(n_nodes=5, n_edges=1, n_node_features=7, n_edge_features=1)"
    )


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        (np.empty((0, 2)), "node_features has no rows"),
        (np.empty((2, 0)), "node_features has no columns"),
        ([1.0, 2.0], "shape (2,). Use reshape(-1, 1)"),
        ([[1.0, 2.0], [3.0]], "node_features is not a table of numbers"),
        (
            [[1.0, 2.0], [3.0, np.nan]],
            "node_features[:, 1] must be finite, but row 1 is nan",
        ),
        ([["a", "b"]], "node_features[:, 0] must hold real numbers"),
        (np.ma.masked_equal([[1.0, 2.0]], 2.0), "node_features is masked in row 0"),
        (sparse.eye_array(3), "node_features is sparse"),
        (pl.LazyFrame({"x": [1.0]}), "node_features is a LazyFrame"),
    ],
)
def test_bad_node_features_are_rejected(nodes, message):
    with pytest.raises((ValueError, TypeError), match=re.escape(message)):
        Graph(nodes)


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        ([[0, 1], [1, 5]], "edges[1] is (1, 5), but the 5 nodes are numbered from 0"),
        ([[0, 1], [2, 3], [-1, 2]], "edges[2] is (-1, 2)"),
        ([[1, 2], [4, 5]], "If yours are numbered from 1, subtract 1"),
        (np.array([[0, 2**64 - 1]], dtype=np.uint64), "(0, 18446744073709551615)"),
        ([[0, 2**70]], "numbered from 0 to 4"),
        ([[0, 1], [3, 3]], "edges[1] joins node 3 to itself"),
        ([[0, 1], [0.5, 2]], "edges[1] is (0.5, 2.0)"),
        ([[0, 1], [np.nan, 2]], "edges[1] is (nan, 2.0)"),
        ([0, 1], "(n_edges, 2), a pair of nodes for each edge, got shape (2,)"),
        ([[0, 1, 2], [1, 2, 3]], "got shape (2, 3). Transpose it."),
        ([[0, 1], [2]], "edges must be pairs of nodes"),
        (np.empty((0, 2, 1)), "got shape (0, 2, 1)"),
    ],
)
def test_bad_edges_are_rejected(edges, message):
    with raises(message):
        Graph(NODES, edges)


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        ([["a", "b"]], "edges[0] is ('a', 'b')). Number the nodes"),
        (np.array([[0, None]], dtype=object), "edges[:, 1] must hold real numbers"),
        (np.eye(2, dtype=bool), "dtype bool"),
        (sparse.eye_array(5), "Graph.from_adjacency"),
        (pl.LazyFrame({"i": [0], "j": [1]}), "edges is a LazyFrame"),
    ],
)
def test_edges_of_a_wrong_kind_are_rejected(edges, message):
    with raises(message, TypeError):
        Graph(NODES, edges)


@pytest.mark.parametrize(
    ("features", "message"),
    [
        ([[1.0]], "edge_features has 1 rows, but there are 2 edges"),
        ([1.0, 2.0], "edge_features must be two-dimensional, got an array of shape (2"),
        (np.empty((2, 0)), "edge_features has no columns"),
        ([[1.0], [np.inf]], "edge_features[:, 0] must be finite, but row 1 is inf"),
        ([], "edge_features must be two-dimensional"),
    ],
)
def test_bad_edge_features_are_rejected(features, message):
    with raises(message):
        Graph(NODES, [[0, 1], [1, 2]], features)


# --- adjacency matrices ---------------------------------------------------------------

FORMATS = ["csr", "csc", "coo", "lil", "dok", "dia", "bsr"]
WEIGHTS = np.array([[0, 2, 0, 0], [2, 0, 0, -0.5], [0, 0, 0, 0], [0, -0.5, 0, 0]])


@pytest.mark.parametrize("kind", [*FORMATS, "dense", "list", "matrix", "frame"])
def test_adjacency_in_any_form_gives_edges_and_weights(kind):
    forms = {"dense": WEIGHTS, "list": WEIGHTS.tolist(), "frame": pd.DataFrame(WEIGHTS)}
    forms["matrix"] = sparse.csr_matrix(WEIGHTS)
    adjacency = (
        forms[kind] if kind in forms else sparse.coo_array(WEIGHTS).asformat(kind)
    )
    graph = Graph.from_adjacency(np.ones((4, 1)), adjacency)
    assert graph.edges.tolist() == [[0, 1], [1, 3]]
    assert graph.edge_features.tolist() == [[2.0], [-0.5]]
    assert graph.has_edge_features


def test_stored_zeros_are_no_edges_and_stored_parts_add_up():
    rows, columns = [0, 1, 1, 0, 2, 3, 0], [1, 0, 2, 1, 1, 3, 2]
    parts = np.array([1.0, 3.0, 0.0, 2.0, 0.0, 0.0, 0.0])
    adjacency = sparse.coo_array((parts, (rows, columns)), shape=(4, 4))
    graph = Graph.from_adjacency(np.ones((4, 1)), adjacency)
    assert graph.edges.tolist() == [[0, 1]]
    assert graph.edge_features.tolist() == [[3.0]]
    assert adjacency.nnz == 7  # the caller's matrix is left as it was


def changed(i, j, value):
    adjacency = WEIGHTS.copy()
    adjacency[i, j] = value
    return adjacency


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, sparse.coo_matrix])
@pytest.mark.parametrize(
    ("adjacency", "message"),
    [
        (changed(3, 0, 1), "adjacency[0, 3] is 0 and adjacency[3, 0] is 1"),
        (changed(0, 1, 5), "adjacency[0, 1] is 5 and adjacency[1, 0] is 2"),
        (changed(2, 2, 4), "must have a diagonal of 0, but adjacency[2, 2] is 4"),
        (changed(3, 1, np.nan), "adjacency[3, 1] is nan"),
        (changed(0, 2, np.inf), "adjacency[0, 2] is inf"),
        (WEIGHTS[:3, :3], "must be of shape (4, 4)"),
        (np.zeros((5, 5)), "must be of shape (4, 4)"),
        (WEIGHTS[:3], "got shape (3, 4)"),
    ],
)
def test_bad_adjacency_is_rejected(adjacency, message, form):
    with raises(message):
        Graph.from_adjacency(np.ones((4, 1)), form(adjacency))


# --- tuples ---------------------------------------------------------------------------


def test_tuples_and_lists_are_taken_as_graphs():
    graph = Graph(NODES, [[0, 1]])
    assert as_graph(graph, "graph") is graph
    assert not as_graph((NODES, [[0, 1]]), "graph").has_edge_features
    whole = as_graph([NODES, np.array([[0, 1]]), np.array([[5.0, 6.0]])], "graph")
    assert whole.edge_features.tolist() == [[5.0, 6.0]]


@pytest.mark.parametrize(
    ("item", "message", "kind"),
    [
        (NODES, "X[7] must be a Graph, or a tuple (node_features", TypeError),
        ((NODES,), "got a tuple of length 1", TypeError),
        (None, "got a NoneType", TypeError),
        ((NODES, [[0, 9]]), "X[7]: edges[0] is (0, 9)", ValueError),
        ((NODES, [["a", "b"]]), "X[7]: edges must hold the numbers", TypeError),
    ],
)
def test_errors_of_an_item_name_its_position(item, message, kind):
    with raises(message, kind):
        as_graph(item, "X[7]")


# --- grids ----------------------------------------------------------------------------


@pytest.mark.parametrize("neighbours", [4, 8])
@pytest.mark.parametrize("shape", [(1, 1), (1, 4), (4, 1), (2, 2), (3, 2), (4, 5)])
def test_grid_edges_join_pixels_that_touch(shape, neighbours):
    places = [(i, j) for i in range(shape[0]) for j in range(shape[1])]
    expected = [
        [a, b]
        for a, (i, j) in enumerate(places)
        for b, (k, m) in enumerate(places)
        if a < b
        and max(abs(i - k), abs(j - m)) == 1
        and (neighbours == 8 or i == k or j == m)
    ]
    edges = grid_edges(*shape, neighbours=neighbours)
    assert edges.dtype == np.int64
    assert edges.shape == (len(expected), 2)
    assert edges.tolist() == expected


@pytest.mark.parametrize(
    ("arguments", "message"),
    [((0, 3), "got 0 and 3"), ((3, -1), "3 and -1"), ((3, 3, 6), "4 or 8, got 6")],
)
def test_impossible_grids_are_rejected(arguments, message):
    with raises(message):
        grid_edges(*arguments)


def test_edge_sums_become_columns_of_the_nodes():
    edges, features = [[0, 1], [2, 1], [1, 0]], [[0.5, 1.0], [2.0, 0.0], [1.0, 3.0]]
    graph = Graph([[7.0], [8.0], [9.0], [6.0]], edges, features).with_edge_sums()
    expected = [[7.0, 1.5, 4.0], [8.0, 3.5, 4.0], [9.0, 2.0, 0.0], [6.0, 0.0, 0.0]]
    np.testing.assert_array_equal(graph.node_features, expected)
    assert graph.edges.tolist() == [[0, 1], [1, 2]]
    assert graph.edge_features.tolist() == [[1.5, 4.0], [2.0, 0.0]]
