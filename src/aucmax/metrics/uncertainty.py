"""How sure is an AUC? DeLong's interval, and his test for two models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import copysign, exp, inf, log, sqrt
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, logit, ndtr, ndtri

from aucmax._dask import serves_dask
from aucmax._parameters import check_range
from aucmax._validation import FloatArray, check_scores
from aucmax.metrics._influence import influences
from aucmax.metrics._steps import WHOLE_SQUARE, RankingTask, check_task

__all__ = ["AUCComparison", "AUCInterval", "auc_interval", "compare_auc"]


@dataclass(frozen=True)
class AUCInterval:
    """An AUC with its standard error and confidence interval."""

    auc: float
    low: float
    high: float
    standard_error: float
    confidence: float

    def __str__(self) -> str:
        return f"{self.auc:.4f} [{self.low:.4f}, {self.high:.4f}]"


@dataclass(frozen=True)
class AUCComparison:
    """The difference of two AUCs on the same rows, and whether it may be chance."""

    auc_a: float
    auc_b: float
    difference: float
    low: float
    high: float
    z: float
    p_value: float
    standard_error: float
    confidence: float


@serves_dask
def auc_interval(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    fpr_range: Sequence[float] = (0.0, 1.0),
    tpr_range: Sequence[float] = (0.0, 1.0),
    confidence: float = 0.95,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> AUCInterval:
    r"""AUC with DeLong's standard error and an interval on the logit scale.

    Each positive has the share :math:`V_i` of negatives below it, and each negative the
    share :math:`U_j` of positives above it (ties one half). Both average to the AUC,
    and its variance is estimated by

    .. math:: \sigma^2 = \frac{\sum_i (V_i - A)^2}{p (p - 1)}
        + \frac{\sum_j (U_j - A)^2}{n (n - 1)}

    The interval is :math:`\mathrm{logit}(A) \pm z \sigma / (A (1 - A))`, mapped back:
    it stays within [0, 1] and is wider on the side of 1/2. When all pairs are in order
    (or none), the variance is zero and says nothing; then the interval starts at
    :math:`((1 - \text{confidence}) / 2)^{1 / \min(p, n)}` (or ends at one minus it),
    the exact binomial bound for min(p, n) disjoint pairs without an error. Costs
    O(m log m).

    With `fpr_range` or `tpr_range` it is the interval of the partial AUC, as a mean
    over the box (:func:`partial_auc_score`). V and U are then how much each row moves
    that mean: a row outside of the box counts as the nearest point of the curve inside
    of it, since a quantile of the scores bounds the box [4]_.

    Parameters
    ----------
    y_true, y_score : array-like of shape (n_rows,)
        As in :func:`roc_auc_score`. At least two rows of each class.
    fpr_range, tpr_range : pair of float, default=(0.0, 1.0)
        The part of the ROC curve that counts.
    confidence : float
        Probability that the interval is meant to cover, between 0 and 1.
    sample_weight : array-like of shape (n_rows,), optional
        Weights of independent rows (not how often a row was seen): with shares
        :math:`w_i` of the class, the sums become :math:`\sum_i w_i^2 (V_i - A)^2 / (1 -
        \sum_i w_i^2)`, the same as above for equal weights.
    pos_label : label, optional
        The positive class; by default, the second of the two labels in sorted order.

    Returns
    -------
    AUCInterval
        The record of ``auc``, ``low``, ``high``, ``standard_error``, ``confidence``.

    References
    ----------
    .. [1] E. R. DeLong, D. M. DeLong, D. L. Clarke-Pearson. Comparing the areas under
       two or more correlated receiver operating characteristic curves: a nonparametric
       approach. Biometrics 44(3), 1988.
    .. [2] X. Sun, W. Xu. Fast implementation of DeLong's algorithm. IEEE Signal
       Processing Letters 21(11), 2014.
    .. [3] M. S. Pepe. The statistical evaluation of medical tests for classification
       and prediction. Oxford University Press, 2003, section 5.2.
    .. [4] L. E. Dodd, M. S. Pepe. Partial AUC estimation and regression. Biometrics
       59(3), 2003.

    Examples
    --------
    >>> from aucmax.metrics import auc_interval
    >>> print(auc_interval([0, 0, 0, 1, 1, 1], [1, 2, 4, 3, 5, 6]))
    0.8889 [0.2614, 0.9945]
    """
    check_confidence(confidence)
    box = check_box(fpr_range, tpr_range)
    task = check_task(y_true, y_score, sample_weight, pos_label=pos_label)
    weights, n_pairs = check_two_rows(task, box)
    values = influences(task, box)
    auc = area_in_box(task, box, values, weights)
    error = sqrt(variance_of_mean(values, weights))
    low, high = logit_interval(auc, error, confidence, n_pairs)
    return AUCInterval(auc, low, high, error, confidence)


@serves_dask
def compare_auc(
    y_true: ArrayLike,
    y_score_a: ArrayLike,
    y_score_b: ArrayLike,
    *,
    fpr_range: Sequence[float] = (0.0, 1.0),
    tpr_range: Sequence[float] = (0.0, 1.0),
    confidence: float = 0.95,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> AUCComparison:
    r"""Test whether two scores of the same rows have the same AUC.

    DeLong's paired test: the variance of the difference
    :math:`D = A_a - A_b` is that of :func:`auc_interval` with the differences
    :math:`V_i^a - V_i^b`, :math:`U_j^a - U_j^b` in place of the shares. The statistic
    :math:`z = D / \sigma` is compared with the normal distribution, on both sides.

    Scores that rank alike have difference 0 and p-value 1. If the variance is zero
    although the AUCs differ (say, a perfect and a constant score), z is infinite and
    the interval and p-value come from Hoeffding's inequality for min(p, n) disjoint
    pairs, so that a handful of rows never looks certain. Costs O(m log m).

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        As in :func:`roc_auc_score`. At least two rows of each class.
    y_score_a, y_score_b : array-like of shape (n_rows,)
        The scores of the two models for the same rows.
    fpr_range, tpr_range : pair of float, default=(0.0, 1.0)
        The part of the ROC curve that counts; then partial AUCs are compared.
    confidence : float
        Probability that the interval of the difference is meant to cover.
    sample_weight : array-like of shape (n_rows,), optional
        As in :func:`auc_interval`.
    pos_label : label, optional
        The positive class; by default, the second of the two labels in sorted order.

    Returns
    -------
    AUCComparison
        The record of ``auc_a``, ``auc_b``, their ``difference`` with the interval
        ``low``, ``high``, the statistic ``z``, ``p_value``, ``standard_error`` and
        ``confidence``.

    References
    ----------
    .. [1] E. R. DeLong, D. M. DeLong, D. L. Clarke-Pearson. Comparing the areas under
       two or more correlated receiver operating characteristic curves: a nonparametric
       approach. Biometrics 44(3), 1988.

    Examples
    --------
    >>> from aucmax.metrics import compare_auc
    >>> result = compare_auc([0, 0, 0, 1, 1, 1], [1, 2, 4, 3, 5, 6], [1, 4, 5, 2, 6, 3])
    >>> round(result.difference, 4), round(result.p_value, 4)
    (0.3333, 0.2207)
    """
    check_confidence(confidence)
    box = check_box(fpr_range, tpr_range)
    task_a = check_task(
        y_true, y_score_a, sample_weight, pos_label=pos_label, name="y_score_a"
    )
    scores_b = check_scores(y_score_b, task_a.scores.size, "y_score_b")
    task_b = RankingTask(scores_b, task_a.is_positive, task_a.sample_weight)
    weights, n_pairs = check_two_rows(task_a, box)
    values_a, values_b = influences(task_a, box), influences(task_b, box)
    auc_a = area_in_box(task_a, box, values_a, weights)
    auc_b = area_in_box(task_b, box, values_b, weights)
    differences = [a - b for a, b in zip(values_a, values_b, strict=True)]
    error = sqrt(variance_of_mean(differences, weights))
    test = two_sided_test(auc_a - auc_b, error, confidence, n_pairs)
    return AUCComparison(auc_a, auc_b, *test, error, confidence)


_SMALLEST_REST = 1e-12  # of the weight of a class, for more than one row of it

Weights = tuple[FloatArray | None, FloatArray | None]
Box = tuple[float, float, float, float]


def check_box(fpr_range: Sequence[float], tpr_range: Sequence[float]) -> Box:
    """Check two ranges; return the ends of both."""
    fpr, tpr = check_range("fpr_range", fpr_range), check_range("tpr_range", tpr_range)
    return (*fpr, *tpr)


def area_in_box(
    task: RankingTask, box: Box, values: Sequence[FloatArray], weights: Weights
) -> float:
    """Return the area in the box as a mean over it."""
    if box == WHOLE_SQUARE:
        return mean_and_variance(values[0], weights[0])[0]
    size = (box[1] - box[0]) * (box[3] - box[2])
    return min(task.mean_area(box) / size, 1.0)


def variance_of_mean(values: Sequence[FloatArray], weights: Weights) -> float:
    """Return the variance of a mean that rows of both classes move by these values."""
    return sum(mean_and_variance(*one)[1] for one in zip(values, weights, strict=True))


def mean_and_variance(
    values: FloatArray, weights: FloatArray | None
) -> tuple[float, float]:
    """Return the weighted mean of values, and the variance of that mean.

    Values are taken relative to one of them, so that equal values give exactly that
    value and exactly zero.
    """
    centre = values[0 if weights is None else np.argmax(weights)]
    distance = values - centre
    if weights is None:
        distance_mean = distance.mean()
        distance -= distance_mean
        variance = distance @ distance / (values.size * (values.size - 1.0))
    else:
        share = weights / weights.sum()
        distance_mean = share @ distance
        distance -= distance_mean
        distance *= share
        variance = distance @ distance / (1.0 - share @ share)
    return float(centre + distance_mean), float(variance)


def check_two_rows(task: RankingTask, box: Box) -> tuple[Weights, int]:
    """Return the weights of both classes, and how many disjoint pairs the box has."""
    weights = task.class_weights()
    n_positive = int(np.count_nonzero(task.is_positive))
    sizes = (n_positive, task.is_positive.size - n_positive)
    if weights[0] is not None and weights[1] is not None:
        sizes = _n_counting(weights[0]), _n_counting(weights[1])
    return weights, count_disjoint_pairs(*sizes, box, weights[0] is not None)


def count_disjoint_pairs(
    n_positive: int, n_negative: int, box: Box, is_weighted: bool
) -> int:
    """Return how many disjoint pairs the box has; refuse a single row of a class."""
    if min(n_positive, n_negative) < 2:
        name = "positive" if n_positive < 2 else "negative"
        raise ValueError(
            f"DeLong's variance needs at least two rows of each class, but there is "
            f"one {name} row{' with all the weight' * is_weighted}. Use more rows."
        )
    n_pairs = min(n_positive * (box[3] - box[2]), n_negative * (box[1] - box[0]))
    return max(int(n_pairs), 1)


def _n_counting(weights: FloatArray) -> int:
    share = weights / weights.sum()
    return rows_that_count(int((weights > 0).sum()), share @ share)


def rows_that_count(n_weighted: int, squared_shares: float) -> int:
    """Count rows with weight; one that leaves nothing to the others is alone."""
    return 1 if 1.0 - squared_shares <= _SMALLEST_REST else n_weighted


def check_confidence(confidence: float) -> None:
    """Refuse a confidence that is not a probability between 0 and 1."""
    if not isinstance(confidence, Real) or not 0 < confidence < 1:
        raise ValueError(f"confidence must lie between 0 and 1, got {confidence!r}.")


def logit_interval(
    auc: float, error: float, confidence: float, n_pairs: int
) -> tuple[float, float]:
    """Return the ends of an AUC's interval; see :func:`auc_interval`."""
    if error == 0.0 or auc in (0.0, 1.0):
        bound = ((1.0 - confidence) / 2.0) ** (1.0 / n_pairs)
        ends = {1.0: (bound, 1.0), 0.0: (0.0, 1.0 - bound)}
        return ends.get(auc, (auc, auc))  # all scores equal: 1/2 whatever the sample
    margin = float(ndtri((1.0 + confidence) / 2.0)) * error / (auc * (1.0 - auc))
    return float(expit(logit(auc) - margin)), float(expit(logit(auc) + margin))


class TwoSidedTest(NamedTuple):
    """A difference with its interval, and its test against zero."""

    difference: float
    low: float
    high: float
    z: float
    p_value: float


def two_sided_test(
    difference: float, error: float, confidence: float, n_pairs: int
) -> TwoSidedTest:
    """Test a difference of AUCs against zero; see :func:`compare_auc`."""
    if error > 0.0:
        z = difference / error
        margin = float(ndtri((1.0 + confidence) / 2.0)) * error
        p_value = float(2.0 * ndtr(-abs(z)))
    elif difference == 0.0:
        z, margin, p_value = 0.0, 0.0, 1.0
    else:
        z = copysign(inf, difference)
        margin = sqrt(2.0 * log(2.0 / (1.0 - confidence)) / n_pairs)
        p_value = min(1.0, 2.0 * exp(-0.5 * n_pairs * difference**2))
    low, high = max(difference - margin, -1.0), min(difference + margin, 1.0)
    return TwoSidedTest(difference, low, high, z, p_value)
