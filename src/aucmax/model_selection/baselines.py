"""LightGBM and XGBoost with their own objectives: baselines, and forests."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from aucmax._core import saved_state as saved
from aucmax._core.features import (
    check_relevance_levels,
    check_row_count,
    check_two_labels,
)
from aucmax._core.threads import import_package
from aucmax._core.validation import (
    FloatArray,
    IntArray,
    check_qid,
    check_sample_weight,
    warn_of_one_query,
)
from aucmax.binary_ranker import BinaryRanker
from aucmax.exceptions import IncompatibleError
from aucmax.persistence.booster_text import check_model_text
from aucmax.trees.booster import (
    REPEATABLE,
    contributions,
    n_threads,
    new_dataset,
    predict,
)
from aucmax.trees.from_xgboost import lightgbm_text

# LightGBM rejects more rows in one query
_MAX_QUERY = 10_000
_MAX_LEVEL = 31  # of XGBoost; LightGBM has 30 unless it gets the gains


def check_fitted_columns(estimator: Any, X: Any) -> None:
    """Reject rows with more or fewer columns than those of the fit."""
    check_is_fitted(estimator)
    if X.shape[1] != estimator.n_features_in_:
        raise ValueError(
            f"X has {X.shape[1]} columns, the model was trained on "
            f"{estimator.n_features_in_}."
        )


@dataclass(eq=False, repr=False)
class LightGBMTrees(BaseEstimator):
    """Trees in LightGBM's text, `model_text_`, for `n_features_in_` columns.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    categorical_features : sequence of int, default=()
        Columns that hold category codes 0, 1, 2, ...
    n_jobs : int, default=None
        Threads, as for :class:`~aucmax.LambdaMART`.
    random_state : int, default=0
        Seed.
    params : dict, default=None
        Further parameters of the library, by its own names.
    callback : callable, default=None
        Called with the number of trees after each; an exception ends the fit. Not
        stored by :func:`aucmax.save`.
    """

    n_estimators: int = 100
    categorical_features: Sequence[int] = ()
    n_jobs: int | None = None
    random_state: int = 0
    params: Mapping[str, Any] | None = None
    callback: Callable[[int], object] | None = None

    _unsaved_params = ("callback",)
    _saved_state = saved.fields(**saved.COLUMNS, model_text_=saved.instance_of(str))

    def decision_function(self, X: Any) -> FloatArray:
        """Return scores; higher ranks first.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features)
            The features.

        Returns
        -------
        ndarray
        """
        check_fitted_columns(self, X)
        if X.shape[0] == 0:
            return np.empty(0)
        return np.asarray(predict(self, X, raw_score=True), dtype=np.float64)

    def contributions(self, X: object) -> FloatArray:
        """Split scores into contributions of columns (SHAP values of the trees).

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features)
            The features.

        Returns
        -------
        ndarray
        """
        check_is_fitted(self)
        return contributions(self, X)

    def _grow(
        self,
        parameters: Mapping[str, object],
        X: Any,
        labels: ArrayLike,
        weight: FloatArray | None,
        group: ArrayLike | None = None,
    ) -> None:
        """Train a booster, and store its text."""
        lightgbm = import_package("lightgbm", "a model of trees")

        parameters = {
            "num_threads": n_threads(self.n_jobs, X.shape[0]),
            "seed": self.random_state,
            **REPEATABLE,
            **parameters,
            **(self.params or {}),
        }
        rows = new_dataset(parameters, X, labels, self.categorical_features)
        rows.set_weight(weight)
        rows.set_group(group)
        callback = self.callback
        report = [] if callback is None else [lambda r: callback(r.iteration + 1)]
        booster = lightgbm.train(parameters, rows, self.n_estimators, callbacks=report)
        self.n_features_in_ = int(X.shape[1])
        self.model_text_ = booster.model_to_string()

    def _check_state(self) -> None:
        """Reject a loaded state that LightGBM's parser must not read."""
        if hasattr(self, "model_text_"):
            check_model_text(self.model_text_, self.n_features_in_)
            n_threads(self.n_jobs, n_rows=1)


