"""The structured risk of labelled graphs by its definition, and its convex minimum.

Maxima over chains of sets come from linear programs over all levels, not from the
closed form. Weights are those of node features, then those of edge features.
"""

from typing import NamedTuple

import cvxpy as cp
import numpy as np

from aucmax.metrics.levels import Levels
from aucmax.structured import solve_program
from structured import reference_structured as literal


class Labelled(NamedTuple):
    """One graph, its labels, and the levels that count."""

    node_features: np.ndarray
    edges: np.ndarray
    edge_features: np.ndarray
    labels: np.ndarray
    levels: Levels

    @property
    def spread(self):
        """Worst to best: Z."""
        p, n = self.labels.sum(), (~self.labels).sum()
        return sum(
            v * (min(size, p) - max(0, size - n))
            for size, v in zip(self.levels.sizes, self.levels.weights, strict=True)
        )

    def scores(self, weights):
        """Scores of nodes and of pairs."""
        d = self.node_features.shape[1]
        return self.node_features @ weights[:d], self.edge_features @ weights[d:]


def labelled(graphs, labels, levels_of=Levels.every):
    """Put graphs, labels and levels together."""
    return [
        Labelled(g.node_features, g.edges, g.edge_features, y, levels_of(g.n_nodes))
        for g, y in zip(graphs, labels, strict=True)
    ]


SECOND = {"consistent": "consistent", "fixed": "consistent", "ramp": "rank"}


def risk(item, weights, loss="consistent", nested=True):
    """What the best chain with its loss is worth above the one it is compared with.

    Not divided by Z before the end, which suits the tolerances of linear programs.
    """
    unary, pairs = item.scores(weights)
    sizes, level_weights = item.levels.sizes, item.levels.weights
    kind = {"nested": nested, "labels": item.labels}
    first = literal.local_polytope_value(
        (unary - item.labels, item.edges, pairs), sizes, level_weights, **kind
    )
    second = literal.local_polytope_value(
        (unary, item.edges, pairs), sizes, level_weights, task=SECOND[loss], **kind
    )
    n_positive = item.labels.sum()
    best = sum(
        v * min(size, n_positive) for size, v in zip(sizes, level_weights, strict=True)
    )
    return (first - second + best) / item.spread


def objective(items, weights, regularization, loss="consistent", nested=True):
    """The price of the weights plus the mean risk."""
    price = regularization / 2 * sum(w * w for w in weights)
    risks = [risk(item, weights, loss, nested) for item in items]
    return price + sum(risks) / len(risks)


def best_chain(item, weights, task, nested=True):
    """The loss and the sums of features of the best chain for a task."""
    unary, pairs = item.scores(weights)
    solution = solve_program(
        unary / item.spread,
        item.edges,
        pairs / item.spread,
        levels=item.levels,
        nested=nested,
        task=task,
        labels=item.labels,
    )
    lost = literal.loss(
        solution.memberships, item.levels.sizes, item.levels.weights, item.labels
    )
    nodes = solution.node_counts @ item.node_features
    edges = solution.edge_counts @ item.edge_features
    return lost, np.concatenate([nodes, edges]) / item.spread


def tangent(items, weights, loss="consistent"):
    """The sums of features that take the place of the concave part, a row a graph."""
    return np.array([best_chain(item, weights, SECOND[loss])[1] for item in items])


def convex_value(items, weights, regularization, linear):
    """The objective with the concave part replaced by minus a linear one."""
    value = regularization / 2 * float(weights @ weights)
    for item, row in zip(items, linear, strict=True):
        lost, features = best_chain(item, weights, "loss_augmented")
        value += (lost + (features - row) @ weights) / len(items)
    return value


def convex_minimum(items, regularization, linear, first_bounded, tol=1e-7):
    """Minimise the same by cutting planes for each graph; return weights and bounds.

    The optimum lies between the two bounds.
    """
    n = linear.shape[1]
    cuts = [[] for _ in items]
    best, low, high = np.zeros(n), -np.inf, np.inf
    weights = np.zeros(n)
    for _ in range(200):
        for item, planes in zip(items, cuts, strict=True):
            planes.append(best_chain(item, weights, "loss_augmented"))
        value = convex_value(items, weights, regularization, linear)
        if value < high:
            best, high = weights, value
        if high - low <= tol * high:
            return best, low, high
        weights, low = _lowest_of_planes(cuts, regularization, linear, first_bounded)
    raise AssertionError(f"no minimum found: {low} .. {high}")


def _lowest_of_planes(cuts, regularization, linear, first_bounded):
    w, heights = cp.Variable(linear.shape[1]), cp.Variable(len(cuts))
    rules = [
        heights[m]
        >= np.array([b for b, _ in planes]) + np.array([a for _, a in planes]) @ w
        for m, planes in enumerate(cuts)
    ]
    if first_bounded < linear.shape[1]:
        rules.append(w[first_bounded:] >= 0.0)
    price = regularization / 2 * cp.sum_squares(w)
    mean = cp.sum(heights) / len(cuts) - linear.mean(axis=0) @ w
    problem = cp.Problem(cp.Minimize(price + mean), rules)
    bound = problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-11, tol_gap_rel=1e-11)
    return w.value, bound
