"""AUC for more than two levels of relevance, with one score per row."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aucmax._core.parameters import check_choice
from aucmax._core.validation import (
    FloatArray,
    IntArray,
    check_levels,
    check_sample_weight,
    check_scores,
    first_positive_level,
)
from aucmax.exceptions import NotEnoughClassesError
from aucmax.metrics import _ranking_kernels
from aucmax.metrics._steps import QueryOrder, QueryValues, check_queries
from aucmax.metrics.retrieval import top_rows
from aucmax.metrics.roc import roc_auc_score
from aucmax.metrics.top_sets import check_k

NEEDED = "rows of two levels"


def multiclass_auc_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    classes: str = "positive",
    sample_weight: ArrayLike | None = None,
    qid: ArrayLike | None = None,
    average: str | None = "macro",
) -> Any:
    r"""Mean of the AUC of each level against the rest, of one score, by level size.

    .. math:: \mathrm{MAUC} = \frac{\sum_c p(c) \mathrm{AUC}(c)}{\sum_c p(c)}

    where :math:`\mathrm{AUC}(c)` is the AUC of the single score with the rows of
    level c as positives and all others, including higher levels, as negatives, and p(c)
    is the share (of the weight) of level c. A perfect ranking therefore stays below 1
    with more than two levels: :func:`ordinal_auc_score` reaches 1. Classes without an
    order need one score per class, as :func:`sklearn.metrics.roc_auc_score` takes them.
    Tied pairs count one half. Costs O(m log m) for any number of levels.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        Levels of relevance, ordered as numbers or strings are; at least two.
    y_score : array-like of shape (n_rows,)
        Finite scores, high for positive or relevant rows; compared as float64.
    classes : {"positive", "all"}
        Levels in the mean: those above 0 (of strings, all but the lowest), or every
        level. For labels 0 and 1, ``"positive"`` gives :func:`roc_auc_score`.
    sample_weight : array-like of shape (n_rows,), default=None
        Nonnegative row weights; the weight of a pair is the product of its rows'.
    qid : array-like of shape (n_rows,), default=None
        The query of each row; the value is then a mean over queries.
    average : {"macro", "micro", "impressions", None}, default="macro"
        Mean over queries: each weighs the same; its pairs or what else the metric
        is a share of; its rows (GAUC). None returns each value, NaN without pairs.

    Returns
    -------
    float
        Between 0 and 1. With ``average=None`` an array: of queries, the value of each;
        without `qid`, one row per level with the fields "class", "auc", which is AUC(c)
        (NaN for a level without weight), and "weight", p(c).

    See Also
    --------
    roc_auc_score : With ``pos_label=c``, the AUC of one level against the rest.

    References
    ----------
    .. [1] T. Fawcett. Using rule sets to maximize ROC performance. ICDM 2001.
    .. [2] S. Welleck. Efficient AUC optimization for information ranking
       applications. ECIR 2016, equation 5.

    Examples
    --------
    >>> from aucmax.metrics import multiclass_auc_score
    >>> multiclass_auc_score([0, 0, 1, 2], [1, 2, 3, 4])
    0.8333333333333333
    >>> table = multiclass_auc_score([0, 0, 1, 2], [1, 2, 3, 4], average=None)
    >>> table["class"].tolist(), table["auc"].round(3).tolist()
    ([1, 2], [0.667, 1.0])
    >>> table["weight"].tolist()
    [0.25, 0.25]
    """
    if average is None and qid is None:
        return _by_level(y_true, y_score, classes, sample_weight)
    return prepare_multiclass_auc(
        y_true, classes=classes, sample_weight=sample_weight, qid=qid, average=average
    )(y_score)


def _by_level(
    y_true: ArrayLike,
    y_score: ArrayLike,
    classes: str,
    sample_weight: ArrayLike | None,
) -> NDArray[Any]:
    """Return the AUC of each level that counts against the rest, and its share."""
    check_choice("classes", classes, ("positive", "all"))
    rows = check_level_rows(y_true, sample_weight)
    first, n_levels = first_counted_level(rows.names, classes), rows.names.size
    weights = np.bincount(rows.levels, rows.sample_weight, minlength=n_levels)
    fields = [("class", rows.names.dtype), ("auc", float), ("weight", float)]
    table = np.empty(n_levels - first, dtype=fields)
    table["class"], table["auc"] = rows.names[first:], np.nan
    table["weight"] = (weights / weights.sum())[first:]
    for row, level in zip(table, range(first, n_levels), strict=True):
        if weights[level] > 0.0:
            row["auc"] = roc_auc_score(
                rows.levels == level, y_score, sample_weight=rows.sample_weight
            )
    return table


def multiclass_precision_at_k(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    k: int,
    qid: ArrayLike | None = None,
    average: str = "micro",
) -> float:
    r"""Micro- or macro-averaged precision at k over levels, as Welleck defines them.

    With the C levels above 0, and :math:`h_{qc}` rows of level c among the top k of
    query q,

    .. math::
        \text{micro} = \frac1Q \sum_{q=1}^Q \frac{\sum_{c=1}^C h_{qc}}{C k}, \qquad
        \text{macro} = \frac1C \sum_{c=1}^C \sum_{q=1}^Q \frac{h_{qc}}{k}

    (equations 2 and 4). Since only the sums over c enter, "micro" equals
    :func:`precision_at_k`, with all levels above 0 as relevant, divided by C, if each
    query has at least k rows. "macro", which the paper states without a factor
    :math:`1/Q`, is Q times "micro": both rank models alike, and neither tells levels
    apart. Rows that tie at rank k count in equal parts. Costs O(m log m).

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        Levels of relevance, ordered as numbers or strings are; at least two.
    y_score : array-like of shape (n_rows,)
        Finite scores, high for positive or relevant rows; compared as float64.
    k : int
        Number of top rows, at least 1.
    qid : array-like of shape (n_rows,), optional
        Query of each row; by default all rows form one query.
    average : {"micro", "macro"}
        Over levels, not over queries.

    Returns
    -------
    float
        "micro" from 0 to 1 / C; "macro" to Q / C.

    See Also
    --------
    precision_at_k : For relevant and irrelevant rows.

    References
    ----------
    .. [1] S. Welleck. Efficient AUC optimization for information ranking
       applications. ECIR 2016, section 3.

    Examples
    --------
    >>> from aucmax.metrics import multiclass_precision_at_k
    >>> multiclass_precision_at_k([0, 2, 1, 0], [4, 3, 2, 1], k=2)
    0.25
    """
    check_choice("average", average, ("micro", "macro"))
    names, levels = check_levels(y_true)
    first = first_counted_level(names, "positive")
    precision, _ = top_rows(levels >= first, y_score, None, qid, check_k(k))
    per_query = precision.values * precision.parts / (k * (names.size - first))
    return float(per_query.mean() if average == "micro" else per_query.sum())


def ordinal_auc_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    qid: ArrayLike | None = None,
    average: str | None = "macro",
) -> Any:
    r"""Share of correctly ordered pairs among all pairs of different levels.

    .. math::
        \frac{\sum_{y_i > y_j} [s_i > s_j] + \tfrac12 [s_i = s_j]}
        {\sum_{y_i > y_j} 1}

    Also known as the concordance index (C-index). With weights, a pair counts as the
    product of its weights. With two levels this is :func:`roc_auc_score`. Costs
    O(m log m) for any number of levels.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        Levels, ordered as numbers or strings are; at least two.
    y_score : array-like of shape (n_rows,)
        Finite scores, high for positive or relevant rows; compared as float64.
    sample_weight : array-like of shape (n_rows,), default=None
        Nonnegative row weights; the weight of a pair is the product of its rows'.
    qid : array-like of shape (n_rows,), default=None
        The query of each row; the value is then a mean over queries.
    average : {"macro", "micro", "impressions", None}, default="macro"
        Mean over queries: each weighs the same; its pairs or what else the metric
        is a share of; its rows (GAUC). None returns each value, NaN without pairs.

    Returns
    -------
    float
        1 for a perfect ranking, 0.5 for constant scores. With ``average=None`` an array
        with the value of each query.

    See Also
    --------
    multiclass_auc_score : Each level against all other rows.

    Examples
    --------
    >>> from aucmax.metrics import ordinal_auc_score
    >>> ordinal_auc_score([0, 0, 1, 2], [1, 2, 3, 4])
    1.0
    >>> ordinal_auc_score([0, 1, 2], [1, 3, 3])
    0.8333333333333334
    """
    return prepare_ordinal_auc(
        y_true, sample_weight=sample_weight, qid=qid, average=average
    )(y_score)


def prepare_multiclass_auc(
    y_true: ArrayLike,
    *,
    classes: str = "positive",
    average: str | None = "macro",
    **rows: Any,
) -> Callable[[ArrayLike], Any]:
    """Check and count the labels once; return :func:`multiclass_auc_score` of them."""
    check_choice("classes", classes, ("positive", "all"))
    level_rows = check_level_rows(y_true, **rows)
    first = first_counted_level(level_rows.names, classes)

    def multiclass_auc(y_score: ArrayLike) -> Any:
        *columns, offsets = level_rows.sort(y_score)
        _, levels, weights = columns
        means = _ranking_kernels.class_reference_aucs(*columns, offsets, first)
        counted = np.where(levels >= first, weights, 0.0)
        sums = (np.add.reduceat(one, offsets[:-1]) for one in (weights, counted))
        return QueryValues(means, *sums).average(average, NEEDED)

    return multiclass_auc


def first_counted_level(names: NDArray[np.generic], classes: str) -> int:
    """Return the place of the first level that counts."""
    first = 0 if classes == "all" else first_positive_level(names)
    if first == names.size:
        raise NotEnoughClassesError(
            f"y_true has no level above 0, the largest is {names[-1]}. "
            "Use classes='all' if every level counts."
        )
    return first


def prepare_ordinal_auc(
    y_true: ArrayLike, *, average: str | None = "macro", **rows: Any
) -> Callable[[ArrayLike], Any]:
    """Check and count the labels once; return :func:`ordinal_auc_score` of them."""
    level_rows = check_level_rows(y_true, **rows)

    def ordinal_auc(y_score: ArrayLike) -> Any:
        scores, levels, weights, offsets = level_rows.sort(y_score)
        sums = _ranking_kernels.partner_masses(scores, levels, weights, offsets)
        ordered, pairs, sizes = (
            np.add.reduceat(one, offsets[:-1])
            for one in (*(weights * one for one in sums), weights)
        )
        with np.errstate(invalid="ignore"):
            shares = np.clip(ordered / pairs, 0.0, 1.0)  # which rounding may leave
        return QueryValues(shares, sizes, pairs).average(average, NEEDED)

    return ordinal_auc


@dataclass(frozen=True)
class LevelRows:
    """Checked levels, weights and queries, for any number of rankings."""

    names: NDArray[Any]
    levels: IntArray  # places among the names
    sample_weight: FloatArray | None
    queries: QueryOrder

    def sort(
        self, y_score: ArrayLike
    ) -> tuple[FloatArray, IntArray, FloatArray, IntArray]:
        """Return scores, levels and weights by query and score, and the offsets."""
        scores = check_scores(y_score, self.levels.size)
        order = self.queries.sort(scores)
        weights = np.ones(scores.size)
        if self.sample_weight is not None:
            weights = self.sample_weight[order]
        return scores[order], self.levels[order], weights, self.queries.offsets


def check_level_rows(
    y_true: ArrayLike,
    sample_weight: ArrayLike | None = None,
    qid: ArrayLike | None = None,
) -> LevelRows:
    """Check the levels, weights and queries."""
    names, levels = check_levels(y_true)
    weights = check_sample_weight(sample_weight, levels.size)
    if weights is not None:
        weighted = levels[weights > 0]
        if (weighted == weighted[0]).all():
            raise NotEnoughClassesError(
                f"sample_weight is zero outside of level {names[weighted[0]]}, so "
                "there is nothing to compare it with. Give rows of two levels a "
                "positive weight."
            )
        weights = weights / weights.max()  # so that no product of two overflows
    return LevelRows(names, levels, weights, check_queries(qid, levels.size))
