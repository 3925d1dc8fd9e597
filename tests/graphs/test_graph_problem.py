"""The risk of labelled graphs is its definition, and bounds the loss."""

import numpy as np
import pytest

from aucmax.graphs.graph_batch import GraphBatch
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


def problem_of(graphs, labels, sets_of=TopSets.every, nested=True):
    return GraphProblem(
        GraphBatch.of(graphs),
        np.concatenate(labels),
        [sets_of(graph.n_nodes) for graph in graphs],
        nested,
    )


def weights_of(seed, scale=1.0, low=0.0):
    """Weights of two node features, and of two edge features not below `low`."""
    rng = np.random.default_rng(100 + seed)
    return scale * np.concatenate([rng.normal(size=2), rng.uniform(low, 1.0, size=2)])


def risks(problem, weights, loss):
    """Risk of each graph, from the parts that training uses."""
    scores = problem.scores(weights)
    augmented = problem.loss_augmented_chains(scores)
    losses = problem.losses(augmented)
    is_ramp = loss == "ramp"
    second = (problem.best_chains if is_ramp else problem.consistent_chains)(scores)
    return (
        losses
        + problem.chain_scores(augmented, scores)
        - problem.chain_scores(second, scores)
    )


@pytest.mark.parametrize("loss", ["consistent", "ramp"])
@pytest.mark.parametrize("kind", SETS)
@pytest.mark.parametrize("scale", [0.0, 0.3, 3.0])
def test_the_risk_is_its_definition(kind, loss, scale):
    graphs, labels = graphs_of(0)
    weights = weights_of(0, scale)
    found = risks(problem_of(graphs, labels, SETS[kind]), weights, loss)
    items = reference.labelled(graphs, labels, SETS[kind])
    expected = [reference.risk(item, weights, loss) for item in items]
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("nested", [True, False])
@pytest.mark.parametrize("loss", ["consistent", "ramp"])
@pytest.mark.parametrize("seed", range(2))
def test_the_risk_of_repelling_neighbours_is_its_definition(seed, loss, nested):
    graphs, labels = graphs_of(seed, sizes=(4, 5))
    weights = weights_of(seed, 2.0, low=-1.0)
    weights[2] = -abs(weights[2])
    assert (np.concatenate([g.edge_features for g in graphs]) @ weights[2:]).min() < 0
    found = risks(problem_of(graphs, labels, nested=nested), weights, loss)
    items = reference.labelled(graphs, labels)
    expected = [reference.risk(item, weights, loss, nested) for item in items]
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-9)


def test_only_graphs_with_a_negative_pair_weight_change_by_nestedness():
    graphs, labels = graphs_of(3, sizes=(5, 6))
    graphs[1].edge_features[:, 1] = 0.0
    graphs[0].edge_features[:, 0] = 0.0
    weights = np.array([0.3, -0.2, -2.0, 0.5])  # repels in graph 1 only
    nested = risks(problem_of(graphs, labels), weights, "ramp")
    free = risks(problem_of(graphs, labels, nested=False), weights, "ramp")
    assert nested[0] == free[0]


@pytest.mark.parametrize("kind", SETS)
@pytest.mark.parametrize("scale", [0.1, 1.0, 10.0])
@pytest.mark.parametrize("seed", range(4))
def test_risks_bound_the_loss_of_the_prediction_the_ramp_more_tightly(
    seed, scale, kind
):
    graphs, labels = graphs_of(seed, sizes=(5, 9, 3, 20, 2))
    problem = problem_of(graphs, labels, SETS[kind])
    weights = weights_of(seed, scale)
    scores = problem.scores(weights)
    counts = problem.batch.split(problem.best_chains(scores).nodes)
    top_sets = [SETS[kind](graph.n_nodes) for graph in graphs]
    lost = []
    for own, part, y in zip(top_sets, counts, labels, strict=True):
        n_positive = int(y.sum())
        lost.append(own.best(n_positive) / own.spread(n_positive) - part[y].sum())
    ramp = risks(problem, weights, "ramp")
    consistent = risks(problem, weights, "consistent")
    assert (np.array(lost) >= -1e-12).all()
    assert (ramp >= np.array(lost) - 1e-12).all()
    assert (consistent >= ramp - 1e-12).all()
    assert (ramp <= 1.0 + 1e-12).all()


@pytest.mark.parametrize("seed", range(4))
def test_the_loss_is_that_of_the_auc(seed):
    graphs, labels = graphs_of(seed, sizes=(5, 9, 12))
    problem = problem_of(graphs, labels)
    scores = problem.scores(weights_of(seed))
    chains = problem._any_order.find(*scores)
    counts = problem.best_chains(scores).nodes
    for a, b, y in zip(*_bounds(problem), labels, strict=True):
        n_positive = int(y.sum())
        own = TopSets.every(b - a)
        lost = own.best(n_positive) / own.spread(n_positive) - counts[a:b][y].sum()
        assert lost == pytest.approx(1.0 - literal.auc(chains.scores[a:b], y))


def _bounds(problem):
    offsets = problem.batch.node_offsets
    return offsets[:-1], offsets[1:]


@pytest.mark.parametrize("seed", range(3))
def test_without_edges_the_risk_is_the_mean_hinge_of_the_pairs(seed):
    graphs, labels = graphs_of(seed)
    problem = problem_of(graphs, labels)
    weights = weights_of(seed)
    weights[2:] = 0.0
    for found, graph, y in zip(
        risks(problem, weights, "consistent"), graphs, labels, strict=True
    ):
        s = graph.node_features @ weights[:2]
        hinges = np.maximum(0.0, 1.0 - s[y][:, None] + s[~y][None])
        assert found == pytest.approx(hinges.mean(), rel=1e-12)


def test_features_add_up_to_what_chains_are_worth():
    graphs, labels = graphs_of(1)
    problem = problem_of(graphs, labels)
    weights = weights_of(1)
    scores = problem.scores(weights)
    for counts in (
        problem.loss_augmented_chains(scores),
        problem.consistent_chains(scores),
        problem.best_chains(scores),
    ):
        features = problem.features(counts)
        assert features.shape == (3, 4)
        np.testing.assert_allclose(
            features @ weights, problem.chain_scores(counts, scores)
        )


def test_features_are_those_of_the_program():
    graphs, labels = graphs_of(2)
    weights = weights_of(2)
    problem = problem_of(graphs, labels)
    features = problem.features(problem.consistent_chains(problem.scores(weights)))
    for row, graph, y in zip(features, graphs, labels, strict=True):
        expected = reference.tangent(reference.labelled([graph], [y]), weights)
        np.testing.assert_allclose(row, expected, rtol=1e-8)


def test_the_augmented_chain_supports_the_risk_from_below():
    graphs, labels = graphs_of(4)
    problem = problem_of(graphs, labels)
    for seed in range(5):
        counts = problem.loss_augmented_chains(problem.scores(weights_of(seed)))
        losses = problem.losses(counts)
        slopes = problem.features(counts)
        for other in range(5):
            there = weights_of(other, 2.0)
            scores = problem.scores(there)
            best = problem.loss_augmented_chains(scores)
            highest = problem.losses(best) + problem.chain_scores(best, scores)
            assert (losses + slopes @ there <= highest + 1e-12).all()


def test_passes_are_counted():
    graphs, labels = graphs_of(0)
    problem = problem_of(graphs, labels)
    scores = problem.scores(weights_of(0))
    problem.loss_augmented_chains(scores)
    problem.consistent_chains(scores)
    assert problem.n_passes == 2.0
