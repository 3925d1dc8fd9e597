"""What pictures of scores share: the scores of a model, of several, and their names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from aucmax.plots._axes import Display

__all__ = [
    "ScoredDisplay",
    "name_of",
    "named_scores",
    "probabilities_of",
    "scores_of",
    "telling_which",
]


class ScoredDisplay(Display):
    """A picture of scores, that a fitted model can give as well.

    A subclass has ``from_predictions(y_true, y_scores, name=..., pos_label=...)``.
    """

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
        """Draw the scores of a fitted model.

        Parameters
        ----------
        estimator : object
            A fitted binary classifier with ``decision_function`` or ``predict_proba``.
        X : array-like of shape (n_rows, n_features)
            Rows to score; not those that it was fitted to.
        y : array-like of shape (n_rows,)
            Their labels.
        name : str, optional
            What the legend calls the model; its class by default.
        pos_label : label, optional
            The positive class; the model is asked for scores of this class.
        **options
            Further options of ``from_predictions``.

        Returns
        -------
        display
            The drawing.
        """
        drawing: Self = cls.from_predictions(  # type: ignore[attr-defined]
            y,
            scores_of(estimator, X, pos_label),
            name=name_of(estimator) if name is None else name,
            pos_label=pos_label,
            **options,
        )
        return drawing


def named_scores(
    y_scores: ArrayLike | Mapping[str, ArrayLike], name: str | None
) -> Mapping[Any, ArrayLike]:
    """Return scores by name, whether of one model or of several."""
    if not isinstance(y_scores, Mapping):
        if name is not None and not isinstance(name, str):
            raise TypeError(f"name must be a text, got {name!r}.")
        return {name: y_scores}
    if not y_scores:
        raise ValueError("There is no curve to draw: y_scores is an empty mapping.")
    return y_scores


@contextmanager
def telling_which(name: str | None) -> Iterator[None]:
    """Let an error say at which curve it happened."""
    try:
        yield
    except (TypeError, ValueError) as error:
        if name is not None:
            error.add_note(f"This happened while drawing the curve {name!r}.")
        raise


def scores_of(estimator: Any, X: Any, pos_label: Any) -> Any:
    """Score rows by a fitted model, higher for rows of the positive class."""
    is_first = pos_label is not None and pos_label == estimator.classes_[0]
    if hasattr(estimator, "decision_function"):
        scores = estimator.decision_function(X)
        return -scores if is_first else scores
    if hasattr(estimator, "predict_proba"):
        return probabilities_of(estimator, X, pos_label)
    raise TypeError(
        f"{name_of(estimator)} has neither decision_function nor predict_proba, so it "
        "does not score rows. Pass scores to from_predictions instead."
    )


def probabilities_of(estimator: Any, X: Any, pos_label: Any) -> Any:
    """Return the probability of the positive class by a fitted model."""
    if not hasattr(estimator, "predict_proba"):
        raise TypeError(
            f"{name_of(estimator)} has no predict_proba, so it gives no probabilities. "
            "Calibrate it, or pass probabilities to from_predictions instead."
        )
    is_first = pos_label is not None and pos_label == estimator.classes_[0]
    probabilities = np.asarray(estimator.predict_proba(X))
    if probabilities.ndim == 2 and probabilities.shape[1] == 2:
        return probabilities[:, 0 if is_first else 1]
    raise ValueError(
        f"{name_of(estimator)}.predict_proba gave shape {probabilities.shape}; this "
        "picture needs a binary classifier, which gives two columns."
    )


def name_of(estimator: Any) -> str:
    """Return what to call a model: its class, of a pipeline that of the last step."""
    steps = getattr(estimator, "steps", None)
    return name_of(steps[-1][1]) if steps else type(estimator).__name__
