"""Convex problems of a round are solved to a certified gap; rounds never rise."""

import numpy as np
import pytest

from aucmax.graphs.graph_training import (
    FrankWolfe,
    best_start,
    minimize_in_rounds,
    tangent_at,
)
from aucmax.solvers.solver import StoppingRule
from graphs import reference_graph_risk as reference
from graphs.optimum_by_cvxpy import convex_minimum
from graphs.ranker_samples import graphs_of, repelling
from graphs.test_graph_problem import SETS, problem_of, weights_of

TIGHT = StoppingRule(1e-6, 3000, floor=1e-2)


def solved(problem, C, first_bounded, start, rule=TIGHT):
    linear = problem.features(problem.consistent_chains(problem.scores(start))).mean(
        axis=0
    )
    return FrankWolfe(problem, C, first_bounded).minimize(linear, start, rule, [])


@pytest.mark.parametrize(
    ("kind", "C"),
    [("every", 10.0), ("every", 200.0), ("every", 0.3), ("top", 10.0), ("bins", 10.0)],
)
def test_the_optimum_lies_within_the_certified_gap(kind, C):
    graphs, labels = graphs_of(5, sizes=(4, 5, 6))
    problem = problem_of(graphs, labels, SETS[kind])
    start = weights_of(5, 0.5)
    items = reference.labelled(graphs, labels, SETS[kind])
    linear = reference.tangent(items, start)
    optimum = convex_minimum(items, C, linear, 2)
    for tol in (0.3, 1e-6):
        rule = StoppingRule(tol, 3000, floor=1e-3 * C)
        found = solved(problem, C, 2, start, rule)
        assert found.converged
        assert 0.0 <= found.gap <= tol * max(found.value, 1e-3 * C)
        assert found.value >= optimum * (1.0 - 1e-8)
        assert found.value - found.gap <= optimum * (1.0 + 1e-8)
        assert (found.weights[2:] >= 0.0).all()
        by_definition = reference.convex_value(items, found.weights, C, linear)
        # HiGHS is exact to 1e-7
        assert found.value == pytest.approx(by_definition, rel=1e-7)


def test_a_weight_of_edges_that_only_harms_is_zero():
    graphs, labels = repelling(0)
    found = solved(problem_of(graphs, labels), 10.0, 2, np.zeros(3))
    assert found.converged
    np.testing.assert_array_equal(found.weights[2:], 0.0)


def test_free_weights_reach_the_optimum_with_repelling_neighbours():
    graphs, labels = repelling(0)
    problem = problem_of(graphs, labels)
    items = reference.labelled(graphs, labels)
    linear = reference.tangent(items, np.zeros(3))
    optimum = convex_minimum(items, 10.0, linear, 3)
    rule = StoppingRule(1e-4, 500, floor=1e-2)
    found = FrankWolfe(problem, 10.0, 3).minimize(linear, np.zeros(3), rule, [])
    assert found.converged
    assert optimum * (1.0 - 1e-7) <= found.value <= optimum * (1.0 + 2e-4)
    assert found.value - found.gap <= optimum * (1.0 + 1e-7)
    assert found.weights[2] < -0.01


def test_values_fall_and_gaps_are_recorded():
    graphs, labels = graphs_of(1, sizes=(8, 12))
    found = solved(problem_of(graphs, labels), 50.0, 2, weights_of(1))
    values = [step.value for step in found.history]
    assert len(values) > 2
    # one record per iteration
    assert values[-1] == pytest.approx(found.value, rel=1e-12)
    assert found.history[-1].gap == pytest.approx(found.gap, rel=1e-6, abs=1e-15)
    assert (np.diff(values) <= 1e-12).all()
    assert [step.n_iter for step in found.history] == list(range(1, len(values) + 1))


def test_the_callback_receives_the_value_of_the_objective():
    graphs, labels = graphs_of(1, sizes=(8, 12))
    heard = []
    rule = StoppingRule(1e-6, 3000, callback=heard.append, floor=1e-2)
    found = solved(problem_of(graphs, labels), 50.0, 2, weights_of(1), rule)
    assert heard[-1].value == pytest.approx(found.value)
    assert heard[-1].gap == pytest.approx(found.gap)


@pytest.mark.parametrize("loss", ["consistent", "ramp"])
@pytest.mark.parametrize("seed", range(2))
def test_rounds_never_raise_the_objective(seed, loss):
    graphs, labels = graphs_of(seed, sizes=(5, 6, 7))
    items = reference.labelled(graphs, labels)
    start = weights_of(seed, 0.3)
    before = reference.objective(items, start, 20.0, loss)
    for n_rounds in (1, 2, 4):
        problem = problem_of(graphs, labels)
        solver = FrankWolfe(problem, 20.0, 2)
        begin = tangent_at(problem, start, loss, 20.0)
        found = minimize_in_rounds(solver, begin, loss, TIGHT, n_rounds)
        at_weights = reference.objective(items, found.weights, 20.0, loss)
        assert found.objective == pytest.approx(at_weights, rel=1e-7)
        assert found.objective <= before + 1e-8
        assert found.n_rounds <= n_rounds
        before = found.objective


def test_rounds_end_where_the_tangent_is_that_of_the_solution():
    graphs, labels = graphs_of(0, sizes=(5, 6, 7))
    problem = problem_of(graphs, labels)
    solver = FrankWolfe(problem, 20.0, 2)
    start = tangent_at(problem, weights_of(0), "consistent", 20.0)
    found = minimize_in_rounds(solver, start, "consistent", TIGHT, 50)
    assert found.settled
    # a further convex problem, from the weights found, has nothing to offer
    again = solved(problem, 20.0, 2, found.weights)
    assert again.value >= found.objective * (1.0 - 1e-5)
    start = tangent_at(problem, found.weights, "consistent", 20.0)
    rounds = minimize_in_rounds(solver, start, "consistent", TIGHT, 50)
    assert (rounds.n_rounds, rounds.settled) == (1, True)
    assert rounds.objective == pytest.approx(found.objective, rel=1e-5)


@pytest.mark.parametrize("loss", ["consistent", "ramp"])
def test_the_start_is_better_than_weights_of_nodes_alone(loss):
    graphs, labels = graphs_of(2, sizes=(7, 9))
    items = reference.labelled(graphs, labels)
    of_nodes = np.array([0.8, 0.1])
    start = best_start(problem_of(graphs, labels), of_nodes, loss, 20.0)
    np.testing.assert_array_equal(start.weights[:2], of_nodes)
    assert (start.weights[2:] > 0.0).all()
    here = reference.objective(items, start.weights, 20.0, loss)
    assert start.objective == pytest.approx(here, rel=1e-8)
    alone = np.concatenate([of_nodes, np.zeros(2)])
    assert here < reference.objective(items, alone, 20.0, loss)


def test_a_start_without_edges_is_that_of_the_nodes():
    graphs, labels = graphs_of(2)
    for graph in graphs:
        graph.edge_features[:] = 0.0
    start = best_start(
        problem_of(graphs, labels), np.array([1.0, 2.0]), "consistent", 10.0
    )
    np.testing.assert_array_equal(start.weights, [1.0, 2.0, 0.0, 0.0])
