# mypy: allow-untyped-defs, allow-untyped-calls, disallow-untyped-decorators=False
"""Compiled steps of the selection of rows and of pairs by rank."""

import numpy as np

from aucmax._core.compiled import njit


@njit(cache=True, nogil=True)
def split_cell(keys, weights, amount, n_cells):
    """Find the cell of a grid in which the highest keys come to weigh `amount`."""
    # Returns the weight of higher cells, and the keys and weights in the cell in their
    # order; keys too close together or too far apart for a grid are returned unchanged.
    low, high = keys.min(), keys.max()
    if not -1e300 <= low <= high <= 1e300 or high - low < 1e-290:
        return 0.0, keys, weights
    width = (high - low) / n_cells
    cell_weights = np.zeros(n_cells)
    cells = np.empty(keys.size, np.uint16)
    for i in range(keys.size):
        cell = min(int((keys[i] - low) / width), n_cells - 1)
        cells[i] = cell
        cell_weights[cell] += weights[i] if weights.size else 1.0
    above, cell = 0.0, n_cells - 1
    # a cell that holds no key is passed, even where rounding leaves some amount
    while cell > 0 and (
        cell_weights[cell] == 0.0 or above + cell_weights[cell] < amount
    ):
        above += cell_weights[cell]
        cell -= 1
    places = np.flatnonzero(cells == cell)
    return above, keys[places], weights[places] if weights.size else weights


@njit(cache=True, nogil=True)
def partners(positives, negatives, difference, above, at_least):
    """Count, for each positive s, the negatives t with s - t > or >= `difference`."""
    # both ascend, and rounded differences are monotone: the counts only grow
    n = negatives.size
    strictly = loosely = 0
    for i in range(positives.size):
        s = positives[i]
        while strictly < n and s - negatives[strictly] > difference:
            strictly += 1
        loosely = max(loosely, strictly)
        while loosely < n and s - negatives[loosely] >= difference:
            loosely += 1
        above[i] = strictly
        at_least[i] = loosely
