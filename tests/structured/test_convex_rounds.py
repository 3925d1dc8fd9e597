"""Convex problems of a round: certified, and solved alike by both solvers."""

import numpy as np
import pytest

from aucmax.metrics.levels import Levels
from aucmax.solvers import StoppingRule
from aucmax.structured.bundle_rounds import Bundle
from aucmax.structured.frank_wolfe import FrankWolfe
from aucmax.structured.rounds import minimize_in_rounds, start_weights
from structured import reference_graph_risk as reference
from structured.ranker_samples import graphs_of, repelling
from structured.test_problem import LEVELS, problem_of, weights_of

SOLVERS = {"frank-wolfe": FrankWolfe, "bundle": Bundle}
TIGHT = StoppingRule(1e-6, 3000, floor=1e-3)


def solved(name, problem, regularization, first_bounded, start, rule=TIGHT):
    linear = problem.features(problem.consistent(problem.scores(start)))
    solver = SOLVERS[name](problem, regularization, first_bounded)
    return solver.minimize(linear, start, rule, [])


@pytest.mark.parametrize("name", SOLVERS)
@pytest.mark.parametrize(
    ("kind", "regularization"),
    [("every", 0.1), ("every", 0.005), ("every", 3.0), ("top", 0.1), ("binned", 0.1)],
)
def test_the_optimum_lies_within_the_certified_gap(name, kind, regularization):
    graphs, labels = graphs_of(5, sizes=(4, 5, 6))
    problem = problem_of(graphs, labels, LEVELS[kind])
    start = weights_of(5, 0.5)
    items = reference.labelled(graphs, labels, LEVELS[kind])
    linear = reference.tangent(items, start)
    _, low, high = reference.convex_minimum(items, regularization, linear, 2)
    for tol in (0.3, 1e-2, 1e-6):
        rule = StoppingRule(tol, 3000, floor=1e-3)
        found = solved(name, problem, regularization, 2, start, rule)
        assert found.converged
        assert 0.0 <= found.gap <= tol * max(found.value, 1e-3)
        assert found.value >= low - 1e-9
        assert found.value - found.gap <= high + 1e-9
        assert (found.weights[2:] >= 0.0).all()
        by_definition = reference.convex_value(
            items, found.weights, regularization, linear
        )
        # HiGHS is exact to 1e-7
        assert found.value == pytest.approx(by_definition, rel=1e-7)


@pytest.mark.parametrize("name", SOLVERS)
def test_a_weight_of_edges_that_only_harms_is_zero(name):
    graphs, labels = repelling(0)
    found = solved(name, problem_of(graphs, labels), 0.1, 2, np.zeros(3))
    assert found.converged
    np.testing.assert_array_equal(found.weights[2:], 0.0)


def test_free_weights_reach_the_optimum_with_repelling_neighbours():
    graphs, labels = repelling(0)
    problem = problem_of(graphs, labels)
    items = reference.labelled(graphs, labels)
    linear = reference.tangent(items, np.zeros(3))
    _, low, high = reference.convex_minimum(items, 0.1, linear, 3, tol=1e-6)
    for name in SOLVERS:
        rule = StoppingRule(1e-4, 500, floor=1e-3)
        solver = SOLVERS[name](problem, 0.1, 3)
        found = solver.minimize(linear, np.zeros(3), rule, [])
        assert found.converged
        assert low - 1e-9 <= found.value <= high * (1.0 + 2e-4)
        assert found.value - found.gap <= high + 1e-9
        assert found.weights[2] < -0.01


@pytest.mark.parametrize("seed", range(4))
def test_both_solvers_find_the_same_weights(seed):
    graphs, labels = graphs_of(seed, sizes=(5, 12, 8, 20))
    problem = problem_of(graphs, labels)
    start = weights_of(seed, 0.5)
    rule = StoppingRule(1e-8, 5000, floor=1e-3)
    first, second = (solved(name, problem, 0.1, 2, start, rule) for name in SOLVERS)
    assert first.value == pytest.approx(second.value, rel=1e-7)
    # strong convexity: |w - w'|^2 <= 2 (gap + gap') / regularization
    apart = np.linalg.norm(first.weights - second.weights)
    assert apart <= 2.0 * np.sqrt(2.0 * max(first.gap, second.gap) / 0.1) + 1e-12


