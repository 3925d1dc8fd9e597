"""Column importance."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from aucmax._core.parameters import check_integer
from aucmax.plots._display import BLUE, GREY, Display, name_bars, name_of, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.container import BarContainer

    from aucmax.inspection import Importances


@dataclass(eq=False, repr=False)
class ImportanceDisplay(Display):
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

    See Also
    --------
    aucmax.inspection.permutation_importance : The numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from matplotlib.figure import Figure
    >>> from sklearn.linear_model import LogisticRegression
    >>> from aucmax.plots import ImportanceDisplay
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> model = LogisticRegression().fit(X, X[:, 0] > 0)
    >>> display = ImportanceDisplay.from_estimator(
    ...     model, X, X[:, 0] > 0, ax=Figure().subplots()
    ... )
    >>> len(display.bars_)
    2
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
        estimator: object,
        X: object,
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

        importances = permutation_importance(estimator, X, y, **options)
        name = name_of(estimator) if name is None else name
        return cls(importances, max_columns=max_columns, name=name).plot(ax)

    def _draw(self, ax: Axes) -> None:
        importances = self.importances
        n_shown = self._n_shown
        drops = importances.drop[:n_shown]
        ends = np.stack([importances.low, importances.high])[:, :n_shown]
        self.bars_: BarContainer = ax.barh(
            range(n_shown),
            drops,
            xerr=np.abs(ends - drops),
            color=(BLUE, 0.75),
            error_kw={"ecolor": "#333333", "elinewidth": 1.2, "capsize": 2},
            height=0.7,
        )
        ax.axvline(0.0, color=GREY, linewidth=0.8)
        name_bars(ax, importances.column[:n_shown])
        measure = "AUC" if importances.metric == "auc" else "partial AUC"
        name = "the model" if self.name is None else plain(self.name)
        left_out = len(importances.column) - n_shown
        more = f"\n({left_out} more columns matter less)" if left_out else ""
        ax.set_xlabel(
            f"drop in {measure} when a column is shuffled, with "
            f"{importances.confidence_level:.0%} interval{more}"
        )
        ax.set_title(f"Column importance of {name}, {measure} {importances.value:.3f}")
