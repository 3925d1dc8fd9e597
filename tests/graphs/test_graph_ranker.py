"""What GraphRanker finds: the optimum it claims, whatever the order of its data."""

import numpy as np
import pytest

from aucmax import AUCSVC, GraphRanker
from aucmax.graphs import Graph
from aucmax.metrics.top_sets import TopSets
from graphs import reference_graph_risk as reference
from graphs.optimum_by_cvxpy import convex_minimum
from graphs.ranker_samples import graphs_of, repelling

METRICS = {
    "auc": ({}, TopSets.every),
    "unnested": ({}, TopSets.every),
    "binned": ({"bins": 3}, lambda n: TopSets.binned(n, 3)),
    "at_k": ({"k": 2}, lambda n: TopSets.up_to(n, 2)),
}


def weights_of(model):
    return np.concatenate([model.coef_[0], model.edge_coef_[0]])


def fitted(graphs, labels, C=10.0, **params):
    return GraphRanker(C, **params).fit(graphs, labels)


@pytest.mark.parametrize("loss", ["consistent", "ramp"])
@pytest.mark.parametrize("metric", METRICS)
def test_the_objective_is_that_of_the_definition(metric, loss):
    graphs, labels = graphs_of(1)
    params, sets_of = METRICS[metric]
    model = fitted(graphs, labels, metric=metric, loss=loss, **params)
    items = reference.labelled(graphs, labels, sets_of)
    expected = reference.objective(items, weights_of(model), 10.0, loss)
    assert model.objective_ == pytest.approx(expected, rel=1e-6)
    assert 0.0 <= model.dual_gap_ <= 1.001e-3 * model.objective_
    assert (model.edge_coef_ >= 0.0).all()


@pytest.mark.parametrize("tol", [0.2, 1e-3])
def test_the_optimum_of_the_fixed_loss_is_within_the_gap(tol, monkeypatch):
    graphs, labels = graphs_of(2, sizes=(4, 5, 6))
    start = np.array([0.4, 0.1, 0.2, 0.05])
    monkeypatch.setattr(GraphRanker, "_start", lambda _, problem: problem.at(start))
    model = fitted(graphs, labels, loss="fixed", tol=tol)
    assert model.n_rounds_ == 1
    items = reference.labelled(graphs, labels)
    linear = reference.tangent(items, start)
    optimum = convex_minimum(items, 10.0, linear, 2)
    assert model.objective_ >= optimum * (1.0 - 1e-8)
    assert model.objective_ - model.dual_gap_ <= optimum * (1.0 + 1e-8)
    weights = weights_of(model)
    at_weights = reference.convex_value(items, weights, 10.0, linear)
    assert model.objective_ == pytest.approx(at_weights, rel=1e-7)
    # the tangent lies above
    assert model.objective_ >= reference.objective(items, weights, 10.0) - 1e-8


@pytest.mark.parametrize("loss", ["consistent", "fixed"])
@pytest.mark.parametrize("metric", ["auc", "unnested", "binned"])
def test_without_edges_the_model_is_a_linear_one_for_the_auc(metric, loss):
    graphs, labels = graphs_of(0, sizes=(12, 20, 8, 30))
    bare = [Graph(graph.node_features) for graph in graphs]
    model = fitted(bare, labels, 20.0, metric=metric, bins=30, loss=loss, tol=1e-10)
    linear = AUCSVC(C=20.0, tol=1e-10).fit(
        np.concatenate([graph.node_features for graph in bare]),
        np.concatenate(labels),
        qid=np.repeat(range(4), [12, 20, 8, 30]),
    )
    np.testing.assert_allclose(model.coef_, linear.coef_, atol=1e-6)
    np.testing.assert_array_equal(model.edge_coef_, 0.0)
    assert model.objective_ == pytest.approx(linear.objective_, rel=1e-6)
    assert model.intercept_ == pytest.approx(linear.intercept_, abs=1e-5)
    for graph, scores in zip(bare, model.decision_function(bare), strict=True):
        expected = linear.decision_function(graph.node_features)
        np.testing.assert_allclose(scores, expected, atol=1e-5)


