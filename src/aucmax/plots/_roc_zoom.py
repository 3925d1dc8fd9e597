"""The part of ROC curves that deserves a closer look, and the inset that gives it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from aucmax._core.validation import FloatArray
from aucmax.metrics import ROCPoints

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw_inset", "zoom_window"]

Window = tuple[float, float, float, float]

_WIDEST_RANGE = 0.25  # of false positive rates that is worth an inset
_CLOSE = 0.05  # curves that are nowhere farther apart hide each other
_STEEP = 0.9  # a curve that is up here by the widest range hides in the corner
_GRID = np.linspace(0.0, 1.0, 501)
# where the lower right half is free, in parts of the axes
_PLACE = (0.46, 0.1, 0.5, 0.46)


def zoom_window(
    curves: Sequence[ROCPoints], fpr_range: Sequence[float] | None
) -> Window | None:
    """Return the box to look at closely, or None where the whole picture will do.

    It is the range that was asked for, where that is narrow; else the left end, where
    all curves hide in the corner; else where curves that hide each other are farthest
    apart.
    """
    heights = np.array([np.interp(_GRID, curve.fpr, curve.tpr) for curve in curves])
    if fpr_range is not None and fpr_range[1] - fpr_range[0] < 1.0:
        low, high = fpr_range
        return _around(curves, low, high) if high - low <= _WIDEST_RANGE else None
    at_end = heights[:, _GRID <= _WIDEST_RANGE][:, -1]
    if at_end.min() >= _STEEP:
        reached = _GRID[np.argmax(heights.min(axis=0) >= 0.98)]
        return _around(curves, 0.0, float(np.clip(1.2 * reached, 0.02, _WIDEST_RANGE)))
    spread: FloatArray = np.ptp(heights, axis=0)
    if len(curves) > 1 and 0 < spread.max() <= _CLOSE:
        centre = float(_GRID[np.argmax(spread)])
        return _around(curves, max(0.0, centre - 0.1), min(1.0, centre + 0.1))
    return None


def _around(curves: Sequence[ROCPoints], low: float, high: float) -> Window:
    """Return the box between two false positive rates that holds all curves."""
    ends = [np.interp((low, high), curve.fpr, curve.tpr) for curve in curves]
    bottom, top = np.min(ends), np.max(ends)
    margin = max(0.06 * (top - bottom), 0.01)
    return low, high, max(bottom - margin, 0.0), min(top + margin, 1.01)


def draw_inset(ax: Axes, window: Window) -> Axes:
    """Draw the lines of the axes once more, within a window, in the free half."""
    left, right, bottom, top = window
    inset = ax.inset_axes(_PLACE, xlim=(left, right), ylim=(bottom, top), zorder=5)
    for line in ax.get_lines():
        inset.plot(
            line.get_xdata(),
            line.get_ydata(),
            color=line.get_color(),
            linestyle=line.get_linestyle(),
            linewidth=line.get_linewidth(),
            zorder=line.get_zorder(),
        )
    inset.tick_params(labelsize="x-small")
    ax.indicate_inset_zoom(inset, edgecolor="#767676")
    return inset
