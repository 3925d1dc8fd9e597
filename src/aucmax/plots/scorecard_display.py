"""A scorecard as a picture: one bar per rule."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from aucmax._core.parameters import check_integer
from aucmax.plots._display import BLUE, ORANGE, Drawing, axes_or_new

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.patches import Patch

    from aucmax.margin.scorecard import Scorecard

__all__ = ["ScorecardDisplay", "scorecard"]


@dataclass(frozen=True)
class ScorecardDisplay(Drawing):
    """The picture that :func:`scorecard` has drawn, with its `figure_` and `ax_`."""

    ax_: Axes
    bars_: list[Patch]  # from top to bottom


def scorecard(
    card: Scorecard, *, max_rows: int = 20, ax: Axes | None = None
) -> ScorecardDisplay:
    """Draw a scorecard: one bar per rule, as long as its points.

    Parameters
    ----------
    card : Scorecard
        The card, as ``MarginRanker.scorecard()`` returns it.
    max_rows : int
        Draw at most this many rules. The label of the axis states what is left out.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    ScorecardDisplay

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from aucmax.margin import Scorecard
    >>> from aucmax.plots import scorecard
    >>> card = Scorecard.from_stumps(["age"], [0, 0], [45, 60], [0.7, 0.3])
    >>> display = scorecard(card, ax=Figure().subplots())
    >>> [text.get_text() for text in display.ax_.get_yticklabels()]
    ['age > 45', 'age > 60']
    """
    check_integer("max_rows", max_rows)
    if not card.rows:
        raise ValueError("there is nothing to draw: no feature has a weight.")
    rows, left_out = card.rows[:max_rows], card.rows[max_rows:]
    ax = axes_or_new(ax, 6.4, 1.2 + 0.28 * len(rows))
    bars = ax.barh(
        range(len(rows)),
        [row.points for row in rows],
        color=[BLUE if row.direction > 0 else ORANGE for row in rows],
        height=0.72,
    )
    ax.bar_label(bars, [f"{row.points:g}" for row in rows], padding=3, fontsize=9)
    ax.margins(x=0.12)
    together = sum(row.points for row in left_out)
    note = f"\n({len(left_out)} more have {together:g} points together)"
    ax.set_xlabel("points" + note * bool(left_out))
    # matplotlib would read a dollar sign as the start of a formula
    names = [card.rule(row).split(": ")[0].replace("$", r"\$") for row in rows]
    ax.set_yticks(range(len(names)), names)
    ax.tick_params(axis="y", length=0)
    ax.set_ylim(len(names) - 0.4, -0.6)
    ax.spines[["top", "right", "left"]].set_visible(False)
    directions = [row.direction for row in rows]
    if len(set(directions)) == 2:
        handles = [bars[directions.index(direction)] for direction in (1, -1)]
        labels = ["for large values", "for small values"]
        ax.legend(handles, labels, fontsize="small", edgecolor="none")
    return ScorecardDisplay(ax, list(bars))
