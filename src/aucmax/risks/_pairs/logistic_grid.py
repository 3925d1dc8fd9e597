r"""All pairs of two classes, summed up over the nodes of a grid instead of sorted rows.

The slope and the curvature of the logistic loss are analytic functions of a margin but
for poles at :math:`\pm i\pi`. Over cells of half a unit of the scores, the polynomials
that interpolate them in P Chebyshev nodes of both rows' cells have relative errors of
at most :math:`65 \cdot 25^{-P}`. So rows are replaced by weights at the nodes of their
cells, the sums over pairs are taken from node to node, and interpolated at the rows:
O(P m) for m rows, in two passes without a sort. Both ends of a cell are nodes, so pairs
of equal scores are exact.
"""

# mypy: disable-error-code="no-untyped-def"

import math
from collections import namedtuple
from collections.abc import Sequence
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.polynomial.chebyshev import chebpts2
from numpy.typing import NDArray

from aucmax._core.compiled import njit
from aucmax._core.validation import FloatArray
from aucmax.risks._pairs.class_rows import weighted_top
from aucmax.risks._pairs.level_pairs import run_all
from aucmax.risks._pairs.logistic_table import coefficients

_CELL = 0.5  # width of a cell, in units of the scores
_GAIN = 25.0  # by which a further node lowers the error
_FINER = 100.0  # accuracy of sums at nodes: interpolation multiplies errors by up to 8
_MIN_ROWS = 256
_ROWS_PER_NODE = 4  # with fewer, sorting is cheaper
_BLOCK = 2**15  # minimum number of rows per task of a thread
# Fewer rows take one thread a few milliseconds, during which the threads of a tree
# learner still spin, waiting for their next tree, and occupy the cores.
_MANY_ROWS = 2**19
#: rows of two classes; empty weights stand for ones, and `cuts`[class] has the
#: threshold and the share at it of the cuts where the range of its ranks starts and
#: ends; what is outside counts by a share, too
GridRows = namedtuple("GridRows", "scores classes weights cuts outside")
#: the lowest score, and cells per unit of score
Place = namedtuple("Place", "low scale")
# of slope and curvature, for negatives and for positives
_SIGNS = np.array([[[1.0, 1.0]], [[-1.0, 1.0]]])


class GridClasses(NamedTuple):
    """Rows of two classes, without their scores."""

    classes: NDArray[Any]  # 0 for negatives, 1 for positives
    weights: FloatArray  # empty for ones
    ranges: Sequence[tuple[float, float]]  # of the ranks of negatives and positives
    outside: float  # the share by which a row outside of its range counts

    def at(self, scores: FloatArray) -> GridRows:
        """Return the rows with these scores."""
        cuts = np.empty((0, 4))
        if any(ends != (0.0, 1.0) for ends in self.ranges):
            cuts = np.array([self._cuts(scores, own) for own in (0, 1)])
        return GridRows(scores, self.classes, self.weights, cuts, self.outside)

    def _cuts(self, scores: FloatArray, own: int) -> tuple[float, ...]:
        """Return threshold and share of the cuts where the range of a class is cut."""
        (low, high), rows = self.ranges[own], self.classes == own
        keys, weights = scores[rows], self.weights[rows] if self.weights.size else None
        total = float(keys.size if weights is None else weights.sum())
        start, end = (np.inf, 1.0), (-np.inf, 1.0)
        if low > 0.0:
            start = weighted_top(keys, weights, low * total)
        if high < 1.0:
            end = weighted_top(keys, weights, high * total)
        return (*start, *end)


class LogisticGrid(NamedTuple):
    """Cells over the range of the scores."""

    place: Place
    n_cells: int
    n_nodes: int  # of a cell
    table: FloatArray  # slope, curvature and height as powers of exp(-distance)

    @classmethod
    def cover(
        cls, scores: FloatArray, width: float, accuracy: float
    ) -> "LogisticGrid | None":
        """Return a grid in units of `width`, or None if sorting is cheaper."""
        if scores.size < _MIN_ROWS:
            return None
        low, high = float(scores.min()), float(scores.max())
        n_cells = (high - low) / (_CELL * width)
        if not n_cells * _n_nodes(accuracy) * _ROWS_PER_NODE < scores.size:
            return None
        place = Place(low, 1.0 / (_CELL * width))
        table = coefficients(accuracy / _FINER)
        return cls(place, int(n_cells) + 1, _n_nodes(accuracy), table)