@pytest.mark.parametrize("name", SOLVERS)
def test_values_fall_and_gaps_are_recorded_on_the_way(name):
    graphs, labels = graphs_of(1, sizes=(8, 12))
    found = solved(name, problem_of(graphs, labels), 0.02, 2, weights_of(1))
    values = [step.value for step in found.history]
    assert len(values) > 2
    # one record an iteration, in units of the objective
    assert values[-1] == pytest.approx(found.value, rel=1e-12)
    assert found.history[-1].gap == pytest.approx(found.gap, rel=1e-6, abs=1e-15)
    assert (np.diff(values) <= 1e-12).all()
    assert [step.n_iter for step in found.history] == list(range(1, len(values) + 1))


@pytest.mark.parametrize("name", SOLVERS)
def test_the_callback_hears_of_the_objective_itself(name):
    graphs, labels = graphs_of(1, sizes=(8, 12))
    heard = []
    rule = StoppingRule(1e-6, 3000, callback=heard.append, floor=1e-3)
    found = solved(name, problem_of(graphs, labels), 0.02, 2, weights_of(1), rule)
    assert heard[-1].value == pytest.approx(found.value)
    assert heard[-1].gap == pytest.approx(found.gap)


@pytest.mark.parametrize("name", SOLVERS)
@pytest.mark.parametrize("loss", ["consistent", "ramp"])
@pytest.mark.parametrize("seed", range(2))
def test_rounds_never_raise_the_objective(seed, loss, name):
    graphs, labels = graphs_of(seed, sizes=(5, 6, 7))
    items = reference.labelled(graphs, labels)
    start = weights_of(seed, 0.3)
    before = reference.objective(items, start, 0.05, loss)
    for n_rounds in (1, 2, 4):
        problem = problem_of(graphs, labels)
        solver = SOLVERS[name](problem, 0.05, 2)
        found = minimize_in_rounds(problem, solver, start, loss, 0.05, TIGHT, n_rounds)
        at_weights = reference.objective(items, found.weights, 0.05, loss)
        assert found.objective == pytest.approx(at_weights, rel=1e-7)
        assert found.objective <= before + 1e-9
        assert found.n_rounds <= n_rounds
        before = found.objective


def test_rounds_end_where_the_tangent_is_that_of_the_solution():
    graphs, labels = graphs_of(0, sizes=(5, 6, 7))
    problem = problem_of(graphs, labels)
    solver = FrankWolfe(problem, 0.05, 2)
    found = minimize_in_rounds(
        problem, solver, weights_of(0), "consistent", 0.05, TIGHT, 50
    )
    assert found.settled
    # a further convex problem, from the weights found, has nothing to offer
    again = solved("frank-wolfe", problem, 0.05, 2, found.weights)
    assert again.value >= found.objective * (1.0 - 1e-5)
    rounds = minimize_in_rounds(
        problem, solver, found.weights, "consistent", 0.05, TIGHT, 50
    )
    assert (rounds.n_rounds, rounds.settled) == (1, True)
    assert rounds.objective == pytest.approx(found.objective, rel=1e-5)


def test_the_start_is_no_worse_than_weights_of_nodes_alone():
    graphs, labels = graphs_of(2, sizes=(7, 9))
    problem = problem_of(graphs, labels)
    items = reference.labelled(graphs, labels)
    of_nodes = np.array([0.8, 0.1])
    alone = np.concatenate([of_nodes, np.zeros(2)])
    for loss in ("consistent", "ramp"):
        start = start_weights(problem, of_nodes, loss, 0.05)
        np.testing.assert_array_equal(start[:2], of_nodes)
        assert (start[2:] >= 0.0).all()
        here = reference.objective(items, start, 0.05, loss)
        assert here <= reference.objective(items, alone, 0.05, loss) + 1e-9


def test_a_start_without_edges_is_that_of_the_nodes():
    graphs, labels = graphs_of(2)
    for graph in graphs:
        graph.edge_features[:] = 0.0
    problem = problem_of(graphs, labels, Levels.every)
    start = start_weights(problem, np.array([1.0, 2.0]), "consistent", 0.1)
    np.testing.assert_array_equal(start, [1.0, 2.0, 0.0, 0.0])
