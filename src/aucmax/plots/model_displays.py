"""Column importance, and the AUC by the number of training rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from aucmax._core.parameters import check_integer
from aucmax._core.validation import check_binary_labels, reject_unreadable
from aucmax.inference import MetricInterval, auc_interval, compare_auc
from aucmax.plots import _display as display
from aucmax.plots._display import BLUE, GREY, ScoredDisplay

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.container import BarContainer, ErrorbarContainer

    from aucmax.inspection import Importances

_MIN_ROWS = 2  # per class in a training sample


@dataclass(eq=False, repr=False)
class ImportanceDisplay(ScoredDisplay):
    """Drops of the AUC by column, with intervals, the largest on top.

    Parameters
    ----------
    importances : aucmax.inspection.Importances
        The drops, as :func:`aucmax.inspection.permutation_importance` returns them.
    max_columns : int
        Draw at most this many columns. A line below states how many are left out.

    Attributes
    ----------
    bars_ : matplotlib.container.BarContainer
        The bars, from top to bottom.
    """

    importances: Importances
    _: KW_ONLY
    max_columns: int = 20
    name: str | None = None

    def __post_init__(self) -> None:
        check_integer("max_columns", self.max_columns)
        self._n_shown = min(len(self.importances.column), self.max_columns)
        self._size = 6.2, 1.4 + 0.28 * self._n_shown

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        max_columns: int = 20,
        name: str | None = None,
        ax: Axes | None = None,
        **options: Any,
    ) -> Self:
        """Shuffle each column, and draw the drop in AUC of a fitted model.

        Parameters
        ----------
        estimator : object
            A fitted binary classifier with ``decision_function`` or ``predict_proba``.
        X : array-like or sparse matrix of shape (n_rows, n_features)
            The features.
        y : array-like of shape (n_rows,)
            Two distinct labels; the second in sorted order is the positive class.
        max_columns : int
            Draw at most this many columns. A line below states how many are left out.
        name : str, default=None
            Name of the model in the legend.
        ax : matplotlib.axes.Axes, default=None
            Where to draw; a new figure by default.
        **options
            Options of :func:`aucmax.inspection.permutation_importance`.

        Returns
        -------
        display
            The drawing.
        """
        # loads tables and models, which other pictures do without
        from aucmax.inspection import permutation_importance

        found = permutation_importance(estimator, X, y, **options)
        name = display.name_of(estimator) if name is None else name
        return cls(found, max_columns=max_columns, name=name).plot(ax)

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_score: ArrayLike,
        shuffled: Mapping[str, ArrayLike],
        *,
        fpr_range: Sequence[float] = (0.0, 1.0),
        confidence: float = 0.95,
        sample_weight: ArrayLike | None = None,
        pos_label: Any = None,
        max_columns: int = 20,
        name: str | None = None,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the drop in AUC from scores to those without each column.

        Parameters
        ----------
        y_true : array-like of shape (n_rows,)
            Labels of two classes: booleans, numbers or strings.
        y_score : array-like of shape (n_rows,)
            Finite scores, high for positive or relevant rows; compared as float64.
        shuffled : mapping from str to array-like of shape (n_rows,)
            For each column the scores of the same rows with its cells shuffled, or
            those of a model that was fitted without it.
        fpr_range, tpr_range : pair of float, default=(0.0, 1.0)
            The part of the ROC curve: ``fpr_range=(0, 0.1)`` is the top tenth of the
            negatives, ``tpr_range=(0.9, 1)`` the lowest tenth of the positives.
        confidence : float, default=0.95
            Probability that the interval is meant to cover.
        sample_weight : array-like of shape (n_rows,), default=None
            Nonnegative row weights; the weight of a pair is the product of its rows'.
        pos_label : label, default=None
            The positive class; by default, the second label in sorted order.
        max_columns : int
            Draw at most this many columns. A line below states how many are left out.
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
        >>> from aucmax.plots import ImportanceDisplay
        >>> y, scores = [0, 0, 0, 1, 1, 1], [1, 2, 4, 3, 5, 6]
        >>> without = {"age": [1, 2, 4, 3, 6, 5], "size": [5, 2, 4, 3, 1, 6]}
        >>> display = ImportanceDisplay.from_predictions(
        ...     y, scores, without, ax=Figure().subplots()
        ... )
        >>> display.importances.column
        ['size', 'age']
        """
        from aucmax.inspection.importance import sorted_importances

        if not shuffled:
            raise ValueError("shuffled is an empty mapping: there is nothing to draw.")
        tests = [
            compare_auc(
                y_true,
                y_score,
                values,
                fpr_range=fpr_range,
                confidence=confidence,
                sample_weight=sample_weight,
                pos_label=pos_label,
            )
            for values in shuffled.values()
        ]
        found = sorted_importances(
            list(shuffled),
            [(test.difference, test.low, test.high) for test in tests],
            metric="auc" if tuple(fpr_range) == (0.0, 1.0) else "partial_auc",
            value=tests[0].auc_a,
            n_repeats=1,
            confidence=confidence,
        )
        return cls(found, max_columns=max_columns, name=name).plot(ax)

    def _draw(self, ax: Axes) -> None:
        found = self.importances
        n_shown = self._n_shown
        drops = found.drop[:n_shown]
        ends = np.stack([found.low, found.high])[:, :n_shown]
        self.bars_: BarContainer = ax.barh(
            range(n_shown),
            drops,
            xerr=np.abs(ends - drops),
            color=(BLUE, 0.75),
            error_kw={"ecolor": "#333333", "elinewidth": 1.2, "capsize": 2},
            height=0.7,
        )
        ax.axvline(0.0, color=GREY, linewidth=0.8)
        ax.set_yticks(
            range(n_shown), [display.plain(name) for name in found.column[:n_shown]]
        )
        ax.tick_params(axis="y", length=0)
        ax.set_ylim(n_shown - 0.4, -0.6)
        ax.spines[["top", "right", "left"]].set_visible(False)
        measure = "AUC" if found.metric == "auc" else "partial AUC"
        name = "the model" if self.name is None else display.plain(self.name)
        left_out = len(found.column) - n_shown
        more = f"\n({left_out} more columns matter less)" if left_out else ""
        ax.set_xlabel(
            f"drop in {measure} when a column is shuffled, with "
            f"{found.confidence:.0%} interval{more}"
        )
        ax.set_title(f"Column importance of {name}, {measure} {found.value:.3f}")


