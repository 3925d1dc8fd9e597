"""Colours, axes and base classes of all plots."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from aucmax._core.threads import import_package

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

T = TypeVar("T")
Place = Literal["best", "lower right", "upper right"]

# Okabe and Ito's, distinct for all kinds of colour vision; the pale ones darker, as in
# the style sheet of the report
BLUE, ORANGE, GREY = "#0072b2", "#d55e00", "#767676"
COLOURS = (BLUE, ORANGE, "#009e73", "#c4649c", "#b97a00", "#2b9bd8", "#1c1e21")
REFERENCE: dict[str, Any] = {
    "color": GREY,
    "linewidth": 1,
    "linestyle": (0, (4, 4)),
    "zorder": 1,
}
_DASHES = ("solid", "dashed", "dotted", "dashdot")


def line_style(place: int) -> dict[str, Any]:
    """Return colour and dashes of the n-th line; the first 28 differ."""
    return {
        "color": COLOURS[place % len(COLOURS)],
        "linestyle": _DASHES[place // len(COLOURS) % len(_DASHES)],
        "linewidth": 2.0,
    }


def dress(ax: Axes, legend_at: Place) -> None:
    """Remove the frame and add a light legend."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(loc=legend_at, fontsize="small", framealpha=0.9, edgecolor="none")


def name_bars(ax: Axes, names: list[str]) -> None:
    """Write the name of each bar on the left, from top to bottom."""
    ax.set_yticks(range(len(names)), [plain(name) for name in names])
    ax.tick_params(axis="y", length=0)
    ax.set_ylim(len(names) - 0.4, -0.6)
    ax.spines[["top", "right", "left"]].set_visible(False)


def counted(number: float, noun: str) -> str:
    """Return "1 row", "4,000 rows" or, of weights, "12.5 rows"."""
    text = f"{number:,.0f}" if float(number).is_integer() else f"{number:,.4g}"
    return f"{text} {noun}{'' if number == 1 else 's'}"


def plain(name: str) -> str:
    """Escape a name, so that matplotlib does not read a formula."""
    if not isinstance(name, str):
        raise TypeError(f"name must be a string, got {name!r}.")
    return name.replace("$", r"\$")


class Display:
    """A picture that can be drawn again on other axes."""

    _size: tuple[float, float] = (5.8, 4.8)  # of a new figure, in inches

    @property
    def figure_(self) -> Figure:
        """The figure of the axes."""
        figure: Figure = self.ax_.figure.figure  # of a subfigure, too
        return figure

    def _draw(self, ax: Axes) -> None:
        raise NotImplementedError

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw it.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            Where to draw; a new figure by default.

        Returns
        -------
        display
            This display.
        """
        if ax is None:
            pyplot = import_package("matplotlib.pyplot", "a plot")
            _, ax = pyplot.subplots(figsize=self._size, layout="constrained")
        self.ax_: Axes = ax
        self._draw(ax)
        return self


def scores_of(estimator: object, X: object, pos_label: object) -> Any:
    """Score rows by a fitted model, higher for rows of the positive class."""
    if hasattr(estimator, "decision_function"):
        scores = estimator.decision_function(X)
        return -scores if _is_first(estimator, pos_label) else scores
    if hasattr(estimator, "predict_proba"):
        return probabilities_of(estimator, X, pos_label)
    raise TypeError(
        f"{name_of(estimator)} has neither decision_function nor predict_proba. Pass "
        "scores to from_predictions instead."
    )


def probabilities_of(estimator: object, X: object, pos_label: object) -> Any:
    """Return the probability of the positive class by a fitted model."""
    if not hasattr(estimator, "predict_proba"):
        raise TypeError(
            f"{name_of(estimator)} has no predict_proba. Calibrate it, or pass "
            "probabilities to from_predictions instead."
        )
    probabilities = np.asarray(estimator.predict_proba(X))
    if probabilities.ndim == 2 and probabilities.shape[1] == 2:
        return probabilities[:, 0 if _is_first(estimator, pos_label) else 1]
    raise ValueError(
        f"{name_of(estimator)}.predict_proba returned shape {probabilities.shape}; a "
        "binary classifier returns two columns."
    )


def _is_first(estimator: Any, pos_label: object) -> bool:
    return pos_label is not None and pos_label == estimator.classes_[0]


def name_of(estimator: object) -> str:
    """Return the class name of a model, or of the last step of a pipeline."""
    steps = getattr(estimator, "steps", None)
    return name_of(steps[-1][1]) if steps else type(estimator).__name__


class ScoredDisplay(Display):
    """A picture of the scores of one model, or of several."""

    _read = staticmethod(scores_of)  # an estimator, rows and the positive label

    @classmethod
    def from_predictions(cls, *args: Any, **options: Any) -> Self:
        """Draw scores.

        Returns
        -------
        display
            The drawing.
        """
        raise NotImplementedError

    @classmethod
    def from_estimator(
        cls,
        estimator: object,
        X: object,
        y: ArrayLike,
        *,
        name: str | None = None,
        pos_label: object = None,
        **options: Any,
    ) -> Self:
        """Draw the scores of a fitted model for rows that it was not fitted to.

        The default of `pos_label` is the model's parameter of this name.

        Parameters
        ----------
        estimator : object
            A fitted binary classifier with ``decision_function`` or ``predict_proba``.
        X : array-like or sparse matrix of shape (n_rows, n_features)
            The features.
        y : array-like of shape (n_rows,)
            Two distinct labels; the second in sorted order is the positive class.
        name : str, default=None
            Name of the model in the legend; its class by default.
        pos_label : label, default=None
            The positive class; by default, the second label in sorted order.
        **options
            Further options of ``from_predictions``.

        Returns
        -------
        display
            The drawing.
        """
        model_label = getattr(estimator, "pos_label", None)
        pos_label = model_label if pos_label is None else pos_label
        return cls.from_predictions(
            y,
            cls._read(estimator, X, pos_label),
            name=name_of(estimator) if name is None else name,
            pos_label=pos_label,
            **options,
        )


def measure_each(
    measure: Callable[[Any, ArrayLike], T],
    y_score: ArrayLike | Mapping[str, ArrayLike],
    name: str | None,
) -> list[T]:
    """Measure one model, or several by name; errors state the name."""
    if not isinstance(y_score, Mapping):
        if name is not None:
            plain(name)  # or an error
        return [measure(name, y_score)]
    if not y_score:
        raise ValueError("y_score is an empty mapping: there is no curve to draw.")
    curves = []
    for key, scores in y_score.items():
        try:
            curves.append(measure(key, scores))
        except (TypeError, ValueError) as error:
            error.add_note(f"This happened while drawing the curve {key!r}.")
            raise
    return curves
