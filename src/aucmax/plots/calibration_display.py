"""Reliability diagrams: whether probabilities mean what they say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from aucmax._core.docstrings import documented
from aucmax.plots._display import (
    REFERENCE,
    ScoredDisplay,
    counted,
    dress,
    line_style,
    measure_each,
    plain,
    probabilities_of,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.container import ErrorbarContainer
    from matplotlib.lines import Line2D

    from aucmax.decisions import Reliability


@documented
@dataclass(eq=False, repr=False)
class CalibrationDisplay(ScoredDisplay):
    """Reliability diagrams of scikit-learn, with intervals.

    Parameters
    ----------
    reliabilities : sequence of (str or None, aucmax.decisions.Reliability)
        Names, and the groups of rows behind each line; at least one.

    Attributes
    ----------
    line_ : list of matplotlib.lines.Line2D
        The groups of each model.
    intervals_ : list of matplotlib.container.ErrorbarContainer
        Their intervals.
    ideal_ : matplotlib.lines.Line2D
        Where probabilities are what they say.
    """

    reliabilities: Sequence[tuple[str | None, Reliability]]
    _size = (5.4, 5.2)

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
        """Draw the share of positives by the probability that was predicted.

        Rows are divided into groups of about as many rows each. A group is a point, at
        the mean probability and the share of positives, with Wilson's interval.

        Parameters
        ----------
        y_scores : array-like of shape (n_rows,), or a mapping from names to such
            Probabilities of the positive class, of one model or of several by name.
        n_groups : int, default=10
            The most groups.

        Examples
        --------
        >>> from matplotlib.figure import Figure
        >>> from aucmax.plots import CalibrationDisplay
        >>> display = CalibrationDisplay.from_predictions(
        ...     [0, 1, 0, 1], [0.1, 0.3, 0.7, 0.9], n_groups=2, ax=Figure().subplots()
        ... )
        >>> display.line_[0].get_label()
        'Brier score 0.2500, mean 50.0%'
        """
        # loads scikit-learn, which other pictures do without
        from aucmax.decisions import reliability

        def measure(key: str | None, values: ArrayLike) -> tuple[Any, Reliability]:
            rows: Any = {"sample_weight": sample_weight, "pos_label": pos_label}
            return key, reliability(y_true, values, n_groups=n_groups, **rows)

        return cls(measure_each(measure, y_scores, name)).plot(ax)

    @classmethod
    def _read(cls, estimator: Any, X: Any, pos_label: Any) -> Any:
        return probabilities_of(estimator, X, pos_label)

    def _draw(self, ax: Axes) -> None:
        from sklearn import calibration

        found = [one for _, one in self.reliabilities]
        n_before = len(ax.get_lines())
        self.line_: list[Line2D] = []
        self.intervals_: list[ErrorbarContainer] = []
        for k, (name, one) in enumerate(self.reliabilities):
            style = {**line_style(k), "linewidth": 1.5, "zorder": 3}
            drawn = calibration.CalibrationDisplay(
                one.share, one.probability, one.probability
            ).plot(ax=ax, name=plain(_label(name, one)), ref_line=k == 0)
            drawn.line_.set(marker="o", markersize=5, **style)
            self.line_.append(drawn.line_)
            bars = ax.errorbar(
                one.probability,
                one.share,
                yerr=np.abs(np.stack([one.low, one.high]) - one.share),
                fmt="none",
                ecolor=style["color"],
                elinewidth=1.0,
                capsize=2,
                zorder=3,
            )
            self.intervals_.append(bars)
        top = max(max(one.high.max(), one.probability.max()) for one in found)
        top = min(1.0, 1.05 * float(top))
        label = f"as predicted; {found[0].base_rate:.1%} are positive"
        self.ideal_: Line2D = ax.get_lines()[n_before]
        self.ideal_.set(data=((0, top), (0, top)), label=label, **REFERENCE)
        ax.set(
            xlabel="mean probability of the group",
            ylabel="share of positives in the group",
            xlim=(-0.01 * top, 1.01 * top),
            ylim=(-0.01 * top, 1.01 * top),
            aspect="equal",
            title=f"Calibration, {counted(float(found[0].n_rows.sum()), 'row')} in "
            f"{counted(found[0].n_rows.size, 'group')}",
        )
        dress(ax, "best")


def _label(name: str | None, found: Reliability) -> str:
    errors = f"Brier score {found.brier_score:.4f}, mean {found.mean_probability:.1%}"
    return errors if name is None else f"{name}\n{errors}"
