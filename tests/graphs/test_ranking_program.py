"""The linear program against four-entry tables, and against all rankings."""

from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from aucmax.graphs.ranking_program import solve_program
from aucmax.metrics.top_sets import TopSets
from graphs import reference_structured as reference
from graphs.pairwise_samples import SETS, graph, labels_of

TASKS = pytest.mark.parametrize("task", ["rank", "loss_augmented", "consistent"])
ALL_SETS = pytest.mark.parametrize("kind", sorted(SETS))
NESTED = pytest.mark.parametrize("nested", [True, False])
RANGES = {"attractive": (0.0, 0.5), "mixed": (-1.0, 1.0), "repulsive": (-3.0, -1.0)}
SIGNS = pytest.mark.parametrize("low_high", list(RANGES.values()), ids=list(RANGES))
FRUSTRATED = [0.0] * 4, list(combinations(range(4), 2)), [-1.0] * 6


def sample(seed, low_high, kind="every", **sizes):
    scores = graph(seed, low=low_high[0], high=low_high[1], **sizes)
    n = scores[0].size
    return scores, SETS[kind](n), labels_of(seed, n)


@pytest.mark.slow
@TASKS
@ALL_SETS
@SIGNS
@NESTED
def test_the_optimum_is_that_of_the_local_polytope(task, kind, low_high, nested):
    for seed in range(2):
        scores, top_sets, labels = sample(seed, low_high, kind, n=5, n_edges=7)
        solution = solve_program(
            *scores, top_sets=top_sets, nested=nested, task=task, labels=labels
        )
        truth = reference.local_polytope_value(
            scores,
            top_sets.sizes,
            top_sets.weights,
            nested=nested,
            task=task,
            labels=labels,
        )
        assert solution.value == pytest.approx(truth, rel=1e-9, abs=1e-9)


@TASKS
@SIGNS
def test_no_ranking_is_worth_more_than_the_optimum(task, low_high):
    for seed in range(4):
        scores, top_sets, labels = sample(seed, low_high, n=5, n_edges=6)
        solution = solve_program(*scores, task=task, labels=labels)
        best = reference.best_ranking_value(
            scores, top_sets.sizes, top_sets.weights, task, labels
        )
        assert solution.rounded_value <= best + 1e-9
        assert best <= solution.value + 1e-9
        if solution.is_integral:
            assert solution.value == pytest.approx(best, abs=1e-9)
            assert solution.rounded_value == pytest.approx(best, abs=1e-9)


@SIGNS
def test_no_sets_of_their_own_are_worth_more_than_the_unnested_optimum(low_high):
    for seed in range(4):
        scores, top_sets, _ = sample(seed, low_high)
        solution = solve_program(*scores, nested=False)
        best = reference.best_subsets_value(scores, top_sets.sizes, top_sets.weights)
        assert best <= solution.value + 1e-9
        if solution.is_integral:
            assert solution.value == pytest.approx(best, abs=1e-9)


def test_both_fractional_and_integral_optima_are_seen_above():
    for low_high in RANGES.values():
        solutions = [solve_program(*graph(seed, 5, 6, *low_high)) for seed in range(4)]
        assert {one.is_integral for one in solutions} == {False, True}


@TASKS
@ALL_SETS
def test_nestedness_costs_nothing_where_no_weight_is_negative(task, kind):
    scores, top_sets, labels = sample(3, (0.0, 1.0), kind, n=9, n_edges=16)
    options = {"top_sets": top_sets, "task": task, "labels": labels}
    nested = solve_program(*scores, **options)
    alone = solve_program(*scores, nested=False, **options)
    assert nested.value == pytest.approx(alone.value, rel=1e-10)


def test_nestedness_costs_something_where_the_best_node_repels_the_next_two():
    star = [1.5, 1.0, 1.0], [[0, 1], [0, 2]], [-2.0, -2.0]
    alone = solve_program(*star, nested=False)
    assert_array_equal(alone.memberships, [[1, 0, 0], [0, 1, 1], [1, 1, 1]])
    assert alone.is_integral
    assert alone.value == pytest.approx(1.5 + 2.0 - 0.5)
    assert solve_program(*star).value < alone.value - 0.1


def test_a_frustrated_graph_has_a_fractional_optimum_and_is_rounded():
    solution = solve_program(*FRUSTRATED)
    # halves of all four nodes avoid the edge that any two nodes would have
    assert solution.value == pytest.approx(-9.0)
    assert not solution.is_integral
    assert solution.rounded_value == -10.0
    assert sorted(solution.order) == [0, 1, 2, 3]


@pytest.mark.slow
@TASKS
@ALL_SETS
@SIGNS
@NESTED
def test_memberships_are_feasible_and_explain_the_counts(task, kind, low_high, nested):
    scores, top_sets, labels = sample(5, low_high, kind, n=8, n_edges=14)
    solution = solve_program(
        *scores, top_sets=top_sets, nested=nested, task=task, labels=labels
    )
    z, n_positive = solution.memberships, labels.sum()
    assert z.shape == (top_sets.sizes.size, 8)
    assert z.min() >= 0.0
    assert z.max() <= 1.0
    assert_allclose(z.sum(axis=1), top_sets.sizes, atol=1e-9)
    if nested:
        assert np.diff(z, axis=0).min(initial=0.0) >= -1e-9
    if task == "consistent":
        assert_allclose(z[top_sets.sizes >= n_positive][:, labels], 1.0, atol=1e-9)
        assert_allclose(z[top_sets.sizes <= n_positive][:, ~labels], 0.0, atol=1e-9)
    assert_allclose(solution.node_counts, top_sets.weights @ z, atol=1e-12)
    value = scores[0] @ solution.node_counts + scores[2] @ solution.edge_counts
    assert value == pytest.approx(
        reference.total(z, top_sets.weights, *scores), abs=1e-9
    )
    if task == "loss_augmented":
        value += reference.loss(z, top_sets.sizes, top_sets.weights, labels)
    assert solution.value == pytest.approx(value, abs=1e-9)


