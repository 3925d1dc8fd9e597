"""What the pictures share: colours, and axes to draw on."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["BLUE", "GREY", "ORANGE", "axes_or_new"]

# of Okabe and Ito, apart for all kinds of colour vision
BLUE, ORANGE, GREY = "#0072b2", "#d55e00", "#767676"


def axes_or_new(ax: Axes | None, width: float, height: float) -> Axes:
    """Return the axes given, or those of a new figure of that size in inches."""
    if ax is not None:
        return ax
    from matplotlib import pyplot

    _, ax = pyplot.subplots(figsize=(width, height), layout="constrained")
    return ax
