"""Compiled passes over rows and over the nodes of a grid, for pairs of two classes.

A row at the place x of its cell, in [-1, 1], stands for weights at the nodes of that
cell; what the classes owe to each other is found at the nodes, and read off at rows.
"""

# mypy: disable-error-code="no-untyped-def"

from collections import namedtuple

from aucmax._compiled import njit

#: rows of two classes; empty weights stand for ones, and `cuts`[class] has the
#: threshold and the share at it of the cuts where the range of its ranks starts and
#: ends; what is outside counts by a share, too
Rows = namedtuple("Rows", "scores classes weights cuts outside")
#: the lowest score, and cells per unit of score
Place = namedtuple("Place", "low scale")


@njit(cache=True, nogil=True, inline="always")
def counted(rows, i):
    """Return how much a row counts."""
    w = rows.weights[i] if rows.weights.size else 1.0
    if rows.cuts.size == 0:
        return w
    start, share_at_start, end, share_at_end = rows.cuts[rows.classes[i]]
    score = rows.scores[i]
    share = 0.0
    if score >= end:
        share = share_at_end if score == end else 1.0
        if score >= start:
            share -= share_at_start if score == start else 1.0
    return w * (share + rows.outside * (1.0 - share))


@njit(cache=True, nogil=True)
def add_moments(rows, place, first, last, moments):
    """Add the powers of the places of some rows to the moments of class and cell."""
    n_cells, n_powers = moments.shape[1:]
    for i in range(first, last):
        w = counted(rows, i)
        if w == 0.0:
            continue
        x = (rows.scores[i] - place.low) * place.scale
        cell = min(int(x), n_cells - 1)
        x = 2.0 * (x - cell) - 1.0
        own = moments[rows.classes[i], cell]
        for k in range(n_powers):
            own[k] += w
            w *= x


@njit(cache=True, nogil=True)
def meet_at_nodes(weights, decays, met):
    """Fill in the sums of exp(-distance) to the powers 1, 2, ... that each node meets.

    The nodes are in rising order, with weights; `decays`[k] are the powers for the
    distance from node k of a cell to the next. `met`[0] is over the nodes from the
    lowest up to this one, `met`[1] over those above.
    """
    n_nodes, last = weights.size, weights.size - 1
    met[0, 0] = weights[0]
    met[1, last] = 0.0
    for node in range(1, n_nodes):
        decay = decays[(node - 1) % decays.shape[0]]
        for k in range(decay.size):
            met[0, node, k] = met[0, node - 1, k] * decay[k] + weights[node]
    for node in range(last - 1, -1, -1):
        decay = decays[node % decays.shape[0]]
        for k in range(decay.size):
            met[1, node, k] = (met[1, node + 1, k] + weights[node + 1]) * decay[k]


@njit(cache=True, nogil=True)
def read_off(rows, place, first, last, series, result):
    """Fill in what some rows owe, by their weights.

    `series`[class, cell] are the coefficients of a polynomial of the place in the cell.
    """
    n_cells, n_powers = series.shape[1:]
    for i in range(first, last):
        w = counted(rows, i)
        if w == 0.0:
            result[i] = 0.0
            continue
        x = (rows.scores[i] - place.low) * place.scale
        cell = min(int(x), n_cells - 1)
        x = 2.0 * (x - cell) - 1.0
        of_cell = series[rows.classes[i], cell]
        value = 0.0
        for k in range(n_powers - 1, -1, -1):
            value = value * x + of_cell[k]
        result[i] = w * value
