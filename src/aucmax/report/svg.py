"""Axes and lines as SVG; colours come from the style sheet, light or dark."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup
from numpy.typing import ArrayLike

_MAX_POINTS = 400  # per line; no screen shows more in a picture of this size


@dataclass(frozen=True)
class Plane:
    """A coordinate system within a picture of 440 x 360 units."""

    x_range: tuple[float, float]  # values at the left and right
    y_range: tuple[float, float]  # at the bottom and top
    left: float = 58.0
    top: float = 12.0
    width: float = 358.0
    height: float = 296.0

    def x(self, values: ArrayLike) -> np.ndarray:
        """Return horizontal positions."""
        low, high = self.x_range
        return self.left + self.width * (np.asarray(values, float) - low) / (high - low)

    def y(self, values: ArrayLike) -> np.ndarray:
        """Return vertical positions, which grow downwards."""
        low, high = self.y_range
        shares = (np.asarray(values, float) - low) / (high - low)
        return self.top + self.height * (1.0 - shares)

    def line(self, xs: ArrayLike, ys: ArrayLike, kind: str) -> Markup:
        """Draw a line through points, thinned to what a screen shows."""
        return Markup('<polyline class="{}" points="{}"/>').format(
            kind, self._points(xs, ys)
        )

    def band(self, xs: ArrayLike, low: ArrayLike, high: ArrayLike, kind: str) -> Markup:
        """Fill the area between two lines."""
        return Markup('<polygon class="{}" points="{} {}"/>').format(
            kind, self._points(xs, low), self._points(np.flip(xs), np.flip(high))
        )

    def _points(self, xs: ArrayLike, ys: ArrayLike) -> str:
        at = np.column_stack([self.x(xs), self.y(ys)])
        if len(at) > _MAX_POINTS:
            kept = np.linspace(0, len(at) - 1, _MAX_POINTS).round().astype(int)
            at = at[np.unique(kept)]
        return " ".join(f"{x:.1f},{y:.1f}" for x, y in at)

    def bar(self, x: float, low: float, high: float, kind: str) -> Markup:
        """Draw a vertical line from one value to another."""
        return Markup(
            '<line class="{}" x1="{:.1f}" x2="{:.1f}" y1="{:.1f}" y2="{:.1f}"/>'
        ).format(kind, self.x(x), self.x(x), self.y(low), self.y(high))

    def dot(self, x: float, y: float, kind: str, size: float = 4.0) -> Markup:
        """Draw a dot."""
        return Markup('<circle class="{}" cx="{:.1f}" cy="{:.1f}" r="{:g}"/>').format(
            kind, self.x(x), self.y(y), size
        )

    def shade(self, low: float, high: float) -> Markup:
        """Shade a range of x."""
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
        name: str = "",
    ) -> Markup:
        """Return the picture: axes with titles around the drawn elements."""
        axes = [self._x_tick(v, short_number(v)) for v in nice_ticks(*self.x_range)]
        axes += [self._y_tick(v, short_number(v)) for v in nice_ticks(*self.y_range)]
        middle_x, middle_y = self.left + self.width / 2, self.top + self.height / 2
        title_of = Markup('<text class="axis" transform="translate({} {}){}">{}</text>')
        axes += [
            title_of.format(middle_x, 352, "", x_title),
            title_of.format(13, middle_y, " rotate(-90)", y_title),
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


def short_number(number: float) -> str:
    """Write a number in few characters: 12,000 as 12k."""
    for least, unit, letter in ((1e9, 1e9, "G"), (1e6, 1e6, "M"), (1e4, 1e3, "k")):
        if number >= least:
            return f"{number / unit:g}{letter}"
    return f"{number:g}"


def nice_ticks(low: float, high: float, max_ticks: int = 6) -> list[float]:
    """Return at most `max_ticks` round numbers between two others."""
    span = high - low
    base = 10.0 ** np.floor(np.log10(span / max_ticks))
    steps = (base * k for k in (1, 2, 5, 10, 20))
    step = next(step for step in steps if span / step < max_ticks)
    first = int(np.ceil(low / step - 1e-9))
    last = int(np.floor(high / step + 1e-9))
    return [round(k * step, 12) for k in range(first, last + 1)]


@dataclass(frozen=True)
class Scale:
    """A horizontal axis that the rows of a table share; drawn in parts of 100."""

    low: float
    high: float

    @classmethod
    def over(cls, values: Iterable[float]) -> Scale:
        """Return a scale that holds all finite values, with a margin."""
        finite = [value for value in values if np.isfinite(value)] or [0.0, 1.0]
        low, high = min(finite), max(finite)
        margin = 0.05 * (high - low) or 0.01
        return cls(low - margin, high + margin)

    def place(self, value: float) -> str:
        """Return where a value is, in percent from the left."""
        return f"{100 * (value - self.low) / (self.high - self.low):.1f}%"

    @property
    def ticks(self) -> list[float]:
        """Round numbers to label the axis with."""
        return nice_ticks(self.low, self.high, 4)

    def axis(self) -> Markup:
        """Write the labels of the ticks."""
        label = Markup('<span style="left: {}">{}</span>')
        labels = [label.format(self.place(v), short_number(v)) for v in self.ticks]
        return Markup('<span class="axis">{}</span>').format(Markup("").join(labels))

    def strip(
        self,
        centre: float,
        ends: tuple[float, float] | None = None,
        dots: Iterable[float] = (),
    ) -> Markup:
        """Draw a value with its interval and dots, over the ticks of the axis."""
        parts = [self._upright(tick, "grid", 0, 16) for tick in self.ticks]
        if ends is not None and ends[0] == ends[0]:
            low, high = map(self.place, ends)
            line = Markup('<line class="ends" x1="{}" x2="{}" y1="8" y2="8"/>')
            parts.append(line.format(low, high))
        circle = Markup('<circle class="fold" cx="{}" cy="8" r="3.5"/>')
        parts += [circle.format(self.place(dot)) for dot in dots if dot == dot]
        if centre == centre:
            parts.append(self._upright(centre, "centre", 2, 14))
        return Markup('<svg class="strip" aria-hidden="true">{}</svg>').format(
            Markup("").join(parts)
        )

    def _upright(self, value: float, kind: str, top: int, bottom: int) -> Markup:
        line = '<line class="{0}" x1="{1}" x2="{1}" y1="{2}" y2="{3}"/>'
        return Markup(line).format(kind, self.place(value), top, bottom)
