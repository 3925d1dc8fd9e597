r"""The best ranking of a graph: nested sets, by one total-variation problem.

With pair weights that are not negative, one total-variation problem gives the best set
of every size. The score of a set z is

.. math:: \sum_i \theta_i z_i + \sum_{(i,j)} J_{ij} z_i z_j
          = \sum_i u_i z_i - \sum_{(i,j)} \tfrac12 J_{ij} |z_i - z_j|,
          \qquad u_i = \theta_i + \tfrac12 \sum_{j \sim i} J_{ij},

and smoothing u with weights J / 2 gives x whose blocks, in descending order, are the
nested optima: the set of size l has all nodes of the blocks before the one in which it
ends, and an equal share of each node of that one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from aucmax._core import validation
from aucmax._core.parameters import check_choice
from aucmax._core.validation import BoolArray, FloatArray, IntArray
from aucmax.graphs._graph_checks import check_edge_weights, check_edges
from aucmax.graphs.total_variation import EdgeNetwork, reject_overflow
from aucmax.metrics.top_sets import TopSets

_TASKS = ("rank", "loss_augmented", "consistent")

_ANY_SIGN = (
    " For weights of any sign use aucmax.graphs.solve_program, a linear program "
    "for small graphs."
)


@dataclass(frozen=True, eq=False, repr=False)
class GraphRanking:
    """The best ranking of the nodes of a graph.

    Attributes
    ----------
    scores : ndarray of shape (n_nodes,)
        Smoothed scores: those of nodes in one block are equal.
    order : ndarray of int64 of shape (n_nodes,)
        The nodes, best first: by score, within a block by the score of the node with
        half of its edges' weights, then by number.
    blocks : ndarray of int64 of shape (n_blocks + 1,)
        Block b is ``order[blocks[b]:blocks[b + 1]]``.
    value : float
        The optimum: the total score of all sets.
    node_counts : ndarray of shape (n_nodes,)
        The membership of each node, summed over the sets with their weights. The sum
        of node features X over all sets is ``node_counts @ X``.
    edge_counts : ndarray of shape (n_edges,)
        The same of both ends of each edge together.
    """

    scores: FloatArray
    order: IntArray
    blocks: IntArray
    value: float
    node_counts: FloatArray
    edge_counts: FloatArray

    def __repr__(self) -> str:
        n_blocks = self.blocks.size - 1
        return (
            f"GraphRanking(n_nodes={self.order.size}, n_blocks={n_blocks}, "
            f"value={self.value:.6g})"
        )


def rank(
    unary: ArrayLike,
    edges: ArrayLike,
    pair_weights: ArrayLike,
    *,
    top_sets: TopSets | None = None,
    task: Literal["rank", "loss_augmented", "consistent"] = "rank",
    labels: ArrayLike | None = None,
) -> GraphRanking:
    r"""Return the ranking whose top sets have the highest total score.

    .. math:: \max_{z_1 \subset z_2 \subset \dots} \sum_l v_l \Big(
              \sum_i \theta_i z_{li} + \sum_{(i, j)} J_{ij} z_{li} z_{lj} \Big),
              \qquad \sum_i z_{li} = l

    over 0 <= z <= 1, where a product stands for the smaller of the two. Nested sets
    reach the same optimum as sets chosen one by one. The linear program over all of
    them has a solution in closed form over blocks of nodes, which one total-variation
    problem finds. For weights of any sign see :func:`solve_program`.

    Parameters
    ----------
    unary : array-like of shape (n_nodes,)
        The score :math:`\theta` of each node.
    edges : array-like of int of shape (n_edges, 2)
        Pairs of nodes; a repeated pair counts repeatedly.
    pair_weights : array-like of shape (n_edges,)
        The score J >= 0 of both ends together.
    top_sets : TopSets, optional
        The set sizes that count, with weights; all, with weight 1, by default.
    task : {"rank", "loss_augmented", "consistent"}
        The best ranking (7a); the best together with its loss (7b); or the best of
        those with all positives before all negatives (7c), whose scores compare within
        a class only. The loss is 1 - AUC of the labels, or its generalization to other
        sets. It is linear: a positive scores less by :math:`1 / Z`, with
        :math:`Z = |P| |N|` for sets of all sizes.
    labels : array-like of shape (n_nodes,), optional
        Two classes; the larger is the positive one. Needed for every task but "rank".

    Returns
    -------
    GraphRanking
        The solution; with "loss_augmented", its value includes the loss.

    References
    ----------
    .. [1] N. Rosenfeld, O. Meshi, D. Tarlow, A. Globerson. Learning structured models
       with the AUC loss and its generalizations. AISTATS 2014, problem (7).

    Examples
    --------
    >>> from aucmax.graphs import rank
    >>> ranking = rank([3.0, 0.0, 1.0], [[0, 1]], [2.0])
    >>> ranking.order.tolist(), ranking.blocks.tolist(), ranking.value
    ([0, 1, 2], [0, 1, 2, 3], 14.0)
    """
    model, edge_of_row = check_model(
        unary, edges, pair_weights, top_sets, task, labels, _ANY_SIGN
    )
    offsets = np.array([0, model.unary.size])
    finder = ChainFinder(model.edges, offsets, [model.top_sets], model.positives_first)
    chain = finder.find(model.unary, model.pair_weights)
    return GraphRanking(
        chain.scores,
        chain.order,
        chain.blocks,
        model.value(chain.node_counts, chain.edge_counts),
        chain.node_counts,
        chain.edge_counts[edge_of_row],
    )


@dataclass(frozen=True, eq=False)
class PairwiseModel:
    """Scores of nodes and pairs, which give the score of a chain of sets."""

    unary: FloatArray  # score of each node
    edges: IntArray  # distinct pairs of nodes, the smaller number first
    pair_weights: FloatArray  # score of both ends together
    top_sets: TopSets
    constant: float = 0.0  # added to the score of every chain
    positives_first: BoolArray | None = None  # nodes that must come before all others

    def value(self, node_counts: FloatArray, edge_counts: FloatArray) -> float:
        """Return the total score of sets in which nodes and edges have these counts."""
        pairs = self.pair_weights @ edge_counts
        return float(self.unary @ node_counts + pairs + self.constant)


def check_model(
    unary: ArrayLike,
    edges: ArrayLike,
    pair_weights: ArrayLike,
    top_sets: TopSets | None,
    task: str,
    labels: ArrayLike | None,
    hint: str | None = None,
) -> tuple[PairwiseModel, IntArray]:
    """Check the arguments of a task and merge repeated edges; return each row's edge.

    With a hint, no pair weight may be negative.
    """
    theta = validation.check_scores(unary, name="unary")
    n = theta.size
    rows = check_edges(edges, n)
    weights = check_edge_weights(pair_weights, len(rows), "pair_weights", hint=hint)
    reject_overflow(theta, weights)
    top_sets = TopSets.every(n) if top_sets is None else top_sets
    if top_sets.n != n:
        raise ValueError(f"top_sets are for {top_sets.n} nodes, but unary has {n}.")
    codes, edge_of_row = np.unique(
        rows.min(axis=1) * n + rows.max(axis=1), return_inverse=True
    )
    merged = np.asarray(np.bincount(edge_of_row, weights, codes.size), np.float64)
    check_choice("task", task, _TASKS)
    constant, positives_first = 0.0, None
    if task != "rank":
        if labels is None:
            raise ValueError(f"task={task!r} needs labels, one per node.")
        _, is_positive = validation.check_binary_labels(labels, "labels")
        if is_positive.size != n:
            raise ValueError(
                f"labels has {is_positive.size} values, but unary has {n}; both need "
                "one value per node."
            )
        n_positive = int(is_positive.sum())
        spread = top_sets.spread(n_positive)
        if task == "consistent":
            positives_first = is_positive
        elif spread > 0.0:  # else every ranking has the same sets: no loss
            theta = theta - is_positive / spread
            constant = top_sets.best(n_positive) / spread
    distinct = np.stack(np.divmod(codes, n), axis=1)
    model = PairwiseModel(theta, distinct, merged, top_sets, constant, positives_first)
    return model, edge_of_row


class Chains(NamedTuple):
    """The best chain of sets of each graph."""

    scores: FloatArray  # the smoothed scores x of the nodes
    unsmoothed: FloatArray  # the scores u
    order: IntArray  # nodes graph by graph, best first; in a block by u, then by number
    blocks: IntArray  # where blocks start in `order`, and the end
    node_counts: FloatArray  # each node's membership, summed over the sets with weights
    edge_counts: FloatArray  # the same of both ends together


class ChainFinder:
    """Finds the best chains of given graphs, for any scores."""

    # nodes are numbered through all graphs; positives_first come before all others
    def __init__(
        self,
        edges: IntArray,
        node_offsets: IntArray,
        top_sets: Sequence[TopSets],
        positives_first: BoolArray | None = None,
    ) -> None:
        self._edges = edges
        sizes = np.diff(node_offsets)
        self._segment = np.repeat(np.arange(sizes.size), sizes)
        # a node at place r, from 0, is in every set of more than r nodes
        prefix_sums = [sets.prefix_sums()[0] for sets in top_sets]
        self._count_at = np.concatenate([sums[-1] - sums[:-1] for sums in prefix_sums])
        # parts of a pair weight that its ends get
        self._parts = np.full(edges.shape, 0.5)
        self._is_inner = np.ones(len(edges), dtype=bool)
        if positives_first is not None:
            self._segment = 2 * self._segment + ~positives_first
            is_negative = ~positives_first[edges]
            self._is_inner = is_negative[:, 0] == is_negative[:, 1]
            # a negative joins after the positive at the other end
            self._parts[~self._is_inner] = is_negative[~self._is_inner]
        self._network = EdgeNetwork(edges[self._is_inner], node_offsets)

    def find(self, unary: FloatArray, pair_weights: FloatArray) -> Chains:
        """Return the best chains for scores of nodes and of pairs, these >= 0."""
        parts = pair_weights[:, np.newaxis] * self._parts
        u = unary + np.bincount(self._edges.ravel(), parts.ravel(), unary.size)
        x = self._network.prox(u, pair_weights[self._is_inner] / 2.0)
        order = np.lexsort((-u, -x, self._segment))
        is_start = np.diff(self._segment[order], prepend=-1) != 0
        is_start |= np.diff(x[order], prepend=np.nan) != 0.0
        starts = np.flatnonzero(is_start)
        blocks = np.append(starts, order.size)
        # nodes of a block share their places
        sizes = np.diff(blocks)
        counts = np.add.reduceat(self._count_at, starts) / sizes
        node_counts = np.empty(unary.size)
        node_counts[order] = np.repeat(counts, sizes)
        first, second = self._edges.T
        edge_counts = np.minimum(node_counts[first], node_counts[second])
        return Chains(x, u, order, blocks, node_counts, edge_counts)
