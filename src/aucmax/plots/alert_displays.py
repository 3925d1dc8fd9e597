"""Precision and recall, gains and lift: the positives found among the top rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from aucmax._core.parameters import check_choice, check_interval
from aucmax._core.validation import FloatArray
from aucmax.metrics import average_precision_score
from aucmax.metrics._steps import check_task
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

_MAX_POINTS = 1000  # per curve; a screen shows no more
_FIRST = 200  # a precision-recall curve has each of the first 200 rows


@dataclass(frozen=True)
class GainsCurve:
    """Positives among the top rows, by the number or weight of the rows reviewed.

    Tied rows count by their mean over all orders: the count is linear between points.
    """

    name: str | None
    alerts: FloatArray  # down to each distinct score, from 0
    positives: FloatArray

    @classmethod
    def from_scores(
        cls, name: str | None, y_true: ArrayLike, y_score: ArrayLike, **rows: Any
    ) -> Self:
        """Count the positives of scored rows."""
        _, tp, fp = check_task(y_true, y_score, **rows).steps().counts_above()
        return cls(name, tp + fp, tp)

    @property
    def n_rows(self) -> float:
        """Number of all rows, or their weight."""
        return float(self.alerts[-1])

    @property
    def n_positive(self) -> float:
        """Number of positive rows, or their weight."""
        return float(self.positives[-1])

    def tp(self, alerts: Any) -> Any:
        """Return the positives among the top rows; tied rows count in equal parts."""
        return np.interp(alerts, self.alerts, self.positives)


@dataclass(frozen=True)
class PrecisionRecallCurve:
    """One curve, at most 1000 points, with its average precision."""

    name: str | None
    recall: FloatArray
    precision: FloatArray
    average_precision: float

    @property
    def label(self) -> str:
        """The text of the legend."""
        area = f"average precision {self.average_precision:.3f}"
        return area if self.name is None else f"{self.name}\n{area}"


@dataclass(eq=False, repr=False)
class PrecisionRecallDisplay(ScoredDisplay):
    """Precision-recall curves, with the interface of scikit-learn's display.

    Parameters
    ----------
    curves : sequence of PrecisionRecallCurve
        The curves, at least one.
    n_positive, n_rows : float
        Number of positive rows and of all rows, or their weights.

    Attributes
    ----------
    line_ : list of matplotlib.lines.Line2D
        The curves.
    chance_level_ : matplotlib.lines.Line2D
        The precision of a random order: the share of positives.

    See Also
    --------
    aucmax.metrics.average_precision_score : The number in the legend.
    """

    curves: Sequence[PrecisionRecallCurve]
    n_positive: float
    n_rows: float

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_score: ArrayLike | Mapping[str, ArrayLike],
        *,
        sample_weight: ArrayLike | None = None,
        pos_label: object = None,
        name: str | None = None,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the curves of scores.

        Rows that tie at the end of the list count in equal parts, as in
        :func:`aucmax.metrics.precision_at_k`.

        Parameters
        ----------
        y_true : array-like of shape (n_rows,)
            Labels of two classes: booleans, numbers or strings.
        y_score : array-like of shape (n_rows,), or a mapping from names to such
            Scores of one model, or of several by name, for the same rows.
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
        >>> from aucmax.plots import PrecisionRecallDisplay
        >>> y, scores = [0, 0, 0, 1, 1, 1], [1, 2, 4, 3, 5, 6]
        >>> display = PrecisionRecallDisplay.from_predictions(
        ...     y, scores, ax=Figure().subplots()
        ... )
        >>> display.curves[0].label
        'average precision 0.917'
        """
        rows: dict[str, Any] = {"sample_weight": sample_weight, "pos_label": pos_label}

        gains: list[GainsCurve] = []

        def measure(key: str | None, scores: ArrayLike) -> PrecisionRecallCurve:
            gains.append(GainsCurve.from_scores(key, y_true, scores, **rows))
            average = average_precision_score(y_true, scores, **rows)
            return PrecisionRecallCurve(key, *_trace(gains[-1]), average)

        curves = measure_each(measure, y_score, name)
        return cls(curves, gains[0].n_positive, gains[0].n_rows).plot(ax)

    def _draw(self, ax: Axes) -> None:
        self.line_: list[Line2D] = []
        for k, curve in enumerate(self.curves):
            style = {"label": plain(curve.label), "zorder": 3, **line_style(k)}
            self.line_ += ax.plot(curve.recall, curve.precision, **style)
        share = self.n_positive / self.n_rows
        label = f"random order: {share:.1%} are positive"
        self.chance_level_ = ax.axhline(share, label=label, **REFERENCE)
        ax.set(
            xlabel="recall: share of positives found",
            ylabel="precision: share of positives among those reviewed",
            xlim=(-0.01, 1.01),
            ylim=(0.0, 1.02),
            title=f"Precision and recall, {counted(self.n_positive, 'positive')} among "
            f"{counted(self.n_rows, 'row')}",
        )
        dress(ax, "best")


def _trace(curve: GainsCurve) -> tuple[FloatArray, FloatArray]:
    """Return recall and precision at each of the first rows, then thinned."""
    first = np.arange(1.0, _FIRST + 1.0)
    thinned = np.linspace(0.0, curve.n_rows, _MAX_POINTS - _FIRST + 1)[1:]
    alerts = np.union1d(first[first < curve.n_rows], thinned)
    tp = curve.tp(alerts)
    return tp / curve.n_positive, tp / alerts


