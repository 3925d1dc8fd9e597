"""Convex problems of a round are solved to a certified gap; rounds never rise."""

import numpy as np
import pytest

from aucmax import GraphRanker
from aucmax.solvers.block_frank_wolfe import BlockFrankWolfeSolver, TangentL2
from aucmax.solvers.difference_of_convex import DifferenceOfConvexSolver
from aucmax.solvers.solver import Start, StoppingRule
from graphs import reference_graph_risk as reference
from graphs.optimum_by_cvxpy import convex_minimum
from graphs.ranker_samples import graphs_of, repelling
from graphs.test_graph_problem import SETS, problem_of, weights_of

TIGHT = StoppingRule(1e-6, 3000, floor=1e-2)


def solved(problem, first_bounded, start, rule=TIGHT, linear=None):
    """Solve the convex problem of a tangent, that at the start by default."""
    point = problem.at(start)
    linear = problem.concave_gradient(point) if linear is None else linear
    tangent = TangentL2(first_bounded, problem.C * linear)
    return BlockFrankWolfeSolver(rule).minimize(problem, tangent, Start(point))


def in_rounds(problem, start, max_rounds):
    solver = DifferenceOfConvexSolver(TIGHT, max_rounds)
    return solver.minimize(problem, TangentL2(2), Start(problem.at(start)))


@pytest.mark.parametrize(
    ("kind", "C"),
    [("every", 10.0), ("every", 200.0), ("every", 0.3), ("top", 10.0), ("bins", 10.0)],
)
def test_the_optimum_lies_within_the_certified_gap(kind, C):
    graphs, labels = graphs_of(5, sizes=(4, 5, 6))
    problem = problem_of(graphs, labels, SETS[kind], C)
    start = weights_of(5, 0.5)
    items = reference.labelled(graphs, labels, SETS[kind])
    linear = reference.tangent(items, start)
    optimum = convex_minimum(items, C, linear, 2)
    for tol in (0.3, 1e-6):
        rule = StoppingRule(tol, 3000, floor=1e-3 * C)
        solution = solved(problem, 2, start, rule)
        weights = solution.point.parameters
        assert solution.converged
        assert 0.0 <= solution.gap <= tol * max(solution.value, 1e-3 * C)
        assert solution.value >= optimum * (1.0 - 1e-8)
        assert solution.value - solution.gap <= optimum * (1.0 + 1e-8)
        assert (weights[2:] >= 0.0).all()
        by_definition = reference.convex_value(items, weights, C, linear)
        # HiGHS is exact to 1e-7
        assert solution.value == pytest.approx(by_definition, rel=1e-7)


def test_free_weights_reach_the_optimum_with_repelling_neighbours():
    graphs, labels = repelling(0)
    problem = problem_of(graphs, labels, C=10.0)
    items = reference.labelled(graphs, labels)
    linear = reference.tangent(items, np.zeros(3))
    optimum = convex_minimum(items, 10.0, linear, 3)
    rule = StoppingRule(1e-4, 500, floor=1e-2)
    solution = solved(problem, 3, np.zeros(3), rule, linear)
    assert solution.converged
    assert optimum * (1.0 - 1e-7) <= solution.value <= optimum * (1.0 + 2e-4)
    assert solution.value - solution.gap <= optimum * (1.0 + 1e-7)
    assert solution.point.parameters[2] < -0.01


@pytest.mark.parametrize("loss", ["consistent", "ramp"])
@pytest.mark.parametrize("seed", range(2))
def test_rounds_never_raise_the_objective(seed, loss):
    graphs, labels = graphs_of(seed, sizes=(5, 6, 7))
    items = reference.labelled(graphs, labels)
    start = weights_of(seed, 0.3)
    before = reference.objective(items, start, 20.0, loss)
    for n_rounds in (1, 2, 4):
        problem = problem_of(graphs, labels, C=20.0, loss=loss)
        solution = in_rounds(problem, start, n_rounds)
        by_definition = reference.objective(
            items, solution.point.parameters, 20.0, loss
        )
        assert solution.value == pytest.approx(by_definition, rel=1e-7)
        assert solution.value <= before + 1e-8
        assert solution.n_rounds <= n_rounds
        before = solution.value


def test_rounds_end_where_the_tangent_is_that_of_the_solution():
    graphs, labels = graphs_of(0, sizes=(5, 6, 7))
    problem = problem_of(graphs, labels, C=20.0)
    solution = in_rounds(problem, weights_of(0), 50)
    assert solution.converged
    # a further convex problem, from its weights, has nothing to offer
    again = solved(problem, 2, solution.point.parameters)
    assert again.value >= solution.value * (1.0 - 1e-5)
    rounds = in_rounds(problem, solution.point.parameters, 50)
    assert (rounds.n_rounds, rounds.converged) == (1, True)
    assert rounds.value == pytest.approx(solution.value, rel=1e-5)


@pytest.mark.parametrize("loss", ["consistent", "ramp"])
def test_the_start_is_better_than_weights_of_nodes_alone(loss):
    graphs, labels = graphs_of(2, sizes=(7, 9))
    items = reference.labelled(graphs, labels)
    problem = problem_of(graphs, labels, C=20.0, loss=loss)
    start = GraphRanker(20.0)._start(problem).parameters
    assert (start[2:] > 0.0).all()
    alone = np.concatenate([start[:2], np.zeros(2)])
    value, of_nodes = (
        reference.objective(items, w, 20.0, loss) for w in (start, alone)
    )
    assert value < of_nodes
