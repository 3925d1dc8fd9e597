"""Every pair of rows by itself, faster than sweeps if rows have at most a few dozen."""

# mypy: disable-error-code="no-untyped-def"

import threading
from collections import namedtuple
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from aucmax._core.compiled import njit
from aucmax._core.validation import FloatArray, IntArray
from aucmax.risks._pairs.level_pairs import run_all, spans_of_groups

_MAX_PAIRS = 32  # per row, on average; with more, sweeps are cheaper
_MAX_MOVES = 256  # per row, at most, to sort by insertion
_MAX_RANGE = 600.0  # range of scores whose exponentials neither overflow nor vanish
_MANY_ROWS = 2**19  # fewer are done before other threads are of use

#: where groups start; for each row its number, where the rows of later levels start,
#: 1.0 if these are lower levels or -1.0 if they are higher, its weight, and the number
#: of its level, whose distance a pair counts by; weights and numbers may be left out
PairLayout = namedtuple("PairLayout", "starts rows nexts signs weights numbers")


class FewPairs:
    """Rows group by group and level by level, in the order in which pairs are met."""

    def __init__(
        self, layout: PairLayout, is_ranked: bool, discounts: FloatArray | None
    ) -> None:
        self._layout, self._is_ranked = layout, is_ranked
        self._discounts = discounts
        self._of_thread = threading.local()

    @classmethod
    def of(
        cls,
        groups: IntArray | None,
        levels: IntArray,
        weights: FloatArray | None,
        numbers: FloatArray,
        *,
        is_ranked: bool,
        discounts: FloatArray | None = None,
    ) -> Self | None:
        """Lay the rows out, or return None if sweeps are cheaper."""
        # a pair counts by the distance of its numbers[group, level], if there are any,
        # and by that of its ranks, or of the discounts of these
        if is_ranked and weights is not None:
            return None
        if groups is None:
            groups = np.zeros(levels.size, dtype=np.int64)
        shape = int(groups.max()) + 1, int(levels.max()) + 1
        cells = groups * shape[1] + levels
        counts = np.bincount(cells, minlength=shape[0] * shape[1]).reshape(shape)
        sizes = counts.sum(axis=1)
        squares = float((sizes * sizes).sum())
        n_pairs = 0.5 * (squares - float((counts * counts).sum()))
        if n_pairs > _MAX_PAIRS * levels.size:
            return None
        if is_ranked and squares > _MAX_MOVES * levels.size:
            return None
        # loops are longer, and fewer, if the level that is met last has many rows
        signs = np.where(counts[:, 0] < counts[:, -1], -1.0, 1.0)[groups]
        places = np.where(signs > 0.0, shape[1] - 1 - levels, levels)
        cells = groups * shape[1] + places
        rows = np.argsort(cells, kind="stable")
        ends = np.cumsum(np.bincount(cells))
        layout = PairLayout(
            np.concatenate(([0], np.cumsum(sizes))),
            rows,
            ends[cells[rows]],
            signs[rows],
            np.empty(0) if weights is None else weights[rows],
            numbers[groups[rows], levels[rows]] if numbers.shape[1] else np.empty(0),
        )
        return cls(layout, is_ranked, discounts)

    def fill_in(
        self,
        scores: FloatArray,
        width: float,
        factors: FloatArray,
        n_jobs: int,
        results: tuple[NDArray[Any], NDArray[Any]],
    ) -> bool:
        """Fill in both derivatives by each score; return False if far apart."""
        low, high = float(scores.min()), float(scores.max())
        if not high - low <= _MAX_RANGE * width:
            return False
        layout, of_thread, size = self._layout, self._of_thread, scores.size
        if not hasattr(of_thread, "odds"):  # new memory costs as much as the loops
            of_thread.ordered, of_thread.odds = np.empty(size), np.empty((2, size))
            # places by descending score in their groups, sorted again in each call
            of_thread.order = np.arange(size if self._is_ranked else 0)
            of_thread.ranks = np.empty(of_thread.order.size)
        odds, order, ranks = of_thread.odds, of_thread.order, of_thread.ranks
        ordered = np.take(scores, layout.rows, out=of_thread.ordered, mode="clip")
        np.subtract(ordered, low + 0.5 * (high - low), out=odds[1])
        np.multiply(odds[1], layout.signs / width, out=odds[1])
        np.exp(odds[1], out=odds[0])
        np.divide(1.0, odds[0], out=odds[1])
        largest = int(np.diff(layout.starts).max())

        def work(span: tuple[int, int]) -> None:
            if self._is_ranked:
                find_ranks(layout, span, ordered, order, ranks)
                if self._discounts is not None:
                    own_rows = slice(layout.starts[span[0]], layout.starts[span[1]])
                    found = ranks[own_rows].astype(np.int64)
                    np.take(self._discounts, found, out=ranks[own_rows])
            own = np.empty((5, largest))
            pair_up(layout, span, factors, odds, ranks, own, *results)

        tasks = [partial(work, span) for span in spans_of_groups(layout.starts)]
        run_all(tasks, n_jobs if size >= _MANY_ROWS else 1)
        return True


