"""Concordance of scores with censored times: Harrell's C, Uno's C, AUC at a time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aucmax._core.censored_times import (
    SurvivalRows,
    check_survival,
    is_survival_target,
    join_target,
    split_target,
)
from aucmax._core.parameters import check_choice, check_positive
from aucmax._core.sorting import sort_in_groups
from aucmax._core.validation import BoolArray, FloatArray, IntArray, check_scores
from aucmax.exceptions import NotEnoughClassesError
from aucmax.metrics._concordance_kernels import TimedRows, count_earlier, count_later


def survival_target(event: ArrayLike, time: ArrayLike) -> NDArray[np.void]:
    """Return events and times as one array, the `y` of survival models.

    Parameters
    ----------
    event : array-like of shape (n_rows,)
        1 or True for an observed event, 0 or False for a censored row.
    time : array-like of shape (n_rows,)
        Time from the start to the event or to censoring, at least 0.

    Returns
    -------
    ndarray of shape (n_rows,)
        A structured array with the fields ``event`` (bool) and ``time`` (float).

    See Also
    --------
    concordance_index : How well scores rank such times.

    Examples
    --------
    >>> from aucmax.metrics import survival_target
    >>> survival_target([1, 0], [5.0, 8.0])
    array([( True, 5.), (False, 8.)], dtype=[('event', '?'), ('time', '<f8')])
    """
    return join_target(event, time)


def _timed(rows: SurvivalRows, scores: ArrayLike) -> TimedRows:
    """Return the rows with the ranks of their scores."""
    checked = check_scores(scores, rows.time.size, "y_score")
    by_score = sort_in_groups(checked, rows.codes, rows.starts)
    ordered, strata = checked[by_score], rows.codes[by_score]
    is_new = np.ones(by_score.size, dtype=bool)
    is_new[1:] = (ordered[1:] != ordered[:-1]) | (strata[1:] != strata[:-1])
    level = np.cumsum(is_new) - 1
    rank = np.empty(by_score.size, dtype=np.int64)
    rank[by_score] = level - level[rows.starts[strata]]
    return TimedRows(rows.times, rows.strata, rows.event[rows.order], rank[rows.order])


@dataclass(frozen=True)
class Censoring:
    """The Kaplan-Meier estimate of the distribution of censoring times.

    Events leave before censored rows of the same time, so rows with an event at a time
    are not at risk of censoring there.
    """

    times: FloatArray  # distinct and rising
    place: IntArray  # of each row among the times
    survival: FloatArray  # just before each time, and after the last
    at_risk: FloatArray  # weight at risk of censoring at each time
    censored: FloatArray  # weight censored at each time

    @classmethod
    def from_rows(
        cls, event: BoolArray, time: FloatArray, weight: FloatArray
    ) -> Censoring:
        """Estimate it from rows."""
        times, place = np.unique(time, return_inverse=True)
        event_weight = np.bincount(place, weight * event).astype(np.float64)
        censored = np.bincount(place, weight * ~event).astype(np.float64)
        leaving = event_weight + censored
        at_risk = np.cumsum(leaving[::-1])[::-1] - event_weight
        share = np.divide(
            censored, at_risk, out=np.zeros(times.size), where=censored > 0
        )
        survival = np.concatenate([[1.0], np.cumprod(1.0 - np.minimum(share, 1.0))])
        return cls(times, place, survival, at_risk, censored)

    @classmethod
    def from_events(
        cls, event: BoolArray, time: FloatArray, weight: FloatArray
    ) -> Censoring:
        """Estimate the distribution of the times of events in the same way."""
        # with both exchanged; rows censored at the time of an event are at risk of it
        return cls.from_rows(
            ~event, np.where(event, time, np.nextafter(time, np.inf)), weight
        )

    def before(self, time: FloatArray) -> FloatArray:
        """Return the share that is not yet censored just before each time."""
        return np.asarray(self.survival[np.searchsorted(self.times, time)])

    def effects(self, event: BoolArray, place: IntArray, gradient: FloatArray) -> Any:
        """Return the effect of each row's weight on ``-sum(pull * log(survival))``.

        `event` is that of the rows that the estimate was made from, `place` that of the
        survival for each pull.
        """
        gradient_at = np.bincount(place, gradient, minlength=self.survival.size)
        later = np.cumsum(gradient_at[:0:-1])[::-1]  # of places after each time
        remaining = self.at_risk - self.censored
        has_both = (self.censored > 0.0) & (remaining > 0.0)
        loss = np.zeros(self.times.size)
        np.divide(
            later * self.censored, self.at_risk * remaining, out=loss, where=has_both
        )
        loss_before = np.cumsum(loss) - loss  # at times before each
        gain = np.zeros(self.times.size)
        np.divide(later, self.at_risk, out=gain, where=self.censored > 0.0)
        return np.where(event, 0.0, gain[self.place]) - loss_before[self.place]


@dataclass(frozen=True)
class PairShares:
    """The share of concordant pairs, and the effect of each row's weight on it."""

    value: float
    effects: FloatArray
    earlier: FloatArray  # weight of the pairs in which each row is the earlier one
    later: FloatArray


