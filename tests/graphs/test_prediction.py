"""How GraphRanker ranks, scores and labels nodes, given its weights."""

import numpy as np
import pytest

from aucmax.graphs import Graph, rank, solve_program
from aucmax.metrics import auc_at_k_score, binned_auc_score
from graphs import reference_structured as literal
from graphs.ranker_samples import graphs_of, repelling
from graphs.test_graph_ranker import METRICS, fitted


@pytest.mark.parametrize("metric", ["auc", "unnested", "at_k", "binned"])
def test_free_weights_rank_as_the_linear_program(metric):
    graphs, labels = repelling(1, sizes=(6, 4))
    params, sets_of = METRICS[metric]
    model = fitted(
        graphs, labels, pair_weights="free", metric=metric, tol=1e-2, **params
    )
    model.edge_coef_ = np.array([[-0.8]])
    # features that differ, and features that are all alike
    graphs += [Graph(np.ones((4, 2)), [[0, 1]]), Graph(np.eye(5, 2), [[0, 4], [2, 3]])]
    rankings = model.predict_ranking(graphs)
    for graph, ranking in zip(graphs, rankings, strict=True):
        solution = solve_program(
            graph.node_features @ model.coef_[0],
            graph.edges,
            graph.edge_features @ model.edge_coef_[0],
            top_sets=sets_of(graph.n_nodes),
            nested=metric != "unnested",
        )
        np.testing.assert_array_equal(ranking, solution.order)


@pytest.mark.parametrize("metric", METRICS)
def test_scores_sort_to_the_ranking_of_the_inference(metric):
    graphs, labels = graphs_of(4, sizes=(5, 30, 60, 1, 2))
    labels[3][:] = True
    params, _ = METRICS[metric]
    model = fitted(graphs, labels, metric=metric, **params)
    scored, rankings = model.decision_function(graphs), model.predict_ranking(graphs)
    for graph, scores, ranking in zip(graphs, scored, rankings, strict=True):
        best = rank(
            graph.node_features @ model.coef_[0],
            graph.edges,
            graph.edge_features @ model.edge_coef_[0],
        )
        np.testing.assert_array_equal(ranking, best.order)
        np.testing.assert_array_equal(np.argsort(-scores, kind="stable"), best.order)
        size = np.abs(best.scores).max()
        np.testing.assert_allclose(
            scores - model.intercept_, best.scores, atol=1.1e-6 * size
        )


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(40))
def test_scores_sort_to_that_ranking_also_where_blocks_tie(seed):
    # few values, as of pixels, so that blocks are equal but for rounding
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 40))
    edges = rng.integers(n, size=(2 * n, 2))
    edges = edges[edges[:, 0] != edges[:, 1]]
    strengths = rng.integers(1, 3, size=(len(edges), 2))
    graph = Graph(rng.integers(3, size=(n, 2)), edges, strengths)
    model = fitted(*graphs_of(4), tol=1e-1)
    model.coef_ = rng.choice([0.5, 1.0, 0.3, -0.7], size=(1, 2))
    model.edge_coef_ = rng.choice([0.0, 0.25, 0.1, 0.3], size=(1, 2))
    model.intercept_ = rng.normal(size=1)
    best = rank(
        graph.node_features @ model.coef_[0],
        graph.edges,
        graph.edge_features @ model.edge_coef_[0],
    )
    np.testing.assert_array_equal(model.predict_ranking([graph])[0], best.order)


def test_nodes_that_tie_in_everything_have_equal_scores():
    graphs, labels = graphs_of(4)
    model = fitted(graphs, labels)
    model.edge_coef_ = np.array([[0.7, 0.0]])
    # a path whose ends are alike; pixels have few values, so that ties are the rule
    path = Graph(
        [[1.0, 0.0], [0.0, 0.0], [1.0, 0.0]], [[0, 1], [1, 2]], np.ones((2, 2))
    )
    lone = Graph([[1.0, 0.0], [0.0, 0.0], [1.0, 0.0]], [], np.empty((0, 2)))
    for graph in (path, lone):
        (scores,) = model.decision_function([graph])
        assert scores[0] == scores[2]
        np.testing.assert_array_equal(model.predict_ranking([graph])[0], [0, 2, 1])


def test_a_node_follows_its_neighbours():
    graphs, labels = graphs_of(4)
    model = fitted(graphs, labels)
    model.coef_, model.edge_coef_ = np.array([[1.0, 0.0]]), np.array([[2.0, 0.0]])
    features = np.array([[2.0, 0.0], [0.0, 0.0], [1.0, 0.0]])
    alone, joined = (
        Graph(features, edges, np.ones((len(edges), 2))) for edges in ([], [[0, 1]])
    )
    assert model.predict_ranking([alone])[0].tolist() == [0, 2, 1]
    assert model.predict_ranking([joined])[0].tolist() == [0, 1, 2]


def test_the_score_is_the_mean_of_the_metric_over_graphs_of_both_classes():
    graphs, labels = graphs_of(5, sizes=(9, 30, 12))
    labels[2][:] = False
    model = fitted(graphs[:2], labels[:2])
    scores = model.decision_function(graphs)
    pairs = list(zip(scores[:2], labels[:2], strict=True))
    expected = {
        "auc": np.mean([literal.auc(s, y) for s, y in pairs]),
        "unnested": np.mean([literal.auc(s, y) for s, y in pairs]),
        "binned": np.mean([binned_auc_score(y, s, bins=3) for s, y in pairs]),
        "at_k": np.mean([auc_at_k_score(y, s, k=2) for s, y in pairs]),
    }
    for metric, value in expected.items():
        model.set_params(metric=metric, **METRICS[metric][0])
        assert model.score(graphs, labels) == pytest.approx(value, rel=1e-12)


def test_the_threshold_has_the_best_balanced_accuracy_in_training():
    graphs, labels = graphs_of(6, sizes=(9, 30, 12))
    model = fitted(graphs, labels)
    scores, y = np.concatenate(model.decision_function(graphs)), np.concatenate(labels)
    predicted = np.concatenate(model.predict(graphs))
    np.testing.assert_array_equal(predicted, scores > 0.0)

    def balanced(threshold):
        above = scores > threshold
        return above[y].mean() + (~above[~y]).mean()

    reached = predicted[y].mean() + (~predicted[~y]).mean()
    assert reached >= max(balanced(s) for s in scores) - 1e-12
