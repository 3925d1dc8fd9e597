"""How the ranking of new rows improves with the number of rows learned from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from aucmax._core.docstrings import documented
from aucmax._core.parameters import check_integer
from aucmax._core.validation import check_binary_labels, reject_unreadable
from aucmax.metrics import AUCInterval, auc_interval
from aucmax.plots._display import (
    BLUE,
    ScoredDisplay,
    counted,
    dress,
    name_of,
    scores_of,
    titled,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.container import ErrorbarContainer

_MIN_ROWS = 2  # rows of either class that a sample has


@documented
@dataclass(eq=False, repr=False)
class LearningCurveDisplay(ScoredDisplay):
    """AUC on the same test rows by the number of training rows.

    Parameters
    ----------
    n_rows : sequence of int
        Numbers of training rows, ascending.
    areas : sequence of aucmax.metrics.AUCInterval
        The AUC of each, with its interval.
    n_test : int
        Number of test rows.

    Attributes
    ----------
    points_ : matplotlib.container.ErrorbarContainer
        The areas with their intervals.
    """

    n_rows: Sequence[int]
    areas: Sequence[AUCInterval]
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
        """Draw the AUC of scores of the same rows by models of more and more rows.

        Parameters
        ----------
        y_true : array-like of shape (n_rows,)
            Labels of the test rows.
        y_scores : mapping from int to array-like of shape (n_rows,)
            Their scores, by the number of rows that the model had learned from.
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
        """Fit copies of a model to more and more rows, and test each on the same rest.

        Each sample contains the one before, and has as large a share of positives.

        Parameters
        ----------
        n_rows : sequence of int, optional
            Numbers of training rows; by default about an eighth, a quarter, a half and
            all of those that are not tested.
        test_size : float
            Share of the rows that all are tested on.
        random_state : int
            Decides which.
        **options
            Further options of :meth:`from_predictions`.
        """
        from sklearn.base import clone
        from sklearn.model_selection import train_test_split
        from sklearn.utils import _safe_indexing

        check_binary_labels(y, "y", pos_label)
        labels = np.asarray(y)
        _check_rows(X, labels.size)
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
            scores[size] = scores_of(model, tested, pos_label)
        return cls.from_predictions(
            labels[held],
            scores,
            pos_label=pos_label,
            name=name_of(estimator) if name is None else name,
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
        title = titled("Learning curve", self.name)
        ax.set(
            xlabel="training rows",
            ylabel="AUC on the test rows",
            title=f"{title}, tested on {counted(self.n_test, 'row')}",
        )
        dress(ax, "lower right")


def _check_rows(X: Any, n_labels: int) -> None:
    """Reject a table without one row per label, before rows are taken from it."""
    from sklearn.utils.validation import _num_samples

    reject_unreadable(X, "X")
    try:
        n_rows = _num_samples(X)
    except TypeError as error:
        raise TypeError(f"X must be a table with one row per label: {error}") from None
    if n_rows != n_labels:
        raise ValueError(f"X has {n_rows} rows, but y has {n_labels} labels.")


def _evenly_mixed(rows: Any, labels: Any) -> Any:
    """Return the rows so that every beginning has about the same share of classes."""
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
                f"n_rows has {size}, but only {largest} rows are left to learn from; "
                "choose smaller numbers, or a smaller test_size."
            )
        if not _has_both(labels[rows[:size]]):
            raise ValueError(
                f"n_rows has {size}, too few for {_MIN_ROWS} rows of either class; "
                "choose larger numbers."
            )
    return sorted(set(wanted))


def _has_both(labels: Any) -> bool:
    counts = np.unique(labels, return_counts=True)[1]
    return counts.size == 2 and bool(counts.min() >= _MIN_ROWS)
