"""The structured risk of labelled graphs by its definition.

Maxima over chains of sets come from linear programs over the sets of all sizes, not
from the closed form. Weights are those of node features, then those of edge features.
"""

from typing import NamedTuple

import numpy as np

from graphs import reference_structured as literal


class Labelled(NamedTuple):
    """One graph, its labels, and the sizes of the sets that count, with weights."""

    node_features: np.ndarray
    edges: np.ndarray
    edge_features: np.ndarray
    labels: np.ndarray
    sizes: list
    set_weights: list

    @property
    def best(self):
        """The most positives that the sets can hold."""
        p = self.labels.sum()
        return sum(
            v * min(size, p)
            for size, v in zip(self.sizes, self.set_weights, strict=True)
        )

    @property
    def loss_range(self):
        """Worst to best: Z."""
        n = (~self.labels).sum()
        worst = [
            v * max(0, size - n)
            for size, v in zip(self.sizes, self.set_weights, strict=True)
        ]
        return self.best - sum(worst)

    def scores(self, weights):
        """Scores of nodes and of pairs."""
        d = self.node_features.shape[1]
        return self.node_features @ weights[:d], self.edge_features @ weights[d:]

    def polytope(self, weights, task, nested=True):
        """The linear program of a task; not divided by Z, which suits tolerances.

        The tasks are the ranking, the one with positives first, and the one with the
        loss, less the constant `best`.
        """
        unary, pairs = self.scores(weights)
        if task == "loss_augmented":
            unary = unary - self.labels
        graph = (unary, self.edges, pairs)
        polytope = literal.LocalPolytope(graph, self.sizes, self.set_weights)
        if nested:
            polytope.nest()
        if task == "consistent":
            polytope.put_positives_first(self.labels)
        return polytope


def labelled(graphs, labels, sets_of=None):
    """Put graphs and labels together; sets of every size count, with weight 1.

    `sets_of` tells other sizes and weights for a number of nodes.
    """
    items = []
    for graph, y in zip(graphs, labels, strict=True):
        sizes, weights = list(range(1, y.size + 1)), [1.0] * y.size
        if sets_of is not None:
            sizes, weights = sets_of(y.size).sizes, sets_of(y.size).weights
        items.append(
            Labelled(
                graph.node_features, graph.edges, graph.edge_features, y, sizes, weights
            )
        )
    return items


SECOND = {"consistent": "consistent", "fixed": "consistent", "ramp": "rank"}


def risk(item, weights, loss="consistent", nested=True):
    """Return the excess of the best chain with its loss over the one compared."""
    first = item.polytope(weights, "loss_augmented", nested).optimum()
    second = item.polytope(weights, SECOND[loss], nested).optimum()
    return (first - second + item.best) / item.loss_range


def objective(items, weights, C, loss="consistent", nested=True):
    """The penalty of the weights plus C times the mean risk."""
    penalty = sum(w * w for w in weights) / 2
    risks = [risk(item, weights, loss, nested) for item in items]
    return penalty + C * sum(risks) / len(risks)


def tangent(items, weights, loss="consistent"):
    """The mean sums of features that take the place of the concave part."""
    rows = []
    for item in items:
        z = item.polytope(weights, SECOND[loss]).memberships()
        _, pairs = item.scores(weights)
        nodes, edges = 0.0, 0.0
        for members, v in zip(z, item.set_weights, strict=True):
            together = literal.products(members, item.edges, pairs)
            nodes = nodes + v * (members @ item.node_features)
            edges = edges + v * (together @ item.edge_features)
        rows.append(np.concatenate([nodes, edges]) / item.loss_range)
    return np.mean(rows, axis=0)


def convex_value(items, weights, C, linear):
    """The objective with the concave part replaced by minus a linear one."""
    highest = [
        (item.polytope(weights, "loss_augmented").optimum() + item.best)
        / item.loss_range
        for item in items
    ]
    risk_above = np.mean(highest) - linear @ weights
    return float(weights @ weights) / 2 + C * risk_above
