"""How the pictures of all studies look."""

from pathlib import Path
from typing import Any

from benchmarks.papers.differences import Difference

# of Okabe and Ito, apart for all kinds of colour vision
BLUE, ORANGE, GREEN, PINK, GREY = "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#767676"


def panels(
    n_rows: int, n_columns: int, width: float, height: float, **options: Any
) -> tuple[Any, Any]:
    """Return a new figure and its grid of axes, open above and to the right."""
    from matplotlib import pyplot

    options |= {"squeeze": False, "layout": "constrained", "figsize": (width, height)}
    figure, grid = pyplot.subplots(n_rows, n_columns, **options)
    for ax in grid.flat:
        ax.spines[["top", "right"]].set_visible(False)
    return figure, grid


def line(color: str, marker: str, **options: Any) -> dict[str, Any]:
    """Return the style of a line with marks."""
    usual = {"markersize": 4, "linewidth": 1.5}
    return {"color": color, "marker": marker, **usual, **options}


def draw_difference(ax: Any, found: Difference, place: float, **style: Any) -> None:
    """Draw a difference in points with its interval, along the horizontal axis."""
    ax.errorbar(100.0 * found.mean, place, xerr=100.0 * found.reach, **style)


def legend_below(figure: Any, n_columns: int) -> None:
    """Give all panels one legend."""
    named: dict[str, Any] = {}
    for ax in figure.axes:
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
            named.setdefault(label, handle)
    place = {"loc": "outside lower center", "ncols": n_columns, "frameon": False}
    figure.legend(list(named.values()), list(named), **place)


def save(figure: Any, path: Path) -> None:
    """Write a figure to a file and forget it."""
    from matplotlib import pyplot

    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=130)
    pyplot.close(figure)