class LightGBMBaseline(LightGBMTrees, BinaryRanker):
    """LightGBM's trees with the log loss and its own defaults, a baseline.

    Missing values and categories need no imputation and no one-hot columns.
    ``params={"boosting": "rf"}`` with a bagging fraction is a forest.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    categorical_features : sequence of int, default=()
        Columns that hold category codes 0, 1, 2, ...
    n_jobs : int, default=None
        Threads, as for :class:`~aucmax.LambdaMART`.
    random_state : int, default=0
        Seed.
    params : dict, default=None
        Further parameters of the library, by its own names.
    callback : callable, default=None
        Called with the number of trees after each; an exception ends the fit. Not
        stored by :func:`aucmax.save`.

    Attributes
    ----------
    model_text_ : str
        The trees in LightGBM's text format.
    classes_ : ndarray of shape (2,)
        The labels; the second is the positive class.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if the training data had names that are all strings.
    """

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Grow the trees.

        Parameters
        ----------
        X : ndarray or sparse matrix of shape (n_rows, n_features)
            The features; NaN is a missing value.
        y : array-like of shape (n_rows,)
            Two distinct labels; the second in sorted order is the positive class.
        sample_weight : array-like of shape (n_rows,), default=None
            Nonnegative row weights; the weight of a pair is the product of its rows'.

        Returns
        -------
        self : object
            The fitted model.
        """
        classes, labels, weight = check_two_labels(self, y, sample_weight, X.shape[0])
        self._grow({"objective": "binary"}, X, labels, weight)
        self.classes_ = classes
        return self


class LambdaRankBaseline(LightGBMTrees):
    """LightGBM's lambdarank with its own defaults, a baseline.

    It learns the order of rows within queries, by levels of relevance, for the NDCG.
    Without `qid` all rows are one query. ``params={"objective": "rank_xendcg"}`` is its
    other loss of queries, and ``"regression"`` predicts the level of each row.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    categorical_features : sequence of int, default=()
        Columns that hold category codes 0, 1, 2, ...
    n_jobs : int, default=None
        Threads, as for :class:`~aucmax.LambdaMART`.
    random_state : int, default=0
        Seed.
    params : dict, default=None
        Further parameters of the library, by its own names.
    callback : callable, default=None
        Called with the number of trees after each; an exception ends the fit. Not
        stored by :func:`aucmax.save`.

    Attributes
    ----------
    model_text_ : str
        The trees in LightGBM's text format.
    """

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        qid: ArrayLike | None = None,
    ) -> Self:
        """Grow the trees.

        Parameters
        ----------
        X : ndarray or sparse matrix of shape (n_rows, n_features)
            The features; NaN is a missing value.
        y : array-like of shape (n_rows,)
            Levels of relevance: whole numbers, 0 or above, at most 31.
        sample_weight : array-like of shape (n_rows,), default=None
            Nonnegative row weights; the weight of a pair is the product of its rows'.
        qid : array-like of shape (n_rows,), default=None
            The query of each row; the value is then a mean over queries.

        Returns
        -------
        self : object
            The fitted model.
        """
        levels = check_relevance_levels(self, y)
        check_row_count(levels, X.shape[0])
        weight = check_sample_weight(sample_weight, levels.size)
        warn_of_one_query(qid, levels.size, type(self).__name__)
        queries = np.zeros(levels.size, dtype=np.intp)
        if qid is not None:
            queries = check_qid(qid, levels.size).codes
        if levels.max() > _MAX_LEVEL:
            raise IncompatibleError(
                f"y has the level {levels.max()}, but LightGBM and XGBoost rank levels "
                f"up to {_MAX_LEVEL}, with gains 2**level - 1. Merge levels, or use "
                "LambdaMART."
            )
        order = np.argsort(queries, kind="stable")
        weight = None if weight is None else weight[order]
        self._grow_by_query(X[order], levels[order], weight, np.bincount(queries))
        return self

    def _grow_by_query(
        self, X: object, levels: IntArray, weight: FloatArray | None, sizes: IntArray
    ) -> None:
        if sizes.max() > _MAX_QUERY:
            raise ValueError(
                f"a query has {sizes.max()} rows, but LightGBM's lambdarank takes at "
                f"most {_MAX_QUERY}. Use smaller queries, or LambdaMART."
            )
        gains = (2.0 ** np.arange(_MAX_LEVEL + 1) - 1.0).tolist()
        parameters = {"objective": "lambdarank", "label_gain": gains}
        self._grow(parameters, X, levels, weight, sizes)


class XGBoostRanker(LambdaRankBaseline):
    """XGBoost's trees for the NDCG (``rank:ndcg``), if it is installed.

    It learns the order of rows within queries, by levels of relevance; a query has the
    mean weight of its rows. Category codes are read as numbers, and 0 in a sparse
    matrix is a missing value. The trees are stored in LightGBM's format.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    categorical_features : sequence of int, default=()
        Columns that hold category codes 0, 1, 2, ...
    n_jobs : int, default=None
        Threads, as for :class:`~aucmax.LambdaMART`.
    random_state : int, default=0
        Seed.
    params : dict, default=None
        Further parameters of the library, by its own names.
    callback : callable, default=None
        Called with the number of trees after each; an exception ends the fit. Not
        stored by :func:`aucmax.save`.

    Attributes
    ----------
    model_text_ : str
        The trees in LightGBM's text format.
    """

    def _grow_by_query(
        self, X: Any, levels: IntArray, weight: FloatArray | None, sizes: IntArray
    ) -> None:
        import xgboost

        is_sparse = sparse.issparse(X)
        if is_sparse:
            X.eliminate_zeros()  # XGBoost distinguishes them from absent values
        rows = xgboost.DMatrix(X, levels)
        rows.set_group(sizes)
        if weight is not None:
            starts = np.cumsum(sizes) - sizes
            rows.set_weight(np.add.reduceat(weight, starts) / sizes)
        parameters = {
            "objective": "rank:ndcg",
            "base_score": 0.0,
            "seed": self.random_state,
            "nthread": n_threads(self.n_jobs, X.shape[0]),
            **(self.params or {}),
        }
        booster = xgboost.Booster(parameters, [rows])
        for number in range(self.n_estimators):
            booster.update(rows, number)
            if self.callback is not None:
                self.callback(number + 1)
        self.n_features_in_ = int(X.shape[1])
        self.model_text_ = lightgbm_text(booster, X.shape[0], zero_is_missing=is_sparse)
