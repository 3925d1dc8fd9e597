"""Sections of a report: functions from results to the values of the templates."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import polars as pl
import polars.selectors as cs
from markupsafe import Markup

from aucmax._core.censored_times import split_target
from aucmax._core.validation import BoolArray, FloatArray, IntArray
from aucmax.decisions import net_benefit, reliability
from aucmax.decisions.event_probability import SurvivalCurve, kaplan_meier
from aucmax.decisions.subgroups import TITLES, GroupComparison
from aucmax.inference import MetricDifference, cumulative_dynamic_auc
from aucmax.inspection import Importances
from aucmax.metrics.metric_names import parse_metric
from aucmax.model_selection.comparison import ModelResult
from aucmax.plots import (
    CalibrationDisplay,
    DecisionCurveDisplay,
    GainsDisplay,
    ROCCurveDisplay,
)
from aucmax.plots.roc_display import ROCCurve
from aucmax.report.review import review_depths, review_top, usual_depth
from aucmax.report.svg import draw_calibration, draw_over_time, draw_svg
from aucmax.tables import Target

#: The values that the templates show, by name.
Section: TypeAlias = dict[str, Any]

_MAX_CURVES = 7  # colours that are distinct for all kinds of colour vision
_MAX_BANDS = 3  # of ROC curves, or curves over time; more hide each other
_MAX_TABLE_ROWS = 20  # the others are folded away
_MAX_COLUMNS = 20  # in the table of importances
_MAX_POINTS = 300  # per curve that the pointer finds
_DEPTHS = (10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000)
_MAX_MATRIX = 6  # groups whose areas between each other are shown
_THRESHOLDS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7)  # of net benefits
_RISKS = ("high risk", "medium risk", "low risk")  # thirds of the rows
_MAX_GROUPS = 10  # of probabilities, of at least this many rows
_MIN_ROWS_PER_GROUP = 30


def scale_over(values: Iterable[float]) -> Callable[[float], str]:
    """Return the place of a value, from the left, on an axis that holds all values."""
    finite = [value for value in values if np.isfinite(value)] or [0.0, 1.0]
    margin = 0.05 * (max(finite) - min(finite)) or 0.01
    low, high = min(finite) - margin, max(finite) + margin
    return lambda value: f"{100 * (value - low) / (high - low):.1f}%"


def models_section(
    models: Sequence[ModelResult],
    titles: Sequence[str],
    tests: Sequence[MetricDifference] = (),
) -> Section:
    """Return the table of models, the best one first, and their folds."""
    folded = [row for row in models if row.problem is None and len(row.folds) > 1]
    folded = folded[:_MAX_TABLE_ROWS]
    return {
        "best": models[0].name if models[0].problem is None else None,
        "is_single": len(models) == 1,
        "measures": titles,
        "baselines": [row.name for row in models if row.is_baseline],
        "has_seconds": any(row.seconds == row.seconds for row in models),
        "scale": scale_over(
            end for row in models for end in (row.main, row.low, row.high)
        ),
        "rows": models,
        "tests": {test.names: test for test in tests},
        "max_rows": _MAX_TABLE_ROWS,
        "folds": folded,
        "n_folds": max(len(row.folds) for row in models),
        "fold_scale": scale_over(v for row in folded for v in (*row.folds, row.main)),
    }


def ranking_section(
    labels: BoolArray,
    rankings: Mapping[str, FloatArray],
    *,
    score_unit: str,
    baselines: Sequence[str] = (),
    fpr_range: Sequence[float] | None = None,
    start_depth: int | None = None,
) -> Section:
    """Return the curves, and the outcomes of reviewing the top rows.

    The page opens with `start_depth` reviewed rows, and shades `fpr_range`.
    """
    chosen = dict.fromkeys([*list(rankings)[:1], *baselines, *rankings])
    chosen = dict.fromkeys([*chosen][:_MAX_CURVES])
    drawn = {name: one for name, one in rankings.items() if name in chosen}
    depths = review_depths(labels.size)
    start_depth = start_depth or usual_depth(labels.size)
    start = int(np.searchsorted(depths, start_depth, side="right")) - 1
    reviews = [review_top(labels, scores, depths) for scores in drawn.values()]
    at_depths = reviews[0].filter(np.isin(depths, _DEPTHS)).unique(maintain_order=True)
    curves: list[ROCCurve] = []
    roc = draw_svg(
        lambda ax: curves.extend(_draw_roc(ax, labels, drawn, fpr_range)),
        "ROC curves: true positive rate by false positive rate",
        "roc",
    )
    data = {
        "n_rows": labels.size,
        "n_positive": int(labels.sum()),
        "depths": depths.tolist(),
        "models": [_as_columns(review) for review in reviews],
        "curves": [
            {"name": curve.name} | _as_columns(_thinned(curve)) for curve in curves
        ],
    }
    return {
        "curves": list(drawn),
        "n_hidden": len(rankings) - len(drawn),
        "n_bands": min(len(drawn), _MAX_BANDS),
        "fpr_range": fpr_range,
        "score_unit": score_unit,
        "roc": roc,
        "gains": draw_svg(
            lambda ax: GainsDisplay.from_predictions(labels, drawn, ax=ax),
            "Gains: positives found by cases reviewed",
            "gains",
        ),
        "n_rows": labels.size,
        "n_depths": depths.size,
        "start": start,
        "start_depth": int(depths[start]),
        "starts": [
            (name, review.row(start, named=True))
            for name, review in zip(drawn, reviews, strict=True)
        ],
        "depths": at_depths.filter(at_depths["alerts"] > 0).to_dicts(),
        "base_rate": float(labels.mean()),
        "data": _as_json(data),
    }


def _draw_roc(
    ax: Any,
    labels: BoolArray,
    rankings: Mapping[str, FloatArray],
    fpr_range: Sequence[float] | None,
) -> list[ROCCurve]:
    """Draw the ROC curves, the first ones with a band; return them."""
    items, curves = list(rankings.items()), list[ROCCurve]()
    for part, level in ((items[:_MAX_BANDS], 0.95), (items[_MAX_BANDS:], None)):
        if part:
            display = ROCCurveDisplay.from_predictions(
                labels,
                dict(part),
                fpr_range=None if curves else fpr_range,
                confidence_level=level,
                ax=ax,
            )
            curves += display.curves
    return curves


def _thinned(curve: ROCCurve) -> pl.DataFrame:
    """Return points of a curve with their thresholds, for the pointer."""
    step = -(-curve.fpr.size // _MAX_POINTS)
    names = "fpr", "tpr", "thresholds"
    return pl.DataFrame({name: getattr(curve, name)[::step] for name in names})


def _as_columns(frame: pl.DataFrame) -> dict[str, list[Any]]:
    """Return the columns, with numbers rounded to what the page shows; NaN is None."""
    numbers = cs.float()
    rounded = pl.when(numbers.is_finite()).then(numbers.round_sig_figs(6))
    return frame.with_columns(rounded.name.keep()).to_dict(as_series=False)


def _as_json(value: Section) -> Markup:
    """Write JSON for a script element, without characters that could end it."""
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)


def calibration_section(
    labels: BoolArray, probabilities: FloatArray, origin: str = ""
) -> Section:
    """Return the reliability and the net benefit of probabilities, with figures."""
    measured = reliability(labels, probabilities)
    rows = net_benefit(labels, probabilities, thresholds=_THRESHOLDS).to_frame()
    return {
        "reliability": measured,
        "origin_of_probabilities": origin,
        "calibration": draw_svg(
            CalibrationDisplay([(None, measured)]).plot,
            "Calibration: observed share of positives by predicted probability",
            "calibration",
        ),
        "decision_curve": draw_svg(
            lambda ax: DecisionCurveDisplay.from_predictions(
                labels, probabilities, ax=ax
            ),
            "Decision curve: net benefit by threshold",
            "decision-curve",
        ),
        "benefits": rows.filter(rows["alerts"] > 0).to_dicts(),
    }


def importance_section(result: Importances, n_columns: int, note: str = "") -> Section:
    """Return the drop of the metric per shuffled column, of `n_columns` in all."""
    rows = result.to_frame().head(_MAX_COLUMNS)
    ends = rows.select("drop", "low", "high").to_numpy()
    return {
        "measure": parse_metric(result.metric).title,
        "scale": scale_over([0.0, *ends.ravel()]),
        "rows": rows.to_dicts(),
        "n_more": n_columns - rows.height,
        "note": note,
    }


def groups_section(comparison: GroupComparison, column: str | None) -> Section:
    """Return the tables of groups of people, with areas between a few groups."""
    names = [row.group for row in comparison.groups]
    differences: dict[str, dict[str, MetricDifference]] = {}
    for test in comparison.differences:
        group, _ = test.names or ("", "")
        differences.setdefault(group, {})[test.metric] = test
    matrix = zip(names, comparison.between.tolist(), strict=True)
    has_threshold = comparison.threshold is not None
    return {
        "column": column,
        "rows": [(row, differences.get(row.group, {})) for row in comparison.groups],
        "reference": names[0],
        "names": names,
        "between": list(matrix) if 1 < len(names) <= _MAX_MATRIX else [],
        "threshold": comparison.threshold,
        "n_missing": comparison.n_missing,
        "titles": TITLES if has_threshold else {"auc": TITLES["auc"]},
    }


def survival_section(
    target: Target,
    scores: Mapping[str, FloatArray],
    predict: Callable[[float], FloatArray] | None = None,
    time_unit: str = "",
) -> Section:
    """Return the AUC over time, survival by thirds of the rows, and calibration.

    Scores are those of models, the best first; `predict` returns the probability of an
    event by a time, which is the median of the event times.
    """
    events, durations = split_target(target.survival)
    horizon = float(np.median(durations[events]))
    times = event_quantiles(target, 9)
    names = list(scores)[:_MAX_BANDS] if times.size else []
    areas = [_areas(target, scores[name], times) for name in names]
    order = np.argsort(-next(iter(scores.values())), kind="stable")
    thirds = np.array_split(order, len(_RISKS))
    curves = [_survival_curve(target, rows) for rows in thirds]
    shares = None
    if predict is not None:
        shares = _shares(target, predict(horizon), horizon)
    time = f"time ({time_unit})" if time_unit else "time"

    def draw(lines: Sequence[Sequence[FloatArray]], title: str, name: str) -> Markup:
        is_stepped = name == "survival"
        return draw_svg(
            lambda ax: draw_over_time(ax, lines, (time, title), is_stepped),
            f"{title}, over time",
            name,
        )

    return {
        "names": names,
        "time": time,
        "at": f"{horizon:g} {time_unit}".strip(),
        "areas": [(moment, [a[k] for a in areas]) for k, moment in enumerate(times)],
        "auc": areas
        and draw(
            [(times, *values.T) for values in areas],
            "AUC of events up to the time",
            "auc-over-time",
        ),
        "risks": _RISKS,
        "curves": draw(curves, "share without an event", "survival"),
        "groups": [
            (name, rows.size, int(events[rows].sum()), curve.at(horizon))
            for name, rows, curve in zip(_RISKS, thirds, curves, strict=True)
        ],
        "shares": None if shares is None else shares.tolist(),
        "calibration": shares is not None
        and draw_svg(
            lambda ax: draw_calibration(ax, shares),
            "Calibration: observed share with an event by predicted probability",
            "calibration",
        ),
    }


def event_quantiles(target: Target, n_times: int) -> FloatArray:
    """Return quantiles of the times of events, without the last time of a row."""
    events, durations = split_target(target.survival)
    shares = np.arange(1, n_times + 1) / (n_times + 1)
    times = np.unique(np.quantile(durations[events], shares, method="higher"))
    return np.asarray(times[times < durations.max()])


def _areas(target: Target, scores: FloatArray, times: FloatArray) -> FloatArray:
    """Return the AUC at each time with the ends of its interval."""
    dynamic = cumulative_dynamic_auc(
        *split_target(target.survival), scores, times, sample_weight=target.weights
    )
    return np.array([(area.value, area.low, area.high) for area in dynamic.areas])


def _survival_curve(target: Target, rows: IntArray) -> SurvivalCurve:
    chosen = target.take(rows)
    return kaplan_meier(*split_target(chosen.survival), chosen.weights)


def _shares(target: Target, probability: FloatArray, horizon: float) -> FloatArray:
    """Compare probabilities of an event by the horizon with Kaplan and Meier's.

    One row per group: mean probability, share with an event, and its interval.
    """
    n_groups = probability.size // _MIN_ROWS_PER_GROUP
    n_groups = max(min(n_groups, _MAX_GROUPS), 2)
    order, groups = np.argsort(probability, kind="stable"), []
    for rows in np.array_split(order, n_groups):
        share, low, high = _survival_curve(target, rows).at(horizon)
        weights = None if target.weights is None else target.weights[rows]
        mean = np.average(probability[rows], weights=weights)
        groups.append((mean, 1.0 - share, 1.0 - high, 1.0 - low))
    return np.array(groups)
