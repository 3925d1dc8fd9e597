"""Confidence intervals of metrics, each by the method that suits it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from math import hypot, inf, sqrt
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from aucmax._core.parameters import check_choice, check_integer, check_number
from aucmax._core.validation import FloatArray, IntArray
from aucmax.inference.influence import (
    Influence,
    check_query_values,
    class_sizes,
    mean_influence,
    refit_factor,
    share_interval,
)
from aucmax.inference.intervals import (
    EXTRA_FOR_THE_BEST,
    FEW_ERRORS,
    Ends,
    Rows,
    area_interval,
    logit_ends,
    t_quantile,
    textbook_interval,
    warn_of_few_rows,
    wilson_ends,
)
from aucmax.inference.metric_rows import (
    MetricRows,
    area_scale,
    check_estimand,
    check_list,
    drop_missing,
    parse_row_metric,
)
from aucmax.inference.resampling import bootstrap_interval, percentiles
from aucmax.inference.results import MetricInterval, check_confidence, with_note
from aucmax.metrics._steps import WHOLE_SQUARE, RankingTask, check_box
from aucmax.metrics.metric_names import NamedMetric
from aucmax.metrics.top_of_list import Thresholds

_METHODS = ("auto", "delong", "logit", "newcombe")
_MIN_DEGREES = 4.0  # of a variance that a few rows make up; chosen by simulation

EndsOf = Callable[[float], Ends]  # of the interval with a confidence


def auc_interval(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    fpr_range: Sequence[float] = (0.0, 1.0),
    tpr_range: Sequence[float] = (0.0, 1.0),
    standardize: str = "mean",
    method: str = "auto",
    null: float | None = None,
    confidence_level: float = 0.95,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    folds: ArrayLike | None = None,
    estimand: str = "models",
    pos_label: object = None,
    na: str = "raise",
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

    With `folds`, scores are those of cross-validation. Models fitted to different folds
    are not on one scale, so rows are only compared within their test fold. The estimate
    is the mean of the areas :math:`A_k` of all folds by their number of pairs, over all
    repetitions. Folds with one class are left out. Two estimands have different
    intervals:

    - ``"models"``: the mean area of the models that were fitted, on new rows. The
      variance V comes from the effects of rows within their folds, which are summed
      over repetitions, since these have the same rows [9]_.
    - ``"procedure"``: the area of a model that the same procedure fits to all of these
      rows, or to others. Models of K folds share training rows, so the areas of their
      folds depend on each other. With the correlation 1 / K that Nadeau and Bengio
      [10]_ suggest, the variance is :math:`(2 - 1 / K) V`.

    With few groups of a class in a fold, the effects of groups are relative to the mean
    of all folds.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        Labels of two classes: booleans, numbers or strings.
    y_score : array-like of shape (n_rows,) or (n_rows, n_repetitions)
        Finite scores, high for positive rows; compared as float64. With `folds`, one
        column per repetition if these have other folds.
    fpr_range, tpr_range : pair of float, default=(0.0, 1.0)
        The part of the ROC curve: ``fpr_range=(0, 0.1)`` is the top tenth of the
        negatives, ``tpr_range=(0.9, 1)`` the lowest tenth of the positives.
    standardize : {"mean", "area", "mcclish"}
        Scale of a partial AUC, as in :func:`aucmax.metrics.partial_auc_score`.
    method : {"auto", "delong", "logit", "newcombe"}
        ``"auto"`` is the rule above. The others are methods of textbooks:
        :math:`A \pm z \sigma` with the normal quantile, within [0, 1]; the same on the
        logit scale; Newcombe's method 5 [6]_. They cover too rarely with few rows or an
        area near 1, as does :func:`bootstrap_interval`.
    null : float, optional
        Test whether the area equals this one: the p-value is one minus the confidence
        of the interval that ends there.
    confidence_level : float, default=0.95
        Probability that the interval is meant to cover.
    sample_weight : array-like of shape (n_rows,), optional
        Weights of independent rows (not how often a row was seen): with shares
        :math:`w_i` of the class, the sums become :math:`\sum_i w_i^2 (V_i - A)^2 / (1 -
        \sum_i w_i^2)`, and p and n become :math:`1 / \sum_i w_i^2`, the same as above
        for equal weights.
    groups : array-like of shape (n_rows,), optional
        The group (cluster) of each row, such as the patient that several rows are from.
        Rows of different groups are independent. A group may have rows of one class.
    folds : array-like of shape (n_rows,) or (n_rows, n_repetitions), optional
        The test fold of each row, by number or name.
    estimand : {"models", "procedure"}
        With `folds`: the fitted models, or models that the procedure fits to other
        rows.
    pos_label : label, default=None
        The positive class; by default, the second label in sorted order.
    na : {"raise", "drop"}
        Whether missing values are an error, or their rows are left out, with a note.

    Returns
    -------
    MetricInterval
        ``value`` with ``low``, ``high`` and ``standard_error``; ``p_value`` with
        `null`.

    Warns
    -----
    FewRowsWarning
        The ranges hold fewer than 2 rows of a class, too few for any interval here.

    See Also
    --------
    metric_interval : Any other metric.
    compare_auc : Whether two models differ.

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
    .. [9] E. LeDell, M. Petersen, M. van der Laan. Computationally efficient confidence
       intervals for cross-validated area under the ROC curve estimates. Electronic
       Journal of Statistics 9, 2015.
    .. [10] C. Nadeau, Y. Bengio. Inference for the generalization error. Machine
       Learning 52, 2003.

    Examples
    --------
    >>> from aucmax.inference import auc_interval
    >>> print(auc_interval([0, 0, 0, 1, 1, 1], [1, 2, 4, 3, 5, 6]))
    AUC 0.8889 (95% interval 0.0084 to 0.9999)
    >>> y, scores = [0, 1] * 20, [*range(30), *range(10)]
    >>> print(auc_interval(y, scores, null=0.5, groups=[*range(20)] * 2))
    AUC 0.5375 (95% interval 0.4067 to 0.6634), p = 0.536 for AUC 0.5
    >>> y, scores, folds = [0, 0, 1, 1] * 10, [*range(40)], [0] * 20 + [1] * 20
    >>> print(auc_interval(y, scores, folds=folds))
    AUC 0.6000 (95% interval 0.3973 to 0.7734), for the fitted models
    """
    check_confidence(confidence_level)
    box = check_box(fpr_range, tpr_range)
    check_choice("method", method, _METHODS)
    check_estimand(estimand, folds)
    scale = area_scale(box, standardize)
    (y_true, y_score, sample_weight, groups, folds), dropped = drop_missing(
        na, y_true, y_score, sample_weight, groups, folds
    )
    rows = MetricRows(
        y_true, sample_weight, groups, folds=folds, box=box, pos_label=pos_label
    )
    area = rows.auc()(y_score, "y_score")
    if estimand == "procedure":
        area = area.inflate(refit_factor(area.n_folds))
    warn_of_few_rows(area.rows)
    ends = area_ends(area)
    if method != "auto":
        ends = partial(
            textbook_interval, area.value, area.error, rows=area.rows, method=method
        )
    interval = rescaled_interval(area, ends, scale, confidence_level, null)
    metric = "auc" if box == WHOLE_SQUARE else "partial_auc"
    about = None if folds is None else estimand
    interval = replace(interval, metric=metric, estimand=about)
    return with_note(interval, y_true, pos_label, dropped)


