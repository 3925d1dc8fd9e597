"""The risk of labelled graphs is its definition, and bounds the loss."""

import numpy as np
import pytest

from aucmax.graphs.graph import GraphBatch
from aucmax.graphs.graph_problem import GraphProblem
from aucmax.metrics.top_sets import TopSets
from graphs import reference_graph_risk as reference
from graphs import reference_structured as literal
from graphs.ranker_samples import graphs_of

SETS = {
    "every": TopSets.every,
    "top": lambda n: TopSets.up_to(n, 2),
    "bins": lambda n: TopSets.binned(n, 3),
    "singletons": lambda n: TopSets.binned(n, n),
}


def problem_of(graphs, labels, sets_of=TopSets.every, C=1.0, **options):
    batch = GraphBatch.from_graphs(graphs)
    top_sets = [sets_of(graph.n_nodes) for graph in graphs]
    return GraphProblem(batch, np.concatenate(labels), top_sets, C, **options)


def weights_of(seed, scale=1.0, low=0.0):
    """Weights of two node features, and of two edge features not below `low`."""
    rng = np.random.default_rng(100 + seed)
    return scale * np.concatenate([rng.normal(size=2), rng.uniform(low, 1.0, size=2)])


def risk_of(graphs, labels, weights, sets_of=TopSets.every, **options):
    """Mean risk of the graphs."""
    problem = problem_of(graphs, labels, sets_of, **options)
    return problem.value(problem.at(weights))


@pytest.mark.parametrize("loss", ["consistent", "ramp"])
@pytest.mark.parametrize("kind", SETS)
@pytest.mark.parametrize("scale", [0.0, 0.3, 3.0])
def test_the_risk_is_its_definition(kind, loss, scale):
    graphs, labels = graphs_of(0)
    weights = weights_of(0, scale)
    risk = risk_of(graphs, labels, weights, SETS[kind], C=2.0, loss=loss)
    items = reference.labelled(graphs, labels, SETS[kind])
    expected = [2.0 * reference.risk(item, weights, loss) for item in items]
    assert risk == pytest.approx(np.mean(expected), rel=1e-8, abs=1e-9)


@pytest.mark.parametrize("nested", [True, False])
@pytest.mark.parametrize("loss", ["consistent", "ramp"])
@pytest.mark.parametrize("seed", range(2))
def test_the_risk_of_repelling_neighbours_is_its_definition(seed, loss, nested):
    graphs, labels = graphs_of(seed, sizes=(4, 5))
    weights = weights_of(seed, 2.0, low=-1.0)
    weights[2] = -abs(weights[2])
    assert (np.concatenate([g.edge_features for g in graphs]) @ weights[2:]).min() < 0
    risk = risk_of(graphs, labels, weights, loss=loss, nested=nested)
    items = reference.labelled(graphs, labels)
    expected = [reference.risk(item, weights, loss, nested) for item in items]
    assert risk == pytest.approx(np.mean(expected), rel=1e-8, abs=1e-9)


@pytest.mark.parametrize("kind", SETS)
@pytest.mark.parametrize("scale", [0.1, 1.0, 10.0])
def test_risks_bound_the_loss_of_the_prediction_the_ramp_more_tightly(scale, kind):
    weights = weights_of(0, scale)
    for graph, y in zip(*graphs_of(0, sizes=(5, 9, 3, 20, 2)), strict=True):
        problem = problem_of([graph], [y], SETS[kind])
        (loss,) = problem.prediction_losses(problem.at(weights))
        ramp = risk_of([graph], [y], weights, SETS[kind], loss="ramp")
        consistent = risk_of([graph], [y], weights, SETS[kind])
        assert -1e-12 <= loss <= ramp + 1e-12
        assert ramp <= min(1.0, consistent) + 1e-12


@pytest.mark.parametrize("seed", range(4))
def test_the_loss_is_that_of_the_auc(seed):
    graphs, labels = graphs_of(seed, sizes=(5, 9, 12))
    problem = problem_of(graphs, labels)
    point = problem.at(weights_of(seed))
    unary, pairs = np.split(point.scores, [problem.batch.n_nodes])
    smoothed = problem._any_order.find(unary, pairs).scores
    losses = problem.prediction_losses(point)
    for loss, scores, y in zip(
        losses, problem.batch.split(smoothed), labels, strict=True
    ):
        assert loss == pytest.approx(1.0 - literal.auc(scores, y))


def test_without_edges_the_risk_is_the_mean_hinge_of_the_pairs():
    graphs, labels = graphs_of(0)
    weights = weights_of(0)
    weights[2:] = 0.0
    for graph, y in zip(graphs, labels, strict=True):
        s = graph.node_features @ weights[:2]
        hinges = np.maximum(0.0, 1.0 - s[y][:, None] + s[~y][None])
        risk = risk_of([graph], [y], weights)
        assert risk == pytest.approx(hinges.mean(), rel=1e-12)


def test_the_gradient_of_the_concave_part_is_that_of_the_program():
    graphs, labels = graphs_of(2)
    weights = weights_of(2)
    problem = problem_of(graphs, labels)
    gradient = problem.concave_gradient(problem.at(weights))
    expected = reference.tangent(reference.labelled(graphs, labels), weights)
    np.testing.assert_allclose(gradient, expected, rtol=1e-8)


def test_cutting_planes_are_below_the_risk_and_touch_it():
    problem = problem_of(*graphs_of(4))
    points = [problem.at(weights_of(seed, 1.0 + seed)) for seed in range(5)]
    planes = [problem.cutting_planes(point) for point in points]
    for point, (own_gradients, own_offsets) in zip(points, planes, strict=True):
        highest = own_offsets + own_gradients @ point.parameters
        for gradients, offsets in planes:
            value = offsets + gradients @ point.parameters
            assert (value <= highest + 1e-12).all()


def test_passes_are_counted():
    problem = problem_of(*graphs_of(0))
    point = problem.at(weights_of(0))
    problem.cutting_planes(point)
    problem.concave_gradient(point)
    assert problem.n_passes == 2.0
