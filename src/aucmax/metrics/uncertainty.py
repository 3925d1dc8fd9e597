"""Confidence intervals and tests of AUCs, from DeLong's variance."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from math import hypot, sqrt
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, logit, stdtr, stdtrit

from aucmax._core.dask_dispatch import dispatch_to_dask
from aucmax._core.docstrings import documented
from aucmax._core.validation import FloatArray, check_scores
from aucmax.exceptions import FewRowsWarning
from aucmax.metrics._influence import influences
from aucmax.metrics._steps import (
    WHOLE_SQUARE,
    Box,
    RankingTask,
    box_size,
    check_box,
    check_task,
)


@dataclass(frozen=True, repr=False)
class AUCInterval:
    """An AUC with its standard error and confidence interval; it prints as a sentence.

    `rows` are the numbers of positive and negative rows behind it: those within the
    ranges, and with weights the number of equally weighted rows of the same variance.
    `is_partial` is whether a range was given.
    """

    auc: float
    low: float
    high: float
    standard_error: float
    confidence: float
    rows: tuple[float, float]
    is_partial: bool = False

    def __repr__(self) -> str:
        title = "partial AUC" if self.is_partial else "AUC"
        return f"{title} {with_interval(self.auc, self)}"


@dataclass(frozen=True, repr=False)
class AUCComparison:
    """The difference of two AUCs on the same rows, with its test.

    `rows` and `is_partial` are as in :class:`AUCInterval`.
    """

    auc_a: float
    auc_b: float
    difference: float
    low: float
    high: float
    z: float
    p_value: float
    standard_error: float
    confidence: float
    rows: tuple[float, float]
    is_partial: bool = False

    def __repr__(self) -> str:
        p = "p < 0.001" if self.p_value < 0.001 else f"p = {self.p_value:.3f}"
        title = "partial AUC" if self.is_partial else "AUC"
        return (
            f"{title} {self.auc_a:.4f} against {self.auc_b:.4f}: difference "
            f"{with_interval(self.difference, self)}, {p}"
        )


def with_interval(value: float, interval: Any) -> str:
    """Return a value with its confidence interval, for a sentence."""
    percent = f"{100.0 * interval.confidence:g}%"
    return f"{value:.4f} ({percent} interval {interval.low:.4f} to {interval.high:.4f})"


@documented
@dispatch_to_dask
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

    The interval is :math:`\mathrm{logit}(A) \pm t \sigma / (A (1 - A))`, mapped back:
    it stays within [0, 1] and is wider on the side of 1/2. The quantile t is Student's
    with :math:`k - 1` degrees of freedom for :math:`k = \min(p, n)`, the fewest that
    Satterthwaite's approximation [5]_ can give for the sum of two variances.

    With few rows, or an area near 0 or 1, this variance is too small. Where
    :math:`k \min(A, 1 - A) < 5`, the interval is therefore extended to Newcombe's score
    interval [6]_: all areas :math:`\theta` within t standard errors of A, by the
    variance that :math:`\theta` itself implies,

    .. math:: (\theta - A)^2 \le t^2 \, \frac{\theta (1 - \theta)}{k K}
        \big[1 + (K - 1) \max(q, r) + (k - 1) \min(q, r)\big], \quad
        q = \frac{1 - \theta}{2 - \theta}, \; r = \frac{\theta}{1 + \theta}

    with :math:`K = \max(p, n)` and t of :math:`p + n - 2` degrees of freedom. For equal
    classes this is Newcombe's method 5; else his mean of K and k is replaced by the
    assignment of the larger variance. Where all scores are equal it is the whole
    interval, since :math:`\sigma` is zero. Ends jump a little where
    :math:`k \min(A, 1 - A)` passes 5. When all pairs are in order (or none), the
    interval starts at :math:`((1 - \text{confidence}) / 2)^{1 / k}` (or ends at one
    minus it), the exact binomial bound for k disjoint pairs without an error. Costs
    O(m log m).

    With `fpr_range` or `tpr_range` it is the interval of the partial AUC, as a mean
    over the box (:func:`partial_auc_score`). V and U are then the effects of each row
    on that mean: a row outside of the box counts as the nearest point of the curve
    inside of it, since a quantile of the scores bounds the box [4]_. In k and K, p and
    n are multiplied by the lengths of the ranges: the rows within the box.

    Parameters
    ----------
    sample_weight : array-like of shape (n_rows,), optional
        Weights of independent rows (not how often a row was seen): with shares
        :math:`w_i` of the class, the sums become :math:`\sum_i w_i^2 (V_i - A)^2 / (1 -
        \sum_i w_i^2)`, and p and n become :math:`1 / \sum_i w_i^2`, the same as above
        for equal weights.

    Returns
    -------
    AUCInterval
        ``auc`` with ``low``, ``high`` and ``standard_error``.

    Warns
    -----
    FewRowsWarning
        The ranges hold fewer than 2 rows of a class, too few for any interval here.

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
    .. [5] F. E. Satterthwaite. An approximate distribution of estimates of variance
       components. Biometrics Bulletin 2(6), 1946.
    .. [6] R. G. Newcombe. Confidence intervals for an effect size measure based on the
       Mann-Whitney statistic. Part 2: asymptotic methods and evaluation. Statistics in
       Medicine 25(4), 2006.

    Examples
    --------
    >>> from aucmax.metrics import auc_interval
    >>> print(auc_interval([0, 0, 0, 1, 1, 1], [1, 2, 4, 3, 5, 6]))
    AUC 0.8889 (95% interval 0.0084 to 0.9999)
    """
    check_confidence(confidence)
    box = check_box(fpr_range, tpr_range)
    task = check_task(y_true, y_score, sample_weight, pos_label=pos_label)
    weights, rows = check_two_rows(task, box)
    values = influences(task, box)
    auc = area_in_box(task, box, values, weights)
    error = sqrt(variance_of_mean(values, weights))
    warn_of_few_rows(rows)
    ends = area_interval(auc, error, confidence, rows)
    return AUCInterval(auc, *ends, error, confidence, rows, box != WHOLE_SQUARE)


