r"""Labelled graphs: the sets that count, and the best chains of sets for weights.

For one graph with the spread Z of its top sets (|P| |N| for the AUC), the risk is

.. math:: h(w) = \frac1Z \Big( \max_z \sum_l v_l [s(z_l) - y^\top z_l]
          - \max_{z \sim y} \sum_l v_l s(z_l) \Big) + \frac{\mathrm{best}}{Z},

where s is the score of a set and best the number of positives in the best chain. So a
margin is 1 in units of node scores for graphs of any size, and without edges h is the
mean hinge of the pairs. Both maxima are computed for all graphs at once.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from aucmax._core.parameters import check_choice
from aucmax._core.validation import BoolArray, FloatArray, IntArray
from aucmax.graphs.chains import ChainFinder
from aucmax.graphs.graph_batch import GraphBatch
from aucmax.graphs.ranking_program import solve_repelling
from aucmax.metrics import auc_at_k_score, binned_auc_score, roc_auc_score
from aucmax.metrics.top_sets import Bins, TopSets, check_bins, check_k

_MAX_SHIFT = 1e-6  # of the scores' size, between nodes of one block
_MIN_DISTANCE = 1e-10  # of the scores' size: closer blocks differ by rounding


class GraphScores(NamedTuple):
    """Scores of all nodes and of all pairs; linear in the weights."""

    nodes: FloatArray
    pairs: FloatArray


class Counts(NamedTuple):
    """Memberships of one chain per graph, summed over its sets and divided by Z."""

    nodes: FloatArray
    edges: FloatArray


@dataclass(frozen=True, eq=False)
class GraphMeasure:
    """The AUC or one of its generalizations, by the top sets that count."""

    metric: str
    bins: Bins  # for "binned": see `TopSets.binned`
    k: int  # for "at_k": the number of top nodes that count

    def check(self) -> None:
        """Reject a wrong parameter."""
        check_choice("metric", self.metric, _METRICS)
        if self.metric == "binned":
            check_bins(self.bins)
        if self.metric == "at_k":
            check_k(self.k)

    @property
    def is_nested(self) -> bool:
        """Whether the sets of a ranking must be nested."""
        return self.metric != "unnested"

    @property
    def _options(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in _METRICS[self.metric].options}

    def top_sets(self, node_offsets: IntArray) -> list[TopSets]:
        """Return the top sets of each graph that count."""
        sizes = np.diff(node_offsets).tolist()
        make, options = _METRICS[self.metric].top_sets, self._options
        made = {n: make(n, **options) for n in set(sizes)}
        return [made[n] for n in sizes]

    def mean_score(
        self, labels: BoolArray, scores: FloatArray, graph: IntArray
    ) -> float:
        """Return the mean over the graphs, by their number, that have both classes."""
        score = _METRICS[self.metric].score
        return float(score(labels, scores, qid=graph, **self._options))


class _Metric(NamedTuple):
    """The sets that count, the score of a ranking, and the options of both."""

    top_sets: Callable[..., TopSets]
    score: Callable[..., float]
    options: tuple[str, ...] = ()


_METRICS = {
    "auc": _Metric(TopSets.every, roc_auc_score),
    "binned": _Metric(TopSets.binned, binned_auc_score, ("bins",)),
    "at_k": _Metric(TopSets.up_to, auc_at_k_score, ("k",)),
    "unnested": _Metric(TopSets.every, roc_auc_score),
}


class GraphProblem:
    """Labelled graphs of both classes, and their best chains for given weights."""

    # if nested, sets must be nested where a pair weight is negative; n_passes counts
    # the searches for the best chains of all graphs
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
        self.n_graphs = batch.n_graphs
        self.n_node_features = int(batch.node_features.shape[1])
        self.n_parameters = self.n_node_features + int(batch.edge_features.shape[1])
        offsets = batch.node_offsets
        n_positive = np.add.reduceat(labels, offsets[:-1], dtype=np.int64)
        pairs = list(zip(top_sets, n_positive, strict=True))
        self._spread = np.array([graph.spread(int(p)) for graph, p in pairs])
        self._best = np.array([graph.best(int(p)) for graph, p in pairs])
        self._node_spread = np.repeat(self._spread, np.diff(offsets))
        self._edge_spread = np.repeat(self._spread, np.diff(batch.edge_offsets))
        self._any_order = ChainFinder(batch.edges, offsets, top_sets)
        self._positives_first = ChainFinder(batch.edges, offsets, top_sets, labels)

    def scores(self, weights: FloatArray) -> GraphScores:
        """Return the scores of weights, those of node features first."""
        batch, d = self.batch, self.n_node_features
        return GraphScores(
            batch.node_features @ weights[:d], batch.edge_features @ weights[d:]
        )

    def best_chains(self, scores: GraphScores) -> Counts:
        """Return the counts of the chains that score highest."""
        return self._chains(scores.nodes, scores.pairs)

    def loss_augmented_chains(self, scores: GraphScores) -> Counts:
        """Return the counts of the chains whose score plus loss is highest."""
        return self._chains(scores.nodes - self.labels, scores.pairs)

    def consistent_chains(self, scores: GraphScores) -> Counts:
        """Return the counts of the best chains with all positives first."""
        return self._chains(scores.nodes, scores.pairs, is_consistent=True)

    def _chains(
        self, unary: FloatArray, pairs: FloatArray, is_consistent: bool = False
    ) -> Counts:
        self.n_passes += 1.0
        finder = self._positives_first if is_consistent else self._any_order
        chains = finder.find(unary, np.maximum(pairs, 0.0))
        node_counts, edge_counts = chains.node_counts, chains.edge_counts
        for nodes, edges, solution in solve_repelling(
            self.batch,
            unary,
            pairs,
            self.top_sets,
            nested=self.nested,
            positives_first=self.labels if is_consistent else None,
        ):
            node_counts[nodes] = solution.node_counts
            edge_counts[edges] = solution.edge_counts
        return Counts(node_counts / self._node_spread, edge_counts / self._edge_spread)

    def losses(self, counts: Counts) -> FloatArray:
        """Return the loss of the chain of each graph."""
        hits = np.add.reduceat(counts.nodes * self.labels, self.batch.node_offsets[:-1])
        return np.asarray(self._best / self._spread - hits)

    def prediction_losses(self, weights: FloatArray) -> FloatArray:
        """Return 1 minus the metric of each graph; nodes that share a value tie."""
        return self.losses(self.best_chains(self.scores(weights)))

    def chain_scores(self, counts: Counts, scores: GraphScores) -> FloatArray:
        """Return the score of the chain of each graph, divided by Z."""
        nodes = _rows(counts.nodes, self.batch.node_offsets) @ scores.nodes
        pairs = _rows(counts.edges, self.batch.edge_offsets) @ scores.pairs
        return np.asarray(nodes + pairs)

    def features(self, counts: Counts) -> FloatArray:
        """Sum the features of each graph over the sets of its chain."""
        batch = self.batch
        nodes = _rows(counts.nodes, batch.node_offsets) @ batch.node_features
        edges = _rows(counts.edges, batch.edge_offsets) @ batch.edge_features
        return np.hstack([nodes, edges])


def _rows(values: FloatArray, offsets: IntArray) -> sparse.csr_array:
    """Return the values of each graph as a row of a block-diagonal matrix."""
    columns = np.arange(values.size)
    return sparse.csr_array(
        (values, columns, offsets), shape=(offsets.size - 1, values.size)
    )


def predict_scores(
    batch: GraphBatch, scores: GraphScores, measure: GraphMeasure
) -> FloatArray:
    """Rank the nodes of each graph; return scores that sort them."""
    # Smoothed scores, in which the nodes of a block differ by a little in the order of
    # their own scores. Where a pair weight is negative, the own scores are assigned in
    # the order of the linear program's ranking, and equal ones are separated.
    top_sets = measure.top_sets(batch.node_offsets)
    finder = ChainFinder(batch.edges, batch.node_offsets, top_sets)
    chains = finder.find(scores.nodes, np.maximum(scores.pairs, 0.0))
    order, blocks = chains.order, chains.blocks
    ranked: FloatArray = np.empty(order.size)
    values, own = chains.scores[order[blocks[:-1]]], chains.unsmoothed[order]
    ranked[order] = _separate(values, own, blocks, batch.node_offsets)
    for nodes, _, solution in solve_repelling(
        batch, scores.nodes, scores.pairs, top_sets, nested=measure.is_nested
    ):
        own = scores.nodes[nodes]
        ranked[nodes] = _assign_in_order(own, solution.order)
    return ranked


def _assign_in_order(own: FloatArray, order: IntArray) -> FloatArray:
    """Assign the scores to the nodes in their order, and separate equal ones."""
    falling = np.sort(own)[::-1]
    starts = np.flatnonzero(np.diff(falling, prepend=np.inf))
    blocks, ends = np.append(starts, own.size), np.array([0, own.size])
    places = -np.arange(float(own.size))
    scores: FloatArray = np.empty(own.size)
    scores[order] = _separate(falling[starts], places, blocks, ends)
    return scores


def _separate(
    values: FloatArray, own: FloatArray, blocks: IntArray, node_offsets: IntArray
) -> FloatArray:
    """Separate the nodes of a block, in the order of their own scores."""
    # in the order of the ranking; blocks that rounding may have separated count as one
    # distance of each block from the one above, and the scale of its graph
    first = np.searchsorted(blocks, node_offsets[:-1])  # block of each graph
    above: FloatArray = np.full(values.size, np.inf)
    above[1:] = values[:-1] - values[1:]
    above[first] = np.inf
    scale = np.maximum.reduceat(np.abs(values), first)
    scale[scale == 0.0] = 1.0
    scale = np.repeat(scale, np.diff(np.append(first, values.size)))
    is_new = above > _MIN_DISTANCE * scale
    starts, above, scale = blocks[:-1][is_new], above[is_new], scale[is_new]
    size = np.diff(np.append(starts, own.size))
    # number of different scores above each node's in its block
    steps = np.zeros(own.size)
    steps[1:] = np.diff(own) != 0.0
    steps[blocks[:-1]] = 1.0
    place = np.cumsum(steps)
    place -= np.repeat(place[starts], size)
    last = place[starts + size - 1]
    shift = 1.0 - 2.0 * place / np.repeat(np.maximum(last, 1.0), size)
    shift[np.repeat(last == 0.0, size)] = 0.0
    below = np.append(above[1:], np.inf)
    width = np.minimum(np.minimum(above, below) / 3.0, _MAX_SHIFT * scale)
    scores: FloatArray = np.repeat(values[is_new], size)
    scores += np.repeat(width, size) * shift
    return scores
