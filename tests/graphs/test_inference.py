"""Rankings by blocks of equal smoothed scores against the linear program."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from aucmax.graphs.inference import rank
from aucmax.graphs.ranking_program import solve_program
from aucmax.metrics.top_sets import TopSets
from graphs import reference_structured as reference
from graphs.pairwise_samples import SETS, graph, labels_of

pytestmark = pytest.mark.kernel

TASKS = pytest.mark.parametrize("task", ["rank", "loss_augmented", "consistent"])
ALL_SETS = pytest.mark.parametrize("kind", sorted(SETS))
SHAPES = {
    "sparse": {"n": 10, "n_edges": 6},
    "dense": {"n": 9, "n_edges": 30, "high": 0.3},
    "strong": {"n": 8, "n_edges": 14, "high": 5.0},
    "weak": {"n": 8, "n_edges": 14, "high": 0.01},
    "tied": {"n": 10, "n_edges": 16, "decimals": 0},
    "single": {"n": 2, "n_edges": 1},
}
ALL_SHAPES = pytest.mark.parametrize("shape", list(SHAPES))


def solve(task, scores, labels, top_sets=None):
    """Rank with the labels of a task that needs some."""
    labels = None if task == "rank" else labels
    return rank(*scores, top_sets=top_sets, task=task, labels=labels)


def scale_of(scores, top_sets):
    """The size that the value of one node in all sets may have."""
    return top_sets.weights.sum() * max(
        1.0, *(np.abs(s).max(initial=0.0) for s in scores[::2])
    )


def smoothed_towards(task, scores, labels, top_sets):
    """The scores u that are smoothed: nodes with their share of their edges."""
    unary, edges, pair_weights = scores
    u = unary.astype(float)
    if task == "loss_augmented":
        n_positive = int(labels.sum())
        u[labels] -= 1.0 / top_sets.spread(n_positive)
    for (i, j), weight in zip(edges, pair_weights, strict=True):
        if task == "consistent" and labels[i] != labels[j]:
            u[j if labels[i] else i] += weight
        else:
            u[i] += weight / 2.0
            u[j] += weight / 2.0
    return u


def assert_equals_the_program(task, scores, labels, top_sets):
    ranking = solve(task, scores, labels, top_sets)
    truth = solve_program(*scores, top_sets=top_sets, task=task, labels=labels)
    scale = scale_of(scores, top_sets)
    assert ranking.value == pytest.approx(truth.value, abs=1e-8 * scale)
    assert_counts_explain_the_value(ranking, task, scores, labels, top_sets)
    assert_order_is_right(ranking, task, scores, labels, top_sets)


def assert_counts_explain_the_value(ranking, task, scores, labels, top_sets):
    z = reference.memberships_of_blocks(ranking.order, ranking.blocks, top_sets.sizes)
    v, tolerance = top_sets.weights, 1e-12 * scale_of(scores, top_sets) * len(scores[0])
    assert_allclose(ranking.node_counts, v @ z, atol=1e-10 * v.sum())
    products = [v @ np.minimum(z[:, i], z[:, j]) for i, j in scores[1]]
    assert_allclose(ranking.edge_counts, products, atol=1e-10 * v.sum())
    value = scores[0] @ ranking.node_counts + scores[2] @ ranking.edge_counts
    if task == "loss_augmented":
        value += reference.loss(z, top_sets.sizes, v, labels)
    assert ranking.value == pytest.approx(value, abs=max(tolerance, 1e-9))


def assert_order_is_right(ranking, task, scores, labels, top_sets):
    """Blocks of equal scores, falling; inside them falling u, then rising numbers."""
    n = len(scores[0])
    order, blocks = ranking.order, ranking.blocks
    assert_array_equal(np.sort(order), np.arange(n))
    assert (blocks[0], blocks[-1]) == (0, n)
    assert (np.diff(blocks) > 0).all()
    if task == "consistent":
        assert reference.is_consistent(order, labels)
        assert labels.sum() in blocks
    u = smoothed_towards(task, scores, labels, top_sets)
    rounding = 1e-9 * max(1.0, np.abs(u).max())
    starts = set(blocks[1:-1])
    for place in range(1, n):
        before, here = order[place - 1], order[place]
        if place not in starts:
            assert abs(ranking.scores[before] - ranking.scores[here]) <= rounding
            assert u[before] >= u[here] - rounding
            # a share of the loss rounds, so that equal nodes may differ in it
            is_tied = task != "loss_augmented" and u[before] == u[here]
            assert before < here or not is_tied
        elif task != "consistent" or labels[before] == labels[here]:
            assert ranking.scores[before] > ranking.scores[here]


@TASKS
@ALL_SETS
@ALL_SHAPES
def test_a_ranking_has_the_optimum_of_the_program(task, kind, shape):
    for seed in range(3):
        scores = graph(seed, **SHAPES[shape])
        n = scores[0].size
        assert_equals_the_program(task, scores, labels_of(seed, n), SETS[kind](n))


@TASKS
@ALL_SHAPES
def test_no_ranking_is_worth_more(task, shape):
    scores = graph(7, **{**SHAPES[shape], "n": min(SHAPES[shape]["n"], 5)})
    n = scores[0].size
    labels, top_sets = labels_of(7, n), TopSets.every(n)
    ranking = solve(task, scores, labels)
    sizes, weights = top_sets.sizes, top_sets.weights
    best = reference.best_ranking_value(scores, sizes, weights, task, labels)
    assert ranking.value >= best - 1e-9
    order_value = reference.value_of_order(
        ranking.order, scores, sizes, weights, task, labels
    )
    assert order_value <= best + 1e-9
    if len(ranking.blocks) == n + 1:
        assert ranking.value == pytest.approx(order_value, abs=1e-9)


@ALL_SHAPES
def test_the_loss_in_the_value_is_that_of_the_scores_with_ties_a_half(shape):
    for seed in range(3):
        scores = graph(seed, **SHAPES[shape])
        labels = labels_of(seed, scores[0].size)
        ranking = solve("loss_augmented", scores, labels)
        plain = scores[0] @ ranking.node_counts + scores[2] @ ranking.edge_counts
        tied = np.empty(labels.size)  # scores without rounding: one number a block
        sizes = np.diff(ranking.blocks)
        tied[ranking.order] = -np.repeat(np.arange(sizes.size), sizes)
        assert ranking.value - plain == pytest.approx(
            1.0 - reference.auc(tied, labels), abs=1e-9
        )


@pytest.mark.parametrize("no_edges", [[], np.empty((0, 2), dtype=int)])
@TASKS
@ALL_SETS
def test_without_edges_a_ranking_is_a_sort(task, kind, no_edges):
    unary = np.array([0.5, -1.0, 2.0, 0.5, 0.0, 3.0, 0.5])
    labels = np.array([True, False, False, True, False, True, False])
    top_sets = SETS[kind](7)
    scores = unary, no_edges, np.empty(0)
    ranking = solve(task, scores, labels, top_sets)
    u = smoothed_towards(task, (unary, [], []), labels, top_sets)
    assert_allclose(ranking.scores, u, atol=1e-12)
    later = ~labels if task == "consistent" else np.zeros(7)
    assert_array_equal(ranking.order, np.lexsort((np.arange(7), -u, later)))
    assert ranking.edge_counts.shape == (0,)
    assert_equals_the_program(task, scores, labels, top_sets)


@TASKS
def test_equal_nodes_tie_and_are_ordered_by_number(task):
    n = 6
    scores = np.full(n, 0.25), *graph(0, n=n, n_edges=15)[1:]
    scores = scores[0], scores[1], np.full(15, 0.5)  # every node joined to every other
    labels = np.array([False, True, True, False, True, False])
    assert_equals_the_program(task, scores, labels, TopSets.every(n))
    ranking = rank(*scores)
    assert_array_equal(ranking.order, np.arange(n))
    assert_array_equal(ranking.blocks, [0, n])
    assert_allclose(ranking.scores, 0.25 + 15 * 0.5 / n, rtol=1e-12)


@TASKS
def test_a_repeated_edge_is_one_edge_with_both_weights(task):
    unary, edges, pair_weights = graph(2, n=8, n_edges=12)
    labels = labels_of(2, 8)
    whole = solve(task, (unary, edges, pair_weights), labels)
    twice = np.concatenate([edges, edges[:, ::-1]])
    parts = np.concatenate([0.25 * pair_weights, 0.75 * pair_weights])
    ranking = solve(task, (unary, twice, parts), labels)
    assert ranking.value == pytest.approx(whole.value, rel=1e-12)
    assert_allclose(ranking.scores, whole.scores, rtol=1e-9)
    assert_allclose(ranking.edge_counts, np.tile(whole.edge_counts, 2), rtol=1e-9)


@TASKS
def test_a_negative_weight_is_named_with_the_program_that_takes_it(task):
    scores = [1.0, 2.0, 3.0], [[0, 1], [1, 2]], [1.0, -0.5]
    with pytest.raises(ValueError, match=r"-0\.5.*solve_program") as caught:
        solve(task, scores, np.array([True, False, True]))
    assert "[1]" in str(caught.value) or "edge 1" in str(caught.value)


BAD = {
    "edge out of range": ({"edges": [[0, 1], [1, 7]]}, r"edges\[1\].*7"),
    "negative node": ({"edges": [[-1, 1], [1, 2]]}, r"edges\[0\].*-1"),
    "self-loop": ({"edges": [[0, 1], [2, 2]]}, r"edges\[1\].*2"),
    "few weights": ({"pair_weights": [1.0]}, r"pair_weights"),
    "NaN weight": ({"pair_weights": [1.0, np.nan]}, r"pair_weights.*1.*nan"),
    "NaN score": ({"unary": [1.0, np.nan, 3.0]}, r"unary.*1.*nan"),
    "infinite score": ({"unary": [np.inf, 2.0, 3.0]}, r"unary.*0.*inf"),
    "no nodes": ({"unary": [], "edges": [], "pair_weights": []}, r"unary"),
    "other sets": ({"top_sets": TopSets.every(4)}, r"4.*3"),
}


@TASKS
@pytest.mark.parametrize(("change", "message"), list(BAD.values()), ids=list(BAD))
def test_bad_input_is_named(task, change, message):
    given = {
        "unary": [1.0, 2.0, 3.0],
        "edges": [[0, 1], [1, 2]],
        "pair_weights": [1.0, 0.5],
        "top_sets": None,
        **change,
    }
    *scores, top_sets = given.values()
    with pytest.raises(ValueError, match=message):
        solve(task, scores, [True, False, True], top_sets)


@pytest.mark.parametrize("which", ["unary", "pair_weights"])
def test_scores_whose_sums_overflow_are_rejected(which):
    problem = {
        "unary": np.ones(3),
        "edges": [[0, 1], [1, 2]],
        "pair_weights": [1.0] * 2,
    }
    problem[which] = 1e308 * np.asarray(problem[which])
    with pytest.raises(ValueError, match="their sums overflow"):
        rank(**problem)
