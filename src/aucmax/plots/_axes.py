"""What the pictures share: colours, axes to draw on, and the look of these."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Self

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "BLUE",
    "COLOURS",
    "GREY",
    "ORANGE",
    "Display",
    "Drawing",
    "axes_or_new",
    "counted",
    "dress",
    "line_style",
    "plain",
]

# of Okabe and Ito, apart for all kinds of colour vision
BLUE, ORANGE, GREY = "#0072b2", "#d55e00", "#767676"
# theirs without pale yellow
COLOURS = (BLUE, ORANGE, "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
_DASHES = ("solid", "dashed", "dotted", "dashdot")


def line_style(place: int) -> dict[str, Any]:
    """Return colour and dashes of the line of that number: the first 28 differ."""
    return {
        "color": COLOURS[place % len(COLOURS)],
        "linestyle": _DASHES[place // len(COLOURS) % len(_DASHES)],
        "linewidth": 2.0,
    }


def axes_or_new(ax: Axes | None, width: float, height: float) -> Axes:
    """Return the axes given, or those of a new figure of that size in inches."""
    if ax is not None:
        return ax
    from matplotlib import pyplot

    _, ax = pyplot.subplots(figsize=(width, height), layout="constrained")
    return ax


Place = Literal["best", "lower right", "upper right", "below"]


def dress(ax: Axes, legend_at: Place) -> None:
    """Give the axes the look of all pictures: a light legend, and no frame."""
    ax.spines[["top", "right"]].set_visible(False)
    look = {"fontsize": "small", "framealpha": 0.9, "edgecolor": "none"}
    if legend_at == "below":
        at = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.12), "ncols": 2}
        ax.legend(**at, **look)
    else:
        ax.legend(loc=legend_at, **look)


def counted(number: float, noun: str) -> str:
    """Return "1 row", "4,000 rows" or, of weights, "12.5 rows"."""
    text = f"{number:,.0f}" if float(number).is_integer() else f"{number:,.4g}"
    return f"{text} {noun}{'' if number == 1 else 's'}"


def plain(name: str) -> str:
    """Return a name that matplotlib does not take for a formula."""
    if not isinstance(name, str):
        raise TypeError(f"name must be a text, got {name!r}.")
    return name.replace("$", r"\$")


class Drawing:
    """What has been drawn on axes."""

    ax_: Axes

    @property
    def figure_(self) -> Figure:
        """The figure of the axes."""
        figure: Figure = self.ax_.get_figure(root=True)  # type: ignore[assignment]
        return figure


class Display(Drawing):
    """What can be drawn, and drawn again on other axes.

    A subclass says how large its figure is, and draws on axes.
    """

    def _size(self) -> tuple[float, float]:
        """Return width and height of a new figure in inches."""
        raise NotImplementedError

    def _draw(self, ax: Axes) -> None:
        """Draw on axes."""
        raise NotImplementedError

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw it.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        display
            This display.
        """
        self.ax_ = axes_or_new(ax, *self._size())
        self._draw(self.ax_)
        return self