class GridSums:
    """Sums over all pairs of the rows, with equal bits for any number of threads."""

    def __init__(self, rows: GridRows, grid: LogisticGrid, n_jobs: int) -> None:
        self._rows, self._grid = rows, grid
        self._n_jobs = n_jobs if rows.scores.size >= _MANY_ROWS else 1
        self._lagrange, places = _nodes(grid.n_nodes)
        weights = self._moments() @ self._lagrange.T
        below, above = _sum_over_nodes(weights, places, grid.table)
        self._weights = weights.reshape(2, -1)
        # for each class: sums over its pairs with a row of weight 1 at each node
        to_negatives, to_positives = self._weights[::-1]
        negative_sums = above[1] + below[1] * (-1.0, 1.0, 1.0)
        negative_sums[:, 0] += np.cumsum(to_negatives)
        positive_sums = below[0] + above[0] * (-1.0, 1.0, 1.0)
        passed = _sums_above(to_positives)
        positive_sums[:, 0] += passed
        gaps = np.tile(np.diff(places, append=places[0] + _CELL), grid.n_cells)
        positive_sums[:, 2] += np.cumsum((gaps * passed)[::-1])[::-1]
        self._sums_at_nodes = np.array((negative_sums, positive_sums))

    @property
    def loss(self) -> float:
        """The losses of all pairs."""
        return float(self._weights[1] @ self._sums_at_nodes[1, :, 2])

    @property
    def slope(self) -> float:
        """The slopes of all pairs, as numbers above 0."""
        return float(self._weights[1] @ self._sums_at_nodes[1, :, 0])

    def fill_in(
        self, unit: float, gradient: NDArray[Any], hessian: NDArray[Any]
    ) -> None:
        """Fill in both derivatives by each score, where a pair has the weight `unit`.

        They are rounded to the types of the arrays.
        """
        grid = self._grid
        scaled_sums = self._sums_at_nodes[:, :, :2] * (_SIGNS * unit)
        by_cell = scaled_sums.reshape(2, grid.n_cells, grid.n_nodes, 2)
        series = np.ascontiguousarray(self._lagrange.T @ by_cell)
        read = partial(read_off, self._rows, grid.place)
        results = series, gradient, hessian
        tasks = [partial(read, *block, *results) for block in self._blocks()]
        run_all(tasks, self._n_jobs)

    def _moments(self) -> FloatArray:
        """Return the moments of both classes in each cell."""
        blocks = self._blocks()
        grid = self._grid
        moments = np.zeros((len(blocks), 2, grid.n_cells, grid.n_nodes))
        add = partial(add_moments, self._rows, grid.place)
        tasks = zip(blocks, moments, strict=True)
        run_all([partial(add, *block, own) for block, own in tasks], self._n_jobs)
        total: FloatArray = moments.sum(axis=0)
        return total

    def _blocks(self) -> list[tuple[int, int]]:
        """Divide the rows; the blocks' moments take no more memory than they."""
        size, grid = self._rows.scores.size, self._grid
        block = max(_BLOCK, 2 * grid.n_cells * grid.n_nodes)
        starts = range(0, size, block)
        return [(first, min(first + block, size)) for first in starts]


def _sum_over_nodes(
    weights: FloatArray, places: FloatArray, table: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return sums over the nodes below each node, or at its place, and above it."""
    # over weights[class, cell, node], of table's functions, powers of exp(-distance)
    powers = np.arange(1, table.shape[1] + 1)
    to_low = np.exp(-np.outer(places, powers))  # to the lower end of a node's cell
    to_high = np.exp(-np.outer(_CELL - places, powers))
    from_below = _carry(weights @ to_high, powers)
    from_above = _carry((weights @ to_low)[:, ::-1], powers)[:, ::-1]
    distances = np.abs(places - places[:, np.newaxis])
    within = np.exp(-np.multiply.outer(distances, powers)) @ table.T
    is_below = np.tri(places.size).T[:, :, np.newaxis]  # the first node at the second
    results = []
    for carried, decays, own in (
        (from_below, to_low, within * is_below),
        (from_above, to_high, within * (1.0 - is_below)),
    ):
        functions = decays[:, np.newaxis] * table  # of shape (nodes, 3, powers)
        sums = carried @ functions.reshape(-1, powers.size).T
        sums += weights @ own.reshape(places.size, -1)
        results.append(sums.reshape(2, -1, table.shape[0]))
    return results[0], results[1]


def _carry(sums: FloatArray, powers: Any) -> FloatArray:
    """Return the sums that reach each cell from all cells before it."""
    # each step doubles the cells summed up, until the farthest add nothing
    carried = np.zeros_like(sums)
    carried[:, 1:] = sums[:, :-1]
    step = 1
    while step < sums.shape[1]:
        decays = np.exp(-_CELL * step * powers)
        if decays[0] == 0.0:
            break
        carried[:, step:] += carried[:, :-step] * decays
        step *= 2
    return carried


def _sums_above(weights: FloatArray) -> FloatArray:
    """Return the weight of the nodes above each."""
    sums = np.zeros_like(weights)
    np.cumsum(weights[:0:-1], out=sums[-2::-1])
    return sums


def _n_nodes(accuracy: float) -> int:
    return math.ceil(math.log(100.0 / accuracy) / math.log(_GAIN))


@lru_cache(maxsize=16)
def _nodes(n_nodes: int) -> tuple[FloatArray, FloatArray]:
    """Return the Lagrange polynomials of the nodes (coefficients), and their places."""
    points = chebpts2(n_nodes)
    powers = np.vander(points, increasing=True)
    lagrange = np.ascontiguousarray(np.linalg.inv(powers).T)
    return lagrange, (points + 1.0) * (_CELL / 2.0)


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
        class_moments = moments[rows.classes[i], cell]
        for k in range(n_powers):
            class_moments[k] += w
            w *= x


@njit(cache=True, nogil=True)
def read_off(rows, place, first, last, series, gradient, hessian):
    """Fill in both derivatives of some rows: polynomials of the place in their cell."""
    n_cells, n_powers = series.shape[1:3]
    for i in range(first, last):
        w = counted(rows, i)
        if w == 0.0:
            gradient[i] = hessian[i] = 0.0
            continue
        x = (rows.scores[i] - place.low) * place.scale
        cell = min(int(x), n_cells - 1)
        x = 2.0 * (x - cell) - 1.0
        cell_series = series[rows.classes[i], cell]
        slope = curvature = 0.0
        for k in range(n_powers - 1, -1, -1):
            slope = slope * x + cell_series[k, 0]
            curvature = curvature * x + cell_series[k, 1]
        gradient[i] = w * slope
        hessian[i] = w * curvature