@documented
@dispatch_to_dask
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

    DeLong's variance :math:`\sigma^2` of the difference :math:`D = A_a - A_b` is that
    of :func:`auc_interval` with the differences :math:`V_i^a - V_i^b`,
    :math:`U_j^a - U_j^b` in place of the shares. The statistic :math:`z = D / \sigma`
    is referred to Student's t with :math:`k - 1` degrees of freedom, k = min(p, n), on
    both sides, and the interval holds the differences that this test does not reject.

    With few rows, or areas near 0 or 1, this variance is too small: where
    :math:`k \min(A, 1 - A) < 5` for either model, or :math:`\sigma` is zero,

    .. math:: z = D \Big/ \sqrt{\sigma^2 + (0.6 / k)^2}

    Without the second term, the test would be certain that two models are equal if they
    order a few rows in the same way. Costs O(m log m).

    Parameters
    ----------
    y_score_a, y_score_b : array-like of shape (n_rows,)
        The scores of the two models for the same rows.
    sample_weight : array-like of shape (n_rows,), optional
        As in :func:`auc_interval`.

    Returns
    -------
    AUCComparison
        Both areas, their ``difference`` with its interval, ``z`` and ``p_value``.

    Warns
    -----
    FewRowsWarning
        As in :func:`auc_interval`.

    Examples
    --------
    >>> from aucmax.metrics import compare_auc
    >>> result = compare_auc([0, 0, 0, 1, 1, 1], [1, 2, 4, 3, 5, 6], [1, 4, 5, 2, 6, 3])
    >>> print(result)  # doctest: +NORMALIZE_WHITESPACE
    AUC 0.8889 against 0.5556: difference 0.3333 (95% interval -1.0000 to 1.0000),
    p = 0.428
    """
    check_confidence(confidence)
    box = check_box(fpr_range, tpr_range)
    task_a = check_task(
        y_true, y_score_a, sample_weight, pos_label=pos_label, name="y_score_a"
    )
    scores_b = check_scores(y_score_b, task_a.scores.size, "y_score_b")
    task_b = RankingTask(scores_b, task_a.is_positive, task_a.sample_weight)
    weights, rows = check_two_rows(task_a, box)
    values_a, values_b = influences(task_a, box), influences(task_b, box)
    auc_a = area_in_box(task_a, box, values_a, weights)
    auc_b = area_in_box(task_b, box, values_b, weights)
    differences = [a - b for a, b in zip(values_a, values_b, strict=True)]
    error = sqrt(variance_of_mean(differences, weights))
    warn_of_few_rows(rows)
    areas = auc_a, auc_b
    test = two_sided_test(auc_a - auc_b, error, confidence, rows, areas)
    is_partial = box != WHOLE_SQUARE
    return AUCComparison(auc_a, auc_b, *test, error, confidence, rows, is_partial)


_MIN_REST = 1e-12  # share of the weight beside the largest row of a class
# Chosen by the coverage of intervals of simulated rows, the first also by their width:
# `python -m benchmarks quality.interval_coverage` tests both on other rows.
_FEW_ERRORS = 5.0 - 1e-9  # less by rounding, so that equal weights change nothing
_UNSEEN = 0.6
_MIN_ROWS = 2.0 - 1e-9  # in the ranges; below, coverage fell under 92 % of 95 %

Weights = tuple[FloatArray | None, FloatArray | None]
Rows = tuple[float, float]


def area_in_box(
    task: RankingTask, box: Box, values: Sequence[FloatArray], weights: Weights
) -> float:
    """Return the area in the box as a mean over it."""
    if box == WHOLE_SQUARE:
        return mean_and_variance(values[0], weights[0])[0]
    return min(task.mean_area(box) / box_size(box), 1.0)


def variance_of_mean(values: Sequence[FloatArray], weights: Weights) -> float:
    """Return the variance of a mean, from the effects of rows of both classes."""
    return sum(mean_and_variance(*one)[1] for one in zip(values, weights, strict=True))


def mean_and_variance(
    values: FloatArray, weights: FloatArray | None
) -> tuple[float, float]:
    """Return the weighted mean of values, and the variance of that mean."""
    # relative to one value, so that equal values give exactly that value and zero
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


def check_two_rows(task: RankingTask, box: Box) -> tuple[Weights, Rows]:
    """Return the weights of both classes, and how many rows of each the box holds."""
    weights = task.class_weights()
    n_positive = float(np.count_nonzero(task.is_positive))
    sizes = (n_positive, task.is_positive.size - n_positive)
    if weights[0] is not None and weights[1] is not None:
        sizes = effective_rows(weights[0]), effective_rows(weights[1])
    return weights, rows_in_box(*sizes, box, is_weighted=weights[0] is not None)


def rows_in_box(
    n_positive: float, n_negative: float, box: Box, *, is_weighted: bool
) -> Rows:
    """Return how many rows of each class the box holds; reject a single row."""
    if min(n_positive, n_negative) <= 1.0 + _MIN_REST:
        name = "positive" if n_positive <= n_negative else "negative"
        raise ValueError(
            f"DeLong's variance needs at least two rows of each class, but there is "
            f"one {name} row{' with all the weight' * is_weighted}. Use more rows."
        )
    return n_positive * (box[3] - box[2]), n_negative * (box[1] - box[0])


def effective_rows(weights: FloatArray) -> float:
    """Return the number of equally weighted rows of the same variance."""
    share = weights / weights.sum()
    return float(1.0 / (share @ share))


def warn_of_few_rows(rows: Rows) -> None:
    """Warn if the interval may not cover: narrow ranges, uneven weights."""
    if min(rows) < _MIN_ROWS:
        name = "positive" if rows[0] < rows[1] else "negative"
        warnings.warn(
            f"The interval rests on {min(rows):.2g} {name} rows within the ranges; "
            "with fewer than 2 it covers the area less often than it should. Widen "
            "the ranges, use more rows or even out their weights.",
            FewRowsWarning,
            stacklevel=4,  # the caller of a metric that takes Dask's collections
        )


def check_confidence(confidence: float) -> None:
    """Reject a confidence that is not a probability between 0 and 1."""
    if not isinstance(confidence, Real) or not 0 < confidence < 1:
        raise ValueError(f"confidence must lie between 0 and 1, got {confidence!r}.")


def area_interval(
    auc: float, error: float, confidence: float, rows: Rows
) -> tuple[float, float]:
    """Return the ends of an area's interval; see :func:`auc_interval`."""
    few = max(min(rows), 1.0)
    if auc in (0.0, 1.0):
        bound = ((1.0 - confidence) / 2.0) ** (1.0 / few)
        return (bound, 1.0) if auc else (0.0, 1.0 - bound)
    low, high = auc, auc
    if error > 0.0:
        margin = _quantile(few - 1.0, confidence) * error / (auc * (1.0 - auc))
        low, high = float(expit(logit(auc) - margin)), float(expit(logit(auc) + margin))
    if error == 0.0 or few * min(auc, 1.0 - auc) < _FEW_ERRORS:
        score = score_interval(auc, few, max(*rows, 1.0), confidence)
        low, high = min(low, score[0]), max(high, score[1])
    return low, high


