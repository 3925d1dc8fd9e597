"""Compiled sweeps over sorted columns, and products with stumps."""

import numpy as np

from aucmax._core.compiled import njit

TIE = 1e-9  # edges closer than this, relative to the larger, are equal up to rounding
_LANES = 64  # sums side by side, which the processor can form at once


@njit(cache=True, nogil=True)
def best_places(row_weights, total, order, starts, middles, places, edges):
    """Find the threshold of each column whose stump has the largest edge in size.

    Column c keeps its rows with a value below the block of zeros in
    ``order[starts[c]:middles[c]]`` and those above it in ``order[middles[c]: starts[c +
    1]]``, both ascending. A row is stored as ``~row`` where a threshold follows on the
    side of the zeros. Fills `places` with places in `order`, -1 for none, and `edges`
    with the edge of direction +1. Of edges equal up to rounding the lowest one wins.
    """
    for c in range(starts.size - 1):
        place = -1
        best = edge = below = 0.0
        for i in range(starts[c], middles[c]):
            row = order[i]
            if row >= 0:
                below += row_weights[row]
                continue
            below += row_weights[~row]
            here = total - 2.0 * below
            if place < 0 or abs(here) > best * (1.0 + TIE):
                place, edge, best = i, here, abs(here)
        above = 0.0
        place_above = -1
        best_above = edge_above = 0.0
        for i in range(starts[c + 1] - 1, middles[c] - 1, -1):
            row = order[i]
            if row >= 0:
                above += row_weights[row]
                continue
            above += row_weights[~row]
            here = 2.0 * above - total
            # thresholds fall, so the later of two equal ones is the lower
            if abs(here) >= best_above * (1.0 - TIE):
                place_above, edge_above = i, here
                best_above = max(best_above, abs(here))
        if place_above >= 0 and (place < 0 or best_above > best * (1.0 + TIE)):
            place, edge = place_above, edge_above
        places[c] = place
        edges[c] = edge


@njit(cache=True, nogil=True)
def add_rows(values, weights, sums):
    """Add ``weights @ values`` to `sums`; a weight of 0 costs nothing."""
    for k in range(weights.size):
        weight = weights[k]
        if weight != 0.0:
            for r in range(sums.size):
                sums[r] += weight * values[k, r]


@njit(cache=True, nogil=True)
def dot_rows(values, weights, products):
    """Fill `products` with ``values @ weights``."""
    sums = np.empty(_LANES)
    for k in range(products.size):
        sums[:] = 0.0
        for first in range(0, weights.size, _LANES):
            own = values[k, first : first + _LANES]
            weight = weights[first : first + _LANES]
            for lane in range(own.size):
                sums[lane] += own[lane] * weight[lane]
        products[k] = 0.0
        for lane in range(_LANES):  # one by one: NumPy and numba have different sums
            products[k] += sums[lane]


@njit(cache=True, nogil=True)
def edges_of_grid(places, ends, row_weights, total, edges):
    """Fill `edges` with those of all stumps, column by column."""
    # places[c, r] = number of the first stump of column c not below row r, or ends[c]
    edges[:] = 0.0
    start = 0
    for c in range(ends.size):
        end = ends[c]
        own = places[c]
        for r in range(row_weights.size):
            if own[r] < end:
                edges[own[r]] += row_weights[r]
        below = 0.0
        for k in range(start, end):
            below += edges[k]
            edges[k] = total - 2.0 * below
        start = end


@njit(cache=True, nogil=True)
def sums_below(places, ends, weights, sums):
    """Fill ``sums[c, r]`` with the weight of column c's stumps below row r."""
    start = 0
    below = np.empty(weights.size + 1)
    for c in range(ends.size):
        end = ends[c]
        below[start] = 0.0
        for k in range(start, end):
            below[k + 1] = below[k] + weights[k]
        for r in range(sums.shape[1]):
            sums[c, r] = below[places[c, r]]
        start = end


@njit(cache=True, nogil=True)
def scores_of_grid(places, ends, weights, scores):
    """Fill `scores` with twice the weight of the stumps below each row, less all."""
    scores[:] = 0.0
    start, total = 0, 0.0
    below = np.empty(weights.size + 1)
    for c in range(ends.size):
        end = ends[c]
        below[start] = 0.0
        for k in range(start, end):
            below[k + 1] = below[k] + weights[k]
            total += weights[k]
        if end > start:
            own = places[c]
            for r in range(scores.size):
                scores[r] += below[own[r]]
        start = end
    for r in range(scores.size):
        scores[r] = 2.0 * scores[r] - total


@njit(cache=True, nogil=True)
def products_of_grid(places, ends, row_weights, total, tables, products):
    """Fill the upper half of `products` with sums of ``weight * h * h'`` over rows."""
    # Rows are added up by their places in two columns, then from the last threshold to
    # the first: sums[i, j] is the weight of the rows above i thresholds of one column
    # and j of the other. tables is the room for that: (stumps per column + 2)^2.
    width = tables.shape[1]
    start = 0
    for c in range(ends.size):
        n_own = ends[c] - start
        other_start = start
        for d in range(c if n_own > 0 else ends.size, ends.size):
            n_other = ends[d] - other_start
            if n_other == 0:
                continue
            sums = tables[: n_own + 2, : n_other + 2]
            sums[:] = 0.0
            flat = tables.ravel()
            own, other = places[c], places[d]
            first = start * width + other_start
            for r in range(row_weights.size):
                flat[own[r] * width + other[r] - first] += row_weights[r]
            for i in range(n_own, -1, -1):
                along = 0.0
                for j in range(n_other, -1, -1):
                    along += sums[i, j]
                    sums[i, j] = along + sums[i + 1, j]
            for i in range(n_own):
                row = products[start + i]
                rest = total - 2.0 * sums[i + 1, 0]
                for j in range(n_other):
                    row[other_start + j] = (
                        rest - 2.0 * sums[0, j + 1] + 4.0 * sums[i + 1, j + 1]
                    )
            other_start = ends[d]
        start = ends[c]
