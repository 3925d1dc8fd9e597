"""Confidence intervals and tests of AUCs, from DeLong's variance."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from math import hypot, inf, sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, logit, ndtr, ndtri, stdtr, stdtrit

from aucmax._core.dask_dispatch import dispatch_to_dask
from aucmax._core.parameters import check_choice, check_number
from aucmax._core.validation import (
    FloatArray,
    IntArray,
    check_score_matrix,
    check_scores,
)
from aucmax.exceptions import FewRowsWarning
from aucmax.inference.influence import (
    AreaSample,
    FoldSample,
    Measured,
    Rows,
    check_folds,
    check_groups,
    refit_factor,
)
from aucmax.inference.resampling import bootstrap_interval
from aucmax.inference.results import MetricInterval, check_confidence, with_note
from aucmax.metrics._steps import (
    WHOLE_SQUARE,
    Box,
    RankingTask,
    box_size,
    check_box,
    check_task,
    check_two_classes,
)
from aucmax.metrics.roc import STANDARDS, partial_auc_score


@dispatch_to_dask
def auc_interval(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    fpr_range: Sequence[float] = (0.0, 1.0),
    tpr_range: Sequence[float] = (0.0, 1.0),
    standardize: str = "mean",
    method: str = "auto",
    null: float | None = None,
    confidence: float = 0.95,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    pos_label: Any = None,
) -> MetricInterval:
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

    Otherwise, if scores have few values, such as a flag on 2% of the rows, a class may
    by chance show none or few of the rows that :math:`\sigma` depends on. With the
    deviations d (:math:`V_i - A`, :math:`U_j - A`, each times :math:`\sqrt{n_c / (n_c -
    1)}`) of both classes, :math:`D^2 = \sum d^4 / \sum d^2` is the squared distance of
    the rows that are apart from most others;
    with :math:`D_c^2`, the same of class c but at least :math:`D^2 / 36`, the class has
    :math:`m_c = \sum_{i \in c} d_i^2 / D_c^2` of them. Two pseudo-rows at the distance
    D, as Agresti and Coull [8]_ add for a share, fewer with larger :math:`m_c` and none
    from 10 on, add to :math:`\sigma^2`

    .. math:: \sum_c \max\Big(0, \, 1 - \frac{m_c}{\min(10, n_c / 4)}\Big)
        \frac{2 D^2}{n_c (n_c + 4)} .

    With `fpr_range` or `tpr_range` it is the interval of the partial AUC, as a mean
    over the box (:func:`aucmax.metrics.partial_auc_score`). V and U are then the
    effects of each row on that mean: a row outside of the box counts as the nearest
    point of the curve inside of it, since a quantile of the scores bounds the box [4]_.
    In k and K, p and n are multiplied by the lengths of the ranges: the rows within the
    box.

    With `groups`, :math:`V_i - A` and :math:`U_j - A`, divided by p and n, are summed
    within each group before they are squared, so that rows of one group may depend on
    each other, positives and negatives too [7]_. Degrees of freedom are then those of
    the groups, and p and n are divided by the ratio of this variance to that of
    independent rows (but not to fewer rows than groups).

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        Labels of two classes: booleans, numbers or strings.
    y_score : array-like of shape (n_rows,)
        Finite scores, high for positive or relevant rows; compared as float64.
    fpr_range, tpr_range : pair of float, default=(0.0, 1.0)
        The part of the ROC curve: ``fpr_range=(0, 0.1)`` is the top tenth of the
        negatives, ``tpr_range=(0.9, 1)`` the lowest tenth of the positives.
    standardize : {"mean", "area", "mcclish"}
        Scale of a partial AUC, as in :func:`aucmax.metrics.partial_auc_score`.
    method : {"auto", "delong", "logit", "newcombe", "bootstrap"}
        ``"auto"`` is the rule above. The others are methods of textbooks:
        :math:`A \pm z \sigma` with the normal quantile, within [0, 1]; the same on the
        logit scale; Newcombe's method 5 [6]_; percentiles of 1000 stratified bootstrap
        samples (see :func:`bootstrap_interval`). They cover too rarely with few rows or
        an area near 1.
    null : float, optional
        Test whether the area equals this one: the p-value is one minus the confidence
        of the interval that ends there.
    confidence : float, default=0.95
        Probability that the interval is meant to cover.
    sample_weight : array-like of shape (n_rows,), optional
        Weights of independent rows (not how often a row was seen): with shares
        :math:`w_i` of the class, the sums become :math:`\sum_i w_i^2 (V_i - A)^2 / (1 -
        \sum_i w_i^2)`, and p and n become :math:`1 / \sum_i w_i^2`, the same as above
        for equal weights.
    groups : array-like of shape (n_rows,), optional
        The group (cluster) of each row, such as the patient that several rows are from.
        Rows of different groups are independent. A group may have rows of one class.
    pos_label : label, default=None
        The positive class; by default, the second label in sorted order.

    Returns
    -------
    MetricInterval
        ``auc`` with ``low``, ``high`` and ``standard_error``; ``p_value`` with `null`.

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
    .. [7] N. A. Obuchowski. Nonparametric analysis of clustered ROC curve data.
       Biometrics 53(2), 1997.
    .. [8] A. Agresti, B. A. Coull. Approximate is better than "exact" for interval
       estimation of binomial proportions. The American Statistician 52(2), 1998.

    Examples
    --------
    >>> from aucmax.inference import auc_interval
    >>> print(auc_interval([0, 0, 0, 1, 1, 1], [1, 2, 4, 3, 5, 6]))
    AUC 0.8889 (95% interval 0.0084 to 0.9999)
    >>> y, scores = [0, 1] * 20, [*range(30), *range(10)]
    >>> print(auc_interval(y, scores, null=0.5, groups=[*range(20)] * 2))
    AUC 0.5375 (95% interval 0.4067 to 0.6634), p = 0.536 for AUC 0.5
    """
    check_confidence(confidence)
    box = check_box(fpr_range, tpr_range)
    check_choice("method", method, _METHODS)
    scale = area_scale(box, standardize)
    task = check_task(y_true, y_score, sample_weight, pos_label=pos_label)
    codes = check_groups(groups, task.scores.size)
    sample = AreaSample(task.is_positive, task.sample_weight, box, codes).check()
    found = sample.measure(task.scores)
    rows, degrees = sample.sizes(found.design_effect)
    warn_of_few_rows(rows)
    rule = area_interval if method == "auto" else partial(_textbook_ends, method)
    options: Any = {"rows": rows, "degrees": degrees}
    if method == "auto":
        options["unseen"] = found.unseen(sample.class_parts)
    ends: Ends = partial(rule, found.value, found.error, **options)
    if method == "bootstrap":
        ends = _bootstrap_ends(task, box, codes, null)
    area = rescaled_interval(found, ends, scale, confidence, rows, null, area_name(box))
    return with_note(area, y_true, pos_label)


