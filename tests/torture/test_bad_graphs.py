"""Graphs, their labels, and what ranks their nodes, with odd types of arrays."""

import numpy as np
import polars as pl
import pytest

from aucmax import GraphRanker
from aucmax.graphs import grid_edges, rank
from torture.test_bad_input import S, X, Y, assert_rejected

EDGES = grid_edges(4, 6)
WEIGHTS = np.ones(len(EDGES))
ODD = {
    "complex": lambda array: array * 1j,
    "dates": lambda array: array.astype("datetime64[s]"),
    "masked": lambda array: np.ma.array(array, mask=array == array.flat[3]),
    "strings": lambda array: np.full(array.shape, "a"),
    "lazy": lambda array: pl.LazyFrame({"a": array.ravel().astype(float)}),
    "dict": lambda array: {"a": 1},
}


def fit(graph, labels=Y):
    """Fit to two graphs; the first is sound."""
    return lambda: GraphRanker(max_rounds=1).fit([(X, EDGES), graph], [Y, labels])


@pytest.mark.parametrize("kind", ODD)
def test_arrays_of_odd_types_are_named(kind):
    rows, labels, edges, scores, weights = map(ODD[kind], (X, Y, EDGES, S, WEIGHTS))
    for graph in ((rows, EDGES), (X, edges), (X, EDGES, rows)):
        assert_rejected(fit(graph), ["X[1]"])
    if kind != "strings":  # which may be labels
        assert_rejected(fit((X, EDGES), labels), ["y[1]"])
    assert_rejected(lambda: rank(scores, EDGES, WEIGHTS), ["unary"])
    assert_rejected(lambda: rank(S, edges, WEIGHTS), ["edges"])
    assert_rejected(lambda: rank(S, EDGES, weights), ["pair_weights"])
