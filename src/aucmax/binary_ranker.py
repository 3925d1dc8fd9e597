"""Base classes of rankers: how they predict and are scored."""

from abc import abstractmethod
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from aucmax._core import saved_state as saved
from aucmax._core.dask_dispatch import map_over_partitions
from aucmax._core.validation import FloatArray, labels_among
from aucmax.exceptions import ModelFileError
from aucmax.metrics import partial_auc_score
from aucmax.metrics.concordance import target_concordance


class BinaryRanker(ClassifierMixin, BaseEstimator):
    """A model that ranks rows of two classes.

    The second of the two labels in sorted order is the positive class.
    `decision_function` ranks, and its zero is the threshold of `predict`.
    """

    _saved_state = saved.fields(
        classes_=saved.array(saved.LABEL_KINDS, 2),
        **saved.COLUMNS,
    )

    classes_: NDArray[Any]
    n_features_in_: int
    feature_names_in_: NDArray[Any]

    @abstractmethod
    def decision_function(self, X: Any) -> FloatArray:
        """Score rows: the higher, the more likely positive.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features)
            The features.

        Returns
        -------
        ndarray of shape (n_rows,)
            Scores, positive where `predict` gives the positive class.
        """

    @map_over_partitions
    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the positive class where the score is above the threshold.

        The threshold is 0, or `alert_threshold_` if a model has stored one.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features)
            The features.

        Returns
        -------
        ndarray of shape (n_rows,)
            Labels.
        """
        cut = getattr(self, "alert_threshold_", None) or 0.0
        is_positive = self.decision_function(X) > cut
        return np.asarray(self.classes_[is_positive.astype(np.intp)])

    def score(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        qid: ArrayLike | None = None,
    ) -> float:
        """Return the AUC, or the partial AUC that the model maximises.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features)
            The features.
        y : array-like of shape (n_rows,)
            Two distinct labels; the second in sorted order is the positive class.
        sample_weight : array-like of shape (n_rows,), default=None
            Nonnegative row weights; the weight of a pair is the product of its rows'.
        qid : array-like of shape (n_rows,), default=None
            The query of each row; the value is then a mean over queries.

        Returns
        -------
        float
            Mean true positive rate over the false positive rates; 1 is perfect.
        """
        check_is_fitted(self)
        labels = labels_among(self.classes_, y, "y")
        scores = self.decision_function(X)
        return self._metric()(labels, scores, sample_weight=sample_weight, qid=qid)

    def _metric(self) -> Callable[..., float]:
        """Return the metric of labels and scores that `score` returns."""
        return partial(partial_auc_score, **self._part_of_the_curve())

    def _part_of_the_curve(self) -> dict[str, Any]:
        """Return the ranges of the ROC curve that count, if not the whole curve."""
        return {}

    def _target_attributes(self, classes: NDArray[Any] | None) -> dict[str, Any]:
        """Return the fitted attribute of two classes, or of censored times."""
        return {"is_survival_": True} if classes is None else {"classes_": classes}

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.sparse = True
        return tags


def _has_classes(estimator: Any) -> bool:
    if getattr(estimator, "is_survival_", False):
        raise AttributeError(
            "the model was fitted to censored times and does not predict classes; use "
            "decision_function."
        )
    return True


class SurvivalRanker(BinaryRanker):
    """A model that ranks rows of two classes, or rows by their risk of an event.

    Fitted to censored times, a higher score means an earlier event, there are no
    classes to predict, and `score` is Harrell's C.
    """

    _learns_times = True
    _saved_state = saved.fields(
        **saved.optional(
            classes_=saved.array(saved.LABEL_KINDS, 2),
            is_survival_=saved.instance_of(bool),
        )
    )

    is_survival_: bool

    predict = available_if(_has_classes)(BinaryRanker.predict)

    def score(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        qid: ArrayLike | None = None,
    ) -> float:
        """Return the AUC, or the part of it that counts; of censored times, the C.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features)
            The features.
        y : array-like of shape (n_rows,)
            Two distinct labels; the second in sorted order is the positive class.
        sample_weight : array-like of shape (n_rows,), default=None
            Nonnegative row weights; the weight of a pair is the product of its rows'.
        qid : array-like of shape (n_rows,), default=None
            The query of each row; the value is then a mean over queries.

        Returns
        -------
        float
            Mean true positive rate over the false positive rates, or Harrell's C; 1 is
            perfect.
        """
        check_is_fitted(self)
        if not getattr(self, "is_survival_", False):
            return super().score(X, y, sample_weight, qid=qid)
        scores = self.decision_function(X)
        return target_concordance(y, scores, sample_weight=sample_weight, qid=qid)

    def _check_state(self) -> None:
        """Reject a loaded state that no fit could have left."""
        state = vars(self)
        if "coef_" not in state:
            return
        if "classes_" not in state and "is_survival_" not in state:
            raise ModelFileError("the model has no attribute 'classes_'")
        if "classes_" in state and "is_survival_" in state:
            raise ModelFileError("the model has both 'classes_' and 'is_survival_'")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        if getattr(self, "is_survival_", False):
            tags.estimator_type = None
            tags.classifier_tags = None
        return tags
