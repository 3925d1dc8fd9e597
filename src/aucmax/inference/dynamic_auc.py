"""The AUC at given times: events so far against rows still without one."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from aucmax._core.censored_times import SurvivalRows
from aucmax._core.validation import (
    FloatArray,
    IntArray,
    check_score_matrix,
    check_scores,
)
from aucmax.exceptions import NotEnoughClassesError
from aucmax.inference.concordance_inference import (
    count_units,
    measured,
    share_interval,
    unseen_in_pairs,
)
from aucmax.inference.influence import check_groups, shrunk
from aucmax.inference.intervals import area_interval, rescaled_interval
from aucmax.inference.results import DynamicAUC, check_confidence
from aucmax.metrics.concordance import (
    Censoring,
    PairShares,
    event_weights,
    pair_shares,
)


def cumulative_dynamic_auc(
    event: ArrayLike,
    time: ArrayLike,
    scores: ArrayLike,
    times: ArrayLike,
    *,
    confidence: float = 0.95,
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
        1 or True for an observed event, 0 or False for a censored row.
    time : array-like of shape (n_rows,)
        Time from the start to the event or to censoring, at least 0.
    scores : array-like of shape (n_rows,) or (n_rows, n_times)
        Predicted risks, high for early events; or one column per time.
    times : float or array-like of shape (n_times,)
        Rising times, from the first event to before the last time under observation.
    confidence : float, default=0.95
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
    check_confidence(confidence)
    rows = SurvivalRows(event, time, sample_weight)
    moments = _check_times(times, rows)
    codes = check_groups(groups, rows.time.size)
    levels = _score_levels(scores, rows.time.size, moments.size)
    horizon = float(np.nextafter(moments[-1], np.inf))
    counted, estimated = event_weights(rows, 1, horizon, censoring)
    survival = Censoring.of_events(rows.event, rows.time, rows.weight)
    place = np.searchsorted(survival.times, np.nextafter(moments, np.inf))
    share = survival.survival[place]  # without an event at each time
    weights = -np.diff(share, prepend=1.0) / (1.0 - share[-1])
    areas, values = [], np.empty(moments.size)
    sums = np.zeros((3, rows.time.size))  # effects on the mean, weights of pairs
    for k, moment in enumerate(moments):
        level = levels[min(k, len(levels) - 1)]
        found = _shares_at(moment, rows, counted, level, estimated)
        units = count_units(found, codes, f" at time {moment:g}")
        one = measured(found, rows.weight, codes)
        sizes = shrunk(count_units(found, None), units, one.design_effect)
        options: Any = {"rows": sizes, "degrees": min(units) - 1.0}
        options["unseen"] = unseen_in_pairs(one, sizes)
        ends = partial(area_interval, found.value, one.error, **options)
        kind = (1.0, 0.0), confidence, sizes, None, "cumulative_auc"
        areas.append(rescaled_interval(one, ends, *kind))
        values[k] = found.value
        pairs = found.earlier / found.earlier.sum(), found.later / found.later.sum()
        sums += weights[k] * np.array([found.effects, *pairs])
    mean = float(weights @ values)
    pull = -np.diff(values, append=mean) * share / (1.0 - share[-1])
    sums[0] += survival.effects(~rows.event, place, pull)
    total = PairShares(mean, *sums)
    units, one = count_units(total, codes), measured(total, rows.weight, codes)
    sizes = shrunk(count_units(total, None), units, one.design_effect)
    of_mean = share_interval(
        one, (sizes, min(units) - 1.0), confidence, "mean_cumulative_auc"
    )
    return DynamicAUC(tuple(moments.tolist()), tuple(areas), of_mean)


def _check_times(times: ArrayLike, rows: SurvivalRows) -> FloatArray:
    """Return the times as an array; reject those without events or rows after them."""
    moments = check_scores(np.atleast_1d(np.asarray(times)), None, "times")
    if (np.diff(moments) <= 0.0).any():
        raise ValueError(f"times must rise, got {moments.tolist()}; sort them.")
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
            f"times must be from the first event, {first:g}, to before the last time "
            f"under observation, {last:g}, got {moments[is_out][0]:g}."
        )
    return moments


def _score_levels(scores: ArrayLike, n_rows: int, n_times: int) -> list[IntArray]:
    """Return the level of each row's score, for all times or for each."""
    if np.ndim(scores) < 2:
        columns = check_scores(scores, n_rows, "scores")[:, None]
    else:
        columns = check_score_matrix(scores, n_rows, "scores")
    if columns.shape[1] not in (1, n_times):
        raise ValueError(
            f"scores has {columns.shape[1]} columns for {n_times} times; give one "
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
    of_cases = np.bincount(level, rows.weight * cases)
    of_controls = np.bincount(level, rows.weight * is_control)
    below = (np.cumsum(of_controls) - 0.5 * of_controls)[level]
    above = (of_cases.sum() - np.cumsum(of_cases) + 0.5 * of_cases)[level]
    met = of_cases.sum() * is_control
    comparable = np.full(level.size, of_controls.sum())
    sums = below, comparable, above * is_control, met
    return pair_shares(rows, cases, sums, estimated, 1)
