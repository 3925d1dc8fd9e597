"""The values that the templates of a report show."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from markupsafe import Markup

from aucmax._core.validation import FloatArray
from aucmax._version import __version__
from aucmax.decisions import net_benefit, reliability
from aucmax.decisions.subgroups import TITLES
from aucmax.inference import MetricDifference
from aucmax.inference.results import p_value_text
from aucmax.metrics.metric_names import parse_metric
from aucmax.model_selection.comparison import ModelResult, verdict
from aucmax.plots import (
    CalibrationDisplay,
    DecisionCurveDisplay,
    GainsDisplay,
    ROCCurveDisplay,
)
from aucmax.plots.roc_display import ROCCurve
from aucmax.report.contents import Importance, ReportContents
from aucmax.report.review import review_depths, review_top, usual_depth
from aucmax.report.survival_view import survival_view
from aucmax.report.svg import draw_svg

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MAX_CURVES = 7  # colours that are distinct for all kinds of colour vision
_MAX_BANDS = 3  # of ROC curves; more hide each other
_MAX_TABLE_ROWS = 20  # the rest is folded away
_MAX_COLUMNS = 20  # in the table of importances
_MAX_POINTS = 300  # per curve that the pointer finds
_DEPTHS = (10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000)
_MAX_MATRIX = 6  # groups whose areas between each other are shown
_THRESHOLDS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7)  # of net benefits


def scale_over(values: Iterable[float]) -> Callable[[float], str]:
    """Return the place of a value, from the left, on an axis that holds all values."""
    finite = [value for value in values if np.isfinite(value)] or [0.0, 1.0]
    margin = 0.05 * (max(finite) - min(finite)) or 0.01
    low, high = min(finite) - margin, max(finite) + margin
    return lambda value: f"{100 * (value - low) / (high - low):.1f}%"


def table_view(contents: ReportContents) -> dict[str, Any]:
    """Return the values of the table of models, and the verdict above it."""
    rows = contents.models
    return {
        **vars(contents),
        "best": rows[0].name if rows[0].problem is None else None,
        "is_single": len(rows) == 1,
        "has_seconds": any(row.seconds == row.seconds for row in rows),
        "baselines": contents.baselines,
        "scale": scale_over(
            end for row in rows for end in (row.main, row.low, row.high)
        ),
        "rows": [_table_row(row, contents) for row in rows],
        "max_rows": _MAX_TABLE_ROWS,
    }


def page_view(contents: ReportContents) -> dict[str, Any]:
    """Return the values of a page."""
    reproduction = dict(contents.reproduction)
    return {
        **table_view(contents),
        **_ranked_view(contents),
        "version": __version__,
        "groups": _group_view(contents),
        "importance": _importance_view(contents.importance),
        "folds": _fold_view(contents.models),
        "n_folds": max(len(row.folds) for row in contents.models),
        "command": reproduction.pop("command", None),
        "reproduction": reproduction,
    }


def _table_row(row: ModelResult, contents: ReportContents) -> dict[str, Any]:
    tests = {
        baseline: {
            **vars(test),
            "word": verdict(test).replace("no difference", "even"),
            "p_text": p_value_text(test.p_value),
        }
        for test in contents.tests
        for model, baseline in [test.names or ("", "")]
        if model == row.name
    }
    return {
        **vars(row),
        "measures": list(row.measures.values()),
        "main": row.main,
        "tests": [tests.get(name) for name in contents.baselines],
    }


def _ranked_view(contents: ReportContents) -> dict[str, Any]:
    """Return the curves, and the outcomes of reviewing the top rows."""
    names = _drawn(contents)
    if not names:
        return {
            "curves": [],
            "reliability": None,
            "survival": survival_view(contents),
        }
    labels = contents.labels
    rankings = {name: contents.rankings[name] for name in names}
    roc, curves = draw_svg(
        lambda ax: _draw_roc(ax, contents, rankings),
        "ROC curves: true positive rate by false positive rate",
        "roc",
    )
    gains, _ = draw_svg(
        lambda ax: GainsDisplay.from_predictions(labels, rankings, ax=ax),
        "Gains: positives found by cases reviewed",
        "gains",
    )
    depths = review_depths(labels.size)
    start_depth = contents.start_depth or usual_depth(labels.size)
    start = int(np.searchsorted(depths, start_depth, side="right")) - 1
    reviews = [review_top(labels, scores, depths) for scores in rankings.values()]
    at_depths = reviews[0].filter(np.isin(depths, _DEPTHS)).unique(maintain_order=True)
    data = {
        "n_rows": int(labels.size),
        "n_positive": int(labels.sum()),
        "depths": depths.tolist(),
        "models": [review.to_dict(as_series=False) for review in reviews],
        "curves": [_points(curve) for curve in curves],
    }
    return {
        "curves": names,
        "survival": None,
        "n_hidden": len(contents.rankings) - len(names),
        "n_bands": min(len(names), _MAX_BANDS),
        "roc": roc,
        "gains": gains,
        "n_rows": labels.size,
        "n_depths": depths.size,
        "start": start,
        "start_depth": int(depths[start]),
        "starts": [
            (name, review.row(start, named=True))
            for name, review in zip(names, reviews, strict=True)
        ],
        "depths": at_depths.filter(at_depths["alerts"] > 0).to_dicts(),
        "base_rate": float(labels.mean()),
        **_calibration_view(contents),
        "data": _as_json(data),
    }


def _drawn(contents: ReportContents) -> list[str]:
    """Choose the rankings to draw: the best, the baselines, then the next best."""
    names = list(contents.rankings)
    first = [*names[:1], *(name for name in contents.baselines if name in names)]
    chosen = list(dict.fromkeys([*first, *names]))[:_MAX_CURVES]
    return [name for name in names if name in chosen]


def _draw_roc(
    ax: Axes, contents: ReportContents, rankings: dict[str, FloatArray]
) -> list[ROCCurve]:
    """Draw the ROC curves, the first ones with a band; return them."""
    items = list(rankings.items())
    curves: list[ROCCurve] = []
    for part, confidence in ((items[:_MAX_BANDS], 0.95), (items[_MAX_BANDS:], None)):
        if part:
            display = ROCCurveDisplay.from_predictions(
                contents.labels,
                dict(part),
                fpr_range=None if curves else contents.fpr_range,
                confidence_level=confidence,
                ax=ax,
            )
            curves += display.curves
    return curves


def _points(curve: ROCCurve) -> dict[str, Any]:
    """Return points of a curve with their thresholds, for the pointer."""
    n_points = curve.fpr.size
    kept = np.linspace(0, n_points - 1, min(n_points, _MAX_POINTS)).round().astype(int)
    values = {
        name: one[kept].tolist()
        for name, one in vars(curve).items()
        if name in ("fpr", "tpr", "thresholds")
    }
    return {"name": curve.name, **values}


def _calibration_view(contents: ReportContents) -> dict[str, Any]:
    """Return the reliability and the net benefit of probabilities, with figures."""
    if contents.probabilities is None:
        return {"reliability": None}
    labels, probabilities = contents.probabilities
    measured = reliability(labels, probabilities)
    calibration, _ = draw_svg(
        CalibrationDisplay([(None, measured)]).plot,
        "Calibration: observed share of positives by predicted probability",
        "calibration",
    )
    decision_curve, _ = draw_svg(
        lambda ax: DecisionCurveDisplay.from_predictions(labels, probabilities, ax=ax),
        "Decision curve: net benefit by threshold",
        "decision-curve",
    )
    rows = net_benefit(labels, probabilities, thresholds=_THRESHOLDS).to_frame()
    return {
        "calibration": calibration,
        "reliability": measured,
        "decision_curve": decision_curve,
        "benefits": rows.filter(rows["alerts"] > 0).to_dicts(),
    }


def _importance_view(importance: Importance | None) -> dict[str, Any] | None:
    if importance is None:
        return None
    rows = importance.result.to_frame().head(_MAX_COLUMNS)
    ends = rows.select("drop", "low", "high").to_numpy()
    return {
        "measure": parse_metric(importance.result.metric).title,
        "scale": scale_over([0.0, *ends.ravel()]),
        "rows": rows.to_dicts(),
        "n_more": importance.n_columns - rows.height,
        "note": importance.note,
    }


def _group_view(contents: ReportContents) -> dict[str, Any] | None:
    """Return the tables of groups of people, with areas between a few groups."""
    if contents.groups is None:
        return None
    column, comparison = contents.groups
    names = [row.group for row in comparison.groups]
    differences: dict[str, dict[str, MetricDifference]] = {}
    for one in comparison.differences:
        assert one.names is not None
        differences.setdefault(one.names[0], {})[one.metric] = one
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


def _fold_view(models: Sequence[ModelResult]) -> dict[str, Any] | None:
    """Return the main measure per fold; None without several folds."""
    rows = [row for row in models if row.problem is None and len(row.folds) > 1]
    rows = rows[:_MAX_TABLE_ROWS]
    values = [value for row in rows for value in (*row.folds, row.main)]
    return {"scale": scale_over(values), "rows": rows} if rows else None


def _as_json(value: Any) -> Markup:
    """Write JSON for a script element, without characters that could end it."""
    text = json.dumps(_rounded(value), separators=(",", ":"), allow_nan=False)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)


def _rounded(value: Any) -> Any:
    """Round numbers to what the page shows; NaN becomes None."""
    if isinstance(value, float):
        return float(f"{value:.6g}") if np.isfinite(value) else None
    if isinstance(value, list | tuple):
        return [_rounded(one) for one in value]
    if isinstance(value, dict):
        return {name: _rounded(one) for name, one in value.items()}
    return value