def area_ends(area: Influence) -> EndsOf:
    """Return the ends of the interval of an area by their confidence."""
    sizes: Any = {"rows": area.rows, "degrees": area.degrees}
    return partial(area_interval, area.value, area.error, **sizes, unseen=area.unseen)


def rescaled_interval(
    influence: Influence,
    ends: EndsOf,
    scale: tuple[float, float],
    confidence_level: float,
    null: float | None,
) -> MetricInterval:
    """Return the interval of an area on another scale, and the test of an area."""
    factor, shift = scale
    value, error = factor * influence.value + shift, factor * influence.error
    low, high = (factor * end + shift for end in ends(confidence_level))
    area = MetricInterval(value, low, high, error, confidence_level, influence.rows)
    if null is None:
        return area
    check_number("null", null, -inf, inf)
    p_value = _p_value(ends, influence.value, (null - shift) / factor)
    return replace(area, null=null, p_value=p_value)


def _p_value(ends: EndsOf, value: float, null: float) -> float:
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


def metric_interval(
    y_true: ArrayLike,
    y_score: ArrayLike,
    metric: str = "average_precision",
    *,
    confidence_level: float = 0.95,
    n_resamples: int = 1000,
    random_state: int | np.random.Generator | None = 0,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    qid: ArrayLike | None = None,
    folds: ArrayLike | None = None,
    estimand: str = "models",
    pos_label: object = None,
    na: str = "raise",
    **metric_options: Any,
) -> MetricInterval:
    r"""Any metric by its name, with a confidence interval.

    Rows are independent draws, so that the share of positives varies, too. The methods:

    - ``"average_precision"``: with the effect :math:`e_i` of each row (its weight times
      the derivative of AP by it) and :math:`\sigma^2 = \sum_i e_i^2`, the interval is
      :math:`\mathrm{logit}(\mathrm{AP}) \pm t \sigma / (\mathrm{AP} (1 -
      \mathrm{AP}))`, mapped back. Student's t has :math:`(\sum e_i^2)^2 / \sum e_i^4`
      degrees of freedom, the number of rows that the variance rests on, at least 4 and
      at most k - 1, with k = min(p, n). Where :math:`k \min(\mathrm{AP}, 1 -
      \mathrm{AP}) < 5`, it is extended to Wilson's interval of a share of k rows. Costs
      O(m log m).
    - ``"recall@fpr=0.01"``: Wilson's interval [l, u] of the recall r at the threshold,
      combined with the recall at the false positive rates that are the ends of Wilson's
      interval of `fpr` among the negatives, :math:`r_l` and :math:`r_u`, since the
      threshold is estimated: from :math:`r - \sqrt{(r - l)^2 + (r - r_l)^2}` to
      :math:`r + \sqrt{(u - r)^2 + (r_u - r)^2}` [1]_. Costs O(m log m).
      At rates x below :math:`1 / (n + 1)`, which is that of the highest of n negatives,
      :math:`r_l` is multiplied by :math:`\sqrt{x (n + 1)}`.
    - ``"ks"``: the same of Wilson's intervals of both rates at the best threshold, with
      z + 0.5 in place of z at the lower end, since it looks best on these rows. With
      `groups`, of as many rows as have the same variance if they are independent.
    - ``"auc"``, ``"partial_auc"`` and ``"gini"``: :func:`auc_interval`.
    - all others, and recall at a rate with `groups`: percentiles of resampled rows or
      groups, extended to Wilson's interval where fewer than 5 errors are expected.
      Costs `n_resamples` times the metric.
    - with `qid`, the mean over queries: Student's t over the queries.
    - with `folds`, areas by :func:`auc_interval`. Other metrics are not means over
      folds: in a fifth of the rows chance makes them higher. Each score is replaced by
      the share of its fold that it outranks, and all rows form one list. With
      ``estimand="procedure"`` the distance of both ends from the value is multiplied by
      :math:`\sqrt{2 - 1 / K}` for K folds, as the errors of areas are.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        Labels of two classes: booleans, numbers or strings.
    y_score : array-like of shape (n_rows,)
        Finite scores, high for positive or relevant rows; compared as float64.
    metric : str
        A name such as ``"average_precision"``, ``"recall@fpr=0.01"``,
        ``"precision@100"``, ``"recall@100"``, ``"lift@100"``,
        ``"recall@precision=0.9"``, ``"precision@recall=0.8"``, ``"ks"``, ``"gini"`` or
        ``"auc"``; with `qid` also ``"ndcg@10"`` and ``"map"``. In clinical words
        ``"sensitivity@specificity=0.95"`` is the recall at a rate of 0.05.
    confidence_level : float, default=0.95
        Probability that the interval is meant to cover.
    n_resamples : int
        Number of draws, for metrics by resampling.
    random_state : int, numpy.random.Generator or None
        Seed of the draws.
    sample_weight : array-like of shape (n_rows,), default=None
        Nonnegative row weights; the weight of a pair is the product of its rows'.
    groups : array-like of shape (n_rows,), optional
        The group (cluster) of each row, such as the patient that several rows are from.
    qid : array-like of shape (n_rows,), default=None
        The query of each row; the value is then a mean over queries.
    folds : array-like of shape (n_rows,), optional
        The test fold of each row, for scores from cross-validation.
    estimand : {"models", "procedure"}
        With `folds`, as in :func:`auc_interval`.
    pos_label : label, default=None
        The positive class; by default, the second label in sorted order.
    na : {"raise", "drop"}
        Whether missing values are an error, or their rows are left out, with a note.
    **metric_options
        Options of the metric, such as ``fpr_range=(0, 0.1)`` of the partial AUC.

    Returns
    -------
    MetricInterval
        ``value`` with ``low``, ``high`` and ``standard_error``.

    See Also
    --------
    compare_auc : Differences of models, by the same names.
    aucmax.decisions.operating_point : The threshold, with the intervals of its outcome.

    References
    ----------
    .. [1] G. Y. Zou, A. Donner. Construction of confidence limits about effect
       measures: a general approach. Statistics in Medicine 27(10), 2008.

    Examples
    --------
    >>> from aucmax.inference import metric_interval
    >>> y, scores = [0, 1] * 20, [*range(30), *range(10)]
    >>> print(metric_interval(y, scores, "recall@fpr=0.1"))
    recall@fpr=0.1 0.1500 (95% interval 0.0016 to 0.4768)
    >>> print(metric_interval(y, scores))
    average precision 0.5706 (95% interval 0.3245 to 0.7861)
    """
    check_confidence(confidence_level)
    check_integer("n_resamples", n_resamples, 2)
    check_estimand(estimand, folds)
    named = parse_row_metric(metric)
    kind = named.kind
    _check_units(named, qid, groups=groups, folds=folds)
    (y_true, y_score, sample_weight, groups, qid, folds), dropped = drop_missing(
        na, y_true, y_score, sample_weight, groups, qid, folds
    )
    options: Any = {"sample_weight": sample_weight, **metric_options}
    if pos_label is not None:
        options["pos_label"] = pos_label
    draws: Any = {"n_resamples": n_resamples, "random_state": random_state}
    if qid is not None:
        values = named.function(y_true, y_score, qid=qid, average=None, **options)
        interval = mean_interval(values, confidence_level, kind.bounds)
    elif kind.influence == "area":
        options |= {"groups": groups, "folds": folds, "estimand": estimand}
        interval = _rescale(
            auc_interval(y_true, y_score, confidence_level=confidence_level, **options),
            *kind.scale,
        )
    elif kind.uses_levels:
        options |= {"groups": groups, "confidence_level": confidence_level, **draws}
        interval = bootstrap_interval(named.function, y_true, y_score, **options)
    else:
        for name in metric_options:
            raise TypeError(f"metric={metric!r} has no option {name!r}.")
        rows = MetricRows(
            y_true, sample_weight, groups, folds=folds, pos_label=pos_label
        )
        interval = _list_interval(named, rows, y_score, confidence_level, draws)
        if folds is not None:
            interval = _stretch(interval, folds, estimand, kind.bounds)
    return with_note(replace(interval, metric=metric), y_true, pos_label, dropped)


