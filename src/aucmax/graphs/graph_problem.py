r"""The structured risk of labelled graphs, and scores that sort their nodes.

For one graph with the spread Z of its top sets (|P| |N| for the AUC), the risk is

.. math:: h(w) = \frac1Z \Big( \max_z \sum_l v_l [s(z_l) - y^\top z_l]
          - \max_{z \sim y} \sum_l v_l s(z_l) \Big) + \frac{\mathrm{best}}{Z},

where s is the score of a set and best the number of positives in the best chain. So a
margin is 1 in units of node scores for graphs of any size, and without edges h is the
mean hinge of the pairs. Both maxima are computed for all graphs at once.
"""

from collections.abc import Sequence

import numpy as np
from scipy import sparse

from aucmax._core.validation import BoolArray, FloatArray, IntArray
from aucmax.graphs.graph import GraphBatch
from aucmax.graphs.inference import ChainFinder
from aucmax.graphs.ranking_program import solve_repelling
from aucmax.metrics.top_sets import TopSets
from aucmax.solvers.solver import Point

_MAX_SHIFT = 1e-6  # of the scores' size, between nodes of one block
_MIN_DISTANCE = 1e-10  # of the scores' size: closer blocks differ by rounding


class GraphProblem:
    """C times the mean risk of labelled graphs of both classes.

    With ``loss="ramp"`` the second maximum of the risk is over all chains. If nested,
    sets must be nested where a pair weight is negative. Scores of points are those of
    all nodes, then those of all pairs. `n_passes` counts the searches for the best
    chains of all graphs.
    """

    def __init__(
        self,
        batch: GraphBatch,
        labels: BoolArray,
        top_sets: Sequence[TopSets],
        C: float,
        *,
        loss: str = "consistent",
        nested: bool = True,
    ) -> None:
        self.batch = batch
        self.labels = labels
        self.top_sets = top_sets
        self.C = C
        self.loss = loss
        self.nested = nested
        self.n_passes = 0.0
        self.n_blocks = batch.n_graphs
        self.n_node_features = int(batch.node_features.shape[1])
        self.n_parameters = self.n_node_features + int(batch.edge_features.shape[1])
        offsets = batch.node_offsets
        n_positive = np.add.reduceat(labels, offsets[:-1], dtype=np.int64)
        pairs = list(zip(top_sets, n_positive, strict=True))
        self._spread = np.array([graph.spread(int(p)) for graph, p in pairs])
        self._best = np.array([graph.best(int(p)) for graph, p in pairs])
        self._any_order = ChainFinder(batch.edges, offsets, top_sets)
        self._positives_first = ChainFinder(batch.edges, offsets, top_sets, labels)

    def at(self, parameters: FloatArray) -> Point:
        """Score the parameters, those of node features first."""
        batch, d = self.batch, self.n_node_features
        nodes = batch.node_features @ parameters[:d]
        pairs = batch.edge_features @ parameters[d:]
        return Point(parameters, np.concatenate([nodes, pairs]))

    def cutting_planes(self, point: Point) -> tuple[FloatArray, FloatArray]:
        """Return features and loss of the chains whose score plus loss is highest."""
        node_counts, edge_counts = self._chains(point, self._any_order, self.labels)
        return self._features(node_counts, edge_counts), self._losses(node_counts)

    def concave_gradient(self, point: Point) -> FloatArray:
        """Return the mean features of the chains that are subtracted."""
        is_ramp = self.loss == "ramp"
        finder = self._any_order if is_ramp else self._positives_first
        gradient = self._features(*self._chains(point, finder)).mean(axis=0)
        return np.asarray(gradient)

    def value(self, point: Point) -> float:
        """Return C times the mean risk: two searches."""
        gradients, losses = self.cutting_planes(point)
        gradient = gradients.mean(axis=0) - self.concave_gradient(point)
        return self.C * float(losses.mean() + gradient @ point.parameters)

    def prediction_losses(self, point: Point) -> FloatArray:
        """Return 1 minus the metric of each graph; nodes that share a value tie."""
        return self._losses(self._chains(point, self._any_order)[0])

    def _chains(
        self, point: Point, finder: ChainFinder, shift: BoolArray | float = 0.0
    ) -> tuple[FloatArray, FloatArray]:
        """Return the counts of the best chains: memberships of all sets, over Z."""
        self.n_passes += 1.0
        batch = self.batch
        unary, pairs = np.split(point.scores, [batch.n_nodes])
        unary = unary - shift
        chains = finder.find(unary, np.maximum(pairs, 0.0))
        node_counts, edge_counts = chains.node_counts, chains.edge_counts
        first = self.labels if finder is self._positives_first else None
        for nodes, edges, solution in solve_repelling(
            batch, unary, pairs, self.top_sets, self.nested, first
        ):
            node_counts[nodes] = solution.node_counts
            edge_counts[edges] = solution.edge_counts
        node_spread = np.repeat(self._spread, np.diff(batch.node_offsets))
        edge_spread = np.repeat(self._spread, np.diff(batch.edge_offsets))
        return node_counts / node_spread, edge_counts / edge_spread

    def _losses(self, node_counts: FloatArray) -> FloatArray:
        """Return the loss of the chain of each graph."""
        starts = self.batch.node_offsets[:-1]
        hits = np.add.reduceat(node_counts * self.labels, starts)
        return np.asarray(self._best / self._spread - hits)

    def _features(self, node_counts: FloatArray, edge_counts: FloatArray) -> FloatArray:
        """Sum the features of each graph over the sets of its chain."""
        batch = self.batch
        nodes = _rows(node_counts, batch.node_offsets) @ batch.node_features
        edges = _rows(edge_counts, batch.edge_offsets) @ batch.edge_features
        return np.hstack([nodes, edges])