def cv_auc_interval(
    y_true: ArrayLike,
    y_score: ArrayLike,
    folds: ArrayLike,
    *,
    target: str = "models",
    fpr_range: Sequence[float] = (0.0, 1.0),
    tpr_range: Sequence[float] = (0.0, 1.0),
    standardize: str = "mean",
    null: float | None = None,
    confidence: float = 0.95,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    pos_label: Any = None,
) -> MetricInterval:
    r"""AUC of scores from cross-validation, with an interval.

    Scores of models fitted to different folds are not on one scale, so rows are only
    compared within their test fold. The estimate is the mean of the areas
    :math:`A_k` of all folds by their number of pairs, over all repetitions. Folds with
    one class are left out. Two targets have different intervals:

    - ``"models"``: the mean area of the models that were fitted, on new rows. The
      variance V comes from the effects of rows within their folds (as in
      :func:`auc_interval`), which are summed over repetitions, since these have the
      same rows [1]_.
    - ``"procedure"``: the area of a model that the same procedure fits to all of these
      rows, or to others. Models of K folds share training rows, so the areas of their
      folds depend on each other. With the correlation 1 / K that Nadeau and Bengio [2]_
      suggest, the variance is :math:`(2 - 1 / K) V`.

    With `groups`, effects are summed within groups, as in :func:`auc_interval`; with
    few groups of a class in a fold, they are relative to the mean of all folds.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        Labels of two classes: booleans, numbers or strings.
    y_score : array-like of shape (n_rows,) or (n_rows, n_repetitions)
        Out-of-fold scores; one column per repetition if these have other folds.
    folds : array-like of shape (n_rows,) or (n_rows, n_repetitions)
        The test fold of each row, by number or name.
    target : {"models", "procedure"}
        The fitted models, or models that the procedure fits to other rows.
    fpr_range, tpr_range : pair of float, default=(0.0, 1.0)
        The part of the ROC curve: ``fpr_range=(0, 0.1)`` is the top tenth of the
        negatives, ``tpr_range=(0.9, 1)`` the lowest tenth of the positives.
    standardize, null, groups
        As in :func:`auc_interval`.
    confidence : float, default=0.95
        Probability that the interval is meant to cover.
    sample_weight : array-like of shape (n_rows,), default=None
        Nonnegative row weights; the weight of a pair is the product of its rows'.
    pos_label : label, default=None
        The positive class; by default, the second label in sorted order.

    Returns
    -------
    MetricInterval
        ``auc`` with its interval and ``target``.

    See Also
    --------
    compare_auc : Differences of models, also with ``folds``.

    References
    ----------
    .. [1] E. LeDell, M. Petersen, M. van der Laan. Computationally efficient confidence
       intervals for cross-validated area under the ROC curve estimates. Electronic
       Journal of Statistics 9, 2015.
    .. [2] C. Nadeau, Y. Bengio. Inference for the generalization error. Machine
       Learning 52, 2003.

    Examples
    --------
    >>> from aucmax.inference import cv_auc_interval
    >>> y, scores, folds = [0, 0, 1, 1] * 10, [*range(40)], [0] * 20 + [1] * 20
    >>> print(cv_auc_interval(y, scores, folds))
    AUC 0.6000 (95% interval 0.3973 to 0.7734), for the fitted models
    """
    check_confidence(confidence)
    check_choice("target", target, TARGETS)
    box = check_box(fpr_range, tpr_range)
    scale = area_scale(box, standardize)
    rows = check_two_classes(y_true, sample_weight, None, pos_label)
    codes = check_groups(groups, rows.is_positive.size)
    areas = AreaSample(rows.is_positive, rows.sample_weight, box, codes).check()
    sample = FoldSample(areas, check_folds(folds, rows.is_positive.size))
    found = sample.measure(check_fold_scores(y_score, sample.folds))
    if target == "procedure":
        found = replace(found, effects=refit_factor(sample.n_folds) * found.effects)
    sizes, degrees = sample.sizes(found.design_effect)
    warn_of_few_rows(sizes)
    unseen = found.unseen(sample.class_parts)
    ends = partial(
        area_interval,
        found.value,
        found.error,
        rows=sizes,
        degrees=degrees,
        unseen=unseen,
    )
    options = confidence, sizes, null, area_name(box), target
    area = rescaled_interval(found, ends, scale, *options)
    return with_note(area, y_true, pos_label)


