"""The pictures of a report."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from markupsafe import Markup

from aucmax._core.validation import BoolArray, FloatArray
from aucmax.decisions import NetBenefit
from aucmax.decisions.net_benefit import shown_range
from aucmax.inference import ROCBand, roc_band
from aucmax.metrics import roc_points
from aucmax.report.svg import Plane

_MAX_CORNERS = 300  # of a drawn curve
ROC_PLANE = Plane((0.0, 1.0), (0.0, 1.0))


@dataclass(frozen=True)
class Curve:
    """Some corners of a curve: rows above a threshold, and positives among them."""

    name: str
    opened: np.ndarray
    found: np.ndarray
    thresholds: FloatArray
    band: ROCBand

    @classmethod
    def of(cls, name: str, scores: FloatArray, labels: BoolArray) -> Curve:
        """Thin the curve of a ranking to what a screen shows."""
        points = roc_points(labels, scores, max_points=_MAX_CORNERS)
        n_positive = int(labels.sum())
        found = np.rint(points.tpr * n_positive).astype(np.int64)
        alarms = np.rint(points.fpr * (labels.size - n_positive)).astype(np.int64)
        # finer on the left, where curves are steep
        band = roc_band(labels, scores, fpr=np.linspace(0.0, 1.0, 101) ** 2)
        return cls(name, found + alarms, found, points.thresholds, band)


def draw_roc(
    curves: Sequence[Curve], labels: BoolArray, fpr_range: Sequence[float] | None
) -> Markup:
    """Draw ROC curves with bands, and a dot per curve that the script moves."""
    n_positive = int(labels.sum())
    n_negative = labels.size - n_positive
    inside = [] if fpr_range is None else [ROC_PLANE.shade(*fpr_range)]
    inside.append(ROC_PLANE.line([0, 1], [0, 1], "chance"))
    for k, curve in _last_first(curves):
        band = curve.band
        inside.append(ROC_PLANE.band(band.fpr, band.low, band.high, f"band c{k}"))
    for k, curve in _last_first(curves):
        alarms = curve.opened - curve.found
        inside.append(
            ROC_PLANE.line(alarms / n_negative, curve.found / n_positive, f"curve c{k}")
        )
    inside += _dots(curves)
    inside.append(Markup('<circle class="hover" r="5" visibility="hidden"/>'))
    return ROC_PLANE.picture(
        inside,
        title="ROC curves: true positive rate by false positive rate",
        x_title="false positive rate (1 - specificity)",
        y_title="true positive rate (sensitivity)",
        name="aucmax-roc",
    )


def draw_gains(curves: Sequence[Curve], labels: BoolArray) -> Markup:
    """Draw positives found by cases reviewed, with a dot on each curve."""
    plane = Plane((0.0, float(labels.size)), (0.0, float(labels.sum())))
    inside = [plane.line(plane.x_range, plane.y_range, "chance")]
    for k, curve in _last_first(curves):
        inside.append(plane.line(curve.opened, curve.found, f"curve c{k}"))
    inside += _dots(curves)
    return plane.picture(
        inside,
        title="Gains: positives found by cases reviewed",
        x_title="cases reviewed",
        y_title="positives found",
        name="aucmax-gains",
    )


def _last_first(curves: Sequence[Curve]) -> Iterable[tuple[int, Curve]]:
    """Return the curves with their numbers, the first last: it is drawn on top."""
    return reversed(list(enumerate(curves)))


def _dots(curves: Sequence[Curve]) -> list[Markup]:
    """Draw hidden dots that the script shows and moves."""
    dot = Markup('<circle class="dot c{0} d{0}" r="5" visibility="hidden"/>')
    return [dot.format(k) for k, _ in _last_first(curves)]


def draw_reliability(found: Any, observed: str = "share of positives") -> Markup:
    """Draw the observed share of each group by its predicted probability."""
    x_range = _around(found.probability)
    y_range = _around(np.concatenate([found.low, found.high, found.share]))
    plane = Plane(x_range, y_range)
    diagonal = max(x_range[0], y_range[0]), min(x_range[1], y_range[1])
    inside = []
    if diagonal[0] < diagonal[1]:
        inside.append(plane.line(diagonal, diagonal, "chance"))
    groups = zip(found.probability, found.share, found.low, found.high, strict=True)
    for probability, share, low, high in groups:
        inside.append(plane.bar(probability, low, high, "whisker c0"))
        inside.append(plane.dot(probability, share, "point c0"))
    return plane.picture(
        inside,
        title=f"Calibration: observed {observed} by predicted probability",
        x_title="predicted: mean probability of the group",
        y_title=f"observed: {observed}",
    )


def draw_over_time(
    lines: Sequence[tuple[FloatArray, ...]],
    y_range: tuple[float, float],
    *,
    title: str,
    y_title: str,
    level: float | None = None,
    is_stepped: bool = False,
) -> Markup:
    """Draw lines over time, each of times, values and both ends of a band."""
    last = max(float(line[0][-1]) for line in lines)
    plane = Plane((0.0, last), y_range)
    inside = []
    if level is not None:
        inside.append(plane.line(plane.x_range, [level, level], "chance"))
    curves = []
    for k, line in reversed(list(enumerate(lines))):
        times, values, low, high = line
        if is_stepped:
            times = np.concatenate([[0.0], np.repeat(times, 2)])
            values, low, high = (
                np.repeat(np.append(1.0, part), 2)[:-1] for part in (values, low, high)
            )
        inside.append(plane.band(times, low, high, f"band c{k}"))
        curves.append(plane.line(times, values, f"curve c{k}"))
    return plane.picture(
        [*inside, *curves], title=title, x_title="time", y_title=y_title
    )


def draw_decision_curve(found: NetBenefit) -> Markup:
    """Draw net benefit by threshold, with acting on all rows and on none."""
    plane = Plane(*shown_range([found]))
    is_shown = found.threshold <= plane.x_range[1]

    def clipped(values: FloatArray) -> FloatArray:
        return np.clip(values[is_shown], *plane.y_range)

    cuts = found.threshold[is_shown]
    rate, least = found.base_rate, plane.y_range[0]
    # the line of acting on all rows, (rate - t) / (1 - t), to where it leaves below
    to = min((rate - least) / (1.0 - least), plane.x_range[1])
    few = np.linspace(plane.x_range[0], to, 50)
    inside = [
        plane.line(plane.x_range, [0.0, 0.0], "chance"),
        plane.line(few, (rate - few) / (1.0 - few), "default"),
        plane.band(cuts, clipped(found.low), clipped(found.high), "band c0"),
        plane.line(cuts, clipped(found.net_benefit), "curve c0"),
    ]
    return plane.picture(
        inside,
        title="Decision curve: net benefit by threshold",
        x_title="threshold of the probability",
        y_title="net benefit",
    )


def _around(values: FloatArray) -> tuple[float, float]:
    """Return a range within 0 and 1 that holds all values, with a margin."""
    margin = max(0.05 * float(np.ptp(values)), 1e-6)
    return max(float(values.min()) - margin, 0.0), min(
        float(values.max()) + margin, 1.0
    )


def draw_tenths(shares: Sequence[tuple[float, float, float]], base: float) -> Markup:
    """Draw the share of positives, with intervals, per tenth of a ranking."""
    top = min(1.0, 1.05 * max(high for _, _, high in shares))
    plane = Plane((0.5, len(shares) + 0.5), (0.0, top))
    inside = [plane.line(plane.x_range, [base, base], "chance")]
    for k, (share, low, high) in enumerate(shares, start=1):
        bar = Markup(
            '<rect class="bar" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}"/>'
        ).format(
            plane.x(k - 0.36),
            plane.y(share),
            0.72 * plane.width / len(shares),
            plane.y(0.0) - plane.y(share),
        )
        inside += [bar, plane.bar(k, low, high, "whisker ink")]
    return plane.picture(
        inside,
        title="Share of positives per tenth of the ranking",
        x_title="tenth of the ranking, from the top",
        y_title="share of positives",
    )
