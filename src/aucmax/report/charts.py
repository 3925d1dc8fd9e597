"""The pictures of a report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup

from aucmax._core.validation import BoolArray, FloatArray
from aucmax.decisions import Reliability, reliability
from aucmax.metrics import roc_points
from aucmax.report.contents import NamedRanking, Probabilities
from aucmax.report.svg import Plane

_CORNERS = 300  # of a drawn curve, which the pointer can be held over
ROC_PLANE = Plane((0.0, 1.0), (0.0, 1.0))


@dataclass(frozen=True)
class Curve:
    """Some corners of a curve: rows above a threshold, and positives among them."""

    name: str
    opened: np.ndarray
    found: np.ndarray
    thresholds: FloatArray

    @classmethod
    def of(cls, ranking: NamedRanking, labels: BoolArray) -> Curve:
        """Thin the curve of a ranking to what a screen shows."""
        points = roc_points(labels, ranking.scores, max_points=_CORNERS)
        n_positive = int(labels.sum())
        found = np.rint(points.tpr * n_positive).astype(np.int64)
        alarms = np.rint(points.fpr * (labels.size - n_positive)).astype(np.int64)
        return cls(ranking.name, found + alarms, found, points.thresholds)


def draw_roc(
    curves: Sequence[Curve], labels: BoolArray, fpr_range: Sequence[float] | None
) -> Markup:
    """Draw ROC curves, with a dot on each that a script can move."""
    n_positive = int(labels.sum())
    n_negative = labels.size - n_positive
    inside = [] if fpr_range is None else [ROC_PLANE.shade(*fpr_range)]
    inside.append(ROC_PLANE.line([0, 1], [0, 1], "chance"))
    for k, curve in reversed(list(enumerate(curves))):
        alarms = curve.opened - curve.found
        inside.append(
            ROC_PLANE.line(alarms / n_negative, curve.found / n_positive, f"curve c{k}")
        )
    inside += _dots(len(curves))
    inside.append(Markup('<circle class="hover" r="5" visibility="hidden"/>'))
    return ROC_PLANE.picture(
        inside,
        title="ROC curves: true positive rate by false positive rate",
        x_title="false positive rate",
        y_title="true positive rate",
        x_text="{:g}".format,
        y_text="{:g}".format,
        name="aucmax-roc",
    )


def draw_gains(curves: Sequence[Curve], labels: BoolArray) -> Markup:
    """Draw positives found by rows opened, with a dot on each curve."""
    plane = Plane((0.0, float(labels.size)), (0.0, float(labels.sum())))
    inside = [plane.line(plane.x_range, plane.y_range, "chance")]
    for k, curve in reversed(list(enumerate(curves))):
        inside.append(plane.line(curve.opened, curve.found, f"curve c{k}"))
    inside += _dots(len(curves))
    return plane.picture(
        inside,
        title="Gains: positives found by cases opened",
        x_title="cases opened",
        y_title="positives found",
        x_text=_short,
        y_text=_short,
        name="aucmax-gains",
    )


def _dots(n: int) -> list[Markup]:
    """Draw hidden dots, the first model's on top, that the script shows and moves."""
    return [
        Markup('<circle class="dot d{}" r="5" visibility="hidden"/>').format(k)
        for k in reversed(range(n))
    ]


def draw_reliability(
    probabilities: Sequence[Probabilities],
) -> tuple[Markup, list[Reliability]]:
    """Draw how often rows were positive by how probable that was said to be."""
    found = [reliability(one.labels, one.values) for one in probabilities]
    top = max(max(one.high.max(), one.probability.max()) for one in found)
    top = min(1.0, 1.05 * float(top))
    plane = Plane((0.0, top), (0.0, top))
    inside = [plane.line([0, top], [0, top], "chance")]
    for k, one in reversed(list(enumerate(found))):
        inside += [
            plane.bar(p, low, high, f"whisker c{k}")
            for p, low, high in zip(one.probability, one.low, one.high, strict=True)
        ]
        inside.append(plane.line(one.probability, one.share, f"curve thin c{k}"))
        inside += [
            plane.dot(p, share, f"point c{k}")
            for p, share in zip(one.probability, one.share, strict=True)
        ]
    picture = plane.picture(
        inside,
        title="Calibration: share of positives by probability",
        x_title="mean probability of the group",
        y_title="share of positives",
        x_text=lambda value: f"{value:.3g}",
        y_text=lambda value: f"{value:.3g}",
    )
    return picture, found


def draw_tenths(shares: Sequence[tuple[float, float, float]], base: float) -> Markup:
    """Draw the share of positives, with intervals, in tenths of a ranking."""
    top = min(1.0, 1.05 * max(high for _, _, high in shares))
    plane = Plane((0.5, len(shares) + 0.5), (0.0, top))
    inside = [plane.line(plane.x_range, [base, base], "chance")]
    for k, (share, low, high) in enumerate(shares, start=1):
        height = plane.y(0.0) - plane.y(share)
        inside.append(
            Markup(
                '<rect class="bar" x="{:.1f}" y="{:.1f}" width="{:.1f}" '
                'height="{:.1f}"/>'
            ).format(
                plane.x(k - 0.36),
                plane.y(share),
                0.72 * plane.width / len(shares),
                height,
            )
        )
        inside.append(plane.bar(k, low, high, "whisker ink"))
    return plane.picture(
        inside,
        title="Share of positives in each tenth of the ranking",
        x_title="tenths of the ranking, from the top",
        y_title="share of positives",
        x_text="{:g}".format,
        y_text=lambda value: f"{value:.3g}",
    )


def _short(number: float) -> str:
    """Write a count in few characters: 12,000 as 12k."""
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if number >= size:
            return f"{number / min(size, 1e3 if letter == 'k' else size):g}{letter}"
    return f"{number:g}"