@njit(cache=True, nogil=True)
def find_ranks(layout, groups, scores, order, ranks):
    """Sort `order` within groups by descending score, ties by row; fill in ranks."""
    rows = layout.rows
    for group in range(groups[0], groups[1]):
        first, end = layout.starts[group], layout.starts[group + 1]
        for place in range(first + 1, end):
            new = order[place]
            score, row = scores[new], rows[new]
            while place > first:
                old = order[place - 1]
                if scores[old] > score or (scores[old] == score and rows[old] < row):
                    break
                order[place] = old
                place -= 1
            order[place] = new
        for place in range(first, end):
            ranks[order[place]] = place - first


@njit(cache=True, nogil=True)
def pair_up(layout, groups, factors, odds, ranks, buffers, gradient, hessian):
    """Fill in both derivatives for some groups."""
    # odds = exp(sign * score) and inverses; buffers = five numbers per row of a group
    for group in range(groups[0], groups[1]):
        first, end = layout.starts[group], layout.starts[group + 1]
        slopes, curvatures = buffers[0, : end - first], buffers[1, : end - first]
        for k in range(end - first):
            slopes[k] = curvatures[k] = 0.0
        level = first  # where the rows of the level start
        while layout.nexts[level] < end and factors[group] != 0.0:
            start = layout.nexts[level]
            for i in range(level, start):
                share_out(layout, (i, start, end), factors[group], ranks, buffers[2])
                total = meet(
                    odds[0, i], odds[1, start:end], buffers, start - first, end - start
                )
                slopes[i - first] -= total[0]
                curvatures[i - first] += total[1]
            level = start
        for k in range(end - first):
            row = layout.rows[first + k]
            gradient[row] = 0.0 + layout.signs[first + k] * slopes[k]  # not -0.0
            hessian[row] = curvatures[k]


@njit(cache=True, nogil=True)
def share_out(layout, places, factor, ranks, shares):
    """Fill in the weights of the pairs of one row with those from `start` on."""
    i, start, end = places
    for k in range(end - start):
        shares[k] = factor
    if layout.weights.size > 0:
        own, others = layout.weights[i], layout.weights[start:end]
        for k in range(others.size):
            shares[k] *= own * others[k]
    if ranks.size > 0:
        own, others = ranks[i], ranks[start:end]
        for k in range(others.size):
            shares[k] *= abs(own - others[k])
    if layout.numbers.size > 0:
        own, others = layout.numbers[i], layout.numbers[start:end]
        for k in range(others.size):
            shares[k] *= abs(own - others[k])


@njit(cache=True, nogil=True)
def meet(own, others, buffers, first, n):
    """Add the slopes of one row's pairs to n others from `first`; return their sums."""
    shares, slopes, curvatures = buffers[2, :n], buffers[3, :n], buffers[4, :n]
    for k in range(n):
        ratio = own * others[k]
        slope = 1.0 / (1.0 + ratio)
        slopes[k] = shares[k] * slope
        curvatures[k] = shares[k] * slope * (ratio * slope)
    met_slopes, met_curvatures = (
        buffers[0, first : first + n],
        buffers[1, first : first + n],
    )
    slope = curvature = 0.0
    for k in range(n):
        met_slopes[k] += slopes[k]
        met_curvatures[k] += curvatures[k]
        slope += slopes[k]
        curvature += curvatures[k]
    return slope, curvature
