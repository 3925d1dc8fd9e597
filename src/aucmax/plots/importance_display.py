"""What a model looks at: how much worse it ranks without a column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from aucmax._core.docstrings import documented
from aucmax._core.parameters import check_integer
from aucmax.metrics import compare_auc
from aucmax.plots._display import BLUE, GREY, ScoredDisplay, name_of, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.container import BarContainer

    from aucmax.inspection import Importances


@documented
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
        """Shuffle each column, and draw how much worse a fitted model then ranks.

        Parameters
        ----------
        **options
            Options of :func:`aucmax.inspection.permutation_importance`, such as
            ``fpr_range``.
        """
        # loads tables and models, which other pictures do without
        from aucmax.inspection import permutation_importance

        found = permutation_importance(estimator, X, y, **options)
        name = name_of(estimator) if name is None else name
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
        """Draw by how much scores rank better than those without each column.

        Parameters
        ----------
        shuffled : mapping from str to array-like of shape (n_rows,)
            For each column the scores of the same rows with its cells shuffled, or
            those of a model that was fitted without it.

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
            raise ValueError("There is nothing to draw: shuffled is an empty mapping.")
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
        ax.set_yticks(range(n_shown), [plain(name) for name in found.column[:n_shown]])
        ax.tick_params(axis="y", length=0)
        ax.set_ylim(n_shown - 0.4, -0.6)
        ax.spines[["top", "right", "left"]].set_visible(False)
        measure = "AUC" if found.metric == "auc" else "partial AUC"
        name = "the model" if self.name is None else plain(self.name)
        left_out = len(found.column) - n_shown
        more = f"\n({left_out} more columns matter less)" if left_out else ""
        ax.set_xlabel(
            f"drop of the {measure} when a column is shuffled, with "
            f"{found.confidence:.0%} interval{more}"
        )
        ax.set_title(f"What {name} looks at: {measure} {found.value:.3f}")