def event_weights(
    rows: SurvivalRows, power: int, horizon: float | None, censoring_rows: object
) -> tuple[FloatArray, Censoring | None]:
    """Return how much a row counts as the earlier one of a pair, and the censoring."""
    counted = (rows.event & (rows.weight > 0.0)).astype(np.float64)
    if horizon is not None:
        check_positive("horizon", horizon)
        counted *= rows.time < horizon
    if power == 0:
        return counted, None
    if censoring_rows is None:
        censoring = Censoring.from_rows(rows.event, rows.time, rows.weight)
    else:
        if not isinstance(censoring_rows, tuple | list) or len(censoring_rows) != 2:
            raise ValueError(
                "censoring must be a pair (event, time) of arrays, got "
                f"{censoring_rows!r}."
            )
        event, time = check_survival(*censoring_rows)
        censoring = Censoring.from_rows(event, time, np.ones(time.size))
    is_same_rows = censoring_rows is None
    before = (
        censoring.survival[censoring.place]
        if is_same_rows
        else censoring.before(rows.time)
    )
    is_lost = (before == 0.0) & (counted > 0.0)
    if is_lost.any():
        row = int(np.argmax(is_lost))
        raise ValueError(
            f"{np.count_nonzero(is_lost)} events are after the last censored time of "
            f"the rows in censoring, the first in row {row} at time "
            f"{rows.time[row]:g}, so their weights are infinite. Set horizon to an "
            "earlier time, or use earlier times."
        )
    np.divide(counted, before**power, out=counted, where=counted > 0.0)
    return counted, censoring if is_same_rows else None


def _checked_pairs(pairs: float) -> float:
    """Return the weight of the comparable pairs, or raise if there are none."""
    if pairs > 0.0:
        return pairs
    raise NotEnoughClassesError(
        "No two rows are comparable: that needs an event (of positive weight, before "
        "the horizon if there is one) and a row that is observed for longer."
    )


def pair_shares(
    rows: SurvivalRows,
    counted: FloatArray,
    sums: tuple[FloatArray, ...],
    censoring: Censoring | None,
    power: int,
) -> PairShares:
    """Return the ratio of concordant to comparable pairs, and the effects of rows.

    `sums` are those of :func:`count_later` and :func:`count_earlier`: concordant and
    comparable weight of each row as the earlier and as the later one.
    """
    concordant, comparable, concordant_as_later, comparable_as_later = sums
    pairs = _checked_pairs(float((rows.weight * counted) @ comparable))
    value = float((rows.weight * counted) @ concordant) / pairs
    as_earlier = counted * (concordant - value * comparable) / pairs
    effects = as_earlier + (concordant_as_later - value * comparable_as_later) / pairs
    if censoring is not None:
        gradient = power * rows.weight * as_earlier
        effects += censoring.effects(rows.event, censoring.place, gradient)
    shares = rows.weight * counted * comparable, rows.weight * comparable_as_later
    return PairShares(value, effects, *shares)


METHODS = {"harrell": 0, "uno": 2}