def _rows(values: FloatArray, offsets: IntArray) -> sparse.csr_array:
    """Return the values of each graph as a row of a block-diagonal matrix."""
    columns = np.arange(values.size)
    return sparse.csr_array(
        (values, columns, offsets), shape=(offsets.size - 1, values.size)
    )


def predict_scores(
    batch: GraphBatch,
    nodes: FloatArray,
    pairs: FloatArray,
    top_sets: Sequence[TopSets],
    nested: bool,
) -> FloatArray:
    """Rank the nodes of each graph by scores of nodes and pairs; return new scores."""
    # Smoothed scores, in which the nodes of a block differ by a little in the order of
    # their unsmoothed scores. Where a pair weight is negative, the unsmoothed scores
    # are assigned in the order of the linear program's ranking.
    finder = ChainFinder(batch.edges, batch.node_offsets, top_sets)
    chains = finder.find(nodes, np.maximum(pairs, 0.0))
    order, blocks = chains.order, chains.blocks
    ranked: FloatArray = np.empty(order.size)
    values, u = chains.scores[order[blocks[:-1]]], chains.unsmoothed[order]
    ranked[order] = _separate(values, u, blocks, batch.node_offsets)
    for part, _, solution in solve_repelling(batch, nodes, pairs, top_sets, nested):
        ranked[part] = _assign_in_order(nodes[part], solution.order)
    return ranked


def _assign_in_order(scores: FloatArray, order: IntArray) -> FloatArray:
    """Assign the scores to the nodes in their order, and separate equal ones."""
    falling = np.sort(scores)[::-1]
    starts = np.flatnonzero(np.diff(falling, prepend=np.inf))
    blocks, ends = np.append(starts, order.size), np.array([0, order.size])
    places = -np.arange(float(order.size))
    assigned: FloatArray = np.empty(order.size)
    assigned[order] = _separate(falling[starts], places, blocks, ends)
    return assigned


def _separate(
    values: FloatArray, scores: FloatArray, blocks: IntArray, node_offsets: IntArray
) -> FloatArray:
    """Separate the nodes of each block, given in the order of their scores."""
    # blocks that rounding may have separated count as one
    first = np.searchsorted(blocks, node_offsets[:-1])  # block of each graph
    above: FloatArray = -np.diff(values, prepend=np.inf)
    above[first] = np.inf
    scale = np.maximum.reduceat(np.abs(values), first)
    scale[scale == 0.0] = 1.0
    scale = np.repeat(scale, np.diff(np.append(first, values.size)))
    is_new = above > _MIN_DISTANCE * scale
    starts, above, scale = blocks[:-1][is_new], above[is_new], scale[is_new]
    size = np.diff(np.append(starts, scores.size))
    # number of different scores above each node's in its block
    steps = (np.diff(scores, prepend=np.inf) != 0.0).astype(np.float64)
    steps[blocks[:-1]] = 1.0
    place = np.cumsum(steps)
    place -= np.repeat(place[starts], size)
    last = np.repeat(place[starts + size - 1], size)
    shift = np.where(last > 0.0, 1.0 - 2.0 * place / np.maximum(last, 1.0), 0.0)
    below = np.append(above[1:], np.inf)
    width = np.minimum(np.minimum(above, below) / 3.0, _MAX_SHIFT * scale)
    return np.asarray(np.repeat(values[is_new], size) + np.repeat(width, size) * shift)
