"""The weights of pairs: weights of levels, counted once for given labels."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count, pairwise
from threading import Thread
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucmax._core.sorting import RowNumbers, deal_out
from aucmax._core.validation import FloatArray, IntArray

_BLOCK = 2**15  # rows that a thread takes at a time
_MANY_LEVELS = 16  # more are compared digit by digit, in this base


@dataclass(frozen=True)
class LevelWeights:
    """The weight of each level in each query, of those below it and of those above."""

    own: FloatArray
    lower: FloatArray
    higher: FloatArray

    @classmethod
    def count(
        cls, queries: IntArray | None, levels: IntArray, weights: FloatArray | None
    ) -> "LevelWeights":
        """Add up the weights; the levels are numbered from 0."""
        n_levels = int(levels.max()) + 1
        n_queries = 1 if queries is None else int(queries.max()) + 1
        cells = levels if queries is None else queries * n_levels + levels
        counts = np.bincount(cells, weights, minlength=n_queries * n_levels)
        own = counts.astype(np.float64).reshape(n_queries, n_levels)
        zero = np.zeros((n_queries, 1))
        # sums of positive numbers, so that a large level does not hide a small one
        lower: FloatArray = np.cumsum(np.hstack((zero, own[:, :-1])), axis=1)
        higher: FloatArray = np.cumsum(np.hstack((zero, own[:, :0:-1])), axis=1)[
            :, ::-1
        ]
        return cls(own, lower, higher)


def equal_weights(levels: LevelWeights) -> FloatArray:
    """Return, for each query, 1 / the weight of its pairs, or 0 if it has none."""
    pairs: FloatArray = (levels.own * levels.lower).sum(axis=1)
    return np.divide(1.0, pairs, out=np.zeros_like(pairs), where=pairs > 0.0)


def mauc_numbers(
    levels: LevelWeights, is_positive: NDArray[np.bool_]
) -> tuple[FloatArray, FloatArray]:
    """Return a factor of each query (0 without pairs), and numbers of its levels.

    With the class-reference weights :math:`p(a)`, a level has the number :math:`p(a) /
    (m_a (M - m_a))`; swapping two rows changes the multi-class AUC by their distance in
    ranks times that of the numbers (Welleck, ECIR 2016, equation 18).
    """
    counted = np.where(is_positive, levels.own, 0.0)
    total = counted.sum(axis=1, keepdims=True)
    others = levels.lower + levels.higher
    usable = (counted > 0.0) & (others > 0.0)
    numbers = np.zeros_like(levels.own)
    # p(a) / m_a is 1 / total for all levels that count
    np.divide(1.0, total * others, out=numbers, where=usable)
    has_pairs = np.count_nonzero(usable, axis=1) > 0
    return has_pairs.astype(np.float64), numbers


def discounts_of_ranks(n_ranks: int, truncation: int | None) -> FloatArray:
    """Return 1 / log2(rank + 1) of the ranks from 1, 0 beyond the truncation."""
    discounts: FloatArray = 1.0 / np.log2(np.arange(n_ranks) + 2.0)
    discounts[n_ranks if truncation is None else truncation :] = 0.0
    return discounts


def ndcg_numbers(
    rows: LevelWeights,
    counted: LevelWeights,
    levels: NDArray[Any],
    discounts: FloatArray,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    r"""Return factors of queries, numbers of their levels, and the sums of changes.

    Swapping two rows changes the DCG by the distance of their gains
    :math:`2^y - 1` times that of their discounts; the factor is 1 / the largest DCG, or
    0 without pairs. Gains are in units of about the largest, so that none overflows.
    The last are means over random orders of the rows. `rows` counts all that have some
    weight, `counted` their weight.
    """
    numbers = np.exp2(levels - levels.max()) - np.exp2(-float(levels.max()))
    up_to = np.concatenate(([0.0], np.cumsum(discounts)))  # of the first rows
    before = rows.higher.astype(np.int64)
    ends = (rows.higher + rows.own).astype(np.int64)
    best: FloatArray = ((up_to[ends] - up_to[before]) * numbers).sum(axis=1)
    has_pairs = (rows.own * rows.lower).sum(axis=1) > 0.0
    factors = np.divide(1.0, best, out=np.zeros_like(best), where=has_pairs)
    sizes = ends[:, 0]
    weighted = np.concatenate(([0.0], np.cumsum(discounts * np.arange(discounts.size))))
    distances = (sizes - 1) * up_to[sizes] - 2.0 * weighted[sizes]  # of all pairs
    gains = (numbers * counted.own * (counted.lower - counted.higher)).sum(axis=1)
    n_pairs = np.maximum(sizes * (sizes - 1) / 2.0, 1.0)
    shape = np.broadcast_to(numbers, rows.own.shape)
    return factors, shape, factors * gains * distances / n_pairs


@dataclass(frozen=True)
class Part:
    """Rows in groups whose pairs of different classes count."""

    groups: IntArray | None  # the group of each row; None where there is one
    owners: IntArray  # the query of each group
    classes: NDArray[np.integer[Any]]  # the class of each row
    starts: IntArray  # where groups start, once rows are sorted by group

    def arrange(self, order: RowNumbers) -> IntArray:
        """Return the rows group by group, each in the given order."""
        if self.groups is None:
            return order.astype(np.int64)
        return deal_out(order, self.groups, self.starts)

    @property
    def n_classes(self) -> int:
        """Number of classes, some of which may not occur."""
        return int(self.classes.max()) + 1


def spans_of_groups(starts: IntArray) -> list[tuple[int, int]]:
    """Divide groups into stretches of about as many rows, for threads."""
    cuts = np.searchsorted(starts, np.arange(_BLOCK, int(starts[-1]), _BLOCK))
    ends = np.unique(np.concatenate(([0], cuts, [starts.size - 1])))
    return [(int(a), int(b)) for a, b in pairwise(ends)]


def split_levels(
    queries: IntArray | None, levels: IntArray, *, by_digits: bool
) -> Iterator[Part]:
    """Divide the pairs of different levels into parts with at most 16 classes each."""
    # a pair belongs to the part of the highest digit in which its levels differ
    n_levels = int(levels.max()) + 1
    place, base = 1, _MANY_LEVELS if by_digits else n_levels
    while place < n_levels:
        rest, classes = np.divmod(levels // place, base)
        yield _part(queries, rest, classes)
        place *= base


def _part(queries: IntArray | None, rest: IntArray, classes: IntArray) -> Part:
    """Make a group of the rows of a query that agree in the digits before."""
    classes = classes.astype(np.uint8) if classes.max() < 256 else classes
    n_rest = int(rest.max()) + 1
    if n_rest > 1:
        cells = rest if queries is None else queries * n_rest + rest
        present, groups = np.unique(cells, return_inverse=True)
        owners = present // n_rest
    elif queries is None:
        one = np.zeros(1, dtype=np.int64)
        return Part(None, one, classes, np.array([0, classes.size]))
    else:
        groups, owners = queries, np.arange(queries.max() + 1)
    starts = np.concatenate(([0], np.cumsum(np.bincount(groups))))
    return Part(groups, owners, classes, starts)


def run_all(tasks: Sequence[Callable[[], None]], n_jobs: int) -> None:
    """Run all tasks, in this thread too; the others end with the call."""
    if n_jobs == 1 or len(tasks) <= 1:
        for task in tasks:
            task()
        return
    numbers = count()  # each thread takes the next one
    errors: list[BaseException] = []

    def work() -> None:
        while not errors and (number := next(numbers)) < len(tasks):
            try:
                tasks[number]()
            except BaseException as error:
                errors.append(error)

    helpers = [Thread(target=work) for _ in range(min(n_jobs, len(tasks)) - 1)]
    for helper in helpers:
        helper.start()
    work()
    for helper in helpers:
        helper.join()
    if errors:
        raise errors[0]