def concordance_index(
    event: ArrayLike,
    time: ArrayLike | None = None,
    y_score: ArrayLike | None = None,
    *,
    method: str = "harrell",
    horizon: float | None = None,
    sample_weight: ArrayLike | None = None,
    qid: ArrayLike | None = None,
    censoring: tuple[ArrayLike, ArrayLike] | None = None,
) -> float:
    r"""Share of comparable pairs of rows whose scores are in order: the C index.

    A pair is comparable if one row has an event and the other is known to be observed
    for longer; it is concordant if the row with the earlier event has the higher score.
    Ties of scores count one half. At equal times a censored row is observed for longer
    than one with an event, and two events are not comparable. Without censored rows and
    with two times this is the AUC. Costs O(m log m) for m rows.

    Parameters
    ----------
    event : array-like of shape (n_rows,)
        1 or True for an observed event, 0 or False for a censored row. Or events and
        times as one array, as :func:`survival_target` returns them, in front of the
        scores.
    time : array-like of shape (n_rows,)
        Time from the start to the event or to censoring, at least 0.
    y_score : array-like of shape (n_rows,)
        Predicted risks: high for early events.
    method : {"harrell", "uno"}, default="harrell"
        Harrell's C weights pairs equally, and depends on the censoring. Uno's C [2]_
        weights a pair by :math:`1 / G(t-)^2`, where :math:`G(t-)` is the share of rows
        not yet censored just before the earlier time, by Kaplan and Meier.
    horizon : float, default=None
        Only pairs whose event is before it count.
    sample_weight : array-like of shape (n_rows,), default=None
        Nonnegative row weights; the weight of a pair is the product of its rows'.
    qid : array-like of shape (n_rows,), optional
        Strata: only rows of one stratum are compared.
    censoring : pair of array-like, default=None
        Events and times to estimate the censoring from; by default the rows themselves.

    Returns
    -------
    float
        Between 0 and 1; 0.5 for random scores.

    See Also
    --------
    concordance_interval : With a confidence interval.
    roc_auc_score : The same for two classes.

    References
    ----------
    .. [1] F. E. Harrell, R. M. Califf, D. B. Pryor, K. L. Lee, R. A. Rosati. Evaluating
       the yield of medical tests. JAMA 247 (1982), 2543-2546.
    .. [2] H. Uno, T. Cai, M. J. Pencina, R. B. D'Agostino, L. J. Wei. On the
       C-statistics for evaluating overall adequacy of risk prediction procedures with
       censored survival data. Statistics in Medicine 30 (2011), 1105-1117.

    Examples
    --------
    >>> from aucmax.metrics import concordance_index
    >>> event, time = [1, 0, 1, 1], [2.0, 3.0, 5.0, 7.0]
    >>> concordance_index(event, time, [0.9, 0.1, 0.3, 0.4])
    0.75
    """
    event, time, y_score = split_arguments(event, time, y_score)
    rows = SurvivalRows(event, time, sample_weight, qid)
    check_choice("method", method, tuple(METHODS))
    counted, _ = event_weights(rows, METHODS[method], horizon, censoring)
    return _share_of_pairs(rows, rows.weight * counted, y_score)


def split_arguments(event: Any, time: Any, y_score: Any) -> tuple[Any, Any, Any]:
    """Return events, times and scores, of a target and scores, too."""
    if not is_survival_target(event):
        if time is None or y_score is None:
            raise TypeError(
                "give (event, time, y_score), or (y_true, y_score) with the events and "
                "times of metrics.survival_target in y_true."
            )
        return event, time, y_score
    if time is not None and y_score is not None:
        raise TypeError(
            "the first argument holds events and times, so only y_score follows it; "
            "got two more arrays."
        )
    return (*split_target(event), time if y_score is None else y_score)


def _share_of_pairs(
    rows: SurvivalRows, earlier: FloatArray, scores: ArrayLike
) -> float:
    concordant, comparable = _count_later(rows, _timed(rows, scores))
    return float(earlier @ concordant) / _checked_pairs(float(earlier @ comparable))


def target_concordance(y_true: object, y_score: ArrayLike, **known: Any) -> float:
    """Return Harrell's C of a target with the fields ``event`` and ``time``."""
    return prepare_concordance(y_true, **known)(y_score)


def prepare_concordance(
    y_true: Any, *, sample_weight: ArrayLike | None = None, qid: ArrayLike | None = None
) -> Callable[[ArrayLike], float]:
    """Sort a target by time once; return Harrell's C of any scores."""
    rows = SurvivalRows(*split_target(y_true), sample_weight, qid)
    return partial(_share_of_pairs, rows, rows.weight * rows.event)


def _count_later(rows: SurvivalRows, timed: TimedRows) -> tuple[FloatArray, FloatArray]:
    """Return the concordant and the comparable weight after each event."""
    by_time, sums = np.zeros((2, rows.order.size)), np.empty((2, rows.order.size))
    count_later(timed, rows.weight[rows.order], by_time[0], by_time[1])
    sums[:, rows.order] = by_time
    return sums[0], sums[1]


def concordance_shares(
    rows: SurvivalRows,
    scores: ArrayLike,
    method: str = "harrell",
    horizon: float | None = None,
    censoring: tuple[ArrayLike, ArrayLike] | None = None,
) -> PairShares:
    """Return the concordance index, and the effect of each row's weight on it."""
    check_choice("method", method, tuple(METHODS))
    power = METHODS[method]
    counted, estimated = event_weights(rows, power, horizon, censoring)
    timed, order = _timed(rows, scores), rows.order
    as_earlier = _count_later(rows, timed)
    by_time, as_later = np.zeros((2, order.size)), np.empty((2, order.size))
    count_earlier(timed, (rows.weight * counted)[order], by_time[0], by_time[1])
    as_later[:, order] = by_time
    return pair_shares(rows, counted, (*as_earlier, *as_later), estimated, power)
