"""Gradient-boosted trees as a yardstick: LightGBM with its binary objective."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from aucmax._validation import FloatArray, check_binary_labels
from aucmax.base import BinaryRanker
from aucmax.trees.booster import (
    REPEATABLE,
    check_model_text,
    n_threads,
    new_dataset,
    predict,
)

__all__ = ["LightGBMBaseline"]


class LightGBMBaseline(BinaryRanker):
    """LightGBM's trees with the log loss and its own defaults, as a baseline to beat.

    Gaps and categories are used as they are, without imputation or one-hot columns.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    categorical_features : sequence of int, default=()
        Columns that hold category codes 0, 1, 2, ...
    n_jobs : int, default=1
        Threads; 0 or -1 takes all cores. One thread makes the seconds of a comparison
        fair, and more of them stall when other programs use the cores.
    random_state : int, default=0
        Seed.

    Attributes
    ----------
    model_text_ : str
        The trees in LightGBM's text format.
    classes_ : ndarray of shape (2,)
        Negative and positive label.
    n_features_in_ : int
        Number of columns at training.
    """

    def __init__(
        self,
        n_estimators: int = 100,
        categorical_features: Sequence[int] = (),
        n_jobs: int = 1,
        random_state: int = 0,
    ) -> None:
        self.n_estimators = n_estimators
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: ArrayLike) -> Self:
        """Grow the trees.

        Parameters
        ----------
        X : ndarray or sparse matrix of shape (n_rows, n_features)
            The features; NaN marks gaps.
        y : array-like of shape (n_rows,)
            Two distinct labels; the second of them in sorted order is the positive
            class.

        Returns
        -------
        self : LightGBMBaseline
            The fitted model.
        """
        import lightgbm

        classes, labels = check_binary_labels(y, "y")
        parameters = {
            "objective": "binary",
            "num_threads": n_threads(self.n_jobs),
            "seed": self.random_state,
            **REPEATABLE,
        }
        rows = new_dataset(parameters, X, labels, self.categorical_features)
        booster = lightgbm.train(parameters, rows, num_boost_round=self.n_estimators)
        self.classes_ = classes
        self.n_features_in_ = int(X.shape[1])
        self.model_text_: str = booster.model_to_string()
        return self

    def decision_function(self, X: Any) -> FloatArray:
        """Log-odds of the positive class.

        Parameters
        ----------
        X : ndarray or sparse matrix of shape (n_rows, n_features)
            The features.

        Returns
        -------
        ndarray of shape (n_rows,)
            Scores.
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

    def _check_state(self) -> None:
        """Refuse a loaded state that LightGBM's parser must not see."""
        if hasattr(self, "model_text_"):
            check_model_text(self.model_text_, self.n_features_in_)
            n_threads(self.n_jobs)