@dataclass(eq=False, repr=False)
class LearningCurveDisplay(ScoredDisplay):
    """AUC on the same test rows by the number of training rows.

    Parameters
    ----------
    n_rows : sequence of int
        Numbers of training rows, ascending.
    areas : sequence of aucmax.inference.MetricInterval
        The AUC of each, with its interval.
    n_test : int
        Number of test rows.

    Attributes
    ----------
    points_ : matplotlib.container.ErrorbarContainer
        The areas with their intervals.
    """

    n_rows: Sequence[int]
    areas: Sequence[MetricInterval]
    name: str | None
    n_test: int
    _size = (5.8, 4.0)

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_scores: Mapping[int, ArrayLike],
        *,
        fpr_range: Sequence[float] = (0.0, 1.0),
        confidence: float = 0.95,
        pos_label: Any = None,
        name: str | None = None,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the AUC of the same test rows by models of increasing training size.

        Parameters
        ----------
        y_true : array-like of shape (n_rows,)
            Labels of the test rows.
        y_scores : mapping from int to array-like of shape (n_rows,)
            Their scores, by the number of training rows of the model.
        fpr_range, tpr_range : pair of float, default=(0.0, 1.0)
            The part of the ROC curve: ``fpr_range=(0, 0.1)`` is the top tenth of the
            negatives, ``tpr_range=(0.9, 1)`` the lowest tenth of the positives.
        confidence : float, default=0.95
            Probability that the interval is meant to cover.
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
        """
        if not y_scores:
            raise ValueError("There is nothing to draw: y_scores is an empty mapping.")
        sizes = sorted(y_scores)
        areas = [
            auc_interval(
                y_true,
                y_scores[n],
                fpr_range=fpr_range,
                confidence=confidence,
                pos_label=pos_label,
            )
            for n in sizes
        ]
        return cls(sizes, areas, name, len(np.asarray(y_true))).plot(ax)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        n_rows: Sequence[int] | None = None,
        test_size: float = 0.3,
        random_state: int = 0,
        pos_label: Any = None,
        name: str | None = None,
        **options: Any,
    ) -> Self:
        """Fit copies of a model to more and more rows; test all on the same rows.

        Each sample contains the one before and has about the same share of positives.

        Parameters
        ----------
        estimator : object
            A fitted binary classifier with ``decision_function`` or ``predict_proba``.
        X : array-like or sparse matrix of shape (n_rows, n_features)
            The features.
        y : array-like of shape (n_rows,)
            Two distinct labels; the second in sorted order is the positive class.
        n_rows : sequence of int, optional
            Numbers of training rows; by default about an eighth, a quarter, a half and
            all of those that are not tested.
        test_size : float
            Share of the rows to test on.
        random_state : int
            Seed of the split.
        pos_label : label, default=None
            The positive class; by default, the second label in sorted order.
        name : str, default=None
            Name of the model in the legend.
        **options
            Further options of :meth:`from_predictions`.

        Returns
        -------
        display
            The drawing.
        """
        from sklearn.base import clone
        from sklearn.model_selection import train_test_split
        from sklearn.utils import _safe_indexing
        from sklearn.utils.validation import _num_samples

        from aucmax._core.features import check_row_count

        own = getattr(estimator, "pos_label", None)
        pos_label = own if pos_label is None else pos_label
        check_binary_labels(y, "y", pos_label)
        labels = np.asarray(y)
        reject_unreadable(X, "X")
        try:
            n_given = _num_samples(X)
        except TypeError as error:
            raise TypeError(f"X must hold the features of rows: {error}") from None
        check_row_count(labels, n_given)
        known, held = train_test_split(
            np.arange(labels.size),
            test_size=test_size,
            stratify=labels,
            random_state=random_state,
        )
        known = _evenly_mixed(known, labels)
        sizes = _check_sizes(n_rows, known, labels)
        tested = _safe_indexing(X, held)
        scores = {}
        for size in sizes:
            rows = known[:size]
            model = clone(estimator).fit(_safe_indexing(X, rows), labels[rows])
            scores[size] = display.scores_of(model, tested, pos_label)
        return cls.from_predictions(
            labels[held],
            scores,
            pos_label=pos_label,
            name=display.name_of(estimator) if name is None else name,
            **options,
        )

    def _draw(self, ax: Axes) -> None:
        from matplotlib.ticker import NullLocator

        heights = np.array([area.auc for area in self.areas])
        ends = np.array([(area.low, area.high) for area in self.areas])
        confidence = self.areas[0].confidence
        # scikit-learn's display has deviations over folds in place of intervals
        self.points_: ErrorbarContainer = ax.errorbar(
            self.n_rows,
            heights,
            yerr=np.abs(ends - heights[:, None]).T,
            color=BLUE,
            marker="o",
            linewidth=2.0,
            elinewidth=1.2,
            capsize=3,
            label=f"AUC with {confidence:.0%} interval",
        )
        ax.set_xscale("log", base=2)
        ax.set_xticks(self.n_rows, [f"{n:,}" for n in self.n_rows])
        ax.xaxis.set_minor_locator(NullLocator())
        title = display.titled("Learning curve", self.name)
        ax.set(
            xlabel="training rows",
            ylabel="AUC on the test rows",
            title=f"{title}, tested on {display.counted(self.n_test, 'row')}",
        )
        display.dress(ax, "lower right")


def _evenly_mixed(rows: Any, labels: Any) -> Any:
    """Return the rows in an order whose first n have the shares of the classes."""
    places = np.empty(rows.size)
    for label in np.unique(labels[rows]):
        own = labels[rows] == label
        places[own] = (np.arange(own.sum()) + 0.5) / own.sum()
    return rows[np.argsort(places, kind="stable")]


def _check_sizes(wanted: Sequence[int] | None, rows: Any, labels: Any) -> list[int]:
    largest = rows.size
    if wanted is None:
        wanted = sorted({largest // part for part in (8, 4, 2, 1)})
        wanted = [n for n in wanted if _has_both(labels[rows[:n]])]
    for size in wanted:
        check_integer("n_rows", size)
        if size > largest:
            raise ValueError(
                f"n_rows contains {size}, but only {largest} rows are left for "
                "training; choose smaller numbers, or a smaller test_size."
            )
        if not _has_both(labels[rows[:size]]):
            raise ValueError(
                f"n_rows contains {size}, too few for {_MIN_ROWS} rows of each class; "
                "choose larger numbers."
            )
    return sorted(set(wanted))


def _has_both(labels: Any) -> bool:
    counts = np.unique(labels, return_counts=True)[1]
    return counts.size == 2 and bool(counts.min() >= _MIN_ROWS)
