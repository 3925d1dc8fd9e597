"""Scores of a linear model, ``X @ w + b``; without scikit-learn."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from aucmax._core import saved_state as saved
from aucmax._core.row_matrix import product
from aucmax._core.validation import FloatArray


def linear_scores(X: Any, coef: NDArray[Any], intercept: NDArray[Any]) -> FloatArray:
    """Return the scores of checked rows by weights of shape (1, n_features)."""
    return product(X, coef[0]) + float(intercept[0])


@dataclass(eq=False)
class LinearScorer:
    """The weights of a linear model, to score rows that `LearnedColumns` encodes."""

    _saved_state = saved.fields(
        n_features_in_=saved.count,
        coef_=saved.array("f", 1, "n_features_in_"),
        intercept_=saved.array("f", 1),
    )

    # the part of the ROC curve that it was trained for
    fpr_range: Sequence[float] = (0.0, 1.0)
    tpr_range: Sequence[float] = (0.0, 1.0)

    def decision_function(self, X: Any) -> FloatArray:
        """Score rows: the higher, the more likely positive."""
        model: Any = self
        return linear_scores(X, model.coef_, model.intercept_)
