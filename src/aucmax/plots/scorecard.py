"""A scorecard as a picture: bars for its rules, or bands for its features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from aucmax._parameters import check_choice, check_integer
from aucmax.plots._axes import BLUE, ORANGE, Drawing, axes_or_new

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.patches import Patch

    from aucmax.margin.scorecard import Scorecard

__all__ = ["ScorecardDisplay", "scorecard"]

_MOST_LABELLED = 10  # bands of one feature that have room for their numbers
_LIGHTEST = 0.06  # opacity of no points, so that the band is still seen
_DARK = 0.9  # opacity from which white reads better than black


@dataclass(frozen=True)
class ScorecardDisplay(Drawing):
    """What :func:`scorecard` has drawn.

    Attributes
    ----------
    figure_, ax_
        The figure and the axes drawn on.
    bars_ : list of matplotlib.patches.Patch
        The bars or bands, from top to bottom and from left to right.
    """

    ax_: Axes
    bars_: list[Patch]


def scorecard(
    card: Scorecard,
    *,
    view: str = "rows",
    max_rows: int = 20,
    ax: Axes | None = None,
) -> ScorecardDisplay:
    """Draw a scorecard.

    Parameters
    ----------
    card : Scorecard
        The card, as ``MarginRanker.scorecard()`` gives it.
    view : {"rows", "bands"}
        A bar for each rule, as long as its points; or a strip for each feature, cut at
        its thresholds, the darker the more points a band gives.
    max_rows : int
        The most rules, or features, to draw. A line below tells what is left out.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    ScorecardDisplay
        The drawing, with ``figure_`` and ``ax_``.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from aucmax.margin.scorecard import Scorecard
    >>> from aucmax.plots import scorecard
    >>> card = Scorecard.from_stumps(["age"], [0, 0], [45, 60], [1, 1], [0.7, 0.3])
    >>> display = scorecard(card, ax=Figure().subplots())
    >>> [text.get_text() for text in display.ax_.get_yticklabels()]
    ['age > 45', 'age > 60']
    """
    check_integer("max_rows", max_rows)
    check_choice("view", view, ("rows", "bands"))
    if not card.rows:
        raise ValueError("there is nothing to draw: no feature has a weight.")
    if view == "bands":
        return _draw_bands(card, max_rows, ax)
    return _draw_rows(card, max_rows, ax)


def _draw_rows(card: Scorecard, max_rows: int, ax: Axes | None) -> ScorecardDisplay:
    # who has a card has loaded this already; who draws ROC curves need not
    from aucmax.margin._scorecard_text import points_text, rule_texts, shown_name

    rows = card.rows[:max_rows]
    names = [
        shown_name(row.feature) if row.threshold is None else text
        for row, text in zip(rows, rule_texts(card)[:max_rows], strict=True)
    ]
    ax = axes_or_new(ax, 6.4, 1.2 + 0.28 * len(rows))
    bars = ax.barh(
        range(len(rows)),
        [row.points for row in rows],
        color=[BLUE if row.direction > 0 else ORANGE for row in rows],
        height=0.72,
    )
    ax.bar_label(
        bars, [points_text(card, row.points) for row in rows], padding=3, fontsize=9
    )
    ax.margins(x=0.12)
    ax.set_xlabel("points")
    _explain_colours(ax, {row.direction for row in rows})
    left_out = card.rows[max_rows:]
    together = points_text(card, sum(row.points for row in left_out))
    note = f"{len(left_out)} more have {together} points together" if left_out else ""
    return _finished(ax, names, list(bars), note)


def _draw_bands(card: Scorecard, max_rows: int, ax: Axes | None) -> ScorecardDisplay:
    from aucmax.margin._scorecard_text import distinct_texts, points_text, shown_name

    features = card.bands()
    shown = features[:max_rows]
    most = max(band.points for feature in shown for band in feature.bands)
    ax = axes_or_new(ax, 7.0, 1.2 + 0.55 * len(shown))
    bars: list[Patch] = []
    for place, feature in enumerate(shown):
        shares = [band.points / most for band in feature.bands]
        ends = distinct_texts(band.high for band in feature.bands)
        labels = [
            (points_text(card, band.points), ends[band.high]) for band in feature.bands
        ]
        bars += _draw_strip(ax, place, shares, labels)
    ax.set_xlim(0.0, 1.0)
    ax.set_xticks([])
    ax.set_xlabel("low values to high values: thresholds below, points within")
    left_out = len(features) - len(shown)
    note = f"{left_out} more feature{'s' * (left_out > 1)}" if left_out else ""
    return _finished(ax, [shown_name(one.feature) for one in shown], bars, note)


def _draw_strip(
    ax: Axes, place: int, shares: list[float], labels: list[tuple[str, str]]
) -> list[Patch]:
    """Draw the bands of a feature side by side, with their points and upper ends."""
    n = len(shares)
    shades = [_LIGHTEST + (1.0 - _LIGHTEST) * share for share in shares]
    strip = ax.barh(
        [place] * n,
        [1.0 / n] * n,
        left=[k / n for k in range(n)],
        height=0.5,
        color=[(BLUE, shade) for shade in shades],
        edgecolor="white",
    )
    if n > _MOST_LABELLED:
        return list(strip)
    for k, (points, end) in enumerate(labels):
        colour = "white" if shades[k] > _DARK else "black"
        within = {"ha": "center", "va": "center", "fontsize": 9, "color": colour}
        ax.text((k + 0.5) / n, place, points, within)
        if k < n - 1:
            below = {"ha": "center", "va": "top", "fontsize": 7.5}
            ax.text((k + 1.0) / n, place + 0.27, end, below)
    return list(strip)


def _explain_colours(ax: Axes, directions: set[int]) -> None:
    """Add a legend where both colours are seen."""
    if len(directions) < 2:
        return
    from matplotlib.patches import Patch

    ax.legend(
        handles=[
            Patch(color=BLUE, label="for large values"),
            Patch(color=ORANGE, label="for small values"),
        ],
        loc="lower right",
        fontsize="small",
        edgecolor="none",
    )


def _finished(
    ax: Axes, names: list[str], bars: list[Patch], note: str
) -> ScorecardDisplay:
    # matplotlib would read a dollar sign as the start of a formula
    ax.set_yticks(range(len(names)), [name.replace("$", r"\$") for name in names])
    ax.tick_params(axis="y", length=0)
    ax.set_ylim(len(names) - 0.4, -0.6)
    ax.spines[["top", "right", "left"]].set_visible(False)
    if note:
        ax.set_xlabel(f"{ax.get_xlabel()}\n({note})")
    return ScorecardDisplay(ax, bars)
