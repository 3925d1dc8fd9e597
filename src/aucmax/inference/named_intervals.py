"""Intervals of metrics by name, each by the method that suits it."""

from __future__ import annotations

from dataclasses import replace
from math import hypot, inf
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from aucmax._core.parameters import check_choice, check_integer
from aucmax._core.validation import FloatArray, check_scores
from aucmax.inference.influence import (
    AreaSample,
    QuerySample,
    Rows,
    check_folds,
    positions_in_folds,
    refit_factor,
)
from aucmax.inference.intervals import (
    FEW_ERRORS,
    TARGETS,
    auc_interval,
    cv_auc_interval,
    logit_ends,
    t_quantile,
    wilson_ends,
)
from aucmax.inference.resampling import bootstrap_interval, percentiles
from aucmax.inference.results import MetricInterval, check_confidence, with_note
from aucmax.inference.top_influence import PrecisionSample, ResampledSample, check_rows
from aucmax.metrics.metric_names import NamedMetric, parse_metric
from aucmax.metrics.top_of_list import Thresholds

_MIN_DEGREES = 4.0  # of a variance that a few rows make up; chosen by simulation
_EXTRA_FOR_THE_BEST = 0.5  # z at the lower end of the best of many thresholds

Ends = tuple[float, float]


def metric_interval(
    y_true: ArrayLike,
    y_score: ArrayLike,
    metric: str = "average_precision",
    *,
    confidence: float = 0.95,
    n_resamples: int = 1000,
    random_state: int | np.random.Generator | None = 0,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    qid: ArrayLike | None = None,
    folds: ArrayLike | None = None,
    target: str = "models",
    pos_label: Any = None,
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
    - ``"ks"``: the same of Wilson's intervals of both rates at the best threshold, with
      z + 0.5 in place of z at the lower end, since it looks best on these rows.
    - ``"auc"``, ``"partial_auc"`` and ``"gini"``: :func:`auc_interval`.
    - all others, and those of rates with `groups`: percentiles of resampled rows or
      groups, extended to Wilson's interval where fewer than 5 errors are expected.
      Costs `n_resamples` times the metric.
    - with `qid`, the mean over queries: Student's t over the queries.
    - with `folds`, areas by :func:`cv_auc_interval`. Other metrics are not means over
      folds: in a fifth of the rows chance makes them higher. Each score is replaced by
      the share of its fold that it outranks, and all rows form one list. With
      ``target="procedure"`` the distance of both ends from the value is multiplied by
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
        ``"auc"``; with `qid` also ``"ndcg@10"`` and ``"map"``.
    confidence : float, default=0.95
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
    target : {"models", "procedure"}
        With `folds`, as in :func:`cv_auc_interval`.
    pos_label : label, default=None
        The positive class; by default, the second label in sorted order.
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
    recall@fpr=0.1 0.1500 (95% interval 0.0102 to 0.4768)
    >>> print(metric_interval(y, scores))
    average precision 0.5706 (95% interval 0.3245 to 0.7861)
    """
    check_confidence(confidence)
    check_integer("n_resamples", n_resamples, 2)
    check_choice("target", target, TARGETS)
    named = parse_metric(metric)
    _check_units(named, qid, groups=groups, folds=folds)
    rows: Any = {"sample_weight": sample_weight, **metric_options}
    if pos_label is not None:
        rows["pos_label"] = pos_label
    draws: Any = {"n_resamples": n_resamples, "random_state": random_state}
    in_folds: Any = {} if folds is None else {"folds": folds, "target": target}
    if qid is not None:
        values = named.function(y_true, y_score, qid=qid, average=None, **rows)
        found = _over_queries(values[~np.isnan(values)], named, confidence)
    elif named.base in ("auc", "partial_auc", "gini"):
        rows |= {"groups": groups, "confidence": confidence, **in_folds}
        found = (cv_auc_interval if in_folds else auc_interval)(y_true, y_score, **rows)
        if named.base == "gini":
            names = ("value", "low", "high")
            ends = {name: 2.0 * getattr(found, name) - 1.0 for name in names}
            found = replace(found, **ends, standard_error=2.0 * found.standard_error)
    elif named.kind.uses_levels:
        rows |= {"groups": groups, "confidence": confidence, **draws}
        found = bootstrap_interval(named.function, y_true, y_score, **rows)
    else:
        for name in metric_options:
            raise TypeError(f"metric={metric!r} has no option {name!r}.")
        sample = check_rows(y_true, sample_weight, groups, pos_label)
        scores = check_scores(y_score, sample.is_positive.size)
        of_scores = _of_folds if in_folds else _of_two_classes
        found = of_scores(named, sample, scores, confidence, draws, **in_folds)
    return with_note(replace(found, metric=metric), y_true, pos_label)


def _check_units(named: NamedMetric, qid: Any, **units: Any) -> None:
    """Reject a mean over queries without queries, or with groups or folds."""
    for name, given in units.items():
        if qid is not None and given is not None:
            raise ValueError(f"{name} cannot be given with qid: queries are the units.")
    if qid is None and named.kind.needs_queries:
        raise ValueError(f"metric={named.name!r} is a mean over queries; give qid.")
    if named.kind.uses_levels and units["folds"] is not None:
        raise ValueError(f"folds is not supported for metric={named.name!r}.")


def _over_queries(
    values: FloatArray, named: NamedMetric, confidence: float
) -> MetricInterval:
    if values.size < 2:
        raise ValueError(
            f"qid has {values.size} queries with a value of {named.name!r}; an "
            "interval needs at least two."
        )
    found = QuerySample(values.size).measure(values)
    margin = t_quantile(values.size - 1.0, confidence) * found.error
    low = max(found.value - margin, named.kind.bounds[0])
    high = min(found.value + margin, named.kind.bounds[1])
    return MetricInterval(found.value, low, high, found.error, confidence)


def _of_two_classes(
    named: NamedMetric, rows: AreaSample, scores: Any, confidence: float, draws: Any
) -> MetricInterval:
    if named.base == "average_precision":
        return _of_precision(PrecisionSample(rows), scores, confidence)
    if named.base in _RULES and rows.groups is None:
        given = rows.is_positive, scores, rows.sample_weight, None, None
        curve = Thresholds.of(*given)
        value, low, high = _RULES[named.base](named, curve, rows.n_rows, confidence)
        error = (high - low) / (2.0 * t_quantile(inf, confidence))
        return MetricInterval(value, low, high, error, confidence, rows.n_rows)
    sample = ResampledSample.of(named, rows, **draws)
    value, drawn = sample.value(scores), sample.draws(scores)
    # as a share of rows, whose number Wilson's interval needs
    unit, n = sample.unit, rows.n_units[0]
    if named.base in ("precision", "lift"):
        n = min(named.options["k"], float(scores.size))
    elif named.base == "precision@recall" and value > 0.0:
        n = max(named.options["recall"] * n / value, 1.0)
    low, high = _with_few_errors(value, percentiles(drawn, confidence), n, confidence)
    error = unit * float(drawn.std(ddof=1))
    ends = unit * low, unit * high
    return MetricInterval(unit * value, *ends, error, confidence, rows.n_units)


def _of_folds(
    named: NamedMetric,
    rows: AreaSample,
    scores: Any,
    confidence: float,
    draws: Any,
    folds: Any,
    target: str,
) -> MetricInterval:
    """Rank all rows by their positions in their folds; see :func:`metric_interval`."""
    numbers = check_folds(folds, scores.size)
    positions = positions_in_folds(scores, numbers)
    interval = _of_two_classes(named, rows, positions, confidence, draws)
    n_folds = numbers.max() + 1.0 if target == "procedure" else 1.0
    factor, (least, most) = refit_factor(n_folds), named.kind.bounds
    low = max(interval.value - factor * (interval.value - interval.low), least)
    high = min(interval.value + factor * (interval.high - interval.value), most)
    error = factor * interval.standard_error
    return replace(interval, low=low, high=high, standard_error=error, target=target)


def _of_precision(
    sample: PrecisionSample, scores: Any, confidence: float
) -> MetricInterval:
    found = sample.measure(scores)
    rows, degrees = sample.sizes(found.design_effect)
    value, squares = found.value, found.effects**2
    ends = value, value
    if 0.0 < value < 1.0 and found.error > 0.0:
        held = float(squares.sum()) ** 2 / float(squares @ squares)
        degrees = min(max(held, _MIN_DEGREES), degrees)
        ends = logit_ends(value, found.error, t_quantile(degrees, confidence))
    ends = _with_few_errors(value, ends, max(min(rows), 1.0), confidence)
    return MetricInterval(value, *ends, found.error, confidence, rows)


def _with_few_errors(share: float, ends: Any, n: float, confidence: float) -> Ends:
    """Extend to Wilson's interval of a share of n rows where errors are few."""
    low, high = map(float, ends)
    if n * min(share, 1.0 - share) < FEW_ERRORS or low == high:
        by_share = wilson_ends(share, n, confidence)
        low, high = min(low, float(by_share[0])), max(high, float(by_share[1]))
    return low, high


def _recall_at_fpr(
    named: NamedMetric, curve: Thresholds, rows: Rows, confidence: float
) -> tuple[float, float, float]:
    fpr = named.options["fpr"]
    lower, upper = wilson_ends(fpr, rows[1], confidence)
    upper = min(upper + 1.0 / rows[1], 1.0)  # the curve has steps
    rates = (fpr, lower, upper)
    value, below, above = (float(curve.recall_at_fpr(x).values[0]) for x in rates)
    low, high = wilson_ends(value, rows[0], confidence)
    low = max(value - hypot(value - low, value - below), 0.0)
    return value, low, min(value + hypot(high - value, above - value), 1.0)


def _ks(
    named: NamedMetric, curve: Thresholds, rows: Rows, confidence: float
) -> tuple[float, float, float]:
    # recall and specificity, the first without alerts
    recall = np.concatenate(([0.0], curve.recall))
    passed = np.concatenate(([1.0], 1.0 - curve.alarms / curve.negatives))
    best = int(np.argmax(recall + passed))
    shares = np.array([recall[best], passed[best]])
    low, high = wilson_ends(shares, np.array(rows), confidence, _EXTRA_FOR_THE_BEST)
    value = float(shares.sum()) - 1.0
    low, high = value - hypot(*shares - low), value + hypot(*high - shares)
    return value, max(low, 0.0), min(high, 1.0)


_RULES = {"recall@fpr": _recall_at_fpr, "ks": _ks}
