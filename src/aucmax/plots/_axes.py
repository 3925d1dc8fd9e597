"""What the pictures share: colours, axes to draw on, and the look of these."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["BLUE", "GREY", "ORANGE", "Drawing", "axes_or_new", "dress"]

# of Okabe and Ito, apart for all kinds of colour vision
BLUE, ORANGE, GREY = "#0072b2", "#d55e00", "#767676"


def axes_or_new(ax: Axes | None, width: float, height: float) -> Axes:
    """Return the axes given, or those of a new figure of that size in inches."""
    if ax is not None:
        return ax
    from matplotlib import pyplot

    _, ax = pyplot.subplots(figsize=(width, height), layout="constrained")
    return ax


def dress(ax: Axes, legend_at: Literal["best", "lower right"]) -> None:
    """Give the axes the look of all pictures: a light legend, and no frame."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(loc=legend_at, fontsize="small", framealpha=0.9, edgecolor="none")


class Drawing:
    """What has been drawn on axes."""

    ax_: Axes

    @property
    def figure_(self) -> Figure:
        """The figure of the axes."""
        figure: Figure = self.ax_.get_figure(root=True)  # type: ignore[assignment]
        return figure
