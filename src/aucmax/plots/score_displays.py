"""Reliability diagrams of probabilities, and histograms of scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from aucmax._core.parameters import check_integer, check_number
from aucmax._core.validation import (
    BoolArray,
    FloatArray,
    check_binary_labels,
    check_sample_weight,
    check_scores,
)
from aucmax.plots._display import (
    BLUE,
    GREY,
    ORANGE,
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
    from matplotlib.patches import Polygon

    from aucmax.decisions import Reliability

# share of scores at either end that the picture cuts off
_TAIL = 0.001
_MIN_BARS, _MAX_BARS = 10, 40
_MAX_BINS = 100_000  # more cannot be drawn


@dataclass(eq=False, repr=False)
class CalibrationDisplay(ScoredDisplay):
    """Reliability diagrams with intervals.

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
        The diagonal, where predicted and observed agree.

    See Also
    --------
    aucmax.decisions.reliability : The numbers.
    """

    reliabilities: Sequence[tuple[str | None, Reliability]]
    _size = (5.4, 5.2)
    _read = staticmethod(probabilities_of)

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_prob: ArrayLike | Mapping[str, ArrayLike],
        *,
        n_bins: int = 10,
        sample_weight: ArrayLike | None = None,
        pos_label: object = None,
        name: str | None = None,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the observed share of positives by predicted probability.

        Rows are divided into groups of about equal size. A point is a group, at its
        mean probability and share of positives, with Wilson's interval.

        Parameters
        ----------
        y_true : array-like of shape (n_rows,)
            Labels of two classes: booleans, numbers or strings.
        y_prob : array-like of shape (n_rows,), or a mapping from names to such
            Probabilities of the positive class, of one model or of several by name.
        n_bins : int, default=10
            Maximum number of groups.
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
        >>> from aucmax.plots import CalibrationDisplay
        >>> display = CalibrationDisplay.from_predictions(
        ...     [0, 1, 0, 1], [0.1, 0.3, 0.7, 0.9], n_bins=2, ax=Figure().subplots()
        ... )
        >>> display.line_[0].get_label()
        'Brier score 0.2500, mean 50.0%'
        """
        # loads scikit-learn, which other pictures do without
        from aucmax.decisions import reliability

        def measure(key: str | None, values: ArrayLike) -> tuple[Any, Reliability]:
            rows: Any = {"sample_weight": sample_weight, "pos_label": pos_label}
            return key, reliability(y_true, values, n_bins=n_bins, **rows)

        return cls(measure_each(measure, y_prob, name)).plot(ax)

    def _draw(self, ax: Axes) -> None:
        reliabilities = [one for _, one in self.reliabilities]
        self.line_: list[Line2D] = []
        self.intervals_: list[ErrorbarContainer] = []
        for k, (name, one) in enumerate(self.reliabilities):
            style = {**line_style(k), "linewidth": 1.5, "zorder": 3}
            style |= {"marker": "o", "markersize": 5, "label": plain(_label(name, one))}
            self.line_ += ax.plot(one.probability, one.share, **style)
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
        top = max(max(one.high.max(), one.probability.max()) for one in reliabilities)
        top = min(1.0, 1.05 * float(top))
        label = f"predicted = observed; {reliabilities[0].base_rate:.1%} are positive"
        (self.ideal_,) = ax.plot((0, top), (0, top), label=label, **REFERENCE)
        sizes = reliabilities[0].n_rows
        ax.set(
            xlabel="predicted: mean probability of the group",
            ylabel="observed: share of positives in the group",
            xlim=(-0.01 * top, 1.01 * top),
            ylim=(-0.01 * top, 1.01 * top),
            aspect="equal",
            title=f"Calibration, {counted(float(sizes.sum()), 'row')} in "
            f"{counted(sizes.size, 'group')}",
        )
        dress(ax, "best")


def _label(name: str | None, one: Reliability) -> str:
    errors = f"Brier score {one.brier_score:.4f}, mean {one.mean_probability:.1%}"
    return errors if name is None else f"{name}\n{errors}"


