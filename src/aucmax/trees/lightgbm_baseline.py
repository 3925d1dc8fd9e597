"""Gradient-boosted trees as a yardstick: LightGBM with its binary objective."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from aucmax.trees.booster import booster_of, check_model_text, readable_by_lightgbm

__all__ = ["LightGBMBaseline"]


class LightGBMBaseline(ClassifierMixin, BaseEstimator):
    """LightGBM's trees with the log loss, as a baseline to beat.

    Gaps and categories are used as they are, without imputation or one-hot columns.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    learning_rate : float, default=0.1
        Step of each tree.
    num_leaves : int, default=31
        Leaves of a tree, at most.
    min_child_samples : int, default=20
        Rows in a leaf, at least.
    categorical_features : sequence of int, default=()
        Columns that hold category codes 0, 1, 2, ...
    n_jobs : int, default=1
        Threads; 0 leaves it to LightGBM. One thread makes the seconds of a comparison
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
        learning_rate: float = 0.1,
        num_leaves: int = 31,
        min_child_samples: int = 20,
        categorical_features: Sequence[int] = (),
        n_jobs: int = 1,
        random_state: int = 0,
    ) -> None:
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.num_leaves = num_leaves
        self.min_child_samples = min_child_samples
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> "LightGBMBaseline":
        """Grow the trees.

        Parameters
        ----------
        X : ndarray or csr_array of shape (rows, columns)
            NaN marks gaps.
        y : array-like of shape (rows,)
            Two labels; the larger is positive.

        Returns
        -------
        self : LightGBMBaseline
        """
        import lightgbm

        self.classes_, labels = np.unique(np.asarray(y), return_inverse=True)
        if self.classes_.size != 2:
            raise ValueError(f"y must have two labels, got {self.classes_.size}.")
        parameters = {
            "objective": "binary",
            "learning_rate": self.learning_rate,
            "num_leaves": self.num_leaves,
            "min_data_in_leaf": self.min_child_samples,
            "num_threads": self.n_jobs,
            "seed": self.random_state,
            "deterministic": True,
            "force_row_wise": True,
            "verbosity": -1,
        }
        rows = lightgbm.Dataset(
            readable_by_lightgbm(X),
            labels,
            categorical_feature=list(self.categorical_features),
            params=parameters,
            free_raw_data=True,
        )
        booster = lightgbm.train(parameters, rows, num_boost_round=self.n_estimators)
        self.n_features_in_ = int(X.shape[1])
        self.model_text_: str = booster.model_to_string()
        return self

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Log-odds of the positive class.

        Parameters
        ----------
        X : ndarray or csr_array of shape (rows, columns)

        Returns
        -------
        scores : ndarray of shape (rows,)
        """
        check_is_fitted(self)
        if X.shape[1] != self.n_features_in_:
            raise ValueError(
                f"X has {X.shape[1]} columns, the model was trained on "
                f"{self.n_features_in_}."
            )
        if X.shape[0] == 0:
            return np.empty(0)
        scores = booster_of(self).predict(
            readable_by_lightgbm(X), raw_score=True, num_threads=self.n_jobs
        )
        return np.asarray(scores, dtype=np.float64)

    def predict(self, X: Any) -> NDArray[Any]:
        """Give the likelier class of each row.

        Parameters
        ----------
        X : ndarray or csr_array of shape (rows, columns)

        Returns
        -------
        labels : ndarray of shape (rows,)
        """
        scores = self.decision_function(X)
        return np.asarray(self.classes_[(scores > 0).astype(np.intp)])

    def _check_state(self) -> None:
        """Refuse a loaded state that LightGBM's parser must not see."""
        if hasattr(self, "model_text_"):
            check_model_text(self.model_text_, self.n_features_in_)
