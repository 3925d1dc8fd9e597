"""Figures of a report on censored times: AUC over time, survival, calibration."""

from __future__ import annotations

from typing import Any

import numpy as np

from aucmax._core.validation import FloatArray, IntArray
from aucmax.decisions.event_probability import SurvivalCurve, kaplan_meier
from aucmax.inference import cumulative_dynamic_auc
from aucmax.report.contents import ReportContents, SurvivalScores
from aucmax.report.svg import draw_calibration, draw_over_time, draw_svg
from aucmax.tables import Target

_RISKS = ("high risk", "medium risk", "low risk")  # thirds of the rows
_MAX_CURVES = 3  # of models whose AUC over time is drawn
_MAX_GROUPS = 10  # of probabilities, of at least this many rows
_MIN_ROWS_PER_GROUP = 30


def survival_view(contents: ReportContents) -> dict[str, Any] | None:
    """Return the figures of censored times with their numbers; None without."""
    survival = contents.survival
    if survival is None:
        return None
    target, horizon = survival.target, survival.horizon
    times = event_quantiles(target, 9)
    names = list(survival.scores)[:_MAX_CURVES] if times.size else []
    areas = [_areas(target, survival.scores[name], times) for name in names]
    auc = None
    if areas:
        lines = [(times, *values.T) for values in areas]
        auc, _ = draw_svg(
            lambda ax: draw_over_time(
                ax, lines, y_title="AUC of events up to the time", level=0.5
            ),
            "AUC over time",
            "auc-over-time",
        )
    order = np.argsort(-next(iter(survival.scores.values())), kind="stable")
    thirds = np.array_split(order, len(_RISKS))
    curves = [_curve(target, rows) for rows in thirds]
    steps = [(curve.times, curve.share, curve.low, curve.high) for curve in curves]
    survival_curves, _ = draw_svg(
        lambda ax: draw_over_time(
            ax, steps, y_title="share without an event", is_stepped=True
        ),
        "Kaplan-Meier curves of thirds of the rows by score",
        "survival",
    )
    return {
        "names": names,
        "auc": auc,
        "areas": [(time, [a[k] for a in areas]) for k, time in enumerate(times)],
        "risks": _RISKS,
        "curves": survival_curves,
        "groups": [
            (name, rows.size, int(target.labels[rows].sum()), curve.at(horizon))
            for name, rows, curve in zip(_RISKS, thirds, curves, strict=True)
        ],
        "horizon": horizon,
        **_calibration(survival),
    }


def event_quantiles(target: Target, n_times: int) -> FloatArray:
    """Return quantiles of the times of events, without the last time of a row."""
    assert target.durations is not None
    events = target.durations[target.labels > 0]
    shares = np.arange(1, n_times + 1) / (n_times + 1)
    times = np.unique(np.quantile(events, shares, method="higher"))
    return np.asarray(times[times < target.durations.max()])


def _areas(target: Target, scores: FloatArray, times: FloatArray) -> FloatArray:
    """Return the AUC at each time with the ends of its interval."""
    assert target.durations is not None
    dynamic = cumulative_dynamic_auc(
        target.labels, target.durations, scores, times, sample_weight=target.weights
    )
    return np.array([(area.value, area.low, area.high) for area in dynamic.areas])


def _curve(target: Target, rows: IntArray) -> SurvivalCurve:
    some = target.take(rows)
    assert some.durations is not None
    return kaplan_meier(some.labels > 0, some.durations, some.weights)


def _calibration(survival: SurvivalScores) -> dict[str, Any]:
    """Compare probabilities of an event by the horizon with Kaplan and Meier's."""
    if survival.probability is None:
        return {"shares": None, "calibration": None}
    n_groups = survival.probability.size // _MIN_ROWS_PER_GROUP
    n_groups = max(min(n_groups, _MAX_GROUPS), 2)
    order = np.argsort(survival.probability, kind="stable")
    target, groups = survival.target, []
    for rows in np.array_split(order, n_groups):
        share, low, high = _curve(target, rows).at(survival.horizon)
        weights = None if target.weights is None else target.weights[rows]
        mean = np.average(survival.probability[rows], weights=weights)
        groups.append((float(mean), 1.0 - share, 1.0 - high, 1.0 - low))
    probability, share, *ends = np.array(groups).T
    picture, _ = draw_svg(
        lambda ax: draw_calibration(ax, probability, share, np.array(ends)),
        "Calibration: observed share with an event by predicted probability",
        "calibration",
    )
    return {"shares": groups, "calibration": picture}
