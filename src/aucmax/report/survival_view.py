"""Figures of a report on censored times: AUC over time, survival, calibration."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from aucmax._core.validation import FloatArray
from aucmax.decisions.event_probability import kaplan_meier
from aucmax.inference import cumulative_dynamic_auc
from aucmax.report.charts import draw_over_time, draw_reliability
from aucmax.report.contents import ReportContents, SurvivalScores

_RISKS = ("high risk", "medium risk", "low risk")  # thirds of the rows
_MAX_CURVES = 3  # of models whose AUC over time is drawn
_MAX_GROUPS = 10  # of probabilities, of at least this many rows
_MIN_ROWS_PER_GROUP = 30


class ObservedShares(NamedTuple):
    """Mean probability per group, and the observed share of events with its ends."""

    probability: FloatArray
    share: FloatArray
    low: FloatArray
    high: FloatArray


def survival_view(contents: ReportContents) -> dict[str, Any] | None:
    """Return the figures of censored times with their numbers; None without."""
    found = contents.survival
    if found is None:
        return None
    target: Any = found.target
    times = event_quantiles(found.target, 9)
    names = list(found.scores)[:_MAX_CURVES] if times.size else []
    areas = [
        [(one.value, one.low, one.high) for one in dynamic.areas]
        for dynamic in (
            cumulative_dynamic_auc(
                target.labels,
                target.durations,
                found.scores[name],
                times,
                sample_weight=target.weights,
            )
            for name in names
        )
    ]
    lines = [(times, *np.array(one).T) for one in areas]
    thirds = _thirds(next(iter(found.scores.values())))
    curves = [_curve(target, rows) for rows in thirds]
    shares = _observed(found)
    return {
        "names": names,
        "auc": lines
        and draw_over_time(
            lines,
            (min(0.45, np.min(areas)), max(0.75, np.max(areas))),
            title="AUC over time",
            y_title="AUC of events up to the time",
            level=0.5,
        ),
        "areas": list(zip(times.tolist(), zip(*areas, strict=True), strict=True)),
        "risks": _RISKS,
        "curves": draw_over_time(
            curves,
            (0.0, 1.0),
            title="Kaplan-Meier curves of thirds of the rows by score",
            y_title="share without an event",
            is_stepped=True,
        ),
        "groups": [
            (name, rows.size, int(target.labels[rows].sum()), curve.at(found.horizon))
            for name, rows, curve in zip(_RISKS, thirds, curves, strict=True)
        ],
        "horizon": found.horizon,
        "shares": None if shares is None else list(zip(*shares, strict=True)),
        "calibration": None
        if shares is None
        else draw_reliability(shares, "share with an event"),
        "origin": found.origin,
    }


def event_quantiles(target: Any, n_times: int) -> FloatArray:
    """Return quantiles of the times of events, without the last time of a row."""
    events = target.durations[target.labels > 0]
    shares = np.arange(1, n_times + 1) / (n_times + 1)
    times = np.unique(np.quantile(events, shares, method="higher"))
    return np.asarray(times[times < target.durations.max()])


def _thirds(scores: FloatArray) -> list[Any]:
    """Return the rows of each third, the highest scores first."""
    return np.array_split(np.argsort(-scores, kind="stable"), len(_RISKS))


def _curve(target: Any, rows: Any) -> Any:
    some = target.take(rows)
    return kaplan_meier(some.labels > 0, some.durations, some.weights)


def _observed(found: SurvivalScores) -> ObservedShares | None:
    """Compare probabilities of an event by the horizon with Kaplan and Meier's."""
    if found.probability is None:
        return None
    n_groups = max(min(found.probability.size // _MIN_ROWS_PER_GROUP, _MAX_GROUPS), 2)
    order = np.argsort(found.probability, kind="stable")
    groups = []
    for rows in np.array_split(order, n_groups):
        share, low, high = _curve(found.target, rows).at(found.horizon)
        mean = np.average(
            found.probability[rows], weights=found.target.weights_of(rows)
        )
        groups.append((float(mean), 1.0 - share, 1.0 - high, 1.0 - low))
    return ObservedShares(*np.array(groups).T)
