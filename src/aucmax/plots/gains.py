"""Gains and lift: open so many cases, find so many positives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from aucmax._core.docstrings import documented
from aucmax._core.parameters import check_choice
from aucmax.metrics.roc import AlertCurve, alert_curve
from aucmax.plots._display import (
    GREY,
    REFERENCE,
    ScoredDisplay,
    counted,
    dress,
    line_style,
    measure_each,
    plain,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

__all__ = ["GainsCurve", "GainsDisplay"]

_POINTS = 1000  # of a curve; a screen shows no more


@dataclass(frozen=True)
class GainsCurve:
    """What a model finds among the first rows.

    Attributes
    ----------
    name : str or None
        What the legend calls it.
    ranked : aucmax.metrics.roc.AlertCurve
        Positives found by the number of rows opened.
    """

    name: str | None
    ranked: AlertCurve

    def found(self, opened: float) -> float:
        """Return how many positives are among the first rows.

        Parameters
        ----------
        opened : float
            Number of rows opened, or their weight.

        Returns
        -------
        float
            Tied rows count in equal parts.
        """
        return float(self.ranked.found_among(opened))


@documented
@dataclass(eq=False, repr=False)
class GainsDisplay(ScoredDisplay):
    """Cumulative gains or lift, drawn in the manner of scikit-learn's displays.

    Use :meth:`from_predictions` or :meth:`from_estimator` to make one.

    Parameters
    ----------
    curves : sequence of GainsCurve
        The curves, at least one.
    opened : int, optional
        How many cases can be opened: marked on every curve, and told in the legend.
    kind : {"gains", "lift"}
        Positives found, or how many times as many as in a list in any order.

    Attributes
    ----------
    line_ : list of matplotlib.lines.Line2D
        The curves.
    marks_ : list of matplotlib.lines.Line2D
        What is found among the cases that can be opened.
    chance_level_ : matplotlib.lines.Line2D
        What a list in any order finds.
    """

    curves: Sequence[GainsCurve]
    _: KW_ONLY
    opened: float | None = None
    kind: str = "gains"

    def __post_init__(self) -> None:
        check_choice("kind", self.kind, ("gains", "lift"))
        n_rows, opened = self.curves[0].ranked.n_rows, self.opened
        is_number = isinstance(opened, Real)
        if opened is not None and not (is_number and 0 < opened <= n_rows):
            raise ValueError(
                f"opened must be above 0 and at most {n_rows:g}, the number of rows, "
                f"got {opened!r}."
            )

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_scores: ArrayLike | Mapping[str, ArrayLike],
        *,
        opened: float | None = None,
        kind: str = "gains",
        sample_weight: ArrayLike | None = None,
        pos_label: Any = None,
        name: str | None = None,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the curves of scores.

        Examples
        --------
        >>> from matplotlib.figure import Figure
        >>> from aucmax.plots import GainsDisplay
        >>> y, scores = [0, 0, 0, 1, 1, 1], [1, 2, 4, 3, 5, 6]
        >>> display = GainsDisplay.from_predictions(
        ...     y, scores, opened=3, ax=Figure().subplots()
        ... )
        >>> display.line_[0].get_label()
        'open 3, find 2'
        """
        rows: dict[str, Any] = {"sample_weight": sample_weight, "pos_label": pos_label}
        curves = measure_each(
            lambda key, scores: GainsCurve(key, alert_curve(y_true, scores, **rows)),
            y_scores,
            name,
        )
        return cls(curves, opened=opened, kind=kind).plot(ax)

    def _draw(self, ax: Axes) -> None:
        whole = self.curves[0].ranked
        opened = np.linspace(0.0, whole.n_rows, _POINTS + 1)[1:]
        any_order = self._height(opened * whole.base_rate, opened, whole)
        (self.chance_level_,) = ax.plot(
            opened, any_order, label="any order", **REFERENCE
        )
        self.line_: list[Line2D] = []
        self.marks_: list[Line2D] = []
        for k, curve in enumerate(self.curves):
            found = curve.ranked.found_among(opened)
            style = line_style(k)
            heights = self._height(found, opened, whole)
            self.line_ += ax.plot(
                opened, heights, zorder=3, label=plain(self._label(curve)), **style
            )
            if self.opened is not None:
                height = self._height(curve.found(self.opened), self.opened, whole)
                mark: dict[str, Any] = {
                    "color": style["color"],
                    "marker": "o",
                    "markersize": 7,
                }
                self.marks_ += ax.plot([self.opened], [height], zorder=4, **mark)
        self._dress(ax, whole)

    def _height(self, found: Any, opened: Any, whole: AlertCurve) -> Any:
        return found if self.kind == "gains" else found / (opened * whole.base_rate)

    def _label(self, curve: GainsCurve) -> str:
        if self.opened is None:
            return curve.name or "the model"
        found = curve.found(self.opened)
        told = f"open {self.opened:,g}, find {_rounded(found)}"
        if self.kind == "lift":
            times = self._height(found, self.opened, curve.ranked)
            told += f": {times:.1f} times as many"
        return told if curve.name is None else f"{curve.name}\n{told}"

    def _dress(self, ax: Axes, whole: AlertCurve) -> None:
        from matplotlib.ticker import StrMethodFormatter

        counts = (
            f"{counted(whole.n_positive, 'positive')} among "
            f"{counted(whole.n_rows, 'row')}"
        )
        ax.set_xlabel("cases opened, the highest scores first")
        ax.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
        ax.set_xlim(0, whole.n_rows)
        if self.opened is not None:
            ax.axvline(self.opened, color=GREY, linewidth=0.8, zorder=0)
        if self.kind == "lift":
            ax.set(ylabel="times as many as in any order", title=f"Lift, {counts}")
            ax.set_ylim(bottom=0)
            dress(ax, "upper right")
            return
        ax.set(ylabel="positives found", title=f"Gains, {counts}")
        ax.set_ylim(0, 1.02 * whole.n_positive)
        share = ax.secondary_yaxis("right", functions=_shares(whole.n_positive))
        share.yaxis.set_major_formatter(StrMethodFormatter("{x:.0%}"))
        share.spines["right"].set_visible(False)
        dress(ax, "lower right")


def _shares(n_positive: float) -> tuple[Any, Any]:
    return (lambda found: found / n_positive), (lambda share: share * n_positive)


def _rounded(found: float) -> str:
    return f"{found:,.0f}" if abs(found - round(found)) < 1e-9 else f"{found:,.1f}"
