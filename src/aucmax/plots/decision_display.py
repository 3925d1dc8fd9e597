"""Decision curves: net benefit by threshold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, Self

from numpy.typing import ArrayLike

from aucmax.plots._display import (
    GREY,
    REFERENCE,
    ScoredDisplay,
    dress,
    line_style,
    measure_each,
    plain,
    probabilities_of,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PolyCollection
    from matplotlib.lines import Line2D

    from aucmax.decisions import NetBenefit


@dataclass(eq=False, repr=False)
class DecisionCurveDisplay(ScoredDisplay):
    """Net benefit by threshold, compared with acting on all rows and on none.

    Parameters
    ----------
    curves : sequence of (str or None, aucmax.decisions.NetBenefit)
        Names, and the net benefit of each model; at least one.
    standardised : bool, default=False
        Whether to draw the net benefit as a share of the largest possible.

    Attributes
    ----------
    line_ : list of matplotlib.lines.Line2D
        The curve of each model.
    bands_ : list of matplotlib.collections.PolyCollection
        Their intervals.
    treat_all_, treat_none_ : matplotlib.lines.Line2D
        Acting on all rows, and on none.

    See Also
    --------
    aucmax.decisions.net_benefit : The numbers.
    """

    curves: Sequence[tuple[str | None, NetBenefit]]
    _: KW_ONLY
    standardised: bool = False
    _size = (6.0, 4.6)
    _read = staticmethod(probabilities_of)

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_prob: ArrayLike | Mapping[str, ArrayLike],
        *,
        thresholds: ArrayLike | None = None,
        standardised: bool = False,
        sample_weight: ArrayLike | None = None,
        pos_label: object = None,
        name: str | None = None,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the decision curves of probabilities, with 95% intervals.

        Parameters
        ----------
        y_true : array-like of shape (n_rows,)
            Labels of two classes: booleans, numbers or strings.
        y_prob : array-like of shape (n_rows,), or a mapping from names to such
            Probabilities of the positive class, of one model or of several by name.
        thresholds : array-like of shape (n_thresholds,), optional
            Thresholds from 0 to below 1; by default 0.01, 0.02, ... up to the last one
            that a row exceeds.
        standardised : bool, default=False
            Whether to draw the net benefit as a share of the largest possible.
        sample_weight : array-like of shape (n_rows,), default=None
            Nonnegative row weights; the weight of a pair is the product of its rows'.
        pos_label : label, default=None
            The positive class; by default, the second label in sorted order.
        name : str, default=None
            Name of the model in the legend.
        ax : matplotlib.axes.Axes, default=None
            Where to draw; a new figure by default.

        Returns
        -------
        display
            The drawing.

        Examples
        --------
        >>> from matplotlib.figure import Figure
        >>> from aucmax.plots import DecisionCurveDisplay
        >>> display = DecisionCurveDisplay.from_predictions(
        ...     [0, 1, 0, 1], [0.1, 0.3, 0.7, 0.9], ax=Figure().subplots()
        ... )
        >>> display.treat_all_.get_label()
        'act on all rows'
        """
        # loads scikit-learn, which other pictures do without
        from aucmax.decisions import net_benefit

        rows: Any = {"sample_weight": sample_weight, "pos_label": pos_label}

        def measure(key: str | None, values: ArrayLike) -> tuple[Any, NetBenefit]:
            return key, net_benefit(y_true, values, thresholds=thresholds, **rows)

        curves = measure_each(measure, y_prob, name)
        return cls(curves, standardised=standardised).plot(ax)

    def _draw(self, ax: Axes) -> None:
        from aucmax.decisions.net_benefit import shown_range

        first = self.curves[0][1]
        unit = first.base_rate if self.standardised else 1.0
        self.line_: list[Line2D] = []
        self.bands_: list[PolyCollection] = []
        for k, (name, one) in enumerate(self.curves):
            keys = ("standardised", "standardised_low", "standardised_high")
            keys = keys if self.standardised else ("net_benefit", "low", "high")
            value, *ends = (getattr(one, key) for key in keys)
            style = line_style(k)
            label = "the model" if name is None else plain(name)
            self.line_ += ax.plot(one.threshold, value, label=label, zorder=3, **style)
            fill: Any = {"color": style["color"], "alpha": 0.15, "linewidth": 0}
            self.bands_.append(ax.fill_between(one.threshold, *ends, **fill))
        style = {**REFERENCE, "linestyle": "solid", "color": GREY}
        treat_all = first.treat_all / unit
        self.treat_all_ = ax.plot(
            first.threshold, treat_all, label="act on all rows", **style
        )[0]
        self.treat_none_ = ax.axhline(0.0, label="act on none", **REFERENCE)
        at, heights = shown_range([one for _, one in self.curves])
        ax.set(
            xlabel="threshold: act if the probability is above",
            ylabel="standardised net benefit" if self.standardised else "net benefit",
            xlim=at,
            ylim=(heights[0] / unit, heights[1] / unit),
            title=f"Decision curve, {first.base_rate:.1%} are positive",
        )
        dress(ax, "upper right")