TARGETS = ("models", "procedure")
_METHODS = ("auto", "delong", "logit", "newcombe", "bootstrap")


def check_fold_scores(
    y_score: Any, folds: IntArray, name: str = "y_score"
) -> FloatArray:
    """Check scores of cross-validation: one column, or one per repetition."""
    try:
        is_matrix = np.ndim(y_score) == 2
    except ValueError:  # lists of unequal length
        is_matrix = False
    if not is_matrix:
        return check_scores(y_score, folds.shape[0], name)
    scores = check_score_matrix(y_score, folds.shape[0], name)
    if scores.shape[1] not in (1, folds.shape[1]):
        raise ValueError(
            f"{name} has {scores.shape[1]} columns and folds has {folds.shape[1]}; "
            "both need one column per repetition."
        )
    return scores


def area_name(box: Box) -> str:
    """Return the name of the metric."""
    return "auc" if box == WHOLE_SQUARE else "partial_auc"


Ends = Callable[[float], tuple[float, float]]  # of the interval with a confidence


def rescaled_interval(
    found: Measured,
    ends: Ends,
    scale: tuple[float, float],
    confidence: float,
    rows: Rows,
    null: float | None,
    metric: str,
    target: str | None = None,
) -> MetricInterval:
    """Return the interval of an area on another scale, and the test of an area."""
    factor, shift = scale
    value, error = factor * found.value + shift, factor * found.error
    low, high = (factor * end + shift for end in ends(confidence))
    p_value = None
    if null is not None:
        check_number("null", null, -inf, inf)
        p_value = _p_value(ends, found.value, (null - shift) / factor)
    test = metric, p_value, null, target
    return MetricInterval(value, low, high, error, confidence, rows, *test)


