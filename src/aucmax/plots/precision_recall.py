"""Precision against recall: how clean the list is, the longer it gets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from aucmax._core.validation import FloatArray
from aucmax.metrics import mean_average_precision
from aucmax.metrics.roc import AlertCurve, alert_curve
from aucmax.plots._axes import GREY, counted, dress, line_style, plain
from aucmax.plots._scored import ScoredDisplay, named_scores, telling_which

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

__all__ = ["PrecisionRecallCurve", "PrecisionRecallDisplay"]

_FIRST = 200  # lengths of the list that are drawn one by one
_MOST_POINTS = 1000


@dataclass(frozen=True)
class PrecisionRecallCurve:
    """One curve and the numbers that belong to it.

    Attributes
    ----------
    name : str or None
        What the legend calls it.
    recall, precision : ndarray of shape (n_points,)
        The curve, at most 1000 points of it.
    average_precision : float
        Mean precision at the positives.
    """

    name: str | None
    recall: FloatArray
    precision: FloatArray
    average_precision: float

    @property
    def label(self) -> str:
        """What the legend says."""
        area = f"average precision {self.average_precision:.3f}"
        return area if self.name is None else f"{self.name}\n{area}"


class PrecisionRecallDisplay(ScoredDisplay):
    """Precision-recall curves, drawn in the manner of scikit-learn's displays.

    Use :meth:`from_predictions` or :meth:`from_estimator` to make one.

    Parameters
    ----------
    curves : sequence of PrecisionRecallCurve
        The curves, at least one.
    n_positive, n_rows : float
        Number of positive rows and of all rows, or their weights.

    Attributes
    ----------
    figure_, ax_
        The figure and the axes drawn on.
    line_ : list of matplotlib.lines.Line2D
        The curves.
    chance_level_ : matplotlib.lines.Line2D
        The precision of a list in any order: the share of positives.
    """

    line_: list[Line2D]
    chance_level_: Line2D

    def __init__(
        self, curves: Sequence[PrecisionRecallCurve], n_positive: float, n_rows: float
    ) -> None:
        self.curves = list(curves)
        self.n_positive = n_positive
        self.n_rows = n_rows

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_scores: ArrayLike | Mapping[str, ArrayLike],
        *,
        sample_weight: ArrayLike | None = None,
        pos_label: Any = None,
        name: str | None = None,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the curves of scores.

        Rows that tie at the end of the list count in equal parts, as in
        :func:`aucmax.metrics.precision_at_k`.

        Parameters
        ----------
        y_true, y_scores, sample_weight, pos_label, ax
            As in :func:`roc_curve`.
        name : str, optional
            What the legend calls a single curve.

        Returns
        -------
        PrecisionRecallDisplay
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
        curves = []
        for key, scores in named_scores(y_scores, name).items():
            with telling_which(key):
                ranked = alert_curve(y_true, scores, **rows)
                average = mean_average_precision(y_true, scores, **rows)
            recall, precision = _trace(ranked)
            curves.append(PrecisionRecallCurve(key, recall, precision, average))
        return cls(curves, ranked.n_positive, ranked.n_rows).plot(ax)

    def _size(self) -> tuple[float, float]:
        return 5.8, 4.8

    def _draw(self, ax: Axes) -> None:
        share = self.n_positive / self.n_rows
        self.chance_level_ = ax.axhline(
            share,
            color=GREY,
            linewidth=1,
            linestyle=(0, (4, 4)),
            zorder=1,
            label=f"any order: {share:.1%} are positive",
        )
        self.line_ = [
            ax.plot(
                curve.recall,
                curve.precision,
                zorder=3,
                label=plain(curve.label),
                **line_style(k),
            )[0]
            for k, curve in enumerate(self.curves)
        ]
        ax.set(
            xlabel="recall: share of positives found",
            ylabel="precision: share of positives among those opened",
            xlim=(-0.01, 1.01),
            ylim=(0.0, 1.02),
            title=f"Precision and recall, {counted(self.n_positive, 'positive')} among "
            f"{counted(self.n_rows, 'row')}",
        )
        dress(ax, "best")


def _trace(ranked: AlertCurve) -> tuple[FloatArray, FloatArray]:
    """Return recall and precision of short lists one by one, of longer ones thinned."""
    first = np.arange(1.0, _FIRST + 1.0)
    rest = np.linspace(0.0, ranked.n_rows, _MOST_POINTS - _FIRST + 1)[1:]
    opened = np.union1d(first[first < ranked.n_rows], rest)
    found = ranked.found_among(opened)
    return found / ranked.n_positive, found / opened
