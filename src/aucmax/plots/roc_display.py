"""ROC curves with their uncertainty."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from aucmax._core.validation import FloatArray, check_binary_labels
from aucmax.inference import MetricInterval, auc_interval, roc_band
from aucmax.inference.resampling import ROCBand
from aucmax.metrics import partial_auc_score, roc_auc_score, roc_curve
from aucmax.plots import _display as display
from aucmax.plots._display import GREY, REFERENCE, ScoredDisplay

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import FillBetweenPolyCollection
    from matplotlib.lines import Line2D
    from matplotlib.patches import Rectangle

_MAX_POINTS = 1000  # per curve; a screen shows no more
# finer on the left, where curves are steep
_BAND_GRID = np.linspace(0.0, 1.0, 201) ** 2
_OURS = "aucmax.roc_curve"  # marks our lines, so that the next takes the next colour


@dataclass(frozen=True)
class ROCCurve:
    """One curve, thinned to at most 1000 points, with its exact areas."""

    name: str | None
    fpr: FloatArray
    tpr: FloatArray
    thresholds: FloatArray
    auc: float
    interval: MetricInterval | None = None
    band: ROCBand | None = None
    partial_auc: float | None = None

    @property
    def label(self) -> str:
        """The text of the legend: the name, the AUC and the partial AUC."""
        area = f"AUC {self.auc:.3f}"
        if self.interval is not None:
            area += f" [{self.interval.low:.3f}, {self.interval.high:.3f}]"
        if self.partial_auc is not None:
            area += f", pAUC {self.partial_auc:.3f}"
        return area if self.name is None else f"{self.name}\n{area}"


@dataclass(eq=False, repr=False)
class ROCCurveDisplay(ScoredDisplay):
    """ROC curves, with the interface of scikit-learn's displays.

    Parameters
    ----------
    curves : sequence of ROCCurve
        The curves, at least one.
    fpr_range : pair of float, optional
        Range of false positive rates to shade.
    title : str, optional
        Title of the picture.
    curve_kwargs : mapping, optional
        Passed on to matplotlib's ``plot``; replaces our colours and styles.

    Attributes
    ----------
    line_ : matplotlib.lines.Line2D or list of them
        The curve, or the curves if there are several.
    band_ : list of matplotlib collections
        The bands, of those curves that have one.
    shade_ : matplotlib.patches.Rectangle or None
        The shaded range.
    chance_level_ : matplotlib.lines.Line2D or None
        The diagonal; None if the axes have one from an earlier display.
    """

    curves: Sequence[ROCCurve]
    _: KW_ONLY
    fpr_range: Sequence[float] | None = None
    title: str | None = None
    curve_kwargs: Mapping[str, Any] | None = None
    _size = (5.8, 5.4)

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_score: ArrayLike | Mapping[str, ArrayLike],
        *,
        fpr_range: Sequence[float] | None = None,
        confidence_level: float | None = 0.95,
        sample_weight: ArrayLike | None = None,
        pos_label: object = None,
        name: str | None = None,
        ax: Axes | None = None,
        curve_kwargs: Mapping[str, object] | None = None,
    ) -> Self:
        """Draw ROC curves with their AUC, its interval, and a band.

        Each curve has a pointwise band (bootstrap, see
        :func:`aucmax.inference.roc_band`), and the legend shows its AUC with the
        interval of :func:`aucmax.inference.auc_interval`. If a range of false positive
        rates is given, it is shaded, and the legend adds the partial AUC over it as a
        share of the largest possible one. Costs O(m log m) per curve, thinned to 1000
        points.

        Parameters
        ----------
        y_true : array-like of shape (n_rows,)
            Labels of two classes: booleans, numbers or strings.
        y_score : array-like of shape (n_rows,), or a mapping from names to such
            Scores of one model, or of several by name, for the same rows.
        fpr_range : pair of float, optional
            Range of false positive rates to shade and to take the partial AUC over.
        confidence_level : float or None
            Coverage of interval and band; None draws neither.
        sample_weight : array-like of shape (n_rows,), default=None
            Nonnegative row weights; the weight of a pair is the product of its rows'.
        pos_label : label, default=None
            The positive class; by default, the second label in sorted order.
        name : str, default=None
            Name of the model in the legend.
        ax : matplotlib.axes.Axes, default=None
            Where to draw; a new figure by default.
        curve_kwargs : mapping, optional
            Passed on to matplotlib's ``plot``; replaces our colours and styles.

        Returns
        -------
        display
            The drawing, with ``figure_``, ``ax_`` and the numbers in ``curves``.

        See Also
        --------
        aucmax.inference.compare_auc : Whether two curves differ by more than chance.

        Examples
        --------
        >>> from matplotlib.figure import Figure
        >>> from aucmax.plots import ROCCurveDisplay
        >>> y, scores = [0, 0, 0, 1, 1, 1], [1, 2, 4, 3, 5, 6]
        >>> display = ROCCurveDisplay.from_predictions(
        ...     y, scores, ax=Figure().subplots()
        ... )
        >>> display.line_.get_label()
        'AUC 0.889 [0.008, 1.000]'
        """
        rows: Any = {"sample_weight": sample_weight, "pos_label": pos_label}

        def measure(key: str | None, scores: ArrayLike) -> ROCCurve:
            points = roc_curve(y_true, scores, max_points=_MAX_POINTS, **rows)
            interval = band = partial_auc = None
            if confidence_level is not None:
                options = {"confidence_level": confidence_level, **rows}
                interval = auc_interval(y_true, scores, **options)
                band = roc_band(y_true, scores, fpr=_BAND_GRID, **options)
            if fpr_range is not None:
                partial_auc = partial_auc_score(
                    y_true, scores, fpr_range=fpr_range, **rows
                )
            auc = roc_auc_score(y_true, scores, **rows)
            return ROCCurve(key, *points, auc, interval, band, partial_auc)

        curves = display.measure_each(measure, y_score, name)
        _, is_positive = check_binary_labels(y_true, pos_label=pos_label)
        n_positive = int(is_positive.sum())
        n_negative = is_positive.size - n_positive
        counts = display.counted(n_positive, "positive")
        counts += ", " + display.counted(n_negative, "negative")
        return cls(
            curves,
            fpr_range=fpr_range,
            title=f"ROC, {counts}",
            curve_kwargs=curve_kwargs,
        ).plot(ax)

    def _draw(self, ax: Axes) -> None:
        n_drawn = sum(line.get_gid() == _OURS for line in ax.get_lines())
        self.chance_level_: Line2D | None = None
        if not n_drawn:
            (self.chance_level_,) = ax.plot((0, 1), (0, 1), **REFERENCE)
        self.band_: list[FillBetweenPolyCollection] = []
        lines = [
            self._draw_curve(curve, n_drawn + k) for k, curve in enumerate(self.curves)
        ]
        self.line_: Line2D | list[Line2D] = lines[0] if len(lines) == 1 else lines
        self.shade_: Rectangle | None = None
        if self.fpr_range is not None:
            low, high = self.fpr_range
            shade: Any = {"color": GREY, "alpha": 0.15, "linewidth": 0, "zorder": 0}
            shade["label"] = f"range of the pAUC: FPR {low:g} to {high:g}"
            self.shade_ = ax.axvspan(low, high, **shade)
        ax.set(
            xlabel="false positive rate",
            ylabel="true positive rate",
            xlim=(-0.01, 1.01),
            ylim=(-0.01, 1.01),
            aspect="equal",
        )
        if self.title is not None:
            ax.set_title(self.title)
        display.dress(ax, "lower right")

    def _draw_curve(self, curve: ROCCurve, place: int) -> Line2D:
        style = {**display.line_style(place), "label": display.plain(curve.label)}
        style |= self.curve_kwargs or {}
        (line,) = self.ax_.plot(curve.fpr, curve.tpr, gid=_OURS, zorder=3, **style)
        if curve.band is not None:
            band = self.ax_.fill_between(
                curve.band.fpr,
                curve.band.low,
                curve.band.high,
                color=line.get_color(),
                alpha=0.16,
                linewidth=0,
                zorder=2,
            )
            self.band_.append(band)
        return line
