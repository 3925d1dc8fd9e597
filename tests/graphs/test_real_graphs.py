"""Graphs of real data: documents of queries, and who published with whom."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.neighbors import kneighbors_graph

from aucmax import AUCSVC, GraphRanker
from aucmax.datasets import load_svmlight
from aucmax.graphs import Graph, rank
from reference_total_variation import optimality_gap

# graphs of simulated data check the same every day
pytestmark = pytest.mark.real_data


@pytest.fixture(scope="module")
def queries(real_data):
    """Return the documents of some queries with both classes, scaled."""
    data = load_svmlight(real_data / "ohsumed" / "norm_S1.svm.gz")
    X, y = data.X.toarray(), data.y > 0
    X = (X - X.mean(axis=0)) / (X.std(axis=0) + 1e-12)
    members = [data.qid == query for query in np.unique(data.qid)]
    return [(X[m], y[m]) for m in members if 0.0 < y[m].mean() < 1.0]


def similar_documents(X):
    links = kneighbors_graph(X, min(5, len(X) - 1))
    return Graph.from_adjacency(X, links.maximum(links.T))


def test_documents_without_edges_are_ranked_as_by_a_linear_machine(queries):
    graphs, labels = [(X, []) for X, _ in queries], [y for _, y in queries]
    model = GraphRanker(10.0, tol=1e-6).fit(graphs, labels)
    rows = np.vstack([X for X, _ in queries])
    qid = np.repeat(range(len(queries)), [len(y) for y in labels])
    linear = AUCSVC(10.0, tol=1e-6).fit(rows, np.concatenate(labels), qid=qid)
    np.testing.assert_allclose(model.coef_, linear.coef_, atol=2e-3)
    assert model.objective_ == pytest.approx(linear.objective_, rel=1e-5)


def test_similar_documents_are_learned_from_with_a_certificate(queries):
    graphs, labels = [similar_documents(X) for X, _ in queries], [y for _, y in queries]
    model = GraphRanker().fit(graphs, labels)
    assert 0.0 <= model.dual_gap_ <= 1e-3 * model.objective_
    assert (model.edge_coef_ >= 0.0).all()
    assert model.score(graphs, labels) > 0.6


def test_all_authors_of_a_conference_are_ranked_at_once(real_data):
    rows = pd.read_csv(real_data / "nips_coauthor" / "authorship.csv.gz")
    size = (rows["paper"].max() + 1, rows["author"].max() + 1)
    ones = np.ones(len(rows))
    wrote = sparse.csr_array((ones, (rows["paper"], rows["author"])), shape=size)
    together = sparse.triu(wrote.T @ wrote, k=1).tocoo()
    edges = np.column_stack([together.row, together.col])
    papers = np.log1p(wrote.sum(axis=0))
    weights = 0.1 * np.minimum(together.data, 5.0)
    ranking = rank(papers, edges, weights)
    u = papers + np.bincount(edges.ravel(), np.repeat(weights / 2.0, 2), size[1])
    gap = optimality_gap(ranking.scores, u, edges, weights / 2.0)
    assert len(edges) > 40_000
    assert gap <= 1e-20 * float(u @ u)
