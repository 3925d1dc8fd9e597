r"""The margin of the reduction to instances as a function of :math:`\nu^+`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from aucmax.plots._display import BLUE, GREY, ORANGE, Drawing, axes_or_new, dress

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import FillBetweenPolyCollection
    from matplotlib.lines import Line2D

    from aucmax.margin.margin_certificate import MarginCurve

__all__ = ["MarginCurveDisplay", "margin_curve"]

_LARGEST_RATIO_ON_A_LINEAR_AXIS = 20.0  # of the largest nu_pos to the smallest


@dataclass(frozen=True)
class MarginCurveDisplay(Drawing):
    """What :func:`margin_curve` has drawn.

    Attributes
    ----------
    figure_, ax_
        The figure and the axes drawn on.
    line_ : matplotlib.lines.Line2D
        The solved points, joined.
    best_ : matplotlib.lines.Line2D
        The mark at the lowest point.
    envelope_ : matplotlib collection
        The region where the curve is proven not to be.
    """

    ax_: Axes
    line_: Line2D
    best_: Line2D
    envelope_: FillBetweenPolyCollection


def margin_curve(curve: MarginCurve, *, ax: Axes | None = None) -> MarginCurveDisplay:
    r"""Draw :math:`\hat\gamma(\nu^+)`, its lowest point, and what is proven below it.

    Points are where the reduction was solved. The curve between them is not known, but
    it does not enter the shaded region, so no point of it is lower than the mark by
    more than the gap that is seen there.

    Parameters
    ----------
    curve : MarginCurve
        The curve, as a model with ``formulation="global"`` has it.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    MarginCurveDisplay
        The drawing, with ``figure_`` and ``ax_``.

    References
    ----------
    .. [1] D. Suehiro, K. Hatano, E. Takimoto. Approximate reduction from AUC
       maximization to 1-norm soft margin optimization. ALT 2011, figure 1.
    """
    ax = axes_or_new(ax, 6.0, 4.0)
    (line,) = ax.plot(
        curve.nu_pos,
        curve.gamma_hat,
        color=BLUE,
        linewidth=1.5,
        marker="o",
        markersize=4,
        zorder=3,
        label="solved",
    )
    x, y = float(curve.nu_pos[curve.best]), float(curve.gamma_hat[curve.best])
    (best,) = ax.plot(
        [x],
        [y],
        color=ORANGE,
        linestyle="none",
        marker="o",
        markersize=9,
        zorder=4,
        label=rf"lowest: {y:.4g} at $\nu^+$ = {x:.4g}",
    )
    bottom = _bottom(curve)
    envelope = ax.fill_between(
        curve.lower_nu_pos,
        bottom,
        np.maximum(curve.lower_bound, bottom),
        color=GREY,
        alpha=0.2,
        linewidth=0,
        zorder=1,
        label="proven: the curve is not here",
    )
    _dress(ax, curve, bottom)
    return MarginCurveDisplay(ax, line, best, envelope)


def _bottom(curve: MarginCurve) -> float:
    """Return where to cut the shaded region, a little below the lowest bound of use."""
    lowest, highest = float(curve.gamma_hat.min()), float(curve.gamma_hat.max())
    height = max(highest - lowest, 0.05 * abs(lowest), 1e-12)
    if curve.lower_bound.size:
        lowest = max(min(lowest, float(curve.lower_bound.min())), lowest - height)
    return lowest - 0.15 * height


def _dress(ax: Axes, curve: MarginCurve, bottom: float) -> None:
    if curve.nu_pos[-1] > _LARGEST_RATIO_ON_A_LINEAR_AXIS * curve.nu_pos[0] > 0.0:
        ax.set_xscale("log")
    ax.set_ylim(bottom=bottom)
    ax.set_xlabel(rf"$\nu^+$   ($\nu^- = \nu / \nu^+$, $\nu$ = {curve.nu:.4g})")
    ax.set_ylabel(r"margin $\hat\gamma$")
    dress(ax, "best")