def _rescale(interval: MetricInterval, factor: float, shift: float) -> MetricInterval:
    """Return an interval of an area on the scale of another metric."""
    ends = {n: factor * getattr(interval, n) + shift for n in ("value", "low", "high")}
    error = factor * interval.standard_error
    return replace(interval, **ends, standard_error=error)


def _check_units(named: NamedMetric, qid: object, **units: object) -> None:
    """Reject a mean over queries without queries, or with groups or folds."""
    for name, values in units.items():
        if qid is not None and values is not None:
            raise ValueError(f"{name} cannot be given with qid: queries are the units.")
    if qid is None and named.kind.needs_queries:
        raise ValueError(f"metric={named.name!r} is a mean over queries; give qid.")
    if named.kind.uses_levels and units["folds"] is not None:
        raise ValueError(f"folds is not supported for metric={named.name!r}.")


def mean_interval(
    values: FloatArray,
    confidence_level: float,
    bounds: tuple[float, float] = (0.0, 1.0),
    factor: float = 1.0,
) -> MetricInterval:
    """Return the mean of values of queries, with its interval times a factor.

    If all are 0 or all are 1, it is the exact binomial one.
    """
    values = check_query_values(values)
    influence = mean_influence(values)
    mean = low = high = influence.value
    if influence.error > 0.0:
        quantile = t_quantile(values.size - 1.0, confidence_level)
        margin = factor * quantile * influence.error
        low, high = max(mean - margin, bounds[0]), min(mean + margin, bounds[1])
    elif mean in bounds == (0.0, 1.0):
        size = float(values.size)
        low, high = area_interval(mean, 0.0, confidence_level, (size, size))
    return MetricInterval(mean, low, high, influence.error, confidence_level)


