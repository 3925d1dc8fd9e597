"""Rankings of the nodes of a graph, literal and slow: every set, chain and table."""

from itertools import combinations, pairwise, permutations

import numpy as np
from scipy.optimize import linprog


def products(z, edges, pair_weights):
    """How much both ends of each edge are in a set; the best that tables allow."""
    return np.array(
        [
            min(z[i], z[j]) if weight >= 0 else max(0.0, z[i] + z[j] - 1.0)
            for (i, j), weight in zip(edges, pair_weights, strict=True)
        ]
    )


def score(z, unary, edges, pair_weights):
    """Score of one set, which may be fractional."""
    total = sum(unary[i] * z[i] for i in range(len(unary)))
    return total + sum(pair_weights * products(z, edges, pair_weights))


def total(memberships, set_weights, unary, edges, pair_weights):
    """Sum of the scores of all sets."""
    return sum(
        v * score(z, unary, edges, pair_weights)
        for z, v in zip(memberships, set_weights, strict=True)
    )


def loss(memberships, sizes, set_weights, labels):
    """How far the positives in the sets fall behind: 0 for the best, 1 for the worst.

    0 if all rankings have the same sets.
    """
    best = worst = reached = 0.0
    n_positive = sum(labels)
    n_negative = len(labels) - n_positive
    for z, size, v in zip(memberships, sizes, set_weights, strict=True):
        best += v * min(size, n_positive)
        worst += v * max(0, size - n_negative)
        reached += v * sum(z[i] for i in range(len(labels)) if labels[i])
    return (best - reached) / (best - worst) if best > worst else 0.0


def auc(scores, labels):
    """Share of the pairs in the right order, ties a half."""
    wins = [
        0.5 * (float(p > q) + float(p >= q))
        for p, positive in zip(scores, labels, strict=True)
        if positive
        for q, other in zip(scores, labels, strict=True)
        if not other
    ]
    return sum(wins) / len(wins)


def memberships_of_order(order, sizes):
    """The sets of a ranking, best first: the first l nodes for each size l."""
    z = np.zeros((len(sizes), len(order)))
    for index, size in enumerate(sizes):
        for node in order[:size]:
            z[index, node] = 1.0
    return z


def memberships_of_blocks(order, blocks, sizes):
    """The sets of a ranking in which the nodes of a block share what is left."""
    z = np.zeros((len(sizes), len(order)))
    for index, size in enumerate(sizes):
        for start, end in pairwise(blocks):
            for node in order[start:end]:
                z[index, node] = min(1.0, max(0.0, (size - start) / (end - start)))
    return z


def is_consistent(order, labels):
    """Whether all positives come before all negatives."""
    n_positive = sum(labels)
    return all(labels[node] for node in order[:n_positive])


def value_of_order(order, graph, sizes, set_weights, task, labels):
    """Return the score of a ranking for a task."""
    z = memberships_of_order(order, sizes)
    value = total(z, set_weights, *graph)
    if task == "loss_augmented":
        value += loss(z, sizes, set_weights, labels)
    return value


def best_ranking_value(graph, sizes, set_weights, task="rank", labels=None):
    """The value of the best of all permutations."""
    return max(
        value_of_order(order, graph, sizes, set_weights, task, labels)
        for order in permutations(range(len(graph[0])))
        if task != "consistent" or is_consistent(order, labels)
    )


def best_subsets_value(graph, sizes, set_weights):
    """The value of the best set of each size, each by itself."""
    n = len(graph[0])
    return sum(
        v
        * max(
            score([float(i in subset) for i in range(n)], *graph)
            for subset in combinations(range(n), size)
        )
        for size, v in zip(sizes, set_weights, strict=True)
    )


