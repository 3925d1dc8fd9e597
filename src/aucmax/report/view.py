"""From what a report says to what its templates show."""

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
from aucmax.decisions import wilson_interval
from aucmax.report.charts import (
    ROC_PLANE,
    Curve,
    draw_gains,
    draw_reliability,
    draw_roc,
    draw_tenths,
)
from aucmax.report.contents import Importance, NamedRanking, ReportContents, as_p_value
from aucmax.report.ranked_steps import Opened, RankedRows, usual_length
from aucmax.report.svg import strip

MOST_CURVES = 7  # so many colours are apart for all kinds of colour vision
MOST_ROWS = 20  # of a table, before the rest is folded away
_MOST_COLUMNS = 20  # that the importance lists
_MOST_CHARACTERS = 900_000  # of all rankings together, so that the page stays small
_LENGTHS = (10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000)
_TENTHS = 10


def table_view(contents: ReportContents) -> dict[str, Any]:
    """Return what a table of the models needs, and the verdict above it."""
    rows = contents.models
    ends = [end for row in rows for end in (row.low, row.high) if end == end]
    scale = (min(ends), max(ends)) if ends else (0.0, 1.0)
    return {
        "css": Markup(read_template("style.css")),
        "verdict": contents.verdict,
        "best": rows[0].name if rows[0].problem is None else None,
        "measures": contents.measures,
        "baselines": contents.baselines,
        "rows": [_table_row(row, contents, scale) for row in rows],
        "most_rows": MOST_ROWS,
    }


def page_view(contents: ReportContents) -> dict[str, Any]:
    """Return what the templates of a page need."""
    reproduction = dict(contents.reproduction)
    return {
        **table_view(contents),
        **_ranked_view(contents),
        "version": __version__,
        "title": contents.title,
        "facts": contents.facts,
        "explanation": contents.explanation,
        "importance": _importance_view(contents.importance),
        "folds": list(_fold_rows(contents.models)),
        "n_folds": max(len(row.folds) for row in contents.models),
        "notices": contents.notices,
        "certificates": contents.certificates,
        "command": reproduction.pop("command", None),
        "reproduction": reproduction,
        "no_rankings": contents.no_rankings,
        "js": Markup(read_template("page.js")),
    }


@cache
def read_template(name: str) -> str:
    """Return a file that comes with the package."""
    return (files("aucmax.report") / "templates" / name).read_text(encoding="utf-8")


def _table_row(
    row: Any, contents: ReportContents, scale: tuple[float, float]
) -> dict[str, Any]:
    tests = {
        test.baseline: {
            **vars(test),
            "word": "even" if test.verdict == "no difference" else test.verdict,
            "chance": as_p_value(test.p_value),
        }
        for test in contents.tests
        if test.model == row.name
    }
    return {
        **vars(row),
        "measures": list(row.measures.values()),
        "main": row.main,
        "strip": strip((), row.low, row.high, scale, row.main),
        "tests": [tests.get(name) for name in contents.baselines],
    }


