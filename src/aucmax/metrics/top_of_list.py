"""Metrics of the top of a list: average precision, and recall under a constraint.

All come from the steps of the ROC curve: the thresholds are the distinct scores, and
tied rows are above a threshold together.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from aucmax._core.parameters import check_number
from aucmax._core.validation import FloatArray, IntArray, check_relevance
from aucmax.metrics._steps import (
    QueryValues,
    RankingTask,
    check_task,
)
from aucmax.metrics.retrieval import RELEVANT, top_rows
from aucmax.metrics.top_sets import check_k

_POSITIVE = "a positive row"
_ROUNDING = 1e-12  # of a rate that is compared with a given one


@dataclass(frozen=True)
class Thresholds:
    """Counts above the thresholds of each query, by descending threshold."""

    starts: IntArray  # the first threshold of each query
    tp: FloatArray  # weight of positives at or above each threshold
    fp: FloatArray  # weight of negatives at or above it
    tp_at: FloatArray  # weight of positives at it
    positives: FloatArray  # of the query of each threshold
    negatives: FloatArray

    @classmethod
    def from_task(cls, task: RankingTask) -> Thresholds:
        """Count the rows of a task."""
        steps = task.steps()
        starts, sizes = steps.offsets[:-1], np.diff(steps.offsets)
        sums = []
        for masses in (steps.positive, steps.negative):
            total = np.add.reduceat(masses, starts)
            running = np.cumsum(masses)
            before = np.concatenate([[0.0], running])[starts]
            sums += [running - np.repeat(before, sizes), np.repeat(total, sizes)]
        tp, positives, fp, negatives = sums
        return cls(starts, tp, fp, steps.positive, positives, negatives)

    @property
    def recall(self) -> FloatArray:
        """Share of the positives at or above each threshold; NaN without positives."""
        with np.errstate(invalid="ignore"):
            return self.tp / self.positives

    @property
    def precision(self) -> FloatArray:
        """Share of positives among the rows at or above each threshold.

        0 where all of these have weight 0.
        """
        above = self.tp + self.fp
        return np.divide(self.tp, above, out=np.zeros_like(above), where=above > 0.0)

    def best(self, values: FloatArray, allowed: object) -> QueryValues:
        """Return the largest allowed value of each query, 0 if there is none."""
        kept = np.where(allowed | np.isnan(values), values, 0.0)
        return self._of_queries(np.maximum.reduceat(kept, self.starts))

    def total(self, values: FloatArray) -> QueryValues:
        """Return the sum of the values of each query."""
        return self._of_queries(np.add.reduceat(values, self.starts))

    def recall_at_fpr(self, fpr: float) -> QueryValues:
        """Return the highest recall at a false positive rate of each query."""
        allowed = self.fp <= fpr * self.negatives * (1.0 + _ROUNDING)
        recall = np.where(self.negatives > 0.0, self.recall, np.nan)
        return self.best(recall, allowed)

    def _of_queries(self, values: FloatArray) -> QueryValues:
        rows = (self.positives + self.negatives)[self.starts]
        return QueryValues(values, rows, self.positives[self.starts])


def average_precision_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    qid: ArrayLike | None = None,
    pos_label: object = None,
    average: str | None = "macro",
) -> Any:
    r"""Average precision: the mean precision at the positives.

    .. math:: \mathrm{AP} = \sum_t (R_t - R_{t-}) \, P_t

    over the thresholds t from the highest, with recall :math:`R_t` and precision
    :math:`P_t` of the rows at or above t; :math:`R_{t-}` is the recall just above t.
    This is scikit-learn's definition: tied rows count as one block.
    :func:`mean_average_precision` is the mean over all orders of tied rows instead.
    Costs O(m log m).

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        Labels of two classes: booleans, numbers or strings.
    y_score : array-like of shape (n_rows,)
        Finite scores, high for positive or relevant rows; compared as float64.
    sample_weight : array-like of shape (n_rows,), default=None
        Nonnegative row weights; the weight of a pair is the product of its rows'.
    qid : array-like of shape (n_rows,), default=None
        The query of each row; the value is then a mean over queries.
    pos_label : label, default=None
        The positive class; by default, the second label in sorted order.
    average : {"macro", "micro", "impressions", None}, default="macro"
        Mean over queries: each weighs the same; its pairs or what else the metric
        is a share of; its rows (GAUC). None returns each value, NaN without pairs.

    Returns
    -------
    float
        From the share of positives (random scores) to 1. NaN for a query without
        positives, which the mean leaves out. With ``average=None`` an array with the
        value of each query.

    See Also
    --------
    mean_average_precision : The same with another rule for ties.
    aucmax.risks.SmoothAveragePrecision : A risk to train with.

    Examples
    --------
    >>> from aucmax.metrics import average_precision_score
    >>> average_precision_score([1, 0, 1, 0], [4, 3, 2, 1])
    0.8333333333333333
    """
    task = check_task(y_true, y_score, sample_weight, qid, pos_label)
    thresholds = Thresholds.from_task(task)
    with np.errstate(invalid="ignore"):
        parts = thresholds.tp_at * thresholds.precision / thresholds.positives
    return thresholds.total(parts).average(average, _POSITIVE)


def recall_at_fpr(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    fpr: float,
    sample_weight: ArrayLike | None = None,
    qid: ArrayLike | None = None,
    pos_label: object = None,
    average: str | None = "macro",
) -> Any:
    """Highest recall (sensitivity) at a false positive rate of at most `fpr`.

    Over all thresholds at which the share of negatives at or above them is at most
    `fpr`, without interpolation. With 1% as `fpr`, this is the true positive rate at 1%
    false positives. Costs O(m log m).

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        Labels of two classes: booleans, numbers or strings.
    y_score : array-like of shape (n_rows,)
        Finite scores, high for positive or relevant rows; compared as float64.
    fpr : float
        The largest false positive rate (1 - specificity), from 0 to 1.
    sample_weight : array-like of shape (n_rows,), default=None
        Nonnegative row weights; the weight of a pair is the product of its rows'.
    qid : array-like of shape (n_rows,), default=None
        The query of each row; the value is then a mean over queries.
    pos_label : label, default=None
        The positive class; by default, the second label in sorted order.
    average : {"macro", "micro", "impressions", None}, default="macro"
        Mean over queries: each weighs the same; its pairs or what else the metric
        is a share of; its rows (GAUC). None returns each value, NaN without pairs.

    Returns
    -------
    float
        Between 0 and 1; 0 if the rate of every threshold is higher. With
        ``average=None`` an array with the value of each query.

    See Also
    --------
    aucmax.decisions.operating_point : The threshold itself, with intervals.

    Examples
    --------
    >>> from aucmax.metrics import recall_at_fpr
    >>> recall_at_fpr([0, 0, 1, 0, 1, 1], [1, 2, 3, 4, 5, 6], fpr=0.1)
    0.6666666666666666
    """
    check_number("fpr", fpr, 0.0, 1.0)
    task = check_task(y_true, y_score, sample_weight, qid, pos_label)
    thresholds = Thresholds.from_task(task)
    return thresholds.recall_at_fpr(fpr).average(average)


def recall_at_precision(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    precision: float,
    sample_weight: ArrayLike | None = None,
    qid: ArrayLike | None = None,
    pos_label: object = None,
    average: str | None = "macro",
) -> Any:
    """Highest recall (sensitivity) at a precision of at least `precision`.

    Costs O(m log m).

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        Labels of two classes: booleans, numbers or strings.
    y_score : array-like of shape (n_rows,)
        Finite scores, high for positive or relevant rows; compared as float64.
    precision : float
        The lowest precision (positive predictive value), from 0 to 1.
    sample_weight : array-like of shape (n_rows,), default=None
        Nonnegative row weights; the weight of a pair is the product of its rows'.
    qid : array-like of shape (n_rows,), default=None
        The query of each row; the value is then a mean over queries.
    pos_label : label, default=None
        The positive class; by default, the second label in sorted order.
    average : {"macro", "micro", "impressions", None}, default="macro"
        Mean over queries: each weighs the same; its pairs or what else the metric
        is a share of; its rows (GAUC). None returns each value, NaN without pairs.

    Returns
    -------
    float
        Between 0 and 1; 0 if no threshold has this precision. With ``average=None`` an
        array with the value of each query.

    See Also
    --------
    precision_at_recall : The precision at a recall.

    Examples
    --------
    >>> from aucmax.metrics import recall_at_precision
    >>> recall_at_precision([0, 0, 1, 0, 1, 1], [1, 2, 3, 4, 5, 6], precision=0.7)
    1.0
    """
    check_number("precision", precision, 0.0, 1.0)
    task = check_task(y_true, y_score, sample_weight, qid, pos_label)
    thresholds = Thresholds.from_task(task)
    allowed = thresholds.precision >= precision * (1.0 - _ROUNDING)
    best = thresholds.best(thresholds.recall, allowed)
    return best.average(average, _POSITIVE)


def precision_at_recall(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    recall: float,
    sample_weight: ArrayLike | None = None,
    qid: ArrayLike | None = None,
    pos_label: object = None,
    average: str | None = "macro",
) -> Any:
    """Highest precision at a recall (sensitivity) of at least `recall`.

    Costs O(m log m).

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        Labels of two classes: booleans, numbers or strings.
    y_score : array-like of shape (n_rows,)
        Finite scores, high for positive or relevant rows; compared as float64.
    recall : float
        The lowest recall, from 0 to 1.
    sample_weight : array-like of shape (n_rows,), default=None
        Nonnegative row weights; the weight of a pair is the product of its rows'.
    qid : array-like of shape (n_rows,), default=None
        The query of each row; the value is then a mean over queries.
    pos_label : label, default=None
        The positive class; by default, the second label in sorted order.
    average : {"macro", "micro", "impressions", None}, default="macro"
        Mean over queries: each weighs the same; its pairs or what else the metric
        is a share of; its rows (GAUC). None returns each value, NaN without pairs.

    Returns
    -------
    float
        Between 0 and 1. NaN for a query without positives, which the mean leaves out.
        With ``average=None`` an array with the value of each query.

    See Also
    --------
    recall_at_precision : The recall at a precision.

    Examples
    --------
    >>> from aucmax.metrics import precision_at_recall
    >>> precision_at_recall([0, 0, 1, 0, 1, 1], [1, 2, 3, 4, 5, 6], recall=0.8)
    0.75
    """
    check_number("recall", recall, 0.0, 1.0)
    task = check_task(y_true, y_score, sample_weight, qid, pos_label)
    thresholds = Thresholds.from_task(task)
    allowed = thresholds.recall >= recall * (1.0 - _ROUNDING)
    precision = np.where(thresholds.positives > 0.0, thresholds.precision, np.nan)
    best = thresholds.best(precision, allowed)
    return best.average(average, _POSITIVE)


def ks_statistic(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    qid: ArrayLike | None = None,
    pos_label: object = None,
    average: str | None = "macro",
) -> Any:
    """Largest distance of true and false positive rate (Kolmogorov-Smirnov).

    That of the score distributions of both classes, if positives score higher; also the
    largest value of Youden's J. Costs O(m log m).

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        Labels of two classes: booleans, numbers or strings.
    y_score : array-like of shape (n_rows,)
        Finite scores, high for positive or relevant rows; compared as float64.
    sample_weight : array-like of shape (n_rows,), default=None
        Nonnegative row weights; the weight of a pair is the product of its rows'.
    qid : array-like of shape (n_rows,), default=None
        The query of each row; the value is then a mean over queries.
    pos_label : label, default=None
        The positive class; by default, the second label in sorted order.
    average : {"macro", "micro", "impressions", None}, default="macro"
        Mean over queries: each weighs the same; its pairs or what else the metric
        is a share of; its rows (GAUC). None returns each value, NaN without pairs.

    Returns
    -------
    float
        Between 0 and 1. With ``average=None`` an array with the value of each query.

    Examples
    --------
    >>> from aucmax.metrics.top_of_list import ks_statistic
    >>> ks_statistic([0, 0, 1, 1], [1, 3, 2, 4])
    0.5
    """
    task = check_task(y_true, y_score, sample_weight, qid, pos_label)
    thresholds = Thresholds.from_task(task)
    with np.errstate(invalid="ignore"):
        gap = thresholds.recall - thresholds.fp / thresholds.negatives
    return thresholds.best(gap, gap > 0.0).average(average)


def gini(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    qid: ArrayLike | None = None,
    pos_label: object = None,
    average: str | None = "macro",
) -> Any:
    """Gini coefficient of a ranking: 2 AUC - 1.

    Also known as Somers' D of the scores; 1 for a perfect ranking, 0 for random scores.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        Labels of two classes: booleans, numbers or strings.
    y_score : array-like of shape (n_rows,)
        Finite scores, high for positive or relevant rows; compared as float64.
    sample_weight : array-like of shape (n_rows,), default=None
        Nonnegative row weights; the weight of a pair is the product of its rows'.
    qid : array-like of shape (n_rows,), default=None
        The query of each row; the value is then a mean over queries.
    pos_label : label, default=None
        The positive class; by default, the second label in sorted order.
    average : {"macro", "micro", "impressions", None}, default="macro"
        Mean over queries: each weighs the same; its pairs or what else the metric
        is a share of; its rows (GAUC). None returns each value, NaN without pairs.

    Returns
    -------
    float
        Between -1 and 1. With ``average=None`` an array with the value of each query.

    Examples
    --------
    >>> from aucmax.metrics.top_of_list import gini
    >>> gini([0, 0, 1, 1], [1, 3, 2, 4])
    0.5
    """
    task = check_task(y_true, y_score, sample_weight, qid, pos_label)
    return 2.0 * task.average_area(average) - 1.0


def recall_at_k(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    k: int,
    sample_weight: ArrayLike | None = None,
    qid: ArrayLike | None = None,
    pos_label: object = None,
    average: str | None = "macro",
) -> Any:
    """Share of the relevant rows that are among the top k of each query.

    Rows that tie at rank k count in equal parts. Costs O(m log m).

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        Relevance, as in :func:`precision_at_k`.
    y_score : array-like of shape (n_rows,)
        Finite scores, high for positive or relevant rows; compared as float64.
    k : int
        Number of top rows, at least 1; all rows if there are fewer.
    sample_weight : array-like of shape (n_rows,), default=None
        Nonnegative row weights; the weight of a pair is the product of its rows'.
    qid : array-like of shape (n_rows,), default=None
        The query of each row; the value is then a mean over queries.
    pos_label : label, default=None
        The positive class; by default, the second label in sorted order.
    average : {"macro", "micro", "impressions", None}, default="macro"
        Mean over queries: each weighs the same; its pairs or what else the metric
        is a share of; its rows (GAUC). None returns each value, NaN without pairs.

    Returns
    -------
    float
        Between 0 and 1. NaN for a query without relevant rows, which the mean leaves
        out. With ``average=None`` an array with the value of each query.

    See Also
    --------
    precision_at_k : The share of relevant rows among the top k.

    Examples
    --------
    >>> from aucmax.metrics import recall_at_k
    >>> recall_at_k([1, 0, 1, 0], [4, 3, 2, 1], k=2)
    0.5
    """
    is_relevant = check_relevance(y_true, pos_label=pos_label)
    precision, relevant = top_rows(is_relevant, y_score, sample_weight, qid, check_k(k))
    with np.errstate(invalid="ignore"):
        values = precision.values * precision.parts / relevant
    return precision._replace(values=values, parts=relevant).average(average, RELEVANT)


def lift_at_k(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    k: int,
    sample_weight: ArrayLike | None = None,
    qid: ArrayLike | None = None,
    pos_label: object = None,
    average: str | None = "macro",
) -> Any:
    """How many times the base rate the precision of the top k of each query is.

    Rows that tie at rank k count in equal parts. Costs O(m log m).

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        Relevance, as in :func:`precision_at_k`.
    y_score : array-like of shape (n_rows,)
        Finite scores, high for positive or relevant rows; compared as float64.
    k : int
        Number of top rows, at least 1; all rows if there are fewer.
    sample_weight : array-like of shape (n_rows,), default=None
        Nonnegative row weights; the weight of a pair is the product of its rows'.
    qid : array-like of shape (n_rows,), default=None
        The query of each row; the value is then a mean over queries.
    pos_label : label, default=None
        The positive class; by default, the second label in sorted order.
    average : {"macro", "micro", "impressions", None}, default="macro"
        Mean over queries: each weighs the same; its pairs or what else the metric
        is a share of; its rows (GAUC). None returns each value, NaN without pairs.

    Returns
    -------
    float
        At least 0; 1 for random scores. NaN for a query without relevant rows, which
        the mean leaves out. With ``average=None`` an array with the value of each
        query.

    Examples
    --------
    >>> from aucmax.metrics.top_of_list import lift_at_k
    >>> lift_at_k([1, 0, 0, 0], [4, 3, 2, 1], k=2)
    2.0
    """
    is_relevant = check_relevance(y_true, pos_label=pos_label)
    precision, relevant = top_rows(is_relevant, y_score, sample_weight, qid, check_k(k))
    with np.errstate(invalid="ignore", divide="ignore"):
        lifts = precision.values * precision.rows / relevant
    values = np.where(relevant > 0.0, lifts, np.nan)
    return precision._replace(values=values).average(average, RELEVANT)
