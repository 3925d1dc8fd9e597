r"""The best nested sets of nodes, for many graphs at once.

With pair weights that are not negative, one total-variation problem gives the best set
of every size. The score of a set z is

.. math:: \sum_i \theta_i z_i + \sum_{(i,j)} J_{ij} z_i z_j
          = \sum_i u_i z_i - \sum_{(i,j)} \tfrac12 J_{ij} |z_i - z_j|,
          \qquad u_i = \theta_i + \tfrac12 \sum_{j \sim i} J_{ij},

and smoothing u with weights J / 2 gives x whose blocks, in descending order, are the
nested optima: the set of size l has all nodes of the blocks before the one in which it
ends, and an equal share of each node of that one.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from aucmax._core.validation import BoolArray, FloatArray, IntArray
from aucmax.graphs.total_variation import MAX_VALUE, EdgeNetwork
from aucmax.metrics.top_sets import TopSets, counts_by_sums


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
        n = int(node_offsets[-1])
        self.edges = edges
        self._graph = np.repeat(np.arange(node_offsets.size - 1), np.diff(node_offsets))
        self._start = node_offsets[:-1]
        sums = [sets.prefix_sums() for sets in top_sets]
        # graph m has one sum more than nodes
        self._weights = np.concatenate([weights for weights, _ in sums])
        self._moments = np.concatenate([moments for _, moments in sums])
        self._segment = self._graph
        self._is_inner = np.ones(len(edges), dtype=bool)
        self._lifted = np.empty(0, dtype=np.int64)
        if positives_first is not None:
            self._segment = 2 * self._graph + ~positives_first
            first, second = edges.T
            self._is_inner = positives_first[first] == positives_first[second]
            # a negative joins after the positive at the other end
            lifted = np.where(positives_first[first], second, first)
            self._lifted = lifted[~self._is_inner]
        self._inner_edges = np.ascontiguousarray(edges[self._is_inner])
        self._network = EdgeNetwork(self._inner_edges, n)

    def find(self, unary: FloatArray, pair_weights: FloatArray) -> Chains:
        """Return the best chains for scores of nodes and of pairs, these >= 0."""
        inner = pair_weights[self._is_inner]
        u = unary + np.bincount(
            self._inner_edges.ravel(), np.repeat(inner / 2.0, 2), unary.size
        )
        u += np.bincount(self._lifted, pair_weights[~self._is_inner], unary.size)
        is_large = ~(np.abs(u) <= MAX_VALUE)
        if is_large.any():
            raise ValueError(
                f"the scores of node {int(np.argmax(is_large))} and its edges are over "
                f"{MAX_VALUE:g}, so their sums overflow. Scale the features down."
            )
        x = self._network.prox(u, inner / 2.0)
        order = np.lexsort((-u, -x, self._segment))
        is_start = np.ones(order.size, dtype=bool)
        is_start[1:] = np.diff(self._segment[order]) != 0
        is_start[1:] |= np.diff(x[order]) != 0.0
        starts = np.flatnonzero(is_start)
        blocks = np.append(starts, order.size)
        node_counts = np.empty(unary.size)
        counts = self._block_counts(order, blocks)
        node_counts[order] = np.repeat(counts, np.diff(blocks))
        edge_counts = np.minimum(
            node_counts[self.edges[:, 0]], node_counts[self.edges[:, 1]]
        )
        return Chains(x, u, order, blocks, node_counts, edge_counts)

    def _block_counts(self, order: IntArray, blocks: IntArray) -> FloatArray:
        """Sum memberships over sets, in closed form: see ``membership_counts``."""
        graph = self._graph[order[blocks[:-1]]]
        first = self._start[graph] + graph  # of its graph's prefix sums
        last = np.append(self._start[1:], order.size)[graph] + graph
        before = blocks[:-1] - self._start[graph]
        return counts_by_sums(
            self._weights, self._moments, before, np.diff(blocks), first, last
        )
