"""Pictures of margin models: scorecards, and the margin by its parameter."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING

import numpy as np

from aucmax._core.parameters import check_integer
from aucmax.plots._display import BLUE, GREY, ORANGE, Display, dress, name_bars

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.patches import Patch

    from aucmax.margin.margin_certificate import MarginCurve
    from aucmax.margin.scorecard import Scorecard

_MAX_LINEAR_RATIO = 20.0  # of the largest nu_pos to the smallest


@dataclass(eq=False, repr=False)
class ScorecardDisplay(Display):
    """A scorecard: one bar per rule, as long as its points.

    Parameters
    ----------
    card : aucmax.margin.Scorecard
        The card, as ``MarginRanker.scorecard()`` returns it.
    max_rows : int
        Draw at most this many rules. The label of the axis states what is left out.

    Attributes
    ----------
    bars_ : list of matplotlib.patches.Patch
        The bars, from top to bottom.

    See Also
    --------
    aucmax.margin.Scorecard : The card.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from aucmax.margin import Scorecard
    >>> from aucmax.plots import ScorecardDisplay
    >>> card = Scorecard.from_stumps(["age"], [0, 0], [45, 60], [0.7, 0.3])
    >>> display = ScorecardDisplay(card).plot(Figure().subplots())
    >>> [text.get_text() for text in display.ax_.get_yticklabels()]
    ['age > 45', 'age > 60']
    """

    card: Scorecard
    _: KW_ONLY
    max_rows: int = 20

    def __post_init__(self) -> None:
        check_integer("max_rows", self.max_rows)
        if not self.card.rows:
            raise ValueError("there is nothing to draw: no feature has a weight.")
        self._size = 6.4, 1.2 + 0.28 * min(len(self.card.rows), self.max_rows)

    def _draw(self, ax: Axes) -> None:
        card = self.card
        rows, left_out = card.rows[: self.max_rows], card.rows[self.max_rows :]
        bars = ax.barh(
            range(len(rows)),
            [row.points for row in rows],
            color=[BLUE if row.direction > 0 else ORANGE for row in rows],
            height=0.72,
        )
        self.bars_: list[Patch] = list(bars)
        ax.bar_label(bars, [f"{row.points:g}" for row in rows], padding=3, fontsize=9)
        ax.margins(x=0.12)
        together = sum(row.points for row in left_out)
        note = f"\n({len(left_out)} more have {together:g} points together)"
        ax.set_xlabel("points" + note * bool(left_out))
        name_bars(ax, [card.rule(row).split(": ")[0] for row in rows])
        directions = [row.direction for row in rows]
        if len(set(directions)) == 2:
            handles = [bars[directions.index(direction)] for direction in (1, -1)]
            labels = ["for large values", "for small values"]
            ax.legend(handles, labels, fontsize="small", edgecolor="none")


@dataclass(eq=False, repr=False)
class MarginCurveDisplay(Display):
    r"""The curve :math:`\hat\gamma(\nu^+)`, its lowest point, and what is proven empty.

    Points are where the reduction was solved. Between them the curve is unknown, but it
    does not enter the shaded region: the visible gap below the mark bounds how much
    lower it can be.

    Parameters
    ----------
    curve : aucmax.margin.MarginCurve
        The curve, as a model with ``formulation="global"`` has it.

    Attributes
    ----------
    line_, best_ : matplotlib.lines.Line2D
        The curve, and the mark at its lowest point.
    envelope_ : matplotlib.collections.FillBetweenPolyCollection
        The region proven empty.

    See Also
    --------
    aucmax.margin.MarginRanker : The model, with ``formulation="global"``.

    References
    ----------
    .. [1] D. Suehiro, K. Hatano, E. Takimoto. Approximate reduction from AUC
       maximization to 1-norm soft margin optimization. ALT 2011, figure 1.

    Examples
    --------
    >>> import numpy as np
    >>> from matplotlib.figure import Figure
    >>> from aucmax import MarginRanker
    >>> from aucmax.plots import MarginCurveDisplay
    >>> X = np.random.default_rng(0).normal(size=(30, 2))
    >>> model = MarginRanker(formulation="global").fit(X, X[:, 0] > 0)
    >>> display = MarginCurveDisplay(model.curve_).plot(Figure().subplots())
    >>> display.line_.get_label()
    'solved'
    """

    curve: MarginCurve
    _size = (6.0, 4.0)

    def _draw(self, ax: Axes) -> None:
        curve = self.curve
        (self.line_,) = ax.plot(
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
        (self.best_,) = ax.plot(
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
        self.envelope_ = ax.fill_between(
            curve.lower_nu_pos,
            bottom,
            np.maximum(curve.lower_bound, bottom),
            color=GREY,
            alpha=0.2,
            linewidth=0,
            zorder=1,
            label="proven: no point of the curve here",
        )
        if curve.nu_pos[-1] > _MAX_LINEAR_RATIO * curve.nu_pos[0] > 0.0:
            ax.set_xscale("log")
        ax.set_ylim(bottom=bottom)
        ax.set_xlabel(rf"$\nu^+$   ($\nu^- = \nu / \nu^+$, $\nu$ = {curve.nu:.4g})")
        ax.set_ylabel(r"margin $\hat\gamma$")
        dress(ax, "best")


def _bottom(curve: MarginCurve) -> float:
    """Return where to cut the shaded region: slightly below the lowest useful bound."""
    lowest, highest = float(curve.gamma_hat.min()), float(curve.gamma_hat.max())
    height = max(highest - lowest, 0.05 * abs(lowest), 1e-12)
    if curve.lower_bound.size:
        lowest = max(min(lowest, float(curve.lower_bound.min())), lowest - height)
    return lowest - 0.15 * height
