# mypy: allow-untyped-defs, allow-untyped-calls, disallow-untyped-decorators=False
"""Compiled sweeps over cells: which of their rows are in a range of ranks."""

import numpy as np

from aucmax._core.compiled import njit


@njit(cache=True, nogil=True)
def smooth_choice(masses, amounts, reach, choice):
    """Choose the first rows of each class, smoothly, up to the given amounts.

    Ranks go down from the last cell for negatives, row 0 of the arrays, and up from the
    first for positives, row 1. A cell d cells ahead of the threshold counts by the
    share clip((d + reach) / (2 reach), 0, 1).
    """
    n = masses.shape[1]
    for side in range(2):
        # `total` weighs what counts with the threshold at rank `cell`, `window` the
        # cells whose shares grow, by 1 / (2 reach), on the way to the next rank
        cell, total, window = -reach, 0.0, 0.0
        part = 0.0
        while cell < n + reach:
            enters, leaves = cell + reach, cell - reach
            if 0 <= enters < n:
                window += masses[side, n - 1 - enters if side == 0 else enters]
            if 0 <= leaves < n:
                window -= masses[side, n - 1 - leaves if side == 0 else leaves]
            gain = window / (2 * reach)
            if total + gain >= amounts[side]:
                part = (amounts[side] - total) / gain if gain > 0.0 else 0.0
                break
            total += gain
            cell += 1
        for rank in range(n):
            share = (cell + part - rank) / (2 * reach) + 0.5
            share = min(max(share, 0.0), 1.0)
            choice[side, n - 1 - rank if side == 0 else rank] = share


@njit(cache=True, nogil=True)
def keep_first(masses, moments, amounts):
    """Keep the first rows of each class, exactly, up to the given amounts.

    Of the cell that is split, the rows kept are taken to be as far ahead as its other
    rows let them: for the hinge, a bound from above.
    """
    n = masses.shape[1]
    for side in range(2):
        left = amounts[side]
        for rank in range(n):
            cell = n - 1 - rank if side == 0 else rank
            mass, moment = masses[side, cell], moments[side, cell]
            if mass > left:
                rest = mass - left
                if side == 0:
                    moment = min(left * (cell + 1), moment - rest * cell)
                else:
                    moment = max(left * cell, moment - rest * (cell + 1))
                masses[side, cell], moments[side, cell] = left, moment
                left = 0.0
            else:
                left -= mass


@njit(cache=True, nogil=True)
def split_cell(keys, weights, amount, n_cells):
    """Find the cell of a grid in which the highest keys come to weigh `amount`.

    Returns the weight of all higher cells, and the keys and weights in the cell, in
    their order. Empty weights stand for ones. Keys too close together or too far apart
    for a grid are returned as they are.
    """
    low, high = keys.min(), keys.max()
    if not -1e300 <= low <= high <= 1e300 or high - low < 1e-290:
        return 0.0, keys, weights
    width = (high - low) / n_cells
    masses = np.zeros(n_cells)
    cells = np.empty(keys.size, np.uint16)
    for i in range(keys.size):
        cell = min(int((keys[i] - low) / width), n_cells - 1)
        cells[i] = cell
        masses[cell] += weights[i] if weights.size else 1.0
    above, cell = 0.0, n_cells - 1
    # a cell that holds no key is passed, even where rounding leaves some amount
    while cell > 0 and (masses[cell] == 0.0 or above + masses[cell] < amount):
        above += masses[cell]
        cell -= 1
    places = np.flatnonzero(cells == cell)
    return above, keys[places], weights[places] if weights.size else weights
