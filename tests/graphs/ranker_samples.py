"""Small labelled graphs to learn from."""

import numpy as np

from aucmax.graphs import Graph


def ring(n):
    """Edges round a circle; with two nodes, the one edge."""
    nodes = np.arange(n)
    return np.stack([nodes, (nodes + 1) % n], axis=1)[: n if n > 2 else n - 1]


def both_classes(values):
    """Label the upper part, at least one node and not all."""
    labels = values > 0.0
    if labels.all() or not labels.any():
        labels = values > np.median(values)
    if labels.all() or not labels.any():
        labels = np.arange(values.size) == values.size - 1
    return labels


def graphs_of(seed, sizes=(5, 7, 6), n_node_features=2, n_edge_features=2, noise=1.0):
    """Rings with chords whose hidden values change slowly, seen with noise.

    Labels are true where the hidden value is positive.
    """
    rng = np.random.default_rng(seed)
    graphs, labels = [], []
    for n in sizes:
        hidden = np.cumsum(rng.normal(size=n))
        hidden -= hidden.mean() + 0.3
        features = noise * rng.normal(size=(n, n_node_features))
        features[:, 0] += hidden
        chords = np.stack([np.arange(n - 2), np.arange(2, n)], axis=1)
        chords = chords[rng.random(len(chords)) < 0.3] if n > 3 else chords[:0]
        edges = np.concatenate([ring(n), chords])
        strengths = rng.uniform(0.1, 1.0, size=(len(edges), n_edge_features))
        graphs.append(Graph(features, edges, strengths))
        labels.append(both_classes(hidden))
    return graphs, labels


def repelling(seed, sizes=(4, 6)):
    """Edges among negatives only, which neighbours that repel each other tell apart."""
    rng = np.random.default_rng(seed)
    graphs, labels = [], []
    for n in sizes:
        features = rng.normal(size=(n, 2))
        y = rng.permutation(np.arange(n) < n // 2)
        features[:, 0] += 0.5 * y
        negatives = np.flatnonzero(~y)
        graphs.append(Graph(features, negatives[ring(negatives.size)]))
        labels.append(y)
    return graphs, labels
