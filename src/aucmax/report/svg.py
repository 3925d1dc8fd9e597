"""The figures of a report: displays of plots as SVG for a light or dark page."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from io import StringIO
from typing import TYPE_CHECKING, Any

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
_WIDTH, _HEIGHT = 440, 360


def draw_svg(plot: Callable[[Axes], object], title: str, name: str) -> Markup:
    """Return what a function draws on axes as SVG.

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
        plot(ax)
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
    return start + Markup(inner)


def draw_over_time(
    ax: Axes,
    lines: Sequence[Sequence[FloatArray]],
    titles: tuple[str, str],
    is_stepped: bool,
) -> None:
    """Draw lines over time, each of times, values and both ends of a band.

    Steps are shares, which start at 1; other lines are areas, and 1/2 is chance.
    """
    if not is_stepped:
        ax.axhline(0.5, **REFERENCE)
    for k, (times, value, low, high) in enumerate(lines):
        style = line_style(k)
        band: dict[str, Any] = {"color": style["color"], "alpha": 0.16, "linewidth": 0}
        if is_stepped:
            times = np.append(0.0, times)
            value, low, high = (np.append(1.0, part) for part in (value, low, high))
            style, band = style | {"drawstyle": "steps-post"}, band | {"step": "post"}
        ax.plot(times, value, **style)
        ax.fill_between(times, low, high, **band)
    ax.set(xlabel=titles[0], ylabel=titles[1], xlim=(0.0, None))


def draw_calibration(ax: Axes, shares: FloatArray) -> None:
    """Draw rows of mean probability, share with an event, and its interval."""
    probability, share, low, high = shares.T
    errors = np.stack([share - low, high - share])
    ax.axline((0.0, 0.0), slope=1.0, **REFERENCE)
    ax.errorbar(probability, share, errors, fmt="o", color=BLUE, elinewidth=1.0)
    ax.margins(0.1)
    ax.spines[["top", "right"]].set_visible(False)
    ax.set(
        xlabel="predicted: mean probability of the group",
        ylabel="observed: share with an event",
    )
