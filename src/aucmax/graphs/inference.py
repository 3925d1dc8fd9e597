"""Rank the nodes of a graph: the best nested sets, by one total-variation problem."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from aucmax._core import validation
from aucmax._core.parameters import check_choice
from aucmax._core.validation import BoolArray, FloatArray, IntArray
from aucmax.graphs._graph_checks import check_edge_weights, check_edges
from aucmax.graphs.chains import ChainFinder
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
    model, edge_of_row = PairwiseModel.checked(unary, edges, pair_weights, top_sets)
    check_edge_weights(pair_weights, edge_of_row.size, "pair_weights", hint=_ANY_SIGN)
    model = model.for_task(task, labels)
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

    @classmethod
    def checked(
        cls,
        unary: ArrayLike,
        edges: ArrayLike,
        pair_weights: ArrayLike,
        top_sets: TopSets | None,
    ) -> tuple[PairwiseModel, IntArray]:
        """Check the arguments and merge repeated edges; also return each row's edge."""
        theta = validation.check_scores(unary, name="unary")
        n = theta.size
        rows = check_edges(edges, n)
        weights = check_edge_weights(pair_weights, len(rows), "pair_weights")
        top_sets = TopSets.every(n) if top_sets is None else top_sets
        if top_sets.n != n:
            raise ValueError(f"top_sets are for {top_sets.n} nodes, but unary has {n}.")
        codes, edge_of_row = np.unique(
            rows.min(axis=1) * n + rows.max(axis=1), return_inverse=True
        )
        distinct = np.stack(np.divmod(codes, n), axis=1)
        merged = np.zeros(codes.size)
        np.add.at(merged, edge_of_row, weights)
        with np.errstate(over="ignore"):
            most = n * (np.abs(theta).sum() + np.abs(merged).sum())
        if not np.isfinite(most):
            raise ValueError(
                "unary and pair_weights are so large that the value of a ranking "
                "overflows. Divide all of them by one number: the ranking stays the "
                "same."
            )
        return cls(theta, distinct, merged, top_sets), edge_of_row

    def for_task(self, task: str, labels: ArrayLike | None) -> PairwiseModel:
        """Add the loss of the labels, or fix which nodes come first."""
        check_choice("task", task, _TASKS)
        if task == "rank":
            return self
        if labels is None:
            raise ValueError(f"task={task!r} needs labels, one per node.")
        _, is_positive = validation.check_binary_labels(labels, "labels")
        if is_positive.size != self.unary.size:
            raise ValueError(
                f"labels has {is_positive.size} values, but unary has "
                f"{self.unary.size}; both need one value per node."
            )
        if task == "consistent":
            return replace(self, positives_first=is_positive)
        n_positive = int(is_positive.sum())
        spread = self.top_sets.spread(n_positive)
        if spread == 0.0:  # every ranking has the same sets of these sizes: no loss
            return self
        return replace(
            self,
            unary=self.unary - is_positive / spread,
            constant=self.top_sets.best(n_positive) / spread,
        )

    def value(self, node_counts: FloatArray, edge_counts: FloatArray) -> float:
        """Return the total score of sets in which nodes and edges have these counts."""
        pairs = self.pair_weights @ edge_counts
        return float(self.unary @ node_counts + pairs + self.constant)
