"""Compiled passes over the rows of a grid, for pairs of two classes.

A row at the place x of its cell, in [-1, 1], stands for weights at the nodes of that
cell; what the classes owe to each other is found at the nodes, and read off at rows.
"""

# mypy: disable-error-code="no-untyped-def"

from collections import namedtuple

from aucmax._core.compiled import njit

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
def read_off(rows, place, first, last, series, gradient, hessian):
    """Fill in both derivatives by the scores of some rows, times the rows' weights.

    `series`[class, cell, :, 0 and 1] are the coefficients of polynomials of the place
    in the cell. Two of them take as long as one.
    """
    n_cells, n_powers = series.shape[1:3]
    for i in range(first, last):
        w = counted(rows, i)
        if w == 0.0:
            gradient[i] = hessian[i] = 0.0
            continue
        x = (rows.scores[i] - place.low) * place.scale
        cell = min(int(x), n_cells - 1)
        x = 2.0 * (x - cell) - 1.0
        of_cell = series[rows.classes[i], cell]
        slope = curvature = 0.0
        for k in range(n_powers - 1, -1, -1):
            slope = slope * x + of_cell[k, 0]
            curvature = curvature * x + of_cell[k, 1]
        gradient[i] = w * slope
        hessian[i] = w * curvature