@dataclass(eq=False, repr=False)
class GainsDisplay(ScoredDisplay):
    """Cumulative gains or lift, with the interface of scikit-learn's displays.

    Parameters
    ----------
    curves : sequence of GainsCurve
        The curves, at least one.
    alerts : int, optional
        Number of cases to review: marked on every curve and stated in the legend.
    kind : {"gains", "lift"}
        Positives found, or their number relative to a random order.

    Attributes
    ----------
    line_ : list of matplotlib.lines.Line2D
        The curves.
    marks_ : list of matplotlib.lines.Line2D
        The positives found among the `alerts` cases.
    chance_level_ : matplotlib.lines.Line2D
        The positives found in a random order.

    See Also
    --------
    aucmax.decisions.operating_point : The outcome of a number of alerts.
    """

    curves: Sequence[GainsCurve]
    _: KW_ONLY
    alerts: float | None = None
    kind: str = "gains"

    def __post_init__(self) -> None:
        check_choice("kind", self.kind, ("gains", "lift"))
        if self.alerts is not None:  # at most all rows
            check_interval("alerts", self.alerts, self.curves[0].n_rows)

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_score: ArrayLike | Mapping[str, ArrayLike],
        *,
        alerts: float | None = None,
        kind: str = "gains",
        sample_weight: ArrayLike | None = None,
        pos_label: object = None,
        name: str | None = None,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the curves of scores.

        Parameters
        ----------
        y_true : array-like of shape (n_rows,)
            Labels of two classes: booleans, numbers or strings.
        y_score : array-like of shape (n_rows,), or a mapping from names to such
            Scores of one model, or of several by name, for the same rows.
        alerts : int, optional
            Number of cases to review: marked on every curve and stated in the legend.
        kind : {"gains", "lift"}
            Positives found, or their number relative to a random order.
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
        >>> from aucmax.plots import GainsDisplay
        >>> y, scores = [0, 0, 0, 1, 1, 1], [1, 2, 4, 3, 5, 6]
        >>> display = GainsDisplay.from_predictions(
        ...     y, scores, alerts=3, ax=Figure().subplots()
        ... )
        >>> display.line_[0].get_label()
        'review 3, find 2'
        """
        rows: dict[str, Any] = {"sample_weight": sample_weight, "pos_label": pos_label}
        curves = measure_each(
            lambda key, scores: GainsCurve.from_scores(key, y_true, scores, **rows),
            y_score,
            name,
        )
        return cls(curves, alerts=alerts, kind=kind).plot(ax)

    def _draw(self, ax: Axes) -> None:
        whole = self.curves[0]
        alerts = np.linspace(0.0, whole.n_rows, _MAX_POINTS + 1)[1:]
        base_rate = whole.n_positive / whole.n_rows
        by_chance = self._height(alerts * base_rate, alerts, whole)
        (self.chance_level_,) = ax.plot(
            alerts, by_chance, label="random order", **REFERENCE
        )
        self.line_: list[Line2D] = []
        self.marks_: list[Line2D] = []
        for k, curve in enumerate(self.curves):
            tp = curve.tp(alerts)
            style = line_style(k)
            heights = self._height(tp, alerts, whole)
            self.line_ += ax.plot(
                alerts, heights, zorder=3, label=plain(self._label(curve)), **style
            )
            if self.alerts is not None:
                height = self._height(curve.tp(self.alerts), self.alerts, whole)
                self.marks_ += ax.plot(
                    self.alerts, height, "o", color=style["color"], ms=7, zorder=4
                )
        self._dress(ax, whole)

    def _height(self, tp: Any, alerts: Any, whole: GainsCurve) -> Any:
        return (
            tp
            if self.kind == "gains"
            else tp * whole.n_rows / (alerts * whole.n_positive)
        )

    def _label(self, curve: GainsCurve) -> str:
        if self.alerts is None:
            return curve.name or "the model"
        tp = curve.tp(self.alerts)
        text = f"review {self.alerts:,g}, find {_rounded(tp)}"
        if self.kind == "lift":
            times = self._height(tp, self.alerts, curve)
            text += f": lift {times:.1f}"
        return text if curve.name is None else f"{curve.name}\n{text}"

    def _dress(self, ax: Axes, whole: GainsCurve) -> None:
        from matplotlib.ticker import StrMethodFormatter

        counts = (
            f"{counted(whole.n_positive, 'positive')} among "
            f"{counted(whole.n_rows, 'row')}"
        )
        ax.set_xlabel("cases reviewed, the highest scores first")
        ax.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
        ax.set_xlim(0, whole.n_rows)
        if self.alerts is not None:
            ax.axvline(self.alerts, color=GREY, linewidth=0.8, zorder=0)
        if self.kind == "lift":
            ax.set(
                ylabel="lift: positives relative to a random order",
                title=f"Lift, {counts}",
            )
            ax.set_ylim(bottom=0)
            dress(ax, "upper right")
            return
        ax.set(ylabel="positives found", title=f"Gains, {counts}")
        ax.set_ylim(0, 1.02 * whole.n_positive)
        to_share = (lambda n: n / whole.n_positive), (lambda n: n * whole.n_positive)
        share = ax.secondary_yaxis("right", functions=to_share)
        share.yaxis.set_major_formatter(StrMethodFormatter("{x:.0%}"))
        share.spines["right"].set_visible(False)
        dress(ax, "lower right")


def _rounded(number: float) -> str:
    return f"{number:,.0f}" if abs(number - round(number)) < 1e-9 else f"{number:,.1f}"
