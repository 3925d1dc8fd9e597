"""Quality of the first rows of each query: precision at k, MAP, NDCG.

Rows of equal score have no order of their own. All three measures are therefore the
exact mean over every order of the tied rows, which neither depends on how the input is
sorted nor on chance.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from aucmax._sorting import RowNumbers
from aucmax._validation import (
    FloatArray,
    IntArray,
    check_relevance,
    check_scores,
)
from aucmax.metrics._queries import (
    QueryRows,
    check_queries,
    mean_over_queries,
    tie_starts,
)
from aucmax.metrics.top_sets import check_k

__all__ = ["mean_average_precision", "ndcg_score", "precision_at_k"]


def precision_at_k(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    k: int,
    qid: ArrayLike | None = None,
    average: str = "macro",
) -> float:
    r"""Share of relevant rows among the first k of each query.

    With :math:`h_q` relevant rows among the first :math:`k_q = \min(k, m_q)` of the
    :math:`m_q` rows of query q,

    .. math::
        \text{macro} = \frac{1}{Q} \sum_q \frac{h_q}{k_q}, \qquad
        \text{micro} = \frac{\sum_q h_q}{\sum_q k_q}

    which differ only if some query has fewer than k rows: macro lets every query
    count alike, micro every retrieved row. Ties at the cut count by their mean over
    all orders. Costs O(m log m).

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        Relevance: numbers, of which those above 0 are relevant, or two strings, of
        which the larger is.
    y_score : array-like of shape (n_rows,)
        Finite scores, higher is better.
    k : int
        Number of rows looked at, at least 1.
    qid : array-like of shape (n_rows,), optional
        Query of each row; without it all rows form one query.
    average : {"macro", "micro"}
        How queries are averaged.

    Returns
    -------
    float
        Between 0 and 1. A query without relevant rows counts as 0.

    References
    ----------
    .. [1] F. McSherry, M. Najork. Computing information retrieval performance
       measures efficiently in the presence of tied scores. ECIR 2008.

    Examples
    --------
    >>> from aucmax.metrics import precision_at_k
    >>> precision_at_k([1, 0, 1, 0], [4, 3, 2, 1], k=2)
    0.5
    """
    check_k(k)
    if average not in ("macro", "micro"):
        raise ValueError(f"average must be 'macro' or 'micro', got {average!r}.")
    is_relevant = check_relevance(y_true)
    ranking = _check_ranking(y_score, qid, is_relevant.size)
    counted = np.clip((k - ranking.block_rank) / ranking.block_size, 0.0, 1.0)
    relevant = ranking.block_sums(is_relevant.astype(float))
    hits = ranking.query_sums(counted * relevant)
    depth = np.minimum(k, np.diff(ranking.offsets))
    if average == "micro":
        return float(hits.sum() / depth.sum())
    return float((hits / depth).mean())


def mean_average_precision(
    y_true: ArrayLike, y_score: ArrayLike, *, qid: ArrayLike | None = None
) -> float:
    r"""Mean over queries of the average precision.

    The average precision of a query is the mean, over its relevant rows, of the share
    of relevant rows among those ranked at least as high:

    .. math:: \mathrm{AP} = \frac{1}{R} \sum_{r : \text{row at rank } r \text{ is
        relevant}} \frac{\#\{\text{relevant rows at ranks} \le r\}}{r}

    Ties count by their mean over all orders. On place i of t tied rows (u of them
    relevant) that follow a rows (v of them relevant), a relevant row stands with
    probability u / t, and the mean precision there is then
    (v + 1 + (i - 1)(u - 1) / (t - 1)) / (a + i). Without ties this is scikit-learn's
    ``average_precision_score``, which lets a tied block enter as a whole.
    Costs O(m log m).

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        Relevance: numbers, of which those above 0 are relevant, or two strings, of
        which the larger is.
    y_score : array-like of shape (n_rows,)
        Finite scores, higher is better.
    qid : array-like of shape (n_rows,), optional
        Query of each row; without it all rows form one query. Queries without a
        relevant row are left out.

    Returns
    -------
    float
        Between 0 and 1.

    References
    ----------
    .. [1] F. McSherry, M. Najork. Computing information retrieval performance
       measures efficiently in the presence of tied scores. ECIR 2008.

    Examples
    --------
    >>> from aucmax.metrics import mean_average_precision
    >>> mean_average_precision([1, 0, 1, 0], [4, 3, 2, 1])
    0.8333333333333333
    """
    is_relevant = check_relevance(y_true)
    ranking = _check_ranking(y_score, qid, is_relevant.size)
    relevant = ranking.block_sums(is_relevant.astype(float))
    before = ranking.sums_before(relevant)
    size = ranking.block_size
    rank = ranking.row_ranks()
    place = rank - np.repeat(ranking.block_rank, size)  # i - 1
    others = (relevant - 1.0) / np.maximum(size - 1, 1)
    precision = np.repeat(before + 1.0, size) + place * np.repeat(others, size)
    precision *= np.repeat(relevant / size, size) / (rank + 1)
    total = np.add.reduceat(precision, ranking.offsets[:-1])
    n_relevant = ranking.query_sums(relevant)
    with np.errstate(invalid="ignore"):
        return mean_over_queries(total / n_relevant, "a relevant row")


def ndcg_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    k: int | None = None,
    gains: str = "exponential",
    qid: ArrayLike | None = None,
) -> float:
    r"""Mean over queries of the normalised discounted cumulative gain.

    .. math::
        \mathrm{DCG@}k = \sum_{r=1}^{k} \frac{g(y_{(r)})}{\log_2(r + 1)}, \qquad
        \mathrm{NDCG@}k = \frac{\mathrm{DCG@}k}{\text{its largest possible value}}

    with the gain :math:`g(y) = 2^y - 1` or :math:`g(y) = y`. Tied rows share the
    discounts of their places equally, which is the mean over all their orders.
    Costs O(m log m).

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        Relevance as nonnegative numbers.
    y_score : array-like of shape (n_rows,)
        Finite scores, higher is better.
    k : int, optional
        Number of rows looked at in each query; all by default.
    gains : {"exponential", "linear"}
        :math:`2^y - 1`, the habit of web search, or y itself, as scikit-learn's
        ``ndcg_score`` has it.
    qid : array-like of shape (n_rows,), optional
        Query of each row; without it all rows form one query. Queries without any
        gain are left out.

    Returns
    -------
    float
        Between 0 and 1.

    References
    ----------
    .. [1] K. Järvelin, J. Kekäläinen. Cumulated gain-based evaluation of IR
       techniques. ACM Transactions on Information Systems 20(4), 2002.
    .. [2] F. McSherry, M. Najork. Computing information retrieval performance
       measures efficiently in the presence of tied scores. ECIR 2008.

    Examples
    --------
    >>> from aucmax.metrics import ndcg_score
    >>> ndcg_score([2, 1, 0], [3, 2, 1])
    1.0
    >>> ndcg_score([0, 1], [5, 4], k=1)
    0.0
    """
    gain = _check_gains(y_true, gains)
    if k is not None:
        check_k(k)
    ranking = _check_ranking(y_score, qid, gain.size)
    ideal = _rank(gain, ranking.queries)
    dcg = _discounted(ranking, gain, k)
    best = _discounted(ideal, gain, k)
    with np.errstate(invalid="ignore"):
        return min(mean_over_queries(dcg / best, "a row with a gain"), 1.0)


@dataclass(frozen=True)
class _Ranking:
    """Rows by query and descending score, in blocks of equal score."""

    queries: QueryRows
    order: RowNumbers
    starts: IntArray  # of the blocks, in rows
    block_size: IntArray
    block_rank: IntArray  # how many rows of the query stand above the block
    first_blocks: IntArray  # the first block of each query

    @property
    def offsets(self) -> IntArray:
        """Where the rows of each query start in the order, and the end."""
        return self.queries.offsets

    def row_ranks(self) -> IntArray:
        """Return how many rows of its query stand before each row of the order."""
        starts = np.repeat(self.offsets[:-1], np.diff(self.offsets))
        return np.arange(self.order.size) - starts

    def block_sums(self, values: FloatArray) -> FloatArray:
        """Sum values, given row by row as in the input, over each block."""
        return np.add.reduceat(values[self.order], self.starts)

    def query_sums(self, block_values: FloatArray) -> FloatArray:
        """Sum values of blocks over each query."""
        return np.add.reduceat(block_values, self.first_blocks)

    def sums_before(self, block_counts: FloatArray) -> FloatArray:
        """Return for each block the sum over the earlier blocks of its query.

        The values must be whole numbers, which a running sum keeps exact.
        """
        running = np.cumsum(block_counts) - block_counts
        n_blocks = np.diff(self.first_blocks, append=block_counts.size)
        return running - np.repeat(running[self.first_blocks], n_blocks)


def _rank(scores: FloatArray, queries: QueryRows) -> _Ranking:
    order, offsets = queries.sort(-scores), queries.offsets
    starts = tie_starts(scores[order], offsets)
    first_blocks = np.searchsorted(starts, offsets[:-1])
    query_start = np.repeat(offsets[:-1], np.diff(first_blocks, append=starts.size))
    sizes = np.diff(starts, append=order.size)
    return _Ranking(queries, order, starts, sizes, starts - query_start, first_blocks)


def _check_ranking(y_score: ArrayLike, qid: ArrayLike | None, n_rows: int) -> _Ranking:
    scores = check_scores(y_score, n_rows)
    return _rank(scores, check_queries(qid, n_rows))


def _check_gains(y_true: ArrayLike, gains: str) -> FloatArray:
    relevance = check_scores(y_true, name="y_true")
    if relevance.min() < 0:
        row = int(np.argmax(relevance < 0))
        raise ValueError(
            f"y_true must not be negative for NDCG, but row {row} is "
            f"{relevance[row]:g}."
        )
    if gains == "linear":
        return relevance
    if gains != "exponential":
        raise ValueError(f"gains must be 'exponential' or 'linear', got {gains!r}.")
    if relevance.max() > 1000:
        raise ValueError(
            f"y_true reaches {relevance.max():g}, where the gain 2**y - 1 overflows; "
            "use gains='linear' or smaller levels."
        )
    return np.exp2(relevance) - 1.0


def _discounted(ranking: _Ranking, gain: FloatArray, k: int | None) -> FloatArray:
    """Return the expected DCG of each query."""
    discounts = 1.0 / np.log2(ranking.row_ranks() + 2.0)
    if k is not None:
        discounts[ranking.row_ranks() >= k] = 0.0
    shared = np.add.reduceat(discounts, ranking.starts) / ranking.block_size
    return ranking.query_sums(ranking.block_sums(gain) * shared)
