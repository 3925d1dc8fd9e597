"""The figures of a report: displays of plots as SVG for a light or dark page."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from io import StringIO
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from markupsafe import Markup

from aucmax._core.threads import import_package
from aucmax._core.validation import FloatArray
from aucmax.plots._display import BLUE, COLOURS, GREY, REFERENCE, line_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# variables of the style sheet in place of colours
_VARIABLES = {colour: f"var(--c{k})" for k, colour in enumerate(COLOURS)}
_VARIABLES |= {GREY: "var(--soft)", "#000000": "var(--soft)", "#333333": "var(--ink)"}
Drawn = TypeVar("Drawn")
_WIDTH, _HEIGHT = 440, 360


def draw_svg(
    plot: Callable[[Axes], Drawn], title: str, name: str
) -> tuple[Markup, Drawn]:
    """Return what a function draws on axes as SVG, and what it returns.

    For the script, ``data-plane`` has the place of (0, 0) and the length of both units.
    """
    matplotlib = import_package("matplotlib", "a report")
    from matplotlib.figure import Figure

    text = StringIO()
    style = {"font.size": 13, "svg.fonttype": "none", "svg.hashsalt": name}
    with matplotlib.rc_context(style):
        figure = Figure((_WIDTH / 72, _HEIGHT / 72), dpi=72)
        ax = figure.subplots()
        figure.subplots_adjust(left=0.15, right=0.9, bottom=0.14, top=0.97)
        drawn = plot(ax)
        ax.set_title("")
        if (legend := ax.get_legend()) is not None:
            legend.remove()  # the page has one, whose names break lines
        figure.savefig(text, format="svg", transparent=True, metadata={"Date": None})
        (x, y), (right, top) = ax.transData.transform([(0, 0), (1, 1)])
    plane = f"{x:.6g} {_HEIGHT - y:.6g} {right - x:.9g} {top - y:.9g}"
    _, _, inner = text.getvalue().partition("</metadata>")
    inner = re.sub(r"<style.*?</style>", "", inner, count=1, flags=re.DOTALL)
    inner = re.sub(r"font: ([\d.]+px)[^;\"]*", r"font-size: \1", inner)
    inner = re.sub(r'( id="|url\(#|xlink:href="#)', rf"\1{name}-", inner)
    inner = re.sub(r"\n\s*", " ", inner).replace("xlink:href", "href")
    for colour, variable in _VARIABLES.items():
        inner = inner.replace(colour, variable)
    start = Markup(
        '<svg class="chart" id="aucmax-{}" viewBox="0 0 {} {}" role="img" '
        'aria-label="{}" data-plane="{}">'
    ).format(name, _WIDTH, _HEIGHT, title, plane)
    return start + Markup(inner), drawn


def draw_over_time(
    ax: Axes,
    lines: Sequence[tuple[FloatArray, ...]],
    *,
    y_title: str,
    level: float | None = None,
    is_stepped: bool = False,
) -> None:
    """Draw lines over time, each of times, values and both ends of a band."""
    if level is not None:
        ax.axhline(level, **REFERENCE)
    for k, (times, *values) in enumerate(lines):
        if is_stepped:
            times = np.append(0.0, times)
            values = [np.append(1.0, part) for part in values]
        step: Any = "post" if is_stepped else None
        value, low, high = values
        style = line_style(k)
        ax.plot(times, value, drawstyle=step and "steps-post", **style)
        band: Any = {"color": style["color"], "alpha": 0.16, "linewidth": 0}
        ax.fill_between(times, low, high, step=step, **band)
    ax.set(xlabel="time", ylabel=y_title, xlim=(0.0, None))


def draw_calibration(
    ax: Axes, probabilities: FloatArray, shares: FloatArray, ends: FloatArray
) -> None:
    """Draw shares with intervals by probabilities."""
    errors = np.abs(ends - shares)
    ax.axline((0.0, 0.0), slope=1.0, **REFERENCE)
    ax.errorbar(probabilities, shares, errors, fmt="o", color=BLUE, elinewidth=1.0)
    ax.margins(0.1)
    ax.spines[["top", "right"]].set_visible(False)
    ax.set(
        xlabel="predicted: mean probability of the group",
        ylabel="observed: share with an event",
    )
