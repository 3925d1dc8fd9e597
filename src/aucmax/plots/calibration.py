"""Whether probabilities mean what they say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from aucmax.plots._axes import GREY, counted, dress, line_style, plain
from aucmax.plots._scored import (
    ScoredDisplay,
    name_of,
    named_scores,
    probabilities_of,
    telling_which,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.container import ErrorbarContainer
    from matplotlib.lines import Line2D

    from aucmax.decisions import Reliability

__all__ = ["CalibrationDisplay"]


class CalibrationDisplay(ScoredDisplay):
    """Reliability diagrams, drawn in the manner of scikit-learn's displays.

    Use :meth:`from_predictions` or :meth:`from_estimator` to make one.

    Parameters
    ----------
    reliabilities : sequence of (str or None, aucmax.decisions.Reliability)
        Names, and the groups of rows behind each line; at least one.

    Attributes
    ----------
    figure_, ax_
        The figure and the axes drawn on.
    points_ : list of matplotlib.container.ErrorbarContainer
        The groups with their intervals, for each model.
    ideal_ : matplotlib.lines.Line2D
        Where probabilities are what they say.
    """

    points_: list[ErrorbarContainer]
    ideal_: Line2D

    def __init__(self, reliabilities: Sequence[tuple[str | None, Reliability]]) -> None:
        self.reliabilities = list(reliabilities)

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_scores: ArrayLike | Mapping[str, ArrayLike],
        *,
        n_groups: int = 10,
        sample_weight: ArrayLike | None = None,
        pos_label: Any = None,
        name: str | None = None,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the share of positives by the probability that was said.

        Rows are divided into groups of about as many rows each. A group is a point, at
        the mean probability and the share of positives, with Wilson's interval.

        Parameters
        ----------
        y_true, sample_weight, pos_label, ax
            As in :func:`roc_curve`.
        y_scores : array-like of shape (n_rows,), or a mapping from names to such
            Probabilities of the positive class, of one model or of several by name.
        n_groups : int
            The most groups.
        name : str, optional
            What the legend calls a single model.

        Returns
        -------
        CalibrationDisplay
            The drawing.

        Examples
        --------
        >>> from matplotlib.figure import Figure
        >>> from aucmax.plots import CalibrationDisplay
        >>> display = CalibrationDisplay.from_predictions(
        ...     [0, 1, 0, 1], [0.1, 0.3, 0.7, 0.9], n_groups=2, ax=Figure().subplots()
        ... )
        >>> display.points_[0].get_label()
        'Brier score 0.2500, mean 50.0%'
        """
        # loads scikit-learn, which other pictures do without
        from aucmax.decisions import reliability

        found = []
        for key, values in named_scores(y_scores, name).items():
            with telling_which(key):
                result = reliability(
                    y_true,
                    values,
                    n_groups=n_groups,
                    sample_weight=sample_weight,
                    pos_label=pos_label,
                )
            found.append((key, result))
        return cls(found).plot(ax)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        name: str | None = None,
        pos_label: Any = None,
        **options: Any,
    ) -> Self:
        """Draw the probabilities of a fitted model.

        Parameters
        ----------
        estimator : object
            A fitted binary classifier with ``predict_proba``.
        X : array-like of shape (n_rows, n_features)
            Rows that it was not fitted to.
        y : array-like of shape (n_rows,)
            Their labels.
        name : str, optional
            What the legend calls the model; its class by default.
        pos_label : label, optional
            The positive class; by default, the second of the two labels.
        **options
            Further options of :meth:`from_predictions`.

        Returns
        -------
        CalibrationDisplay
            The drawing.
        """
        return cls.from_predictions(
            y,
            probabilities_of(estimator, X, pos_label),
            name=name_of(estimator) if name is None else name,
            pos_label=pos_label,
            **options,
        )

    def _size(self) -> tuple[float, float]:
        return 5.4, 5.2

    def _draw(self, ax: Axes) -> None:
        first = self.reliabilities[0][1]
        top = max(
            max(one.high.max(), one.probability.max()) for _, one in self.reliabilities
        )
        top = min(1.0, 1.05 * float(top))
        (self.ideal_,) = ax.plot(
            (0, top),
            (0, top),
            color=GREY,
            linewidth=1,
            linestyle=(0, (4, 4)),
            zorder=1,
            label=f"as said; {first.base_rate:.1%} are positive",
        )
        self.points_ = [
            ax.errorbar(
                one.probability,
                one.share,
                yerr=np.abs(np.stack([one.low, one.high]) - one.share),
                marker="o",
                markersize=5,
                elinewidth=1.0,
                capsize=2,
                zorder=3,
                label=plain(_label(name, one)),
                **{**line_style(k), "linewidth": 1.5},
            )
            for k, (name, one) in enumerate(self.reliabilities)
        ]
        ax.set(
            xlabel="mean probability of the group",
            ylabel="share of positives in the group",
            xlim=(-0.01 * top, 1.01 * top),
            ylim=(-0.01 * top, 1.01 * top),
            aspect="equal",
            title=f"Calibration, {counted(float(first.n_rows.sum()), 'row')} in "
            f"{counted(first.n_rows.size, 'group')}",
        )
        dress(ax, "best")


def _label(name: str | None, found: Reliability) -> str:
    errors = f"Brier score {found.brier_score:.4f}, mean {found.mean_probability:.1%}"
    return errors if name is None else f"{name}\n{errors}"
