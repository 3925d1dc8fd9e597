"""Best chains of many graphs at once: as graph by graph, and as their definition."""

import numpy as np
import pytest

from aucmax.graphs import total_variation
from aucmax.graphs.inference import ChainFinder
from aucmax.metrics.top_sets import TopSets
from graphs import reference_structured as literal
from graphs.pairwise_samples import SETS, graph, labels_of

pytestmark = pytest.mark.kernel

SIZES = [6, 1, 9, 4, 2, 7]


def batch_of(decimals=None, with_edges=True):
    """Several graphs one after the other, with the parts they are made of."""
    parts = []
    for seed, n in enumerate(SIZES):
        n_edges = min(n * (n - 1) // 2, 2 * n) if with_edges else 0
        unary, edges, weights = graph(seed, n, n_edges, decimals=decimals)
        parts.append((unary, np.sort(edges, axis=1).astype(np.int64), weights))
    offsets = np.concatenate([[0], np.cumsum(SIZES)])
    unary = np.concatenate([part[0] for part in parts])
    edges = np.concatenate(
        [part[1] + start for part, start in zip(parts, offsets, strict=False)]
    )
    weights = np.concatenate([part[2] for part in parts])
    return parts, offsets, unary, edges, weights


def labels_of_all():
    labels = [labels_of(seed, n) if n > 1 else [True] for seed, n in enumerate(SIZES)]
    return np.concatenate(labels)


def sets_of_all(kind):
    return [SETS[kind](n) if n > 1 else TopSets.every(1) for n in SIZES]


@pytest.mark.parametrize("decimals", [None, 0, 1])
@pytest.mark.parametrize("is_consistent", [False, True])
@pytest.mark.parametrize("kind", SETS)
def test_many_graphs_at_once_are_as_one_by_one(kind, is_consistent, decimals):
    parts, offsets, unary, edges, weights = batch_of(decimals)
    top_sets = sets_of_all(kind)
    labels = labels_of_all() if is_consistent else None
    chains = ChainFinder(edges, offsets, top_sets, labels).find(unary, weights)
    n_edges = 0
    for m, (own_unary, own_edges, own_weights) in enumerate(parts):
        a, b = offsets[m : m + 2]
        e, n_edges = n_edges, n_edges + len(own_edges)
        own_labels = None if labels is None else labels[a:b]
        finder = ChainFinder(own_edges, np.array([0, b - a]), [top_sets[m]], own_labels)
        alone = finder.find(own_unary, own_weights)
        np.testing.assert_allclose(chains.scores[a:b], alone.scores, atol=1e-14)
        np.testing.assert_allclose(chains.unsmoothed[a:b], alone.unsmoothed, atol=1e-14)
        np.testing.assert_allclose(
            chains.node_counts[a:b], alone.node_counts, atol=1e-12
        )
        np.testing.assert_allclose(
            chains.edge_counts[e:n_edges], alone.edge_counts, atol=1e-12
        )
        np.testing.assert_array_equal(chains.order[a:b] - a, alone.order)
        first, last = np.searchsorted(chains.blocks, [a, b])
        np.testing.assert_array_equal(chains.blocks[first : last + 1] - a, alone.blocks)


@pytest.mark.parametrize("decimals", [None, 0])
@pytest.mark.parametrize("is_consistent", [False, True])
@pytest.mark.parametrize("kind", SETS)
def test_counts_are_the_sums_of_memberships_set_by_set(kind, is_consistent, decimals):
    _, offsets, unary, edges, weights = batch_of(decimals)
    top_sets = sets_of_all(kind)
    labels = labels_of_all() if is_consistent else None
    chains = ChainFinder(edges, offsets, top_sets, labels).find(unary, weights)
    for m, sets in enumerate(top_sets):
        a, b = offsets[m : m + 2]
        first, last = np.searchsorted(chains.blocks, [a, b])
        z = literal.memberships_of_blocks(
            chains.order[a:b] - a, chains.blocks[first : last + 1] - a, sets.sizes
        )
        np.testing.assert_allclose(z.sum(axis=1), sets.sizes)
        np.testing.assert_allclose(
            chains.node_counts[a:b], sets.weights @ z, atol=1e-12
        )
        mine = (edges[:, 0] >= a) & (edges[:, 0] < b)
        i, j = (edges[mine] - a).T
        both = sets.weights @ np.minimum(z[:, i], z[:, j])
        np.testing.assert_allclose(chains.edge_counts[mine], both, atol=1e-12)


def test_scores_are_smoothed_and_sorted_within_graphs():
    parts, offsets, unary, edges, weights = batch_of()
    top_sets = [TopSets.every(n) for n in SIZES]
    chains = ChainFinder(edges, offsets, top_sets).find(unary, weights)
    for m, (own_unary, own_edges, own_weights) in enumerate(parts):
        a, b = offsets[m : m + 2]
        u = own_unary.copy()
        for (i, j), weight in zip(own_edges, own_weights, strict=True):
            u[i] += weight / 2
            u[j] += weight / 2
        np.testing.assert_allclose(chains.unsmoothed[a:b], u, atol=1e-14)
        x = total_variation.prox(u, own_edges, own_weights / 2)
        np.testing.assert_allclose(chains.scores[a:b], x, atol=1e-12)
        order = chains.order[a:b]
        assert sorted(order) == list(range(a, b))
        keys = np.stack([-chains.scores[order], -chains.unsmoothed[order], order])
        assert all(tuple(keys[:, k]) < tuple(keys[:, k + 1]) for k in range(b - a - 1))


def test_positives_first_lifts_negatives_by_their_edges_to_positives():
    _, offsets, unary, edges, weights = batch_of()
    labels = labels_of_all()
    top_sets = [TopSets.every(n) for n in SIZES]
    chains = ChainFinder(edges, offsets, top_sets, labels).find(unary, weights)
    u = unary.copy()
    for (i, j), weight in zip(edges, weights, strict=True):
        if labels[i] == labels[j]:
            u[i] += weight / 2
            u[j] += weight / 2
        else:
            u[j if labels[i] else i] += weight
    np.testing.assert_allclose(chains.unsmoothed, u, atol=1e-14)
    for m in range(len(SIZES)):
        ordered = labels[chains.order[offsets[m] : offsets[m + 1]]]
        assert literal.is_consistent(np.arange(ordered.size), ordered)


@pytest.mark.parametrize("is_consistent", [False, True])
@pytest.mark.parametrize("kind", SETS)
def test_chains_of_a_batch_reach_the_optimum_of_the_program(kind, is_consistent):
    parts, offsets, unary, edges, weights = batch_of()
    labels = labels_of_all()
    top_sets = sets_of_all(kind)
    finder = ChainFinder(edges, offsets, top_sets, labels if is_consistent else None)
    chains = finder.find(unary, weights)
    for m, part in enumerate(parts):
        a, b = offsets[m : m + 2]
        if b - a == 1 or top_sets[m].sizes.size == 0:
            continue
        mine = (edges[:, 0] >= a) & (edges[:, 0] < b)
        value = unary[a:b] @ chains.node_counts[a:b]
        value += weights[mine] @ chains.edge_counts[mine]
        optimum = literal.local_polytope_value(
            part,
            top_sets[m].sizes,
            top_sets[m].weights,
            task="consistent" if is_consistent else "rank",
            labels=labels[a:b],
        )
        assert value == pytest.approx(optimum, rel=1e-9, abs=1e-9)


def test_without_edges_the_chain_is_the_sorted_order():
    _, offsets, unary, edges, weights = batch_of(with_edges=False)
    top_sets = [TopSets.every(n) for n in SIZES]
    chains = ChainFinder(edges, offsets, top_sets).find(unary, weights)
    np.testing.assert_array_equal(chains.scores, unary)
    assert chains.edge_counts.size == 0
    for m, n in enumerate(SIZES):
        a, b = offsets[m : m + 2]
        # the best of n nodes is in n sets, the worst in one
        ranks = np.argsort(np.argsort(unary[a:b]))
        np.testing.assert_allclose(chains.node_counts[a:b], ranks + 1.0)
        assert n == b - a
