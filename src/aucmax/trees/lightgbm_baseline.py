"""Gradient-boosted trees as a yardstick: LightGBM with its binary objective."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

from numpy.typing import ArrayLike

from aucmax._core.docstrings import documented
from aucmax._core.features import check_two_labels
from aucmax.base import BinaryRanker
from aucmax.trees._baseline import LightGBMTrees
from aucmax.trees.booster import REPEATABLE, n_threads, new_dataset

__all__ = ["LightGBMBaseline"]


@documented
class LightGBMBaseline(LightGBMTrees, BinaryRanker):
    """LightGBM's trees with the log loss: by its own defaults, a baseline to beat.

    Gaps and categories are used as they are, without imputation or one-hot columns.

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
        Further parameters of LightGBM, by its own names; ``{"boosting": "rf"}`` with a
        bagging fraction is a forest.
    callback : callable, default=None
        Called with the number of trees after each; what it raises ends the fit. Not
        stored by :func:`aucmax.save`.

    Attributes
    ----------
    model_text_ : str
        The trees in LightGBM's text format.
    """

    _unsaved_params = ("callback",)

    def __init__(
        self,
        n_estimators: int = 100,
        categorical_features: Sequence[int] = (),
        n_jobs: int | None = None,
        random_state: int = 0,
        params: Mapping[str, Any] | None = None,
        callback: Callable[[int], object] | None = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.params = params
        self.callback = callback

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Grow the trees.

        Parameters
        ----------
        X : ndarray or sparse matrix of shape (n_rows, n_features)
            The features; NaN marks gaps.
        """
        import lightgbm

        classes, labels, weight = check_two_labels(self, y, sample_weight, X.shape[0])
        parameters = {
            "objective": "binary",
            "num_threads": n_threads(self.n_jobs, X.shape[0]),
            "seed": self.random_state,
            **REPEATABLE,
            **(self.params or {}),
        }
        rows = new_dataset(parameters, X, labels, self.categorical_features)
        rows.set_weight(weight)
        booster = lightgbm.train(
            parameters, rows, num_boost_round=self.n_estimators, callbacks=[self._tell]
        )
        self.classes_ = classes
        self.n_features_in_ = int(X.shape[1])
        self.model_text_ = booster.model_to_string()
        return self

    def _tell(self, environment: Any) -> None:
        """Pass on LightGBM's news of a tree."""
        if self.callback is not None:
            self.callback(environment.iteration + 1)