def _list_interval(
    named: NamedMetric,
    rows: MetricRows,
    y_score: Any,
    confidence_level: float,
    draws: Any,
) -> MetricInterval:
    """Return the interval of a metric of one list of rows of two classes."""
    if named.base == "ks" or (named.base == "recall@fpr" and rows.groups is None):
        labels, groups, folds = rows.check()
        task = labels.task(check_list(y_score, labels, folds))
        sizes, _ = class_sizes(labels)
        if named.base == "ks":
            value, low, high = _ks(task, groups, confidence_level)
        else:
            fpr = named.options["fpr"]
            value, low, high = _recall_at_fpr(task, fpr, sizes, confidence_level)
        error = (high - low) / (2.0 * t_quantile(inf, confidence_level))
        return MetricInterval(value, low, high, error, confidence_level, sizes)
    influence = rows.top_of_list(named, **draws)(y_score, "y_score")
    value, unit = influence.value, influence.scale[0]
    if influence.draws is None:
        n = max(min(influence.rows), 1.0)
        low, high = _logit_ends_of_few(influence, confidence_level)
    else:  # as a share of n rows
        n = influence.rows[0]
        if named.kind.parameter == "k" and named.base != "recall":
            n = min(named.options["k"], float(np.size(y_score)))
        elif named.base == "precision@recall" and value > 0.0:
            n = max(named.options["recall"] * n / value, 1.0)
        low, high = map(float, percentiles(influence.draws, confidence_level))
    if n * min(value, 1.0 - value) < FEW_ERRORS or low == high:
        wilson = wilson_ends(value, n, confidence_level)
        low, high = min(low, float(wilson[0])), max(high, float(wilson[1]))
    error = influence.error
    interval = MetricInterval(value, low, high, error, confidence_level, influence.rows)
    return _rescale(interval, unit, 0.0)