def _p_value(ends: Ends, value: float, null: float) -> float:
    """Return one minus the confidence of the interval that ends at the null."""
    outside, inside = 1e-15, 1.0  # p-values
    if null == value:
        return 1.0
    for _ in range(60):
        middle = sqrt(outside * inside)
        low, high = ends(1.0 - middle)
        is_held = low <= null <= high
        outside, inside = (middle, inside) if is_held else (outside, middle)
    return inside


def area_scale(box: Box, standardize: str) -> tuple[float, float]:
    """Return factor and shift that bring a mean over a box to another scale."""
    check_choice("standardize", standardize, STANDARDS)
    rescale = STANDARDS[standardize](box)
    shift = rescale(0.0)
    return rescale(box_size(box)) - shift, shift


def _bootstrap_ends(
    task: RankingTask, box: Box, codes: IntArray | None, null: float | None
) -> Ends:
    if null is not None:
        raise ValueError("null has no test with method='bootstrap'; use another one.")
    rows: Any = {"sample_weight": task.sample_weight, "groups": codes}
    ranges: Any = {"fpr_range": box[:2], "tpr_range": box[2:]}
    draw = partial(
        bootstrap_interval, partial_auc_score, task.is_positive, task.scores, **rows
    )

    def ends(confidence: float) -> tuple[float, float]:
        found = draw(confidence=confidence, random_state=0, **ranges)
        return found.low, found.high

    return ends


# Chosen by the coverage of intervals of simulated rows, the first also by their width:
# `make coverage-intervals` tests both on other rows.
FEW_ERRORS = 5.0 - 1e-9  # less by rounding, so that equal weights change nothing
_UNSEEN = 0.6
_MIN_ROWS = 2.0 - 1e-9  # in the ranges; below, coverage fell under 92 % of 95 %


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


def area_interval(
    auc: float,
    error: float,
    confidence: float,
    rows: Rows,
    degrees: Any = None,
    few_errors: float = FEW_ERRORS,
    unseen: float = 0.0,
) -> tuple[float, float]:
    """Return the ends of an area's interval; see :func:`auc_interval`."""
    few = max(min(rows), 1.0)
    is_few = error == 0.0 or few * min(auc, 1.0 - auc) < few_errors
    if not is_few:
        error = sqrt(error**2 + unseen)
    if auc in (0.0, 1.0):
        bound = ((1.0 - confidence) / 2.0) ** (1.0 / few)
        return (bound, 1.0) if auc else (0.0, 1.0 - bound)
    low, high = auc, auc
    if error > 0.0:
        quantile = t_quantile(few - 1.0 if degrees is None else degrees, confidence)
        low, high = logit_ends(auc, error, quantile)
    if is_few:
        many = max(*rows, 1.0)
        quantile = t_quantile(few + many - 2.0, confidence)
        score = _score_ends(auc, quantile, few * many, few, many)
        low, high = min(low, score[0]), max(high, score[1])
    return low, high


def logit_ends(auc: float, error: float, quantile: float) -> tuple[float, float]:
    """Return the ends of an interval on the logit scale."""
    margin = quantile * error / (auc * (1.0 - auc))
    return float(expit(logit(auc) - margin)), float(expit(logit(auc) + margin))


