"""Graphs, their labels, and what ranks their nodes, with every kind of bad input."""

import warnings

import numpy as np
import pytest

from aucmax import GraphRanker
from aucmax.graphs import Graph, grid_edges, rank
from torture.test_bad_input import (
    S,
    X,
    Y,
    assert_rejected,
    bad_labels,
    bad_tables,
    bad_vectors,
    with_entry,
)

EDGES = grid_edges(4, 6)
WEIGHTS = np.ones(len(EDGES))


def bad_edges():
    return {
        "None": None,
        "nan": with_entry(EDGES, np.nan),
        "between": EDGES + 0.5,
        "no such node": with_entry(EDGES, X.shape[0], int),
        "negative": with_entry(EDGES, -1, int),
        "huge": with_entry(EDGES, 10**30, object),
        "to itself": with_entry(EDGES, EDGES[3, 1], int),
        "complex": EDGES * 1j,
        "strings": np.full(EDGES.shape, "a"),
        "dates": EDGES.astype("datetime64[s]"),
        "masked": np.ma.array(EDGES, mask=EDGES == 3),
        "vector": EDGES[:, 0],
        "triples": np.column_stack([EDGES, EDGES[:, 0]]),
        "scalar": 3,
        "ragged": [[1], [2, 3]],
        "dict": {"a": 1},
    }


def fit(second, labels=Y):
    """Fit to two graphs; the first is sound."""
    return lambda: GraphRanker(max_rounds=1).fit([(X, EDGES), second], [Y, labels])


@pytest.mark.parametrize("kind", bad_tables())
def test_bad_nodes_are_named_in_training_and_in_scoring(kind):
    bad = bad_tables()[kind]
    assert_rejected(fit((bad, EDGES)), ["X[1]"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = fit((X, EDGES))()
    assert_rejected(
        lambda: model.decision_function([(X, EDGES), (bad, EDGES)]), ["X[1]"]
    )


def test_bad_features_of_edges_are_named():
    features = np.ones((len(EDGES), 3))
    for kind, bad in bad_tables().items():
        if kind != "None":  # edges need have none
            graphs = [(X, EDGES, features), (X, EDGES, bad)]
            assert_rejected(lambda g=graphs: GraphRanker().fit(g, [Y, Y]), ["X[1]"])


@pytest.mark.parametrize("kind", bad_edges())
def test_bad_edges_are_named(kind):
    bad = bad_edges()[kind]
    assert_rejected(fit((X, bad)), ["X[1]"])
    assert_rejected(lambda: Graph(X, bad), ["edges"])
    assert_rejected(lambda: rank(S, bad, WEIGHTS), ["edges"])


def test_bad_labels_are_named():
    for kind, bad in bad_labels().items():
        if kind != "one class":  # one graph alone may have one class
            assert_rejected(fit((X, EDGES), bad), ["y[1]"])
    ones = [np.ones(Y.size)] * 2
    assert_rejected(lambda: GraphRanker().fit([(X, EDGES)] * 2, ones), ["y"])
    for bad in bad_vectors(Y).values():
        assert_rejected(lambda b=bad: GraphRanker().fit([(X, EDGES)] * 2, b), ["y"])


def test_bad_scores_and_weights_of_a_ranking_are_named():
    for kind, bad in bad_vectors(S).items():
        if kind != "long":  # a node without an edge is sound
            assert_rejected(lambda b=bad: rank(b, EDGES, WEIGHTS), ["unary", "nodes"])
    bad_weights = {
        "None": None,
        "nan": with_entry(WEIGHTS, np.nan),
        "inf": with_entry(WEIGHTS, np.inf),
        "negative": with_entry(WEIGHTS, -1.0),
        "short": WEIGHTS[1:],
        "complex": WEIGHTS * 1j,
        "matrix": np.ones((len(EDGES), 2)),
        "strings": np.full(len(EDGES), "a"),
        "masked": np.ma.array(WEIGHTS, mask=WEIGHTS == 1.0),
        "dates": WEIGHTS.astype("datetime64[s]"),
    }
    for bad in bad_weights.values():
        assert_rejected(lambda b=bad: rank(S, EDGES, b), ["pair_weights"])