def test_weights_of_edges_are_never_negative_unless_free():
    graphs, labels = repelling(1, sizes=(6, 4))
    bounded = fitted(graphs, labels)
    np.testing.assert_array_equal(bounded.edge_coef_, 0.0)
    free = fitted(graphs, labels, pair_weights="free", tol=1e-2)
    assert free.edge_coef_[0, 0] < -0.1
    assert free.objective_ < bounded.objective_
    items = reference.labelled(graphs, labels)
    expected = reference.objective(items, weights_of(free), 10.0)
    assert free.objective_ == pytest.approx(expected, rel=1e-6)


def test_unnested_sets_are_free_of_each_other_where_neighbours_repel():
    graphs, labels = repelling(1, sizes=(6, 5))
    model = fitted(graphs, labels, pair_weights="free", metric="unnested", tol=1e-2)
    items = reference.labelled(graphs, labels)
    free, nested = (
        reference.objective(items, weights_of(model), 10.0, nested=nested)
        for nested in (False, True)
    )
    assert model.objective_ == pytest.approx(free, rel=1e-8)
    assert free > nested + 0.1


def permuted(graph, y, rng):
    """The same graph with other numbers, and its edges backwards."""
    order = rng.permutation(graph.n_nodes)
    number = np.argsort(order)
    backwards = number[graph.edges[::-1, ::-1]]
    features = graph.edge_features[::-1]
    return (graph.node_features[order], backwards, features), y[order]


@pytest.mark.parametrize("loss", ["consistent", "fixed", "ramp"])
def test_the_order_of_nodes_edges_and_graphs_does_not_matter(loss):
    rng = np.random.default_rng(0)
    graphs, labels = graphs_of(7, sizes=(8, 5, 11))
    model = fitted(graphs, labels, loss=loss, tol=1e-6)
    moved = [permuted(*pair, rng) for pair in zip(graphs, labels, strict=True)][::-1]
    again = fitted([g for g, _ in moved], [y for _, y in moved], loss=loss, tol=1e-6)
    np.testing.assert_allclose(weights_of(again), weights_of(model), atol=3e-3)
    assert again.objective_ == pytest.approx(model.objective_, rel=1e-5)


def test_neighbours_help_where_labels_are_smooth():
    graphs, labels = graphs_of(11, sizes=[40] * 12, noise=2.0)
    alone = [Graph(g.node_features) for g in graphs]
    joined = fitted(graphs[:6], labels[:6], 50.0).score(graphs[6:], labels[6:])
    single = fitted(alone[:6], labels[:6], 50.0).score(alone[6:], labels[6:])
    assert joined > single + 0.03


def test_graphs_of_one_class_are_skipped_and_counted():
    graphs, labels = graphs_of(12, sizes=(6, 5, 8, 1, 7))
    labels[1][:] = True
    labels[3][:] = False
    model = fitted(graphs, labels)
    assert (model.n_graphs_, model.n_skipped_) == (3, 2)
    kept = [0, 2, 4]
    again = fitted([graphs[m] for m in kept], [labels[m] for m in kept])
    np.testing.assert_array_equal(weights_of(model), weights_of(again))
    assert again.n_skipped_ == 0
    assert [s.size for s in model.decision_function(graphs)] == [6, 5, 8, 1, 7]


def test_fitted_attributes_have_their_shapes_and_counts():
    graphs, labels = graphs_of(16)
    model = fitted(graphs, labels)
    assert (model.n_node_features_in_, model.n_edge_features_in_) == (2, 2)
    assert model.coef_.shape == model.edge_coef_.shape == (1, 2)
    assert model.n_rounds_ >= 1
    assert model.n_iter_ >= model.n_rounds_
    assert model.n_passes_ >= model.n_iter_
    assert list(model.history_) == ["objective", "gap"]
    for values in model.history_.values():
        assert (values.shape, values.dtype) == ((model.n_iter_,), np.float64)
    assert model.history_["gap"][-1] == model.dual_gap_
    assert model.intercept_.shape == (1,)
