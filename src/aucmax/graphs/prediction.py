"""Scores of nodes whose order is the best ranking."""

import numpy as np

from aucmax._core.validation import FloatArray, IntArray
from aucmax.graphs.batch import GraphBatch
from aucmax.graphs.chains import ChainFinder
from aucmax.graphs.measure import Measure
from aucmax.graphs.problem import GraphScores
from aucmax.graphs.repelling import solve_repelling

__all__ = ["predict_scores"]

_LARGEST_SHIFT = 1e-6  # of the scores' size, to set nodes of a block apart
_SMALLEST_DISTANCE = 1e-10  # of the scores' size: nearer blocks differ by rounding


def predict_scores(
    batch: GraphBatch, scores: GraphScores, measure: Measure
) -> FloatArray:
    """Rank the nodes of each graph; return scores that sort them.

    These are the smoothed scores, in which the nodes of a block are set apart by a
    little in the order of their own scores. Where a pair weight is negative, the own
    scores are dealt out in the order of the ranking that the linear program gives,
    and equal ones set apart.
    """
    top_sets = measure.top_sets(batch.node_offsets)
    finder = ChainFinder(batch.edges, batch.node_offsets, top_sets)
    chains = finder.find(scores.nodes, np.maximum(scores.pairs, 0.0))
    order, blocks = chains.order, chains.blocks
    ranked: FloatArray = np.empty(order.size)
    ranked[order] = _set_apart(
        chains.scores[order[blocks[:-1]]],
        chains.unsmoothed[order],
        blocks,
        batch.node_offsets,
    )
    for nodes, _, solution in solve_repelling(
        batch, scores.nodes, scores.pairs, top_sets, nested=measure.is_nested
    ):
        ranked[nodes] = _dealt_out(scores.nodes[nodes], solution.order)
    return ranked


def _dealt_out(own: FloatArray, order: IntArray) -> FloatArray:
    """Give the scores to the nodes in their order, and set equal ones apart."""
    falling = np.sort(own)[::-1]
    starts = np.flatnonzero(np.diff(falling, prepend=np.inf))
    blocks, ends = np.append(starts, own.size), np.array([0, own.size])
    places = -np.arange(float(own.size))
    scores: FloatArray = np.empty(own.size)
    scores[order] = _set_apart(falling[starts], places, blocks, ends)
    return scores


def _set_apart(
    values: FloatArray, own: FloatArray, blocks: IntArray, node_offsets: IntArray
) -> FloatArray:
    """Let the nodes of a block differ by less than blocks do, as their own scores do.

    All in the order of the ranking. Blocks that rounding alone may have set apart are
    one, in which the lower block comes later.
    """
    above, scale = _distances(values, blocks, node_offsets)
    is_apart = above > _SMALLEST_DISTANCE * scale
    starts, above, scale = blocks[:-1][is_apart], above[is_apart], scale[is_apart]
    size = np.diff(np.append(starts, own.size))
    # how many different scores come before each node's in its block, from the top
    steps = np.zeros(own.size)
    steps[1:] = np.diff(own) != 0.0
    steps[blocks[:-1]] = 1.0
    place = np.cumsum(steps)
    place -= np.repeat(place[starts], size)
    last = place[starts + size - 1]
    shift = 1.0 - 2.0 * place / np.repeat(np.maximum(last, 1.0), size)
    shift[np.repeat(last == 0.0, size)] = 0.0
    below = np.append(above[1:], np.inf)
    room = np.minimum(np.minimum(above, below) / 3.0, _LARGEST_SHIFT * scale)
    scores: FloatArray = np.repeat(values[is_apart], size)
    scores += np.repeat(room, size) * shift
    return scores


def _distances(
    values: FloatArray, blocks: IntArray, node_offsets: IntArray
) -> tuple[FloatArray, FloatArray]:
    """Return how far each block is below the one before, and its graph's scale."""
    first = np.searchsorted(blocks, node_offsets[:-1])  # block of each graph
    above: FloatArray = np.full(values.size, np.inf)
    above[1:] = values[:-1] - values[1:]
    above[first] = np.inf
    scale = np.maximum.reduceat(np.abs(values), first)
    scale[scale == 0.0] = 1.0
    return above, np.repeat(scale, np.diff(np.append(first, values.size)))
