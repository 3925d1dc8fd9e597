r"""What training sees of labelled graphs: for weights, the best chains of sets.

For one graph with the spread Z of its top sets (|P| |N| for the AUC), the risk is

.. math:: h(w) = \frac1Z \Big( \max_z \sum_l v_l [s(z_l) - y^\top z_l]
          - \max_{z \sim y} \sum_l v_l s(z_l) \Big) + \frac{\mathrm{best}}{Z},

where s is the score of a set and best the most positives that chains can hold. So a
margin is 1 in units of node scores, whatever the size of the graph, and without edges h
is the mean hinge of the pairs. Both maxima are taken for all graphs at once.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy import sparse

from aucmax._core.validation import BoolArray, FloatArray, IntArray
from aucmax.graphs.batch import GraphBatch
from aucmax.graphs.chains import ChainFinder
from aucmax.graphs.repelling import solve_repelling
from aucmax.metrics.top_sets import TopSets

__all__ = ["Counts", "GraphProblem", "GraphScores"]


class GraphScores(NamedTuple):
    """Scores of all nodes and of all pairs; linear in the weights."""

    nodes: FloatArray
    pairs: FloatArray


class Counts(NamedTuple):
    """Memberships of one chain per graph, summed over its sets and divided by Z."""

    nodes: FloatArray
    edges: FloatArray


class GraphProblem:
    """Labelled graphs, and the chains that weights make best.

    Each graph has both classes and `top_sets` of its own, whose spread is above 0. If
    `nested`, sets must be nested where a pair weight is negative. `n_passes` counts how
    often best chains of all graphs were found.
    """

    def __init__(
        self,
        batch: GraphBatch,
        labels: BoolArray,
        top_sets: Sequence[TopSets],
        nested: bool = True,
    ) -> None:
        self.batch = batch
        self.labels = labels
        self.top_sets = top_sets
        self.nested = nested
        self.n_passes = 0.0
        offsets = batch.node_offsets
        n_positive = np.add.reduceat(labels, offsets[:-1], dtype=np.int64)
        pairs = list(zip(top_sets, n_positive, strict=True))
        self._spread = np.array([graph.spread(int(p)) for graph, p in pairs])
        self._best = np.array([graph.best(int(p)) for graph, p in pairs])
        self._node_spread = np.repeat(self._spread, np.diff(offsets))
        self._edge_spread = np.repeat(self._spread, np.diff(batch.edge_offsets))
        self._finders = {
            False: ChainFinder(batch.edges, offsets, top_sets),
            True: ChainFinder(batch.edges, offsets, top_sets, labels),
        }

    @property
    def n_graphs(self) -> int:
        """Number of graphs."""
        return self.batch.n_graphs

    @property
    def n_node_features(self) -> int:
        """Number of weights of nodes, which come first."""
        return int(self.batch.node_features.shape[1])

    @property
    def n_parameters(self) -> int:
        """Number of weights of nodes and edges."""
        return self.n_node_features + int(self.batch.edge_features.shape[1])

    def scores(self, weights: FloatArray) -> GraphScores:
        """Return the scores that the weights give."""
        batch, d = self.batch, self.n_node_features
        return GraphScores(
            batch.node_features @ weights[:d], batch.edge_features @ weights[d:]
        )

    def augmented(self, scores: GraphScores) -> tuple[FloatArray, Counts]:
        """Return loss and counts of the chains that score highest with their loss."""
        counts = self._chains(scores.nodes - self.labels, scores.pairs, False)
        return self._losses(counts), counts

    def consistent(self, scores: GraphScores) -> Counts:
        """Return the counts of the best chains with all positives first."""
        return self._chains(scores.nodes, scores.pairs, True)

    def predicted(self, scores: GraphScores) -> Counts:
        """Return the counts of the best chains."""
        return self._chains(scores.nodes, scores.pairs, False)

    def prediction_losses(self, weights: FloatArray) -> FloatArray:
        """Return 1 minus the metric of each graph; nodes that share a value tie."""
        return self._losses(self.predicted(self.scores(weights)))

    def worth(self, counts: Counts, scores: GraphScores) -> FloatArray:
        """Return what the chains of each graph are worth, divided by Z."""
        nodes = _rows(counts.nodes, self.batch.node_offsets) @ scores.nodes
        pairs = _rows(counts.edges, self.batch.edge_offsets) @ scores.pairs
        return np.asarray(nodes + pairs)

    def features(self, counts: Counts) -> FloatArray:
        """Sum the features of each graph over the sets of its chain."""
        batch = self.batch
        nodes = _rows(counts.nodes, batch.node_offsets) @ batch.node_features
        edges = _rows(counts.edges, batch.edge_offsets) @ batch.edge_features
        return np.hstack([nodes, edges])

    def _losses(self, counts: Counts) -> FloatArray:
        hits = np.add.reduceat(counts.nodes * self.labels, self.batch.node_offsets[:-1])
        return np.asarray(self._best / self._spread - hits)

    def _chains(
        self, unary: FloatArray, pair_weights: FloatArray, consistent: bool
    ) -> Counts:
        self.n_passes += 1.0
        chains = self._finders[consistent].find(unary, np.maximum(pair_weights, 0.0))
        node_counts, edge_counts = chains.node_counts, chains.edge_counts
        for nodes, edges, solution in solve_repelling(
            self.batch,
            unary,
            pair_weights,
            self.top_sets,
            nested=self.nested,
            positives_first=self.labels if consistent else None,
        ):
            node_counts[nodes] = solution.node_counts
            edge_counts[edges] = solution.edge_counts
        return Counts(node_counts / self._node_spread, edge_counts / self._edge_spread)


def _rows(values: FloatArray, offsets: IntArray) -> sparse.csr_array:
    """Return the values of each graph as a row of a block-diagonal matrix."""
    columns = np.arange(values.size)
    return sparse.csr_array(
        (values, columns, offsets), shape=(offsets.size - 1, values.size)
    )