@dataclass(eq=False, repr=False)
class ScoreDensityDisplay(ScoredDisplay):
    """Densities of the scores of positives and of negatives, each of area 1.

    Histograms, not smoothed curves: ties and gaps stay visible.

    Parameters
    ----------
    scores : ndarray of shape (n_rows,)
        The scores.
    is_positive : ndarray of bool of shape (n_rows,)
        Which rows are positive.
    sample_weight : ndarray of shape (n_rows,), optional
        Weights of the rows.
    n_bins : int, optional
        Number of bars; by default 10 to 40, growing with the smaller class.
    threshold : float, optional
        Where to draw a line; the legend counts positives found and false alarms above.

    Attributes
    ----------
    areas_ : list of matplotlib.patches.Polygon
        The densities of the negatives and of the positives.
    threshold_ : matplotlib.lines.Line2D or None
        The threshold.

    See Also
    --------
    aucmax.decisions.operating_point : The outcome at a threshold.
    """

    scores: FloatArray
    is_positive: BoolArray
    _: KW_ONLY
    sample_weight: FloatArray | None = None
    n_bins: int | None = None
    threshold: float | None = None
    name: str | None = None
    _size = (6.2, 3.8)

    def __post_init__(self) -> None:
        if self.n_bins is None:
            n_few = min(self.is_positive.sum(), (~self.is_positive).sum())
            self.n_bins = int(np.clip(2.0 * np.sqrt(n_few), _MIN_BARS, _MAX_BARS))
        check_integer("n_bins", self.n_bins)
        check_number("n_bins", self.n_bins, 1, _MAX_BINS)
        if self.threshold is not None:
            check_number("threshold", self.threshold, -np.inf, np.inf)

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        n_bins: int | None = None,
        threshold: float | None = None,
        sample_weight: ArrayLike | None = None,
        pos_label: object = None,
        name: str | None = None,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the scores of one model.

        Parameters
        ----------
        y_true : array-like of shape (n_rows,)
            Labels of two classes: booleans, numbers or strings.
        y_score : array-like of shape (n_rows,)
            Scores of one model.
        n_bins : int, optional
            Number of bars; by default 10 to 40, growing with the smaller class.
        threshold : float, optional
            Where to draw a line; the legend counts positives and false alarms above.
        sample_weight : ndarray of shape (n_rows,), optional
            Weights of the rows.
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
        >>> from aucmax.plots import ScoreDensityDisplay
        >>> display = ScoreDensityDisplay.from_predictions(
        ...     [0, 0, 0, 1, 1], [1, 2, 3, 3, 5], threshold=3, ax=Figure().subplots()
        ... )
        >>> display.threshold_.get_label()
        'at 3: 1 found, 0 false alarms'
        """
        _, is_positive = check_binary_labels(y_true, pos_label=pos_label)
        display = cls(
            check_scores(y_score, is_positive.size),
            is_positive,
            sample_weight=check_sample_weight(sample_weight, is_positive.size),
            n_bins=n_bins,
            threshold=threshold,
            name=name,
        )
        return display.plot(ax)

    def _draw(self, ax: Axes) -> None:
        edges = self._edges()
        self.areas_: list[Polygon] = []
        for is_positive, colour, noun in (
            (False, BLUE, "negative"),
            (True, ORANGE, "positive"),
        ):
            rows = self.is_positive == is_positive
            weights = None if self.sample_weight is None else self.sample_weight[rows]
            patches: Any = ax.hist(
                np.clip(self.scores[rows], edges[0], edges[-1]),
                bins=edges.tolist(),
                weights=weights,
                density=True,
                histtype="stepfilled",
                facecolor=(colour, 0.25),
                edgecolor=colour,
                linewidth=1.5,
                label=counted(self._mass(rows), noun),
            )[2]
            self.areas_.append(patches[0])
        self.threshold_: Line2D | None = None
        if (cut := self.threshold) is not None:
            above = self.scores > cut
            positives = f"{self._mass(above & self.is_positive):,g} found"
            alarms = counted(self._mass(above & ~self.is_positive), "false alarm")
            label = f"at {cut:.4g}: {positives}, {alarms}"
            self.threshold_ = ax.axvline(cut, color=GREY, linestyle="--", label=label)
        ax.margins(y=0.2)
        name = "" if self.name is None else f" of {plain(self.name)}"
        ax.set(xlabel="score", ylabel="density", title=f"Scores{name} by class")
        dress(ax, "best")

    def _edges(self) -> FloatArray:
        low, high = np.quantile(self.scores, (_TAIL, 1.0 - _TAIL))
        if low == high:
            low, high = self.scores.min(), self.scores.max()
        return np.histogram_bin_edges(self.scores, int(self.n_bins or 1), (low, high))

    def _mass(self, rows: BoolArray) -> float:
        if self.sample_weight is None:
            return float(np.count_nonzero(rows))
        return float(self.sample_weight[rows].sum())
