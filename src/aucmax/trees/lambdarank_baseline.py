"""LightGBM's own ranker as a yardstick: its objective lambdarank, for the NDCG."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from aucmax._core.docstrings import documented
from aucmax._core.features import check_relevance_levels, check_row_count
from aucmax._core.validation import check_qid, check_sample_weight
from aucmax.trees._baseline import LightGBMTrees
from aucmax.trees.booster import REPEATABLE, n_threads, new_dataset

__all__ = ["LambdaRankBaseline"]

# LightGBM refuses more rows in one query
_LARGEST_QUERY = 10_000


@documented
class LambdaRankBaseline(LightGBMTrees, BaseEstimator):
    """LightGBM's lambdarank with its own defaults, as a baseline to beat.

    It learns the order of rows within queries, by levels of relevance, for the NDCG.
    Without queries all rows are one.

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

    Attributes
    ----------
    model_text_ : str
        The trees in LightGBM's text format.
    """

    def __init__(
        self,
        n_estimators: int = 100,
        categorical_features: Sequence[int] = (),
        n_jobs: int | None = None,
        random_state: int = 0,
    ) -> None:
        self.n_estimators = n_estimators
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.random_state = random_state

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
            The features; NaN marks gaps.
        y : array-like of shape (n_rows,)
            Levels of relevance: whole numbers, 0 or above, at most 30.
        """
        import lightgbm

        levels = check_relevance_levels(self, y)
        check_row_count(levels, X.shape[0])
        weights = check_sample_weight(sample_weight, levels.size)
        queries = np.zeros(levels.size, dtype=np.intp)
        if qid is not None:
            queries = check_qid(qid, levels.size).codes
        sizes = np.bincount(queries)
        if sizes.max() > _LARGEST_QUERY:
            raise ValueError(
                f"a query has {sizes.max()} rows, but LightGBM's lambdarank takes "
                f"{_LARGEST_QUERY} at most. Use smaller queries, or LambdaMART."
            )
        order = np.argsort(queries, kind="stable")
        parameters = {
            "objective": "lambdarank",
            "num_threads": n_threads(self.n_jobs, X.shape[0]),
            "seed": self.random_state,
            **REPEATABLE,
        }
        rows = new_dataset(
            parameters, X[order], levels[order], self.categorical_features
        )
        rows.set_group(sizes)
        rows.set_weight(None if weights is None else weights[order])
        booster = lightgbm.train(parameters, rows, num_boost_round=self.n_estimators)
        self.n_features_in_ = int(X.shape[1])
        self.model_text_ = booster.model_to_string()
        return self
