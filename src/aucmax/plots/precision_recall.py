"""Precision against recall: how clean the list is, the longer it gets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from aucmax._core.docstrings import documented
from aucmax._core.validation import FloatArray
from aucmax.metrics import mean_average_precision
from aucmax.metrics.roc import AlertCurve, alert_curve
from aucmax.plots._display import (
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

__all__ = ["PrecisionRecallCurve", "PrecisionRecallDisplay"]

_FIRST = 200  # lengths of the list that are drawn one by one
_MAX_POINTS = 1000


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


@documented
@dataclass(eq=False, repr=False)
class PrecisionRecallDisplay(ScoredDisplay):
    """Precision-recall curves, drawn by scikit-learn's display of the same name.

    Use :meth:`from_predictions` or :meth:`from_estimator` to make one.

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
        The precision of a list in any order: the share of positives.
    """

    curves: Sequence[PrecisionRecallCurve]
    n_positive: float
    n_rows: float

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

        def measure(
            key: str | None, scores: ArrayLike
        ) -> tuple[PrecisionRecallCurve, AlertCurve]:
            ranked = alert_curve(y_true, scores, **rows)
            average = mean_average_precision(y_true, scores, **rows)
            return PrecisionRecallCurve(key, *_trace(ranked), average), ranked

        found = measure_each(measure, y_scores, name)
        whole = found[0][1]
        curves = [curve for curve, _ in found]
        return cls(curves, whole.n_positive, whole.n_rows).plot(ax)

    def _draw(self, ax: Axes) -> None:
        from sklearn import metrics

        share = self.n_positive / self.n_rows
        self.line_: list[Line2D] = []
        for k, curve in enumerate(self.curves):
            drawn = metrics.PrecisionRecallDisplay(
                curve.precision, curve.recall, prevalence_pos_label=share
            ).plot(ax, plot_chance_level=curve is self.curves[-1])
            # styles are options of other names from scikit-learn 1.6 to 1.9
            style = {"drawstyle": "default", "zorder": 3, **line_style(k)}
            drawn.line_.set(label=plain(curve.label), **style)
            self.line_.append(drawn.line_)
        self.chance_level_: Line2D = drawn.chance_level_
        label = f"any order: {share:.1%} are positive"
        self.chance_level_.set(label=label, **REFERENCE)
        ax.set(
            xlabel="recall: share of positives found",
            ylabel="precision: share of positives among those opened",
            ylim=(0.0, 1.02),
            aspect="auto",
            title=f"Precision and recall, {counted(self.n_positive, 'positive')} among "
            f"{counted(self.n_rows, 'row')}",
        )
        dress(ax, "best")


def _trace(ranked: AlertCurve) -> tuple[FloatArray, FloatArray]:
    """Return recall and precision of short lists one by one, of longer ones thinned."""
    first = np.arange(1.0, _FIRST + 1.0)
    rest = np.linspace(0.0, ranked.n_rows, _MAX_POINTS - _FIRST + 1)[1:]
    opened = np.union1d(first[first < ranked.n_rows], rest)
    found = ranked.found_among(opened)
    return found / ranked.n_positive, found / opened
