"""What both yardsticks of LightGBM do with their trees."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from aucmax._core import saved_state as saved
from aucmax._core.docstrings import documented
from aucmax._core.validation import FloatArray
from aucmax.trees.booster import check_model_text, contributions, n_threads, predict

__all__ = ["LightGBMTrees"]


@documented
class LightGBMTrees:
    """Trees in LightGBM's text, `model_text_`, for `n_features_in_` columns."""

    _saved_state = saved.fields(**saved.COLUMNS, model_text_=saved.instance_of(str))

    def decision_function(self, X: Any) -> FloatArray:
        """Score rows: the higher, the better they rank.

        Returns
        -------
        ndarray of shape (n_rows,)
            Scores: log-odds of the positive class, or those of rows within a query.
        """
        check_is_fitted(self)
        if X.shape[1] != self.n_features_in_:
            raise ValueError(
                f"X has {X.shape[1]} columns, the model was trained on "
                f"{self.n_features_in_}."
            )
        if X.shape[0] == 0:
            return np.empty(0)
        return np.asarray(predict(self, X, raw_score=True), dtype=np.float64)

    def contributions(self, X: Any) -> FloatArray:
        """Split scores into what each column contributes (SHAP values of the trees).

        Parameters
        ----------
        X : ndarray or sparse matrix of shape (n_rows, n_features)
            The features.

        Returns
        -------
        ndarray of shape (n_rows, n_features + 1)
            One column per feature, and the score that is expected without knowing any.
        """
        check_is_fitted(self)
        return contributions(self, X)

    n_features_in_: int
    model_text_: str
    n_jobs: int | None

    def _check_state(self) -> None:
        """Refuse a loaded state that LightGBM's parser must not see."""
        if hasattr(self, "model_text_"):
            check_model_text(self.model_text_, self.n_features_in_)
            n_threads(self.n_jobs, n_rows=1)