def _logit_ends_of_few(influence: Influence, confidence_level: float) -> Ends:
    """Return ends on the logit scale, by the number of rows that have the variance."""
    if not 0.0 < influence.value < 1.0 or influence.error == 0.0:
        return influence.value, influence.value
    squares = influence.effects**2
    n_large = float(squares.sum()) ** 2 / float(squares @ squares)
    degrees = min(max(n_large, _MIN_DEGREES), influence.degrees)
    quantile = t_quantile(degrees, confidence_level)
    return logit_ends(influence.value, influence.error, quantile)


def _stretch(
    interval: MetricInterval,
    folds: ArrayLike,
    estimand: str,
    bounds: tuple[float, float],
) -> MetricInterval:
    """Multiply the distance of both ends by the factor of standard errors."""
    n_folds = np.unique(folds).size if estimand == "procedure" else 1.0
    factor, value = refit_factor(n_folds), interval.value
    low = max(value - factor * (value - interval.low), bounds[0])
    high = min(value + factor * (interval.high - value), bounds[1])
    error = factor * interval.standard_error
    return replace(
        interval, low=low, high=high, standard_error=error, estimand=estimand
    )


def _recall_at_fpr(
    task: RankingTask, fpr: float, rows: Rows, confidence_level: float
) -> tuple[float, float, float]:
    """Return the recall at a rate with its interval, for an estimated threshold."""
    curve = Thresholds.from_task(task)
    lower, upper = wilson_ends(fpr, rows[1], confidence_level)
    upper = min(upper + 1.0 / rows[1], 1.0)  # the curve has steps
    rates = (fpr, lower, upper)
    value, below, above = (float(curve.recall_at_fpr(x).values[0]) for x in rates)
    # no negative is at so low a rate; a curve of AUC 2/3 would fall like this
    below *= sqrt(min(lower * (rows[1] + 1.0), 1.0))
    low, high = wilson_ends(value, rows[0], confidence_level)
    low = max(value - hypot(value - low, value - below), 0.0)
    return value, low, min(value + hypot(high - value, above - value), 1.0)


def _ks(
    task: RankingTask, groups: IntArray | None, confidence_level: float
) -> tuple[float, float, float]:
    """Return the KS statistic with its interval, from those of both rates."""
    scores, tp, fp = task.steps().counts_above()
    best = int(np.argmax(tp / tp[-1] - fp / fp[-1]))
    is_alert = task.scores >= (scores[best - 1] if best else np.inf)
    recall, specificity = (
        share_interval(
            side,
            is_alert == task.is_positive,
            confidence_level,
            task.sample_weight,
            groups,
            EXTRA_FOR_THE_BEST,
        )
        for side in (task.is_positive, ~task.is_positive)
    )
    shares, low, high = np.array([recall, specificity]).T[[0, 2, 3]]
    value = float(shares.sum()) - 1.0
    low, high = value - hypot(*shares - low), value + hypot(*high - shares)
    return value, max(low, 0.0), min(high, 1.0)
