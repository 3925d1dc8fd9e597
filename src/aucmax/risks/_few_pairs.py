"""Every pair of rows by itself, where there are at most a few dozen per row.

Queries of a hundred rows have so few pairs that a loop over them, which needs no sort
and runs by vector instructions, takes a fraction of the time of sweeps over sorted
rows. The number of pairs per row is limited, so that it costs O(m) all the same.
"""

from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from aucmax._core.validation import FloatArray, IntArray
from aucmax.risks import _few_pair_kernels as kernels
from aucmax.risks._level_pairs import spans_of_groups
from aucmax.risks._threads import run_all

__all__ = ["FewPairs", "FewRoom"]

_MOST_PAIRS = 32  # per row, on average; with more, sweeps are cheaper
_MOST_MOVES = 256  # per row, at most, to sort by insertion
_WIDEST = 600.0  # range of scores whose exponentials neither overflow nor vanish
_MANY_ROWS = 2**19  # fewer are done before other threads are of use


class FewPairs(NamedTuple):
    """Rows group by group and level by level, in the order in which pairs are met."""

    layout: kernels.Layout
    is_ranked: bool

    @classmethod
    def of(
        cls,
        groups: IntArray | None,
        levels: IntArray,
        weights: FloatArray | None,
        numbers: FloatArray,
        *,
        is_ranked: bool,
    ) -> Self | None:
        """Lay the rows out, or return None where sweeps are cheaper.

        `numbers`[group, level] are those whose distance a pair counts by, if there are
        any columns.
        """
        if is_ranked and weights is not None:
            return None
        counts = _counts(groups, levels)
        sizes = counts.sum(axis=1)
        squares = float((sizes * sizes).sum())
        n_pairs = 0.5 * (squares - float((counts * counts).sum()))
        if n_pairs > _MOST_PAIRS * levels.size:
            return None
        if is_ranked and squares > _MOST_MOVES * levels.size:
            return None
        if groups is None:
            groups = np.zeros(levels.size, dtype=np.int64)
        # loops are longer, and fewer, if the level that is met last has many rows
        signs = np.where(counts[:, 0] < counts[:, -1], -1.0, 1.0)[groups]
        cells = groups * counts.shape[1] + np.where(
            signs > 0.0, counts.shape[1] - 1 - levels, levels
        )
        rows = np.argsort(cells, kind="stable")
        ends = np.cumsum(np.bincount(cells))
        layout = kernels.Layout(
            np.concatenate(([0], np.cumsum(sizes))),
            rows,
            ends[cells[rows]],
            signs[rows],
            np.empty(0) if weights is None else weights[rows],
            numbers[groups[rows], levels[rows]] if numbers.shape[1] else np.empty(0),
        )
        return cls(layout, is_ranked)

    def room(self) -> "FewRoom":
        """Make room for what calls need: new memory would cost as much as the loops."""
        size = self.layout.rows.size
        n_ranks = size if self.is_ranked else 0
        order = np.arange(n_ranks)
        return FewRoom(np.empty(size), np.empty((2, size)), order, np.empty(n_ranks))

    def fill_in(
        self,
        scores: FloatArray,
        width: float,
        factors: FloatArray,
        room: "FewRoom",
        n_jobs: int,
        results: tuple[NDArray[Any], NDArray[Any]],
    ) -> bool:
        """Fill in both derivatives by each score; return False if they are far apart.

        Distances are in units of `width`; `factors` are those of the groups.
        """
        low, high = float(scores.min()), float(scores.max())
        if not high - low <= _WIDEST * width:
            return False
        layout, odds = self.layout, room.odds
        ordered = np.take(scores, layout.rows, out=room.ordered, mode="clip")
        np.subtract(ordered, low + 0.5 * (high - low), out=odds[1])
        np.multiply(odds[1], layout.signs / width, out=odds[1])
        np.exp(odds[1], out=odds[0])
        np.divide(1.0, odds[0], out=odds[1])
        largest = int(np.diff(layout.starts).max())

        def work(span: tuple[int, int]) -> None:
            if self.is_ranked:
                kernels.find_ranks(layout, span, ordered, room.order, room.ranks)
            own = np.empty((5, largest))
            kernels.pair_up(layout, span, factors, odds, room.ranks, own, *results)

        tasks = [partial(work, span) for span in spans_of_groups(layout.starts)]
        run_all(tasks, n_jobs if scores.size >= _MANY_ROWS else 1)
        return True


class FewRoom(NamedTuple):
    """Places for rows in the order of a layout, kept from one call to the next."""

    ordered: FloatArray  # scores
    odds: FloatArray
    order: IntArray  # places by descending score in their groups, of the last call
    ranks: FloatArray


def _counts(groups: IntArray | None, levels: IntArray) -> IntArray:
    """Return the number of rows of each group and level."""
    n_levels = int(levels.max()) + 1
    n_groups = 1 if groups is None else int(groups.max()) + 1
    cells = levels if groups is None else groups * n_levels + levels
    return np.bincount(cells, minlength=n_groups * n_levels).reshape(-1, n_levels)