class LocalPolytope:
    """Program (9) with a table of four probabilities for every edge and set."""

    def __init__(self, graph, sizes, set_weights):
        self.unary, self.edges, self.pair_weights = graph
        self.sizes, self.set_weights = sizes, set_weights
        self.n = len(self.unary)
        self.width = 2 * self.n + 4 * len(self.edges)  # of one set
        self.gain = np.zeros(len(sizes) * self.width)
        self.constant = 0.0
        self.equal, self.equal_to, self.at_most = [], [], []
        for index in range(len(sizes)):
            self.add_nodes(index)
            self.add_tables(index)

    def node(self, index, i, value):
        """The column of the probability that node i has the value."""
        return index * self.width + 2 * i + value

    def table(self, index, e, first, second):
        """The column of the probability that both ends have these values."""
        return index * self.width + 2 * self.n + 4 * e + 2 * first + second

    def row(self, terms):
        row = np.zeros(self.gain.size)
        for column, value in terms:
            row[column] += value
        return row

    def require(self, terms, value):
        self.equal.append(self.row(terms))
        self.equal_to.append(value)

    def add_nodes(self, index):
        for i in range(self.n):
            self.gain[self.node(index, i, 1)] = self.set_weights[index] * self.unary[i]
            self.require([(self.node(index, i, value), 1.0) for value in (0, 1)], 1.0)
        members = [(self.node(index, i, 1), 1.0) for i in range(self.n)]
        self.require(members, self.sizes[index])

    def add_tables(self, index):
        for e, (i, j) in enumerate(self.edges):
            gain = self.set_weights[index] * self.pair_weights[e]
            self.gain[self.table(index, e, 1, 1)] = gain
            for value in (0, 1):
                first = [(self.table(index, e, value, other), 1.0) for other in (0, 1)]
                second = [(self.table(index, e, other, value), 1.0) for other in (0, 1)]
                self.require([*first, (self.node(index, i, value), -1.0)], 0.0)
                self.require([*second, (self.node(index, j, value), -1.0)], 0.0)

    def nest(self):
        for index in range(1, len(self.sizes)):
            for i in range(self.n):
                smaller, larger = self.node(index - 1, i, 1), self.node(index, i, 1)
                self.at_most.append(self.row([(smaller, 1.0), (larger, -1.0)]))

    def put_positives_first(self, labels):
        n_positive = sum(labels)
        for index, size in enumerate(self.sizes):
            for i in range(self.n):
                if labels[i] and size >= n_positive:
                    self.require([(self.node(index, i, 1), 1.0)], 1.0)
                if not labels[i] and size <= n_positive:
                    self.require([(self.node(index, i, 1), 1.0)], 0.0)

    def add_loss(self, labels):
        """Add the loss, which is linear, by its values at single memberships."""
        empty = np.zeros((len(self.sizes), self.n))
        self.constant = loss(empty, self.sizes, self.set_weights, labels)
        for index, i in np.ndindex(empty.shape):
            single = empty.copy()
            single[index, i] = 1.0
            change = loss(single, self.sizes, self.set_weights, labels)
            self.gain[self.node(index, i, 1)] += change - self.constant

    def optimum(self):
        """The value of the best point."""
        return self.constant + self.gain @ self.best_point()

    def memberships(self):
        """The best point's memberships, one row per set."""
        rows = self.best_point().reshape(len(self.sizes), self.width)
        return rows[:, 1 : 2 * self.n : 2]

    def best_point(self):
        solution = linprog(
            -self.gain,
            A_ub=np.array(self.at_most) if self.at_most else None,
            b_ub=np.zeros(len(self.at_most)) if self.at_most else None,
            A_eq=np.array(self.equal),
            b_eq=self.equal_to,
            bounds=(0.0, None),
        )
        assert solution.success, solution.message
        return solution.x


def local_polytope_value(
    graph, sizes, set_weights, *, nested=True, task="rank", labels=None
):
    """The optimum of program (9) for a task."""
    polytope = LocalPolytope(graph, sizes, set_weights)
    if nested:
        polytope.nest()
    if task == "consistent":
        polytope.put_positives_first(labels)
    if task == "loss_augmented":
        polytope.add_loss(labels)
    return polytope.optimum()
