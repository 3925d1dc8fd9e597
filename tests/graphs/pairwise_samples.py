"""Small graphs with scores and labels, and top sets of all kinds."""

import numpy as np

from aucmax.metrics.top_sets import TopSets


def weighted(n):
    """The set of all nodes among others, and weights that no measure has."""
    sizes = np.unique([1, n // 2, n])
    return TopSets(sizes, np.array([0.3, 2.0, 5.0])[: sizes.size], n)


SETS = {
    "every": TopSets.every,
    "top": lambda n: TopSets.up_to(n, 3),
    "bins": lambda n: TopSets.binned(n, 3),
    "boundaries": lambda n: TopSets.binned(n, [1, 2, 5]),
    "shares": lambda n: TopSets.binned(n, [0.15, 0.4, 0.8]),
    "weighted": weighted,
}


def graph(seed, n=6, n_edges=9, low=0.0, high=1.0, decimals=None):
    """Random scores and distinct edges, in any order and direction."""
    rng = np.random.default_rng(seed)
    pairs = np.stack(np.triu_indices(n, 1), axis=1)
    edges = pairs[rng.permutation(len(pairs))[:n_edges]]
    backwards = rng.random(len(edges)) < 0.5
    edges[backwards] = edges[backwards, ::-1]
    unary = rng.normal(size=n)
    pair_weights = rng.uniform(low, high, len(edges))
    if decimals is not None:
        unary, pair_weights = unary.round(decimals), pair_weights.round(decimals)
    return unary, edges, pair_weights


def labels_of(seed, n):
    """Labels of both classes."""
    rng = np.random.default_rng(1000 + seed)
    labels = np.arange(n) < rng.integers(1, n)
    return rng.permutation(labels)
