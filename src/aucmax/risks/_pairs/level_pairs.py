"""The weights of pairs: weights of levels, counted once for given labels."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucmax._core.validation import FloatArray, IntArray

_BLOCK = 2**15  # rows that a thread takes at a time


@dataclass(frozen=True)
class LevelWeights:
    """The weight of each level in each query, of those below it and of those above."""

    by_level: FloatArray
    lower: FloatArray
    higher: FloatArray

    @classmethod
    def count(
        cls, queries: IntArray, levels: IntArray, weights: FloatArray | None
    ) -> "LevelWeights":
        """Add up the weights; the levels are numbered from 0."""
        shape = int(queries.max()) + 1, int(levels.max()) + 1
        bins = queries * shape[1] + levels
        counts = np.bincount(bins, weights, minlength=shape[0] * shape[1])
        by_level = counts.astype(np.float64).reshape(shape)
        zero = np.zeros((shape[0], 1))
        # sums of positive numbers, so that a large level does not hide a small one
        lower = np.cumsum(np.hstack((zero, by_level[:, :-1])), axis=1)
        higher = np.cumsum(np.hstack((zero, by_level[:, :0:-1])), axis=1)[:, ::-1]
        return cls(by_level, lower, higher)


def equal_weights(levels: LevelWeights) -> FloatArray:
    """Return, for each query, 1 / the weight of its pairs, or 0 if it has none."""
    pairs: FloatArray = (levels.by_level * levels.lower).sum(axis=1)
    return np.divide(1.0, pairs, out=np.zeros_like(pairs), where=pairs > 0.0)


def mauc_level_weights(
    levels: LevelWeights, is_positive: NDArray[np.bool_]
) -> tuple[FloatArray, FloatArray]:
    r"""Return a factor of each query (0 without pairs), and the weights of its levels.

    With the class-reference weights :math:`p(a)`, a level has the weight
    :math:`\lambda_a = p(a) / (m_a (M - m_a))`; swapping two rows changes the
    multi-class AUC by their distance in ranks times that of their levels' weights
    (Welleck, ECIR 2016, equation 18).
    """
    counted = np.where(is_positive, levels.by_level, 0.0)
    total = counted.sum(axis=1, keepdims=True)
    others = levels.lower + levels.higher
    usable = (counted > 0.0) & (others > 0.0)
    level_weights = np.zeros_like(levels.by_level)
    # p(a) / m_a is 1 / total for all levels that count
    np.divide(1.0, total * others, out=level_weights, where=usable)
    has_pairs = np.count_nonzero(usable, axis=1) > 0
    return has_pairs.astype(np.float64), level_weights


def discounts_of_ranks(n_ranks: int, truncation: int | None) -> FloatArray:
    """Return 1 / log2(rank + 1) of the ranks from 1, 0 beyond the truncation."""
    discounts: FloatArray = 1.0 / np.log2(np.arange(n_ranks) + 2.0)
    discounts[n_ranks if truncation is None else truncation :] = 0.0
    return discounts


def ndcg_level_weights(
    rows: LevelWeights,
    counted: LevelWeights,
    levels: NDArray[Any],
    discounts: FloatArray,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    r"""Return factors of queries, weights of their levels, and the sums of changes.

    Swapping two rows changes the DCG by the distance of their gains
    :math:`2^y - 1` times that of their discounts; the factor is 1 / the largest DCG, or
    0 without pairs. Gains are in units of about the largest, so that none overflows.
    The last are means over random orders of the rows. `rows` counts all that have some
    weight, `counted` their weight.
    """
    level_weights = np.exp2(levels - levels.max()) - np.exp2(-float(levels.max()))
    up_to = np.concatenate(([0.0], np.cumsum(discounts)))  # of the first rows
    before = rows.higher.astype(np.int64)
    ends = (rows.higher + rows.by_level).astype(np.int64)
    best: FloatArray = ((up_to[ends] - up_to[before]) * level_weights).sum(axis=1)
    has_pairs = (rows.by_level * rows.lower).sum(axis=1) > 0.0
    factors = np.divide(1.0, best, out=np.zeros_like(best), where=has_pairs)
    sizes = ends[:, 0]
    weighted = np.concatenate(([0.0], np.cumsum(discounts * np.arange(discounts.size))))
    distances = (sizes - 1) * up_to[sizes] - 2.0 * weighted[sizes]  # of all pairs
    gains = (level_weights * counted.by_level * (counted.lower - counted.higher)).sum(
        axis=1
    )
    n_pairs = np.maximum(sizes * (sizes - 1) / 2.0, 1.0)
    shape = np.broadcast_to(level_weights, rows.by_level.shape)
    return factors, shape, factors * gains * distances / n_pairs


def spans_of_groups(starts: IntArray) -> list[tuple[int, int]]:
    """Divide groups into stretches of about as many rows, for threads."""
    cuts = np.searchsorted(starts, np.arange(_BLOCK, int(starts[-1]), _BLOCK))
    ends = np.unique(np.concatenate(([0], cuts, [starts.size - 1])))
    return [(int(a), int(b)) for a, b in pairwise(ends)]


def run_all(tasks: Sequence[Callable[[], None]], n_jobs: int) -> None:
    """Run all tasks, in threads that end with the call."""
    if n_jobs == 1 or len(tasks) <= 1:
        for task in tasks:
            task()
        return
    with ThreadPoolExecutor(n_jobs) as pool:
        for outcome in [pool.submit(task) for task in tasks]:
            outcome.result()