def _ranked_view(contents: ReportContents) -> dict[str, Any]:
    """Return the curves, and what is found along them."""
    drawn = _drawn(contents)
    if not drawn:
        return {"curves": [], "calibration": None}
    labels = contents.labels
    curves = [Curve.of(ranking, labels) for ranking in drawn]
    ranked = [RankedRows.of(labels, ranking.scores) for ranking in drawn]
    opened = usual_length(labels.size)
    slider: list[dict[str, Any]] = []
    n_characters = 0
    for place, rows in enumerate(ranked):
        steps = rows.encode()
        n_characters += len(steps)
        if place and n_characters > _MOST_CHARACTERS:
            break
        slider.append({"place": place, "name": drawn[place].name, "steps": steps})
    base = float(labels.mean())
    lengths = list(_lengths(ranked[0], labels.size))
    return {
        "curves": curves,
        "n_hidden": len(contents.rankings) - len(drawn),
        "n_beyond": len(drawn) - len(slider),
        "roc": draw_roc(curves, labels, contents.fpr_range),
        "gains": draw_gains(curves, labels),
        "fpr_range": contents.fpr_range,
        "scale": contents.scale,
        "origin": contents.origin_of_probabilities,
        "n_rows": labels.size,
        "opened": opened,
        "slider_rows": [
            {**row, "at": ranked[row["place"]].open(opened)} for row in slider
        ],
        "lengths": [(at, at.precision / base) for at in lengths],
        **_calibration_view(contents, drawn[0]),
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


def _drawn(contents: ReportContents) -> list[NamedRanking]:
    """Choose the rankings to draw: the best, the baselines, then the next best."""
    by_name = {ranking.name: ranking for ranking in contents.rankings}
    first = [*list(by_name)[:1], *(n for n in contents.baselines if n in by_name)]
    chosen = list(dict.fromkeys([*first, *by_name]))[:MOST_CURVES]
    return [ranking for name, ranking in by_name.items() if name in chosen]


def _lengths(ranked: RankedRows, n_rows: int) -> Iterator[Opened]:
    """Open the list at round numbers, up to half of it."""
    seen = 0
    for length in _LENGTHS:
        if length <= max(n_rows // 2, _LENGTHS[0]):
            at = ranked.open(min(length, n_rows))
            if at.n_alerts > seen:
                seen = at.n_alerts
                yield at


def _calibration_view(contents: ReportContents, best: NamedRanking) -> dict[str, Any]:
    if contents.probabilities:
        shown = contents.probabilities[:MOST_CURVES]
        picture, found = draw_reliability(shown)
        named = zip(shown, found, strict=True)
        rows = [{"name": one.name, **vars(result)} for one, result in named]
        return {"calibration": picture, "reliabilities": rows, "tenths": []}
    tenths = _tenths(contents.labels, best.scores)
    picture = draw_tenths(tenths, float(contents.labels.mean()))
    return {"calibration": picture, "reliabilities": [], "tenths": tenths}


def _tenths(labels: Any, scores: Any) -> list[tuple[float, float, float]]:
    """Return the share of positives in tenths of the ranking, with intervals."""
    order = np.argsort(-scores, kind="stable")
    parts = np.array_split(labels[order], min(_TENTHS, labels.size))
    shares = [(float(part.mean()), part.size) for part in parts]
    return [(share, *wilson_interval(share, n)) for share, n in shares]


def _points(curve: Curve) -> dict[str, Any]:
    """Return the corners that the pointer can be held over, with their thresholds."""
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
    n_shown = min(len(found.column), _MOST_COLUMNS)
    top = max(float(np.nanmax(found.high[:n_shown])), float(found.drop[0]), 1e-12)
    bottom = min(0.0, float(np.nanmin(found.low[:n_shown])))
    columns = zip(found.column, found.drop, found.low, found.high, strict=True)
    rows = [
        {
            "name": name,
            "drop": drop,
            "low": low,
            "high": high,
            "bar": strip((), low, high, (bottom, top), drop),
        }
        for name, drop, low, high in list(columns)[:n_shown]
    ]
    return {
        "model": importance.model,
        "measure": "AUC" if found.metric == "auc" else "partial AUC",
        "rows": rows,
        "n_more": importance.n_columns - n_shown,
        "note": importance.note,
    }


def _fold_rows(models: Sequence[Any]) -> Iterator[dict[str, Any]]:
    """Return how the main measure spreads over folds, where there are several."""
    shown = [row for row in models if row.problem is None and len(row.folds) > 1]
    shown = shown[:MOST_ROWS]
    values = [value for row in shown for value in row.folds]
    for row in shown:
        ends = (min(values), max(values))
        yield {
            "name": row.name,
            "on_folds": row.folds,
            "strip": strip(row.folds, np.nan, np.nan, ends, row.main),
            "lowest": min(row.folds),
            "highest": max(row.folds),
        }


def _as_json(value: Any) -> Markup:
    """Write JSON that may stand in a script element: no tag can end it."""
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)
