"""Scores of nodes and of pairs, checked once, and the tasks posed with them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from aucmax._core.parameters import check_choice
from aucmax._core.validation import (
    BoolArray,
    FloatArray,
    IntArray,
    check_binary_labels,
    check_scores,
)
from aucmax.graphs._graph_checks import check_edge_weights, check_edges
from aucmax.metrics.top_sets import TopSets

__all__ = ["TASKS", "PairwiseModel"]

TASKS = ("rank", "loss_augmented", "consistent")


@dataclass(frozen=True, eq=False)
class PairwiseModel:
    """What a chain of sets of nodes is worth."""

    unary: FloatArray  # score of each node
    edges: IntArray  # distinct pairs of nodes, the smaller number first
    pair_weights: FloatArray  # score of both ends together
    top_sets: TopSets
    constant: float = 0.0  # what every chain is worth besides
    positives_first: BoolArray | None = None  # nodes that must come before all others

    @classmethod
    def checked(
        cls,
        unary: ArrayLike,
        edges: ArrayLike,
        pair_weights: ArrayLike,
        top_sets: TopSets | None,
    ) -> tuple[PairwiseModel, IntArray]:
        """Check the arguments and merge repeated edges; also tell each row's edge."""
        theta = check_scores(unary, name="unary")
        n = theta.size
        rows = check_edges(edges, n)
        weights = check_edge_weights(pair_weights, len(rows), "pair_weights")
        top_sets = TopSets.every(n) if top_sets is None else top_sets
        if top_sets.n != n:
            raise ValueError(f"top_sets are of {top_sets.n} nodes, but unary has {n}.")
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
                "unary and pair_weights are so large that what a ranking is worth "
                "overflows. Divide all of them by one number: it does not change the "
                "ranking."
            )
        return cls(theta, distinct, merged, top_sets), edge_of_row

    def for_task(self, task: str, labels: ArrayLike | None) -> PairwiseModel:
        """Add the loss of the labels, or fix which nodes come first."""
        check_choice("task", task, TASKS)
        if task == "rank":
            return self
        if labels is None:
            raise ValueError(f"task={task!r} needs labels, one for each node.")
        _, is_positive = check_binary_labels(labels, "labels")
        if is_positive.size != self.unary.size:
            raise ValueError(
                f"labels are {is_positive.size}, but unary has {self.unary.size} "
                "nodes; both need one value per node."
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
        """Return what sets are worth of which nodes and edges have these counts."""
        pairs = self.pair_weights @ edge_counts
        return float(self.unary @ node_counts + pairs + self.constant)