@pytest.mark.slow
@TASKS
@ALL_SETS
@SIGNS
def test_the_rounded_ranking_has_the_value_it_says(task, kind, low_high):
    scores, top_sets, labels = sample(6, low_high, kind, n=8, n_edges=14)
    solution = solve_program(*scores, top_sets=top_sets, task=task, labels=labels)
    assert_array_equal(np.sort(solution.order), np.arange(8))
    truth = reference.value_of_order(
        solution.order, scores, top_sets.sizes, top_sets.weights, task, labels
    )
    assert solution.rounded_value == pytest.approx(truth, abs=1e-10)
    assert solution.rounded_value <= solution.value + 1e-9
    if task == "consistent":
        assert reference.is_consistent(solution.order, labels)


def test_nodes_of_equal_counts_are_ordered_by_score_then_by_number():
    top_sets = TopSets.up_to(5, 1)  # one node is in, the others tie
    solution = solve_program([1.0, 2.0, 9.0, 1.0, 3.0], [], [], top_sets=top_sets)
    assert_array_equal(solution.order, [2, 4, 1, 0, 3])
    # negatives come last even if no set tells them from the last positives
    labels = [False, True, True, True, True]
    solution = solve_program(
        [9.0, 2.0, 4.0, 1.0, 3.0],
        [],
        [],
        top_sets=top_sets,
        task="consistent",
        labels=labels,
    )
    assert_array_equal(solution.order, [2, 4, 1, 3, 0])


def test_sets_on_which_all_rankings_agree_have_no_loss():
    top_sets = TopSets(np.array([3]), np.array([2.0]), 3)
    scores = [1.0, 2.0, 3.0], [[0, 1]], [-1.0]
    solution = solve_program(
        *scores, top_sets=top_sets, task="loss_augmented", labels=[0, 1, 0]
    )
    assert solution.value == pytest.approx(10.0)


def test_a_repeated_edge_is_one_edge_with_both_weights():
    unary, edges, pair_weights = graph(1, low=-1.0)
    whole = solve_program(unary, edges, pair_weights)
    parts = np.array([3.0, -2.0])[:, None] * pair_weights
    twice = np.concatenate([edges, edges[:, ::-1]])
    solution = solve_program(unary, twice, parts.ravel())
    assert solution.value == pytest.approx(whole.value, rel=1e-10)
    n_edges = len(edges)
    assert_array_equal(solution.edge_counts[:n_edges], solution.edge_counts[n_edges:])
    value = unary @ solution.node_counts + parts.ravel() @ solution.edge_counts
    assert solution.value == pytest.approx(value, rel=1e-12)


GOOD = {
    "unary": [1.0, 2.0, 3.0],
    "edges": [[0, 1], [1, 2]],
    "pair_weights": [1.0, -1.0],
}
BAD = {
    "fractional nodes": ({"edges": [[0.0, 1.5], [1, 2]]}, r"edges\[0\] is"),
    "no edges but weights": ({"edges": []}, "each of the 0 edges"),
    "NaN weight": ({"pair_weights": [1.0, np.nan]}, "pair_weights .* row 1 is nan"),
    "NaN score": ({"unary": [1.0, np.nan, 3.0]}, "unary .* row 1 is nan"),
    "other sets": ({"top_sets": TopSets.every(4)}, "4 nodes, but unary has 3"),
    "unknown task": ({"task": "sort"}, "'consistent', got 'sort'"),
    "no labels": ({"task": "consistent"}, "'consistent' needs labels"),
    "few labels": ({"task": "consistent", "labels": [0, 1]}, "labels has 2 values"),
    "three labels": ({"task": "consistent", "labels": [0, 1, 2]}, "3 distinct values"),
    "no time": ({"time_limit": 0.0}, "time_limit must be positive"),
}


@pytest.mark.parametrize(("change", "message"), list(BAD.values()), ids=list(BAD))
def test_bad_input_is_named(change, message):
    with pytest.raises(ValueError, match=message):
        solve_program(**{**GOOD, **change})


def test_a_program_too_large_is_rejected_before_it_is_written():
    n = 2000
    edges = np.stack([np.arange(n - 1), np.arange(1, n)], axis=1)
    with pytest.raises(ValueError, match=r"7,998,000 variables.*fewer top sets"):
        solve_program(np.zeros(n), edges, np.ones(n - 1))


def test_the_time_limit_names_a_way_out():
    scores = graph(0, n=60, n_edges=200)
    with pytest.raises(TimeoutError, match=r"15,600 variables.*graphs\.rank"):
        solve_program(*scores, time_limit=1e-4)
