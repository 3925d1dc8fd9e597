"""Quality of the top rows of each query: precision at k, MAP, NDCG.

All are the exact mean over every order of tied rows. Ranks count rows, whatever their
weights; rows of weight 0 are left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aucmax._core.parameters import check_choice, reject_foreign
from aucmax._core.validation import (
    BoolArray,
    FloatArray,
    IntArray,
    check_relevance,
    check_sample_weight,
    check_scores,
    warn_of_one_query,
)
from aucmax.metrics import _ranking_kernels
from aucmax.metrics._steps import (
    QueryOrder,
    QueryValues,
    check_queries,
    tie_starts,
)
from aucmax.metrics.top_sets import check_k

# The rows that a query needs to have a value.
RELEVANT, GAIN = "a relevant row", "a row with a gain"
# The value of a query without such rows.
_EMPTY = {"skip": np.nan, "zero": 0.0, "one": 1.0}


def precision_at_k(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    k: int,
    sample_weight: ArrayLike | None = None,
    qid: ArrayLike | None = None,
    pos_label: object = None,
    average: str | None = "macro",
) -> Any:
    r"""Share of relevant rows among the top k of each query.

    With :math:`h_q` relevant rows among the first :math:`k_q = \min(k, m_q)` of the
    :math:`m_q` rows of query q,

    .. math::
        \text{macro} = \frac{1}{Q} \sum_q \frac{h_q}{k_q}, \qquad
        \text{micro} = \frac{\sum_q h_q}{\sum_q k_q}

    which differ only if some query has fewer than k rows, or with weights. With
    weights, :math:`h_q` and :math:`k_q` are the weights of these rows. Rows that tie at
    rank k count in equal parts, which without weights is the mean over all orders.
    Costs O(m log m).

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        Relevance: numbers, relevant if above 0, or two strings, of which the second in
        sorted order is relevant.
    y_score : array-like of shape (n_rows,)
        Finite scores, high for positive or relevant rows; compared as float64.
    k : int
        Number of top rows, at least 1.
    sample_weight : array-like of shape (n_rows,), optional
        Row weights. Rows of weight 0 are left out.
    qid : array-like of shape (n_rows,), optional
        Query of each row; by default all rows form one query.
    pos_label : label, optional
        The label of the relevant rows; all others are irrelevant.
    average : {"macro", "micro", "impressions", None}, default="macro"
        Mean over queries: each weighs the same; its pairs or what else the metric
        is a share of; its rows (GAUC). None returns each value, NaN without pairs.

    Returns
    -------
    float
        Between 0 and 1. A query without relevant rows counts as 0. With
        ``average=None`` an array with the value of each query.

    See Also
    --------
    recall_at_k : The share of the relevant rows that are found.
    aucmax.inference.metric_interval : With an interval, as ``"precision@k"``.

    References
    ----------
    .. [1] F. McSherry, M. Najork. Computing information retrieval performance
       measures efficiently in the presence of tied scores. ECIR 2008.

    Examples
    --------
    >>> from aucmax.metrics import precision_at_k
    >>> precision_at_k([1, 0, 1, 0], [4, 3, 2, 1], k=2)
    0.5
    >>> precision_at_k([1, 0, 1, 0], [4, 3, 2, 1], k=2, sample_weight=[3, 1, 1, 1])
    0.75
    """
    k = check_k(k)
    is_relevant = check_relevance(y_true, pos_label=pos_label)
    precision, _ = top_rows(is_relevant, y_score, sample_weight, qid, k)
    return precision.average(average)


def top_rows(
    is_relevant: BoolArray,
    y_score: ArrayLike,
    sample_weight: ArrayLike | None,
    qid: ArrayLike | None,
    k: int,
) -> tuple[QueryValues, FloatArray]:
    """Return the precision of each query, k as its part, and its relevant weight."""
    rows = _check_rows(is_relevant, y_score, sample_weight, qid)
    order, offsets = rows.queries.sort(-rows.scores), rows.queries.offsets
    # only the rows down to rank k, and those that tie with it, matter
    scores, sizes = rows.scores[order], np.diff(offsets)
    is_top = scores >= np.repeat(scores[offsets[:-1] + np.minimum(k, sizes) - 1], sizes)
    order, scores = order[is_top], scores[is_top]
    offsets = np.append(0, np.cumsum(np.add.reduceat(is_top, offsets[:-1], dtype=int)))
    # blocks of equal score within a query: their rows, and the rows above them
    starts = tie_starts(scores, offsets)
    sizes = np.diff(starts, append=order.size)
    first_blocks = np.searchsorted(starts, offsets[:-1])
    n_blocks = np.diff(first_blocks, append=starts.size)
    above = starts - np.repeat(offsets[:-1], n_blocks)
    counted = np.clip((k - above) / sizes, 0.0, 1.0)
    relevant = np.add.reduceat(rows.values[order], starts)
    weights: NDArray[Any] = sizes
    if rows.weights is not None:
        weights = np.add.reduceat(rows.weights[order], starts)
    hits = np.add.reduceat(counted * relevant, first_blocks)
    depths = np.add.reduceat(counted * weights, first_blocks)
    relevant = rows.query_values(hits, rows.add_up(rows.values)).parts
    return rows.query_values(hits / depths, depths), relevant


def mean_average_precision(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    qid: ArrayLike | None = None,
    pos_label: object = None,
    empty: str = "skip",
    average: str | None = "macro",
) -> Any:
    r"""Mean over queries of the average precision.

    The average precision of a query is the mean, over its relevant rows, of the share
    of relevant rows among those ranked at least as high:

    .. math:: \mathrm{AP} = \frac{1}{R} \sum_{i \text{ relevant}} w_i \,
        \frac{\text{weight of relevant rows down to } i}
        {\text{weight of all rows down to } i}

    with the weight R of all relevant rows. Ties count by their mean over all orders: of
    t tied rows (u relevant) that follow a rows (v relevant), the i-th is relevant with
    probability u / t, and its mean precision is then
    (v + 1 + (i - 1)(u - 1) / (t - 1)) / (a + i). With weights, each tied row has the
    t-th part of their total weight, and the same share of it is relevant; a, v and u
    are weights in units of that part. Without ties this is scikit-learn's
    ``average_precision_score``, which treats a tied block as a whole. Costs
    O(m log m).

    Parameters
    ----------
    y_true, y_score, sample_weight, qid, pos_label
        As in :func:`precision_at_k`.
    empty : {"skip", "zero", "one"}
        Whether to leave out queries without a relevant row, or count them as 0 or 1.
    average : {"macro", "micro", "impressions", None}, default="macro"
        Mean over queries: each weighs the same; its pairs or what else the metric
        is a share of; its rows (GAUC). None returns each value, NaN without pairs.

    Returns
    -------
    float
        Between 0 and 1. With ``average=None`` an array with the value of each query.

    See Also
    --------
    average_precision_score : The same with tied rows as one block.

    Examples
    --------
    >>> from aucmax.metrics import mean_average_precision
    >>> mean_average_precision([1, 0, 1, 0], [4, 3, 2, 1])
    0.8333333333333333
    """
    check_empty(empty)
    is_relevant = check_relevance(y_true, pos_label=pos_label)
    values = average_precisions(is_relevant, y_score, sample_weight, qid)
    return mean_with_empty(values, empty, RELEVANT, average)


def average_precisions(
    is_relevant: BoolArray,
    y_score: ArrayLike,
    sample_weight: ArrayLike | None,
    qid: ArrayLike | None,
) -> QueryValues:
    """Return the average precision of each query, NaN without a relevant row."""
    rows = _check_rows(is_relevant, y_score, sample_weight, qid)
    order, offsets = rows.queries.sort(-rows.scores), rows.queries.offsets
    weights = np.empty(0) if rows.weights is None else rows.weights
    values = np.empty(offsets.size - 1)
    _ranking_kernels.average_precision(
        order, offsets, rows.scores, rows.values, weights, values
    )
    return rows.query_values(values, rows.add_up(rows.values))


@reject_foreign(
    ignore_ties="ties always count by the mean over their orders; to break them, add "
    "tiny numbers to the scores.",
    log_base="it scales all discounts by one factor, which cancels.",
)
def ndcg_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    k: int | None = None,
    gains: str = "exponential",
    sample_weight: ArrayLike | None = None,
    qid: ArrayLike | None = None,
    empty: str = "skip",
    average: str | None = "macro",
) -> Any:
    r"""Mean over queries of the normalised discounted cumulative gain.

    .. math::
        \mathrm{DCG@}k = \sum_{r=1}^{k} \frac{w_{(r)} \, g(y_{(r)})}{\log_2(r + 1)},
        \qquad
        \mathrm{NDCG@}k = \frac{\mathrm{DCG@}k}{\text{its largest possible value}}

    with the gain :math:`g(y) = 2^y - 1` or :math:`g(y) = y`. Tied rows share the
    discounts of their ranks equally, which is the mean over all their orders. With
    weights, the best order is by weight times gain. Costs O(m log m).

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        Relevance as nonnegative numbers.
    y_score : array-like of shape (n_rows,)
        Finite scores, high for positive or relevant rows; compared as float64.
    k : int, optional
        Number of top rows in each query; all by default.
    gains : {"exponential", "linear"}
        :math:`2^y - 1`, common in web search, or y itself, as in scikit-learn's
        ``ndcg_score``.
    sample_weight : array-like of shape (n_rows,), optional
        Factors w of the gains. Rows of weight 0 are left out.
    qid : array-like of shape (n_rows,), optional
        Query of each row; by default all rows form one query.
    empty : {"skip", "zero", "one"}
        Whether to leave out queries without any gain, or count them as 0 (LETOR) or as
        1 (LightGBM, XGBoost and CatBoost).
    average : {"macro", "micro", "impressions", None}, default="macro"
        Mean over queries: each weighs the same; its pairs or what else the metric
        is a share of; its rows (GAUC). None returns each value, NaN without pairs.

    Returns
    -------
    float
        Between 0 and 1. With ``average=None`` an array with the value of each query.

    See Also
    --------
    mean_average_precision : For relevant and irrelevant rows.

    References
    ----------
    .. [1] K. Järvelin, J. Kekäläinen. Cumulated gain-based evaluation of IR
       techniques. ACM Transactions on Information Systems 20(4), 2002.

    Examples
    --------
    >>> from aucmax.metrics import ndcg_score
    >>> ndcg_score([2, 1, 0], [3, 2, 1])
    1.0
    >>> ndcg_score([0, 1], [5, 4], k=1)
    0.0
    """
    check_empty(empty)
    k = None if k is None else check_k(k)
    values = normalized_gains(y_true, y_score, sample_weight, qid, k, gains)
    return mean_with_empty(values, empty, GAIN, average)


def normalized_gains(
    y_true: ArrayLike,
    y_score: ArrayLike,
    sample_weight: ArrayLike | None,
    qid: ArrayLike | None,
    k: int | None,
    gains: str,
) -> QueryValues:
    """Return the NDCG of each query, NaN without any gain."""
    rows = _check_rows(_check_gains(y_true, gains), y_score, sample_weight, qid)
    warn_of_one_query(qid, rows.scores.size, "NDCG")
    gain = rows.values
    dcg = _discounted(rows.scores, gain, rows.queries, k)
    best = _discounted(gain, gain, rows.queries, k)
    with np.errstate(invalid="ignore"):
        return rows.query_values(dcg / best, best)


def check_empty(empty: str) -> None:
    """Check the treatment of queries without relevant rows."""
    check_choice("empty", empty, _EMPTY)


def mean_with_empty(
    by_query: QueryValues, empty: str, needed: str, average: str | None = "macro"
) -> Any:
    """Average over queries; NaN marks those without relevant rows."""
    values = np.minimum(by_query.values, 1.0)  # rounding may exceed it
    if empty != "skip":
        values = np.where(np.isnan(values), _EMPTY[empty], values)
    return by_query._replace(values=values).average(average, needed)


@dataclass(frozen=True)
class _Rows:
    """Checked rows that have some weight."""

    scores: FloatArray
    queries: QueryOrder
    weights: FloatArray | None
    values: FloatArray  # times the weights
    # numbers of the queries that have some weight
    weighted_queries: IntArray | None = None
    n_queries: int = 1

    def add_up(self, values: FloatArray) -> FloatArray:
        """Add up values of rows by query."""
        if self.queries.codes is None:
            return np.array([values.sum()])
        n_queries = self.queries.offsets.size - 1
        return np.bincount(self.queries.codes, values, n_queries).astype(np.float64)

    def query_values(self, values: FloatArray, parts: FloatArray) -> QueryValues:
        """Return values of all queries, NaN for those without weight."""
        sizes = np.ones(self.scores.size) if self.weights is None else self.weights
        by_query = QueryValues(values, self.add_up(sizes), parts)
        if self.weighted_queries is None:
            return by_query
        filled = np.full((3, self.n_queries), np.nan)
        filled[:, self.weighted_queries] = by_query
        return QueryValues(*filled)


def _check_rows(
    values: NDArray[Any],
    y_score: ArrayLike,
    sample_weight: ArrayLike | None,
    qid: ArrayLike | None,
) -> _Rows:
    """Check scores, weights and queries; rows without weight are left out."""
    scores = check_scores(y_score, values.size)
    weights = check_sample_weight(sample_weight, values.size)
    queries = check_queries(qid, values.size)
    if weights is None:
        return _Rows(scores, queries, None, values.astype(np.float64))
    kept = weights > 0.0
    scores, values, weights = scores[kept], values[kept], weights[kept]
    codes = np.zeros(values.size) if queries.codes is None else queries.codes[kept]
    numbers, n_queries = np.unique(codes).astype(np.int64), queries.offsets.size - 1
    queries = check_queries(codes, values.size)
    return _Rows(scores, queries, weights, values * weights, numbers, n_queries)


def _check_gains(y_true: ArrayLike, gains: str) -> FloatArray:
    relevance = check_scores(y_true, name="y_true")
    if relevance.min() < 0:
        row = int(np.argmax(relevance < 0))
        raise ValueError(
            f"y_true must not be negative for NDCG, but row {row} is "
            f"{relevance[row]:g}."
        )
    check_choice("gains", gains, ("exponential", "linear"))
    if gains == "linear":
        return relevance
    if relevance.max() > 1000:
        raise ValueError(
            f"y_true reaches {relevance.max():g}, where the gain 2**y - 1 overflows; "
            "use gains='linear' or smaller levels."
        )
    return np.exp2(relevance) - 1.0


def _discounted(
    scores: FloatArray, gain: FloatArray, queries: QueryOrder, k: int | None
) -> FloatArray:
    """Return the expected DCG of each query."""
    order, offsets = queries.sort(-scores), queries.offsets
    discounts = 1.0 / np.log2(np.arange(np.diff(offsets).max()) + 2.0)
    if k is not None:
        discounts[k:] = 0.0
    sums = np.empty(offsets.size - 1)
    _ranking_kernels.add_discounted(order, offsets, scores, gain, discounts, sums)
    return sums
