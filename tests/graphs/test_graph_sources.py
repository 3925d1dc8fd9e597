"""Graphs from data frames and from NetworkX."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest

from aucmax import graphs
from aucmax.graphs.graph import Graph


def raises(message, kind=ValueError):
    return pytest.raises(kind, match=re.escape(message))


def test_neither_frames_nor_networkx_are_imported():
    for path in Path(graphs.__file__).parent.glob("*.py"):
        text = path.read_text()
        assert not re.search(r"(?m)^ *(import|from) (polars|pandas|networkx)", text)


# --- data frames ----------------------------------------------------------------------

PEOPLE = {"node": ["Bo", "Ada", "Cy"], "age": [41, 36, 29], "h": [0.1, 0.2, 0.3]}
PAIRS = {"source": ["Cy", "Ada"], "target": ["Bo", "Bo"], "papers": [3, 1]}

frames = pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])


@frames
def test_ids_become_rows_and_other_columns_features(frame):
    graph = Graph.from_frames(frame(PEOPLE), frame(PAIRS))
    assert graph.node_features.tolist() == [[41, 0.1], [36, 0.2], [29, 0.3]]
    assert graph.edges.tolist() == [[0, 1], [0, 2]]
    assert graph.edge_features.tolist() == [[1.0], [3.0]]
    assert graph.has_edge_features


@frames
def test_columns_can_be_named(frame):
    nodes = frame({"who": [7, 9], "text": ["x", "y"], "a": [1, 2], "b": [3, 4]})
    edges = frame({"from": [9], "to": [7], "why": ["?"], "w": [0.5], "v": [2]})
    graph = Graph.from_frames(
        nodes,
        edges,
        node="who",
        source="from",
        target="to",
        node_features=["b", "a"],
        edge_features="w",
    )
    assert graph.node_features.tolist() == [[3, 1], [4, 2]]
    assert graph.edge_features.tolist() == [[0.5]]


@frames
def test_edges_without_further_columns_have_the_one_feature_1(frame):
    ends = {name: PAIRS[name] for name in ("source", "target")}
    graph = Graph.from_frames(frame(PEOPLE), frame(ends))
    assert graph.edge_features.tolist() == [[1.0], [1.0]]
    assert not graph.has_edge_features


@frames
def test_frames_may_hold_no_edges(frame):
    nothing = frame({"source": [], "target": [], "papers": []})
    for edges in (None, nothing):
        assert Graph.from_frames(frame(PEOPLE), edges).n_edges == 0


@frames
@pytest.mark.parametrize(
    "dtype", [np.int8, np.uint32, np.int64, np.float64, str, object]
)
def test_ids_of_any_type_are_found(frame, dtype):
    rng = np.random.default_rng(0)
    ids = rng.permutation(40).astype(dtype)
    ends = rng.permuted(np.tile(np.arange(40), (30, 1)), axis=1)[:, :2]
    nodes = frame({"node": ids, "x": np.arange(40)})
    edges = frame({"source": ids[ends[:, 0]], "target": ids[ends[:, 1]]})
    graph = Graph.from_frames(nodes, edges)
    np.testing.assert_array_equal(graph.edges, Graph(np.ones((40, 1)), ends).edges)


@frames
def test_whole_floats_find_integer_ids(frame):
    nodes = frame({"node": [2**53, 2**53 + 1, 5], "x": [1, 2, 3]})
    edges = frame({"source": [5.0], "target": [float(2**53)]})
    assert Graph.from_frames(nodes, edges).edges.tolist() == [[0, 2]]


def test_frames_of_both_kinds_and_special_columns_work_together():
    nodes = pd.DataFrame(
        {
            "node": pd.Categorical(["a", "b", "c"]),
            "x": pd.array([1, 2, 3], dtype="Int64"),
            "y": pd.array([True, False, True], dtype="boolean"),
        }
    )
    edges = pl.DataFrame({"source": ["c"], "target": ["a"]}).cast(pl.Categorical)
    graph = Graph.from_frames(nodes, edges)
    assert graph.node_features.tolist() == [[1, 1], [2, 0], [3, 1]]
    assert graph.edges.tolist() == [[0, 2]]


@frames
@pytest.mark.parametrize(
    ("nodes", "edges", "message"),
    [
        (
            {},
            {"target": ["Bo", "Di"]},
            "edges['target'] is 'Di' in row 1, which is not",
        ),
        ({}, {"source": ["Cy", None]}, "edges['source'] is None in row 1"),
        ({}, {"source": [3, 4]}, "of type str, this one is of type int"),
        ({}, {"source": ["Cy", "Bo"]}, "edges[1] joins node 0 to itself"),
        ({}, {"papers": [1, None]}, "edges['papers'] must be finite, but row 1 is nan"),
        ({}, {"papers": ["x", "y"]}, "edges['papers'] must hold real numbers"),
        ({"node": ["Bo", "Cy", "Cy"]}, {}, "'Cy' is in row 1 and in row 2"),
        ({"node": ["Bo", None, "Cy"]}, {}, "nodes['node'] is None in row 1"),
        ({"h": [0.0, 1.0, np.inf]}, {}, "nodes['h'] must be finite, but row 2 is inf"),
        ({"h": ["a", "b", "c"]}, {}, "nodes['h'] must hold real numbers"),
    ],
)
def test_bad_cells_are_named(frame, nodes, edges, message):
    if frame is pd.DataFrame:  # where a text that is missing is a NaN
        message = message.replace("is None in row", "is nan in row")
    with pytest.raises((ValueError, TypeError), match=re.escape(message)):
        Graph.from_frames(frame(PEOPLE | nodes), frame(PAIRS | edges))


@frames
def test_numeric_ids_that_are_unknown_missing_or_repeated_are_named(frame):
    nodes = frame({"node": [30, 10, 20], "x": [1, 2, 3]})
    for ends, message in [
        ([10, 25], "edges['target'] is 25 in row 1, which is not in nodes['node']"),
        ([10, 99], "edges['target'] is 99 in row 1"),
        ([10, None], "edges['target'] is nan in row 1"),
        (["10", "20"], "edges['target'] is '10' in row 0"),
    ]:
        with raises(message):
            Graph.from_frames(nodes, frame({"source": [30, 30], "target": ends}))
    with raises("10 is in row 1 and in row 3"):
        Graph.from_frames(frame({"node": [30, 10, 20, 10, 10], "x": [0] * 5}))


@frames
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"node": "name"}, "nodes has no column 'name'; its columns are 'node', 'age'"),
        ({"source": "from"}, "edges has no column 'from'; its columns are 'source'"),
        ({"target": "to"}, "edges has no column 'to'"),
        ({"node_features": ["age", "size"]}, "nodes has no column 'size'"),
        ({"edge_features": "w"}, "edges has no column 'w'"),
        ({"node_features": []}, "nodes has no columns of features"),
    ],
)
def test_missing_columns_are_named(frame, arguments, message):
    with raises(message):
        Graph.from_frames(frame(PEOPLE), frame(PAIRS), **arguments)


@frames
def test_nodes_need_a_row_and_a_feature(frame):
    with raises("nodes['node'] is empty"):
        Graph.from_frames(frame({"node": [], "x": []}))
    with raises("nodes has no columns of features, only 'node'"):
        Graph.from_frames(frame({"node": [1]}))


def test_what_is_no_frame_is_rejected():
    with raises("nodes must be a pandas or polars DataFrame, got a dict", TypeError):
        Graph.from_frames(PEOPLE)
    with raises("edges must be a pandas or polars DataFrame, got a list", TypeError):
        Graph.from_frames(pl.DataFrame(PEOPLE), [("Cy", "Bo")])
    with raises("nodes is a LazyFrame", TypeError):
        Graph.from_frames(pl.LazyFrame(PEOPLE))
    with raises("edges is a LazyFrame", TypeError):
        Graph.from_frames(pl.DataFrame(PEOPLE), pl.LazyFrame(PAIRS))


# --- NetworkX -------------------------------------------------------------------------


class View:
    """Names when iterated over, with their attributes when called."""

    def __init__(self, items):
        self.items = items

    def __iter__(self):
        return iter(item[0] for item in self.items)

    def __call__(self, data):
        assert data is True
        return iter(self.items)


class StandIn:
    """The part of networkx.Graph that is read, so that tests need no NetworkX."""

    def __init__(self, nodes, edges, directed=False):
        self.nodes = View(list(nodes.items()))
        self.edges = View(edges)
        self.directed = directed

    def is_directed(self):
        return self.directed


def network(nodes, edges, directed=False):
    networkx = pytest.importorskip("networkx")
    graph = networkx.MultiDiGraph() if directed else networkx.MultiGraph()
    graph.add_nodes_from(nodes.items())
    graph.add_edges_from(edges)
    return graph


makers = pytest.mark.parametrize("make", [StandIn, network])
TOWNS = {
    "Ulm": {"size": 3, "place": [0.1, 0.2]},
    "Bonn": {"size": 5, "place": [0.3, 0.4]},
    4: {"size": 8, "place": [0.5, 0.6]},
}
ROADS = [
    ("Ulm", 4, {"length": 2.0, "lanes": 1}),
    (4, "Bonn", {"length": 7, "lanes": 3}),
]


@makers
def test_lists_of_attributes_become_columns(make):
    graph = Graph.from_networkx(make(TOWNS, ROADS), ["size"], ["lanes", "length"])
    assert graph.node_features.tolist() == [[3.0], [5.0], [8.0]]
    assert graph.edges.tolist() == [[0, 2], [1, 2]]
    assert graph.edge_features.tolist() == [[1.0, 2.0], [3.0, 7.0]]


@makers
def test_one_attribute_may_hold_a_vector(make):
    graph = Graph.from_networkx(make(TOWNS, ROADS), "place", "length")
    assert graph.node_features.tolist() == [[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]]
    assert graph.edge_features.tolist() == [[2.0], [7.0]]


@makers
def test_edges_without_attributes_have_the_one_feature_1(make):
    graph = Graph.from_networkx(make(TOWNS, ROADS), "size")
    assert graph.edge_features.tolist() == [[1.0], [1.0]]
    assert not graph.has_edge_features


@makers
def test_features_are_in_the_attribute_of_that_name_unless_told(make):
    nodes = {name: data | {"features": data["place"]} for name, data in TOWNS.items()}
    graph = Graph.from_networkx(make(nodes, ROADS))
    assert graph.node_features.tolist() == [[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]]
    assert not graph.has_edge_features
    edges = [(i, j, data | {"features": data["lanes"]}) for i, j, data in ROADS]
    assert Graph.from_networkx(make(nodes, edges)).edge_features.tolist() == [[1], [3]]
    with raises("has no attribute 'features'; it has 'length', 'lanes'"):
        Graph.from_networkx(make(nodes, [edges[0], ROADS[1]]))


@makers
def test_parallel_edges_add_up(make):
    twice = [*ROADS, (4, "Ulm", {"length": 0.5, "lanes": 1})]
    graph = Graph.from_networkx(make(TOWNS, twice), "size", "length")
    assert graph.edge_features.tolist() == [[2.5], [7.0]]


@makers
def test_a_network_may_have_no_edges(make):
    graph = Graph.from_networkx(make(TOWNS, []), "size", ["length", "lanes"])
    assert (graph.n_nodes, graph.n_edges) == (3, 0)


@makers
@pytest.mark.parametrize(
    ("nodes", "edges", "message"),
    [
        ({}, [("Ulm", "Ulm", {"length": 1})], "joins node 'Ulm' to itself"),
        ({4: {"place": 1}}, [], "node 4 has no attribute 'size'; it has 'place'"),
        ({"Ulm": {}}, [], "node 'Ulm' has no attribute 'size'; it has none"),
        ({}, [("Ulm", 4, {})], "edge ('Ulm', 4) has no attribute 'length'"),
        ({4: {"size": [1, 2]}}, [], "of node 4 holds 2 numbers, but that of 'Ulm' hol"),
        ({4: {"size": np.nan}}, [], "row 2, column 0 is nan"),
        ({4: {"size": "big"}}, [], "must hold real numbers"),
        ({4: {"size": None}}, [], "must hold real numbers, but row 2 is None"),
    ],
)
def test_bad_attributes_are_named(make, nodes, edges, message):
    with pytest.raises((ValueError, TypeError), match=re.escape(message)):
        Graph.from_networkx(make(TOWNS | nodes, edges), "size", "length")


@makers
def test_bad_attributes_of_a_list_are_named(make):
    odd = TOWNS | {4: {"size": "big"}}
    with raises("attribute 'size' of the nodes must hold real numbers", TypeError):
        Graph.from_networkx(make(odd, []), ["size"])


@makers
def test_directed_and_empty_networks_are_rejected(make):
    with raises("the graph is directed; call its to_undirected()"):
        Graph.from_networkx(make(TOWNS, ROADS, directed=True), "size")
    with raises("the graph has no nodes"):
        Graph.from_networkx(make({}, []), "size")


def test_what_is_no_network_is_rejected():
    with raises("a NetworkX graph is needed, got a dict", TypeError):
        Graph.from_networkx({}, "size")