def score_interval(
    auc: float, few: float, many: float, confidence: float
) -> tuple[float, float]:
    """Return Newcombe's interval from the sizes of both classes: bisect each end."""
    quantile = _quantile(few + many - 2.0, confidence)

    def end(outer: float) -> float:
        inner = auc
        while outer != (middle := (outer + inner) / 2.0) != inner:
            low, high = sorted(((1 - middle) / (2 - middle), middle / (1 + middle)))
            spread = 1.0 + (many - 1.0) * high + (few - 1.0) * low
            variance = middle * (1.0 - middle) * spread / (few * many)
            if (middle - auc) ** 2 > quantile**2 * variance:
                outer = middle
            else:
                inner = middle
        return outer

    return end(0.0), end(1.0)


def _quantile(degrees: float, confidence: float) -> float:
    return float(stdtrit(max(degrees, 1.0), (1.0 + confidence) / 2.0))


class TwoSidedTest(NamedTuple):
    """A difference with its interval, and its test against zero."""

    difference: float
    low: float
    high: float
    z: float
    p_value: float


def two_sided_test(
    difference: float,
    error: float,
    confidence: float,
    rows: Rows,
    areas: tuple[float, float],
) -> TwoSidedTest:
    """Test a difference of two areas against zero; see :func:`compare_auc`."""
    few = max(min(rows), 1.0)
    n_errors = few * min(min(area, 1.0 - area) for area in areas)
    if error == 0.0 or n_errors < _FEW_ERRORS:
        error = hypot(error, _UNSEEN / few)
    z = difference / error
    p_value = float(2.0 * stdtr(max(few - 1.0, 1.0), -abs(z)))
    margin = _quantile(few - 1.0, confidence) * error
    low, high = max(difference - margin, -1.0), min(difference + margin, 1.0)
    return TwoSidedTest(difference, low, high, z, p_value)
