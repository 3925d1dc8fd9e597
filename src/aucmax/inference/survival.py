"""Intervals and tests for censored times: concordance, and the AUC at given times."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from math import inf, sqrt
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from aucmax._core.censored_times import SurvivalRows
from aucmax._core.validation import (
    FloatArray,
    IntArray,
    check_scores,
)
from aucmax.exceptions import NotEnoughClassesError
from aucmax.inference.differences import DifferenceTests, Estimates
from aucmax.inference.influence import (
    Influence,
    check_groups,
    effective_rows,
    shrink,
)
from aucmax.inference.intervals import Rows, area_interval
from aucmax.inference.metric_intervals import area_ends, rescaled_interval
from aucmax.inference.resampling import check_score_columns
from aucmax.inference.results import (
    DynamicAUC,
    MetricComparison,
    MetricInterval,
    check_confidence,
)
from aucmax.metrics.concordance import (
    Censoring,
    PairShares,
    concordance_shares,
    event_weights,
    pair_shares,
    split_arguments,
)


def concordance_measure(
    event: Any, time: Any, sample_weight: Any, qid: Any, groups: Any, **options: Any
) -> Callable[..., Influence]:
    """Check rows; return the concordance index of any scores with its effects."""
    rows = SurvivalRows(event, time, sample_weight, qid)
    codes = check_groups(groups, rows.time.size)

    def measure(scores: Any, name: str = "y_score") -> Influence:
        checked = check_scores(scores, rows.time.size, name)
        shares = concordance_shares(rows, checked, **options)
        # without the terms for few rows in comparisons
        return replace(pair_influence(shares, rows.weight, codes), has_areas=False)

    return measure


def pair_influence(
    shares: PairShares, weight: FloatArray, groups: IntArray | None, where: str = ""
) -> Influence:
    """Return the effects of rows or groups, without bias for few of them."""
    rows, units = (_count_units(shares, codes, where) for codes in (None, groups))
    effects = weight * shares.effects
    total = shares.earlier + shares.later  # weight of the pairs with the row
    by_row = effects / np.sqrt(1.0 - total / shares.earlier.sum())
    # a row's effect is divided like its pairs, in which it is the earlier or the later
    as_earlier = by_row * shares.earlier / np.where(total > 0.0, total, 1.0)
    sides, by_unit = [as_earlier, by_row - as_earlier], by_row
    if groups is not None:
        n_units = min(units)
        by_unit = np.bincount(groups, effects) * sqrt(n_units / (n_units - 1.0))
        sides = [np.bincount(groups, side) for side in sides]
    rows = shrink(rows, units, by_row, by_unit)
    degrees = max(min(units) - 1.0, 1.0)
    classes = list(zip(sides, rows, strict=True))
    return Influence(shares.value, [(by_unit, degrees)], rows, degrees, classes)


def _count_units(shares: PairShares, groups: IntArray | None, where: str) -> Rows:
    """Return the effective rows or groups on both sides of pairs; reject a single one.

    These are the equally weighted rows of the same variance; rows weigh their pairs.
    """
    earlier, later = (
        effective_rows(side, side.size, groups)
        for side in (shares.earlier, shares.later)
    )
    if min(earlier, later) > 1.0 + 1e-12:
        return earlier, later
    kind = ("before other rows" if earlier <= later else "after an event") + where
    raise ValueError(
        f"The variance needs at least two rows {kind}"
        f"{', of different groups' if groups is not None else ''}, but there is one. "
        "Use more rows."
    )


def pair_interval(
    influence: Influence,
    confidence_level: float,
    metric: str,
    null: float | None = None,
) -> MetricInterval:
    """Return the interval of a share of pairs; see :func:`concordance_interval`."""
    effects = influence.effects
    squares = np.square(effects[effects != 0.0])
    total = float(squares.sum())
    spread = float(squares @ squares) - total**2 / max(squares.size, 1)
    by_tails = max(2.0 * total**2 / spread, 1.0) if spread > 0.0 else inf
    ends = partial(
        area_interval,
        influence.value,
        influence.error,
        rows=influence.rows,
        degrees=min(influence.degrees, by_tails),
        few_errors=0.0,  # the extension of `auc_interval` would cover in 99 to 100 %
        unseen=influence.unseen,
    )
    interval = rescaled_interval(influence, ends, (1.0, 0.0), confidence_level, null)
    return replace(interval, metric=metric)


def concordance_interval(
    event: object,
    time: object = None,
    y_score: object = None,
    *,
    method: str = "harrell",
    horizon: float | None = None,
    null: float | None = None,
    confidence_level: float = 0.95,
    sample_weight: ArrayLike | None = None,
    qid: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    censoring: tuple[ArrayLike, ArrayLike] | None = None,
) -> MetricInterval:
    r"""Concordance index with a standard error and an interval on the logit scale.

    A row that is in :math:`b_i` of N comparable pairs, :math:`a_i` of them concordant,
    changes the index C by :math:`h_i = (a_i - C b_i) / N`. Uno's C has a further term,
    since its weights are estimated from the same rows. The variance is

    .. math:: \sigma^2 = \sum_i \frac{h_i^2}{1 - b_i / N} ,

    which is DeLong's for two times. The interval is :math:`\mathrm{logit}(C) \pm t
    \sigma / (C (1 - C))`, mapped back. Student's t has k - 1 degrees of freedom, where
    k is the effective number of rows on the earlier or on the later side of pairs
    (the smaller one), or :math:`2 (\sum h_i^2)^2 / (\sum h_i^4 - (\sum h_i^2)^2 / m)`
    if that is less, since few rows have most of the errors. A marker in few rows has
    the pseudo-rows of :func:`auc_interval`: the effect of a row is divided like its
    pairs, in which it is the earlier or the later one. Where all pairs are in
    order, or all scores equal, it is the interval of :func:`auc_interval` for classes
    of these sizes. Costs O(m log m).

    Parameters
    ----------
    event : array-like of shape (n_rows,)
        1 or True for an observed event, 0 or False for a censored row. Or events and
        times as one array, as :func:`aucmax.metrics.survival_target` returns them, in
        front of the scores.
    time : array-like of shape (n_rows,)
        Time from the start to the event or to censoring, at least 0.
    y_score : array-like of shape (n_rows,)
        Predicted risks: high for early events.
    method : {"harrell", "uno"}, default="harrell"
        As in :func:`aucmax.metrics.concordance_index`.
    horizon : float, default=None
        Only pairs whose event is before it count.
    null : float, optional
        Test whether the index equals this one, as :func:`auc_interval` does.
    confidence_level : float, default=0.95
        Probability that the interval is meant to cover.
    sample_weight : array-like of shape (n_rows,), default=None
        Nonnegative row weights; the weight of a pair is the product of its rows'.
    qid : array-like of shape (n_rows,), optional
        Strata: only rows of one stratum are compared. Rows remain independent.
    groups : array-like of shape (n_rows,), optional
        The group (cluster) of each row, such as its hospital or patient. Effects are
        summed within groups, so that their rows may depend on each other.
    censoring : pair of array-like, default=None
        Events and times to estimate the censoring from; by default the rows themselves.

    Returns
    -------
    MetricInterval
        ``value``, ``low``, ``high``, ``standard_error``; ``p_value`` with `null`.

    See Also
    --------
    compare_concordance : Whether models differ.
    aucmax.metrics.concordance_index : The value alone.

    References
    ----------
    .. [1] L. Kang, W. Chen, N. A. Petrick, B. D. Gallas. Comparing two correlated C
       indices with right-censored survival outcome: a one-shot nonparametric approach.
       Statistics in Medicine 34 (2015), 685-703.

    Examples
    --------
    >>> from aucmax.inference import concordance_interval
    >>> event, time = [1, 0, 1, 1, 0, 1] * 5, [*range(1, 31)]
    >>> scores = [-(t % 9) - t / 9 for t in time]
    >>> print(concordance_interval(event, time, scores))
    Harrell's C 0.6621 (95% interval 0.4999 to 0.7934)
    """
    check_confidence(confidence_level)
    options: Any = {"method": method, "horizon": horizon, "censoring": censoring}
    event, time, y_score = split_arguments(event, time, y_score)
    measure = concordance_measure(event, time, sample_weight, qid, groups, **options)
    return pair_interval(measure(y_score), confidence_level, f"{method}_c", null)


def compare_concordance(
    event: object,
    time: object = None,
    y_score: object = None,
    *,
    method: str = "harrell",
    horizon: float | None = None,
    reference: object = None,
    null: float = 0.0,
    margin: float | None = None,
    confidence_level: float = 0.95,
    sample_weight: ArrayLike | None = None,
    qid: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    censoring: tuple[ArrayLike, ArrayLike] | None = None,
) -> MetricComparison:
    """Test whether two or more models have the same concordance index.

    The variance of a difference is that of :func:`concordance_interval` with the
    differences of the effects of each row. Tests with Student's t, simultaneous
    intervals and Holm's p-values are those of :func:`compare_metric`, without its terms
    for few errors and few moved rows. Costs O(k m log m + k^2 m) for k models.

    Parameters
    ----------
    event, time : array-like of shape (n_rows,)
        As in :func:`concordance_interval`.
    y_score : mapping, frame, or array-like of shape (n_rows, n_models)
        The predicted risks of all models: a mapping from names to arrays, a frame with
        one column per model, a list of arrays, or a matrix.
    method : {"harrell", "uno"}, default="harrell"
        As in :func:`aucmax.metrics.concordance_index`.
    horizon : float, default=None
        Only pairs whose event is before it count.
    reference, null, margin
        As in :func:`compare_metric`.
    confidence_level : float, default=0.95
        Probability that the interval is meant to cover.
    sample_weight : array-like of shape (n_rows,), default=None
        Nonnegative row weights; the weight of a pair is the product of its rows'.
    qid, groups : array-like of shape (n_rows,), optional
        As in :func:`concordance_interval`.
    censoring : pair of array-like, default=None
        Events and times to estimate the censoring from; by default the rows themselves.

    Returns
    -------
    MetricComparison
        The test that all are equal, and all ``differences``.

    See Also
    --------
    compare_metric : The same for labels.

    Examples
    --------
    >>> from aucmax.inference import compare_concordance
    >>> event, time = [1, 0, 1, 1, 0, 1] * 5, [*range(1, 31)]
    >>> models = {"a": [-(t % 9) - t / 9 for t in time], "b": [-(t % 7) for t in time]}
    >>> found = compare_concordance(event, time, models)
    >>> print(found.differences[0])  # doctest: +NORMALIZE_WHITESPACE
    Harrell's C a 0.6621 against b 0.5086: difference 0.1534
    (95% interval -0.0438 to 0.3507), p = 0.117
    """
    check_confidence(confidence_level)
    event, time, y_score = split_arguments(event, time, y_score)
    tests = DifferenceTests(reference, null, margin, confidence_level)
    names, columns, pairs = tests.check_models(y_score)
    options: Any = {"method": method, "horizon": horizon, "censoring": censoring}
    measure = concordance_measure(event, time, sample_weight, qid, groups, **options)
    models = [measure(one, name) for one, name in zip(columns, names, strict=True)]
    models = [replace(one, classes=[]) for one in models]
    estimates = Estimates.from_models(names, models)
    return tests.compare(estimates, pairs, (1.0, 0.0), f"{method}_c")


def cumulative_dynamic_auc(
    event: ArrayLike,
    time: ArrayLike | None = None,
    y_score: ArrayLike | None = None,
    horizons: ArrayLike | None = None,
    *,
    confidence_level: float = 0.95,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    censoring: tuple[ArrayLike, ArrayLike] | None = None,
) -> DynamicAUC:
    r"""AUC at given times and its mean, with intervals: events so far against the rest.

    At time t, rows with an event up to t are the positives, and rows observed for
    longer than t the negatives; ties of scores count one half. Rows that are censored
    up to t are neither, and each positive i has the weight :math:`1 / G(t_i-)` in their
    place, where G is the Kaplan-Meier estimate of not yet being censored:

    .. math:: A(t) = \frac{\sum_{i: t_i \le t, e_i = 1} \sum_{j: t_j > t}
        1[s_i > s_j] / G(t_i-)}
        {\sum_{i: t_i \le t, e_i = 1} \sum_{j: t_j > t} 1 / G(t_i-)}

    The mean over the times :math:`\tau_1 < \dots < \tau_K` has the weights
    :math:`(S(\tau_{k-1}) - S(\tau_k)) / (1 - S(\tau_K))`, with the Kaplan-Meier
    estimate S of having had no event and :math:`S(\tau_0) = 1`. Variances come from the
    effect of each row, with terms for the estimated G and S. Intervals at times are
    those of :func:`auc_interval`, each with the given confidence; that of the mean is
    as in :func:`concordance_interval`. Costs O(m log m), and O(m) per time.

    Parameters
    ----------
    event : array-like of shape (n_rows,)
        1 or True for an observed event, 0 or False for a censored row. Or events and
        times as one array, as :func:`aucmax.metrics.survival_target` returns them, in
        front of scores and horizons.
    time : array-like of shape (n_rows,)
        Time from the start to the event or to censoring, at least 0.
    y_score : array-like of shape (n_rows,) or (n_rows, n_times)
        Predicted risks, high for early events; or one column per time.
    horizons : float or array-like of shape (n_times,)
        Rising times, from the first event to before the last time under observation.
    confidence_level : float, default=0.95
        Probability that the interval is meant to cover.
    sample_weight : array-like of shape (n_rows,), default=None
        Nonnegative row weights; the weight of a pair is the product of its rows'.
    groups : array-like of shape (n_rows,), optional
        As in :func:`concordance_interval`.
    censoring : pair of array-like, default=None
        Events and times to estimate the censoring from; by default the rows themselves.

    Returns
    -------
    DynamicAUC
        ``areas`` with an interval per time, and their ``mean``.

    See Also
    --------
    concordance_interval : One number for all times.

    References
    ----------
    .. [1] P. Blanche, J.-F. Dartigues, H. Jacqmin-Gadda. Estimating and comparing
       time-dependent areas under receiver operating characteristic curves for censored
       event times with competing risks. Statistics in Medicine 32 (2013), 5381-5397.
    .. [2] J. Lambert, S. Chevret. Summary measure of discrimination in survival models
       based on cumulative/dynamic time-dependent ROC curves. Statistical Methods in
       Medical Research 25 (2016), 2088-2102.

    Examples
    --------
    >>> from aucmax.inference import cumulative_dynamic_auc
    >>> event, time = [1, 0, 1, 1, 0, 1] * 5, [*range(1, 31)]
    >>> scores = [-(t % 9) - t / 9 for t in time]
    >>> print(cumulative_dynamic_auc(event, time, scores, [10, 20]))
    cumulative AUC 0.7146 (95% interval 0.3493 to 0.9212) at time 10
    cumulative AUC 0.7051 (95% interval 0.4135 to 0.8902) at time 20
    mean cumulative AUC 0.7098 (95% interval 0.4475 to 0.8808)
    """
    check_confidence(confidence_level)
    if horizons is None:  # of (y_true, y_score, horizons)
        y_score, horizons = None, y_score
    event, time, y_score = split_arguments(event, time, y_score)
    if horizons is None:
        raise TypeError("horizons is missing: the times at which to measure the AUC.")
    rows = SurvivalRows(event, time, sample_weight)
    moments = _check_horizons(horizons, rows)
    codes = check_groups(groups, rows.time.size)
    levels = _score_levels(y_score, rows.time.size, moments.size)
    horizon = float(np.nextafter(moments[-1], np.inf))
    counted, estimated = event_weights(rows, 1, horizon, censoring)
    survival = Censoring.from_events(rows.event, rows.time, rows.weight)
    place = np.searchsorted(survival.times, np.nextafter(moments, np.inf))
    share = survival.survival[place]  # without an event at each time
    weights = -np.diff(share, prepend=1.0) / (1.0 - share[-1])
    areas, values = [], np.empty(moments.size)
    sums = np.zeros((3, rows.time.size))  # effects on the mean, weights of pairs
    for k, moment in enumerate(moments):
        level = levels[min(k, len(levels) - 1)]
        shares = _shares_at(moment, rows, counted, level, estimated)
        influence = pair_influence(shares, rows.weight, codes, f" at time {moment:g}")
        ends = area_ends(influence)
        area = rescaled_interval(influence, ends, (1.0, 0.0), confidence_level, None)
        areas.append(replace(area, metric="cumulative_auc"))
        values[k] = influence.value
        pairs = shares.earlier / shares.earlier.sum(), shares.later / shares.later.sum()
        sums += weights[k] * np.array([shares.effects, *pairs])
    mean = float(weights @ values)
    gradient = -np.diff(values, append=mean) * share / (1.0 - share[-1])
    sums[0] += survival.effects(~rows.event, place, gradient)
    total = pair_influence(PairShares(mean, *sums), rows.weight, codes)
    mean_interval = pair_interval(total, confidence_level, "mean_cumulative_auc")
    return DynamicAUC(tuple(moments.tolist()), tuple(areas), mean_interval)


def _check_horizons(horizons: ArrayLike, rows: SurvivalRows) -> FloatArray:
    """Return the times as an array; reject those without events or rows after them."""
    moments = check_scores(np.atleast_1d(np.asarray(horizons)), None, "horizons")
    if (np.diff(moments) <= 0.0).any():
        raise ValueError(f"horizons must rise, got {moments.tolist()}; sort them.")
    has_weight = rows.weight > 0.0
    events = rows.time[rows.event & has_weight]
    if events.size == 0:
        raise NotEnoughClassesError(
            "There are no events, so no row is positive at any time."
        )
    first, last = float(events.min()), float(rows.time[has_weight].max())
    is_out = (moments < first) | (moments >= last)
    if is_out.any():
        raise ValueError(
            f"horizons must be from the first event, {first:g}, to before the last "
            f"time under observation, {last:g}, got {moments[is_out][0]:g}."
        )
    return moments


def _score_levels(scores: ArrayLike, n_rows: int, n_times: int) -> list[IntArray]:
    """Return the level of each row's score, for all times or for each."""
    columns = check_score_columns(scores, n_rows).reshape(n_rows, -1)
    if columns.shape[1] not in (1, n_times):
        raise ValueError(
            f"y_score has {columns.shape[1]} columns for {n_times} horizons; give one "
            "column, or one per time."
        )
    return [np.unique(column, return_inverse=True)[1] for column in columns.T]


def _shares_at(
    moment: float,
    rows: SurvivalRows,
    counted: FloatArray,
    level: IntArray,
    estimated: Censoring | None,
) -> PairShares:
    """Return the AUC at a time and the effects of rows."""
    is_control = rows.time > moment
    cases = np.where(is_control, 0.0, counted)
    case_mass = np.bincount(level, rows.weight * cases)
    control_mass = np.bincount(level, rows.weight * is_control)
    below = (np.cumsum(control_mass) - 0.5 * control_mass)[level]
    above = (case_mass.sum() - np.cumsum(case_mass) + 0.5 * case_mass)[level]
    as_control = case_mass.sum() * is_control
    comparable = np.full(level.size, control_mass.sum())
    sums = below, comparable, above * is_control, as_control
    return pair_shares(rows, cases, sums, estimated, 1)
