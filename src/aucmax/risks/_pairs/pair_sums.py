"""Sums of the logistic loss over all pairs of groups of rows, or of bins of scores.

Without a sort, a row between two edges of bins counts at both, in proportion to its
nearness, and its derivatives are read in the same way. The error is of second order in
the width of a bin; ranks of rows with equal scores still differ by a third of their
weight.
"""

import math
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aucmax._core.validation import FloatArray, IntArray
from aucmax.risks._pairs import logistic_sweeps as sweeps
from aucmax.risks._pairs.level_pairs import run_all, spans_of_groups
from aucmax.risks._pairs.logistic_sweeps import Pairing, Results, SweepRows

ALL_ONES = np.empty(0)  # in place of weights or steps
# Fewer rows take one thread a few milliseconds, during which the threads of a tree
# learner still spin, waiting for their next tree, and occupy the cores.
_MANY_ROWS = 2**17
_MIN_ROWS = 2**12  # in bins: the ranks of fewer are too coarse
_ROWS_PER_BIN = 6  # with fewer, sorting is as fast
_MAX_BINS = 2**13  # more are not more precise, as measured


def decays_between(scores: FloatArray, width: float) -> FloatArray:
    """Return exp(-distance) of each score and the next, in units of `width`."""
    decays = np.zeros(scores.size)
    with np.errstate(over="ignore"):
        np.subtract(scores[1:], scores[:-1], out=decays[:-1])
        decays /= width
    # the next score is higher between groups only, where it does not matter
    np.minimum(decays, 0.0, out=decays)
    return np.exp(decays, out=decays)


def two_classes(n_groups: int) -> Pairing:
    """Return pairs of levels 1 and 0, whose weights are those of the rows."""
    return Pairing(np.ones(n_groups), np.empty((n_groups, 0)), 2, False)


def sum_pairs(
    rows: SweepRows,
    pairing: Pairing,
    table: FloatArray,
    *,
    n_jobs: int = 1,
    with_value: bool = False,
) -> tuple[float, FloatArray, FloatArray]:
    """Return the losses of all pairs (or 0), and both derivatives of each row."""
    size = rows.scores.size
    n_jobs = n_jobs if size >= _MANY_ROWS else 1
    # small groups need no sweep up
    is_small = np.diff(rows.starts).max() <= sweeps.FEW_ROWS
    gradients, hessians = np.empty((2, 1 if is_small else 2, size))
    values = np.zeros(rows.starts.size - 1 if with_value else 0)
    down = Results(gradients[0], hessians[0], values)
    directions = [down]
    if not is_small:
        directions.append(Results(gradients[1], hessians[1], ALL_ONES))
    spans = spans_of_groups(rows.starts) if n_jobs > 1 else [(0, rows.starts.size - 1)]
    tasks = [
        partial(sweeps.sweep, rows, pairing, table, span, results is down, results)
        for span in spans
        for results in directions
    ]
    run_all(tasks, n_jobs)
    for totals in (gradients, hessians):
        if not is_small:
            totals[0] += totals[1]
    return float(values.sum()), gradients[0], hessians[0]


def steps_and_widths(
    ordered: FloatArray, widths: FloatArray, starts: IntArray
) -> tuple[FloatArray, FloatArray]:
    """Return the distances in rank of neighbours, and widths if some scores are equal.

    The rank of a row is the sum of the widths above it and half of its own; rows of a
    group with equal scores share the middle of theirs.
    """
    steps = np.empty(ordered.size)
    if sweeps.fill_steps(ordered, widths, starts, steps):
        return steps, widths if widths.size else np.ones(ordered.size)
    return steps if widths.size else ALL_ONES, ALL_ONES


class ScoreBins(NamedTuple):
    """Bins of equal width from the lowest score to the highest."""

    low: float
    scale: float  # bins per unit of the scores
    n_bins: int

    @classmethod
    def cover(
        cls, scores: FloatArray, width: float, accuracy: float
    ) -> "ScoreBins | None":
        """Return bins for scores in units of `width`; None if a sort is cheaper."""
        n_bins = min(scores.size // _ROWS_PER_BIN, _MAX_BINS)
        low, high = float(scores.min()), float(scores.max())
        widest = width * math.sqrt(accuracy)
        if scores.size < _MIN_ROWS or not high - low <= widest * n_bins:
            return None
        bin_width = (high - low) / n_bins
        return cls(low, 1.0 / bin_width if bin_width > 0.0 else 0.0, n_bins)


def sum_ranked_pairs(
    bins: ScoreBins,
    width: float,
    rows: tuple[FloatArray, NDArray[Any], FloatArray | None],
    pairing: Pairing,
    table: FloatArray,
    out: tuple[NDArray[Any], NDArray[Any]],
) -> float:
    """Fill in both derivatives of (scores, levels, weights); return the loss."""
    scores, levels, weights = rows
    weights = ALL_ONES if weights is None else weights
    at_edges = np.zeros((bins.n_bins + 1, pairing.n_levels))
    sweeps.add_to_edges(scores, levels, weights, bins, at_edges)
    # edges by descending score, and the levels of each
    bin_width = 1.0 / bins.scale if bins.scale > 0.0 else 0.0
    edges = bins.low + bin_width * np.arange(bins.n_bins, -1, -1)
    ordered = np.repeat(edges, pairing.n_levels)
    edge_weights = at_edges[::-1].ravel()
    starts = np.array([0, ordered.size])
    steps, widths = steps_and_widths(ordered, edge_weights, starts)
    codes = np.tile(np.arange(pairing.n_levels, dtype=levels.dtype), edges.size)
    sweep_rows = SweepRows(
        starts,
        ordered,
        decays_between(ordered, width),
        codes,
        edge_weights,
        steps,
        widths,
    )
    value, *sums = sum_pairs(sweep_rows, pairing, table, with_value=True)
    per_row = np.zeros((2, *at_edges.shape))
    for result, derivative in zip(per_row, sums, strict=True):
        np.divide(derivative, edge_weights, out=derivative, where=edge_weights > 0.0)
        result[:] = derivative.reshape(at_edges.shape)[::-1]
    sweeps.read_edges(scores, levels, weights, bins, per_row, *out)
    return value
