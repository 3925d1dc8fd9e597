"""GraphRanker rejects bad input, with messages that name it."""

import re

import numpy as np
import pytest

from aucmax import GraphRanker
from aucmax.exceptions import NotEnoughClassesError
from aucmax.graphs import Graph
from graphs.ranker_samples import graphs_of


@pytest.fixture(scope="module")
def model():
    return GraphRanker(tol=1e-2).fit(*graphs_of(0))


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"metric": "map"}, "metric must be one of 'auc', 'binned', .* got 'map'"),
        ({"metric": "binned", "bins": [3, 2]}, r"bins must .* got \[3, 2\]"),
        ({"metric": "at_k", "k": 0}, "k must be an integer of at least 1, got 0"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_parameters_are_checked_before_the_data(params, message):
    with pytest.raises(ValueError, match=message):
        GraphRanker(**params).fit(None, None)


X = np.array([[0.0], [1.0], [2.0]])


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        ((X, [[0, 3]]), r"X\[1\]: .*3"),
        ((X * np.nan, [[0, 1]]), r"X\[1\]: node_features.*nan"),
    ],
)
def test_a_bad_graph_is_named_in_training_and_prediction(graph, message):
    graphs, labels = [(X, [[0, 1]]), graph], [[0, 1, 1], [1, 0, 1]]
    with pytest.raises((ValueError, TypeError), match=f"(?i){message}"):
        GraphRanker().fit(graphs, labels)
    model = GraphRanker().fit(graphs[:1], labels[:1])
    with pytest.raises((ValueError, TypeError), match=f"(?i){message}"):
        model.decision_function(graphs)


@pytest.mark.parametrize("width", [1, 3])
def test_other_numbers_of_features_are_rejected_at_prediction(model, width):
    nodes, edges = np.zeros((3, width)), [[0, 1]]
    for call in (model.decision_function, model.predict, model.predict_ranking):
        with pytest.raises(ValueError, match=f"X.0. has {width} node features"):
            call([(nodes, edges, np.ones((1, 2)))])
        with pytest.raises(ValueError, match=f"X.0. has {width} edge features"):
            call([(np.zeros((3, 2)), edges, np.ones((1, width)))])


def test_negative_edge_features_are_rejected_where_neighbours_must_attract(model):
    graphs, labels = graphs_of(0)
    graphs[1].edge_features[2, 1] = -0.5
    message = re.escape("X[1] has -0.5 at edge 2, column 1")
    with pytest.raises(ValueError, match=f"{message}.*pair_weights='free'"):
        GraphRanker().fit(graphs, labels)
    with pytest.raises(ValueError, match=message):
        model.decision_function(graphs)
    free = GraphRanker(pair_weights="free", tol=1e-1, C=1.0)
    free.fit(graphs[:2], labels[:2])


def test_labels_must_fit_the_graphs(model):
    graphs, labels = graphs_of(0)
    for call in (GraphRanker().fit, model.score):
        with pytest.raises(ValueError, match="y has 2 entries for 3 graphs"):
            call(graphs, labels[:2])
        message = re.escape("y[1] has shape (6,), but X[1] has 7 nodes")
        with pytest.raises(ValueError, match=message):
            call(graphs, [labels[0], labels[1][1:], labels[2]])
        with pytest.raises(ValueError, match=re.escape("y[0] has shape (5, 1)")):
            call(graphs, [labels[0][:, None], *labels[1:]])


def test_more_than_two_labels_are_rejected():
    graphs, _ = graphs_of(0)
    labels = [np.arange(graph.n_nodes) % 3 for graph in graphs]
    with pytest.raises(ValueError, match="y has 3 distinct values"):
        GraphRanker().fit(graphs, labels)


def test_missing_labels_are_rejected(model):
    graphs, labels = graphs_of(0)
    missing = [y.astype(float) for y in labels]
    missing[1][3] = np.nan
    for call in (GraphRanker().fit, model.score):
        with pytest.raises(ValueError, match=r"y\[1\] is nan in row 3"):
            call(graphs, missing)


def test_graphs_of_one_class_each_are_rejected():
    graphs, labels = graphs_of(0)
    with pytest.raises(NotEnoughClassesError, match="one class only"):
        GraphRanker().fit(graphs, [np.ones(y.size) for y in labels])
    each = [np.full(y.size, m % 2) for m, y in enumerate(labels)]
    with pytest.raises(NotEnoughClassesError, match="none of the 3 graphs has nodes"):
        GraphRanker().fit(graphs, each)
    with pytest.raises(NotEnoughClassesError, match="none of the 1 graphs"):
        GraphRanker(metric="binned", bins=[9]).fit(graphs[:1], labels[:1])


def test_scoring_needs_a_graph_of_both_classes(model):
    graphs, labels = graphs_of(0)
    with pytest.raises(NotEnoughClassesError):
        model.score(graphs, [np.zeros(y.size, dtype=bool) for y in labels])
    each = [np.full(y.size, m % 2 == 0) for m, y in enumerate(labels)]
    with pytest.raises(NotEnoughClassesError):
        model.score(graphs, each)


def test_a_label_that_training_has_not_seen_is_named(model):
    graphs, labels = graphs_of(0)
    named = [np.where(y, "b", "a") for y in labels]
    with pytest.raises(ValueError, match=r"y\[0\] is '[ab]' in row 0, but"):
        model.score(graphs, named)
    learned = GraphRanker(tol=1e-2).fit(graphs, named)
    named[2] = named[2].copy()
    named[2][4] = "c"
    message = r"y\[2\] is 'c' in row 4, but the training labels are 'a' and 'b'"
    with pytest.raises(ValueError, match=message):
        learned.score(graphs, named)


@pytest.mark.parametrize("scale", [1e200, 1e-200])
@pytest.mark.parametrize("name", ["node_features", "edge_features"])
def test_features_of_extreme_scale_are_rejected(name, scale):
    graphs, labels = graphs_of(0)
    for graph in graphs:
        getattr(graph, name)[:, 0] *= scale
    message = rf"{name} has .*e[+-]\d+ as the largest absolute value of column 0"
    with pytest.raises(ValueError, match=message):
        GraphRanker().fit(graphs, labels)


def test_scores_that_overflow_are_rejected_at_prediction():
    graphs, _ = graphs_of(0)
    huge = Graph(
        graphs[0].node_features,
        graphs[0].edges,
        8e307 * np.ones((len(graphs[0].edges), 2)),
    )
    model = GraphRanker(tol=1e-2).fit(*graphs_of(0))
    model.edge_coef_ = np.array([[1.0, 1.0]])
    with pytest.raises(ValueError, match="their sums overflow"):
        model.decision_function([huge])
