"""The values that the templates of a report show."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
from markupsafe import Markup
from scipy.special import ndtri

from aucmax._version import __version__
from aucmax.decisions import net_benefit, reliability
from aucmax.decisions.net_benefit import shown_range
from aucmax.decisions.subgroups import TITLES
from aucmax.inference.intervals import wilson_ends
from aucmax.inference.results import p_value_text
from aucmax.metrics.metric_names import parse_metric
from aucmax.report.charts import (
    ROC_PLANE,
    Curve,
    draw_decision_curve,
    draw_gains,
    draw_reliability,
    draw_roc,
    draw_tenths,
)
from aucmax.report.contents import Importance, ReportContents
from aucmax.report.ranked_steps import Opened, RankedRows, usual_length
from aucmax.report.survival_view import survival_view
from aucmax.report.svg import Scale

_MAX_CURVES = 7  # colours that are distinct for all kinds of colour vision
_MAX_TABLE_ROWS = 20  # the rest is folded away
_MAX_COLUMNS = 20  # in the table of importances
_MAX_CHARACTERS = 900_000  # of all rankings together: keeps the page small
_LENGTHS = (10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000)
_TENTHS = 10
_MAX_MATRIX = 6  # groups whose areas between each other are shown
_THRESHOLDS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7)  # of net benefits


def table_view(contents: ReportContents) -> dict[str, Any]:
    """Return the values of the table of models, and the verdict above it."""
    rows = contents.models
    scale = Scale.over(end for row in rows for end in (row.main, row.low, row.high))
    return {
        "css": Markup(read_template("style.css")),
        "verdict": contents.verdict,
        "best": rows[0].name if rows[0].problem is None else None,
        "is_single": len(rows) == 1,
        "has_seconds": any(row.seconds == row.seconds for row in rows),
        "measures": contents.measures,
        "baselines": contents.baselines,
        "axis": scale.axis(),
        "rows": [_table_row(row, contents, scale) for row in rows],
        "max_rows": _MAX_TABLE_ROWS,
    }


def page_view(contents: ReportContents) -> dict[str, Any]:
    """Return the values of a page."""
    reproduction = dict(contents.reproduction)
    as_given = "title date facts explanation glossary parts notices certificates"
    as_given += " origin_of_parts origin_of_probabilities no_rankings fpr_range scale"
    as_given += " n_candidates"
    return {
        **table_view(contents),
        **_ranked_view(contents),
        **{name: getattr(contents, name) for name in as_given.split()},
        "version": __version__,
        "groups": _group_view(contents),
        "importance": _importance_view(contents.importance),
        "folds": _fold_view(contents.models),
        "n_folds": max(len(row.folds) for row in contents.models),
        "command": reproduction.pop("command", None),
        "reproduction": reproduction,
        "js": Markup(read_template("page.js")),
    }


@cache
def read_template(name: str) -> str:
    """Return the text of a template."""
    return (files("aucmax.report") / "templates" / name).read_text(encoding="utf-8")


def _table_row(row: Any, contents: ReportContents, scale: Scale) -> dict[str, Any]:
    tests = {
        test.baseline: {
            **vars(test),
            "word": "even" if test.verdict == "no difference" else test.verdict,
            "chance": p_value_text(test.p_value),
        }
        for test in contents.tests
        if test.model == row.name
    }
    return {
        **vars(row),
        "measures": list(row.measures.values()),
        "main": row.main,
        "strip": scale.strip(row.main, (row.low, row.high)),
        "tests": [tests.get(name) for name in contents.baselines],
    }


def _ranked_view(contents: ReportContents) -> dict[str, Any]:
    """Return the curves, and the outcomes of reviewing the top rows."""
    drawn = _drawn(contents)
    if not drawn:
        survival = survival_view(contents)
        return {
            "curves": [],
            "calibration": None,
            "decision_curve": None,
            "survival": survival,
        }
    labels = contents.labels
    curves = [Curve.of(name, contents.rankings[name], labels) for name in drawn]
    ranked = [RankedRows.of(labels, contents.rankings[name]) for name in drawn]
    opened = usual_length(labels.size)
    slider: list[dict[str, Any]] = []
    n_characters = 0
    for place, rows in enumerate(ranked):
        steps = rows.encode()
        n_characters += len(steps)
        if place and n_characters > _MAX_CHARACTERS:
            break
        slider.append({"place": place, "name": drawn[place], "steps": steps})
    base = float(labels.mean())
    return {
        "curves": curves,
        "survival": None,
        "n_hidden": len(contents.rankings) - len(drawn),
        "n_beyond": len(drawn) - len(slider),
        "roc": draw_roc(curves, labels, contents.fpr_range),
        "gains": draw_gains(curves, labels),
        "n_rows": labels.size,
        "opened": opened,
        "slider_axis": Scale(0.0, float(labels.size)).axis(),
        "slider_rows": [
            {**row, "at": ranked[row["place"]].open(opened)} for row in slider
        ],
        "lengths": [(at, at.precision / base) for at in _lengths(ranked[0])],
        **_calibration_view(contents, contents.rankings[drawn[0]]),
        "data": _as_json(
            {
                "rows": int(labels.size),
                "positives": int(labels.sum()),
                "opened": opened,
                "z": float(ndtri(0.975)),
                "plane": {
                    name: getattr(ROC_PLANE, name)
                    for name in ("left", "top", "width", "height")
                },
                "models": slider,
                "curves": [_points(curve) for curve in curves],
            }
        ),
    }


def _drawn(contents: ReportContents) -> list[str]:
    """Choose the rankings to draw: the best, the baselines, then the next best."""
    names = list(contents.rankings)
    first = [*names[:1], *(name for name in contents.baselines if name in names)]
    chosen = list(dict.fromkeys([*first, *names]))[:_MAX_CURVES]
    return [name for name in names if name in chosen]


def _lengths(ranked: RankedRows) -> Iterator[Opened]:
    """Review the list to round numbers, up to half of it."""
    n_rows, seen = ranked.n_rows, 0
    for length in _LENGTHS:
        if length <= max(n_rows // 2, _LENGTHS[0]):
            at = ranked.open(length)
            if at.n_alerts > seen:
                seen = at.n_alerts
                yield at


def _calibration_view(contents: ReportContents, scores: Any) -> dict[str, Any]:
    """Return the reliability of probabilities, or the share of positives by tenths."""
    if contents.probabilities is not None:
        found = reliability(*contents.probabilities)
        at_cuts = net_benefit(*contents.probabilities)
        (_, last), _ = shown_range([at_cuts])
        at_few = net_benefit(*contents.probabilities, thresholds=_THRESHOLDS)
        rows = at_few.to_frame().iter_rows(named=True)
        return {
            "calibration": draw_reliability(found),
            "reliability": found,
            "decision_curve": draw_decision_curve(at_cuts),
            "benefits": [row for row in rows if row["threshold"] <= last],
        }
    tenths = _tenths(contents.labels, scores)
    picture = draw_tenths(tenths, float(contents.labels.mean()))
    return {
        "calibration": picture,
        "reliability": None,
        "tenths": tenths,
        "decision_curve": None,
    }


def _tenths(labels: Any, scores: Any) -> list[tuple[float, float, float]]:
    """Return the share of positives per tenth of the ranking, with intervals."""
    order = np.argsort(-scores, kind="stable")
    parts = np.array_split(labels[order], min(_TENTHS, labels.size))
    shares = [(float(part.mean()), part.size) for part in parts]
    return [(share, *wilson_ends(share, n, 0.95)) for share, n in shares]


def _points(curve: Curve) -> dict[str, Any]:
    """Return the corners of a curve with their thresholds, for the pointer."""
    thresholds = [
        float(f"{value:.5g}") if np.isfinite(value) else None
        for value in curve.thresholds
    ]
    points = zip(curve.opened.tolist(), curve.found.tolist(), thresholds, strict=True)
    return {"name": curve.name, "points": list(points)}


def _importance_view(importance: Importance | None) -> dict[str, Any] | None:
    if importance is None:
        return None
    found = importance.found
    columns = list(zip(found.column, found.drop, found.low, found.high, strict=True))
    shown = columns[:_MAX_COLUMNS]
    scale = Scale.over([0.0, *(value for column in shown for value in column[1:])])
    return {
        "measure": parse_metric(found.metric).title,
        "axis": scale.axis(),
        "rows": [(*column, scale.strip(column[1], column[2:])) for column in shown],
        "n_more": importance.n_columns - len(shown),
        "note": importance.note,
    }


def _group_view(contents: ReportContents) -> dict[str, Any] | None:
    """Return the tables of groups of people, with areas between a few groups."""
    if contents.groups is None:
        return None
    column, found = contents.groups
    names = [one.group for one in found.groups]
    by_group: dict[str, dict[str, Any]] = {}
    for one in found.differences:
        by_group.setdefault(str((one.names or [None])[0]), {})[one.metric] = one
    matrix = zip(names, found.between.tolist(), strict=True)
    return {
        "column": column,
        "rows": [(one, by_group.get(one.group, {})) for one in found.groups],
        "reference": names[0],
        "names": names,
        "between": list(matrix) if 1 < len(names) <= _MAX_MATRIX else [],
        "threshold": found.threshold,
        "n_missing": found.n_missing,
        "titles": TITLES if found.threshold is not None else {"auc": TITLES["auc"]},
    }


def _fold_view(models: Sequence[Any]) -> dict[str, Any] | None:
    """Return the main measure per fold; None without several folds."""
    shown = [row for row in models if row.problem is None and len(row.folds) > 1]
    if not shown:
        return None
    shown = shown[:_MAX_TABLE_ROWS]
    scale = Scale.over(value for row in shown for value in (*row.folds, row.main))
    rows = [(row, scale.strip(row.main, dots=row.folds)) for row in shown]
    return {"axis": scale.axis(), "rows": rows}


def _as_json(value: Any) -> Markup:
    """Write JSON for a script element, without characters that could end it."""
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)
