"""Axes and lines as SVG text: colours come from the style sheet, so that both fit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup
from numpy.typing import ArrayLike

_MAX_POINTS = 400  # of a line; no screen shows more of a picture of this size


@dataclass(frozen=True)
class Plane:
    """A rectangle that numbers are drawn in, within a picture of 440 x 360 units."""

    x_range: tuple[float, float]  # the numbers at the left and right
    y_range: tuple[float, float]  # at the bottom and top
    left: float = 52.0
    top: float = 12.0
    width: float = 364.0
    height: float = 296.0

    def x(self, values: ArrayLike) -> np.ndarray:
        """Return places from left to right."""
        low, high = self.x_range
        return self.left + self.width * (np.asarray(values, float) - low) / (high - low)

    def y(self, values: ArrayLike) -> np.ndarray:
        """Return places from top to bottom."""
        low, high = self.y_range
        shares = (np.asarray(values, float) - low) / (high - low)
        return self.top + self.height * (1.0 - shares)

    def line(self, xs: ArrayLike, ys: ArrayLike, kind: str) -> Markup:
        """Draw a line through points, thinned to what is seen."""
        at = np.column_stack([self.x(xs), self.y(ys)])
        if len(at) > _MAX_POINTS:
            kept = np.linspace(0, len(at) - 1, _MAX_POINTS).round().astype(int)
            at = at[np.unique(kept)]
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in at)
        return Markup('<polyline class="{}" points="{}"/>').format(kind, points)

    def bar(self, x: float, low: float, high: float, kind: str) -> Markup:
        """Draw an upright line at a place, from one number to another."""
        return Markup(
            '<line class="{}" x1="{:.1f}" x2="{:.1f}" y1="{:.1f}" y2="{:.1f}"/>'
        ).format(kind, self.x(x), self.x(x), self.y(low), self.y(high))

    def dot(self, x: float, y: float, kind: str, size: float = 4.0) -> Markup:
        """Draw a dot."""
        return Markup('<circle class="{}" cx="{:.1f}" cy="{:.1f}" r="{:g}"/>').format(
            kind, self.x(x), self.y(y), size
        )

    def shade(self, low: float, high: float) -> Markup:
        """Shade a range from left to right."""
        left, right = self.x([low, high])
        return Markup(
            '<rect class="shade" x="{:.1f}" y="{:g}" width="{:.1f}" height="{:g}"/>'
        ).format(left, self.top, right - left, self.height)

    def picture(
        self,
        inside: Iterable[Markup],
        *,
        title: str,
        x_title: str,
        y_title: str,
        x_text: Callable[[float], str],
        y_text: Callable[[float], str],
        name: str = "",
    ) -> Markup:
        """Put axes around what was drawn."""
        axes = [self._x_tick(v, x_text(v)) for v in nice_ticks(*self.x_range)]
        axes += [self._y_tick(v, y_text(v)) for v in nice_ticks(*self.y_range)]
        middle_x, middle_y = self.left + self.width / 2, self.top + self.height / 2
        axes += [
            Markup('<text class="axis" x="{:g}" y="352">{}</text>').format(
                middle_x, x_title
            ),
            Markup(
                '<text class="axis" transform="translate(13 {:g}) rotate(-90)">'
                "{}</text>"
            ).format(middle_y, y_title),
        ]
        return Markup(
            '<svg class="chart" viewBox="0 0 440 360" role="img" aria-label="{}"{}>'
            "{}{}</svg>"
        ).format(
            title,
            Markup(' id="{}"').format(name) if name else "",
            Markup("").join(axes),
            Markup("").join(inside),
        )

    def _x_tick(self, value: float, text: str) -> Markup:
        at, bottom = float(self.x(value)), self.top + self.height
        return Markup(
            '<line class="grid" x1="{0:.1f}" x2="{0:.1f}" y1="{1:g}" y2="{2:g}"/>'
            '<text class="tick" x="{0:.1f}" y="{3:g}" text-anchor="middle">{4}</text>'
        ).format(at, self.top, bottom, bottom + 18, text)

    def _y_tick(self, value: float, text: str) -> Markup:
        at, right = float(self.y(value)), self.left + self.width
        return Markup(
            '<line class="grid" x1="{0:g}" x2="{1:g}" y1="{2:.1f}" y2="{2:.1f}"/>'
            '<text class="tick" x="{3:g}" y="{4:.1f}" text-anchor="end">{5}</text>'
        ).format(self.left, right, at, self.left - 6, at + 4, text)


def nice_ticks(low: float, high: float, most: int = 6) -> list[float]:
    """Return round numbers between two others, at most `most`."""
    span = high - low
    base = 10.0 ** np.floor(np.log10(span / most))
    step = next(base * k for k in (1, 2, 2.5, 5, 10, 20) if span / (base * k) < most)
    first = int(np.ceil(low / step - 1e-9))
    last = int(np.floor(high / step + 1e-9))
    return [round(k * step, 12) for k in range(first, last + 1)]


def strip(
    dots: Sequence[float],
    low: float,
    high: float,
    ends: tuple[float, float],
    centre: float | None = None,
) -> Markup:
    """Draw numbers on a line of 200 x 16 units: dots, an interval, and its centre."""

    def at(value: float) -> float:
        return 6.0 + 188.0 * (value - ends[0]) / max(ends[1] - ends[0], 1e-12)

    parts = []
    if ends[0] < 0.0 < ends[1]:
        parts.append(
            Markup(
                '<line class="zero" x1="{0:.1f}" x2="{0:.1f}" y1="0" y2="16"/>'
            ).format(at(0.0))
        )
    if low == low:
        parts.append(
            Markup('<line class="ends" x1="{:.1f}" x2="{:.1f}" y1="8" y2="8"/>').format(
                at(low), at(high)
            )
        )
    parts += [
        Markup('<circle class="fold" cx="{:.1f}" cy="8" r="3.5"/>').format(at(value))
        for value in dots
        if value == value
    ]
    if centre is not None and centre == centre:
        parts.append(
            Markup(
                '<rect class="centre" x="{:.1f}" y="2" width="3" height="12"/>'
            ).format(at(centre) - 1.5)
        )
    return Markup(
        '<svg class="strip" viewBox="0 0 200 16" aria-hidden="true">{}</svg>'
    ).format(Markup("").join(parts))