def _textbook_ends(
    method: str, auc: float, error: float, confidence: float, *, rows: Rows, **_: Any
) -> tuple[float, float]:
    """Return the ends by a method with the normal quantile."""
    quantile = t_quantile(inf, confidence)
    if method == "newcombe":  # method 5: the mean of both sizes in place of each
        mean = sum(rows) / 2.0
        return _score_ends(auc, quantile, rows[0] * rows[1], mean, mean)
    if method == "logit":
        return (auc, auc) if auc in (0.0, 1.0) else logit_ends(auc, error, quantile)
    return max(auc - quantile * error, 0.0), min(auc + quantile * error, 1.0)


def _score_ends(
    auc: float, quantile: float, n_pairs: float, few: float, many: float
) -> tuple[float, float]:
    """Bisect each end of Newcombe's interval."""

    def end(outer: float) -> float:
        inner = auc
        while outer != (middle := (outer + inner) / 2.0) != inner:
            low, high = sorted(((1 - middle) / (2 - middle), middle / (1 + middle)))
            spread = 1.0 + (many - 1.0) * high + (few - 1.0) * low
            variance = middle * (1.0 - middle) * spread / n_pairs
            if (middle - auc) ** 2 > quantile**2 * variance:
                outer = middle
            else:
                inner = middle
        return outer

    return end(0.0), end(1.0)


def wilson_ends(
    share: Any, n: Any, confidence: float, extra_below: float = 0.0
) -> tuple[Any, Any]:
    """Return the ends of Wilson's interval of each share of n rows; 0 and 1 without.

    At an end, ``end - share == z * sqrt(end * (1 - end) / n)``. `extra_below` is added
    to z at the lower end, for a share that was chosen as the best of many.
    """
    z = t_quantile(inf, confidence)
    is_known = (np.asarray(n) > 0.0) & (share == share)
    n = np.where(is_known, n, 1.0)
    ends = []
    for quantile, without_rows in ((-z - extra_below, 0.0), (z, 1.0)):
        part = quantile**2 / n
        variance = np.maximum(share * (1.0 - share), 0.0) / n + part / (4.0 * n)
        end = (share + part / 2.0 + quantile * np.sqrt(variance)) / (1.0 + part)
        ends.append(np.where(is_known, np.clip(end, 0.0, 1.0), without_rows)[()])
    return ends[0], ends[1]


def t_quantile(degrees: float, confidence: float) -> float:
    """Return the quantile of a two-sided interval: Student's t, or normal if inf."""
    share = (1.0 + confidence) / 2.0
    if degrees == inf:
        return float(ndtri(share))
    return float(stdtrit(max(degrees, 1.0), share))


def t_tail(degrees: float, z: float) -> float:
    """Return the probability below z."""
    return float(ndtr(z) if degrees == inf else stdtr(max(degrees, 1.0), z))


class TwoSidedTest(NamedTuple):
    """A difference with its interval, and its test."""

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
    areas: Sequence[float] = (),
    *,
    degrees: float | None = None,
    quantile: float | None = None,
    null: float = 0.0,
    margin: float | None = None,
    unseen: float = 0.0,
) -> TwoSidedTest:
    """Test a difference of two areas; without, there is no rule for few errors."""
    few = max(min(rows), 1.0)
    degrees = few - 1.0 if degrees is None else degrees
    error = error_with_unseen(error, few, areas, unseen)
    if quantile is None:
        quantile = t_quantile(degrees, confidence)
    low = max(difference - quantile * error, -1.0)
    high = min(difference + quantile * error, 1.0)
    z = (difference - (null if margin is None else -margin)) / error
    tail = t_tail(degrees, -abs(z) if margin is None else -z)
    p_value = min(2.0 * tail, 1.0) if margin is None else tail
    return TwoSidedTest(difference, low, high, z, p_value)


def error_with_unseen(
    error: float, few: float, areas: Sequence[float], unseen: float = 0.0
) -> float:
    """Add what few rows have not shown; see :func:`compare_auc`."""
    n_errors = few * min((min(area, 1.0 - area) for area in areas), default=inf)
    is_small = error == 0.0 or n_errors < FEW_ERRORS
    return hypot(error, _UNSEEN / few if is_small else sqrt(unseen))
