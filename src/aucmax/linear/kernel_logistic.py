"""Logistic regression on a Gaussian kernel, with some of the rows as landmarks."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.utils.validation import check_is_fitted

from aucmax._core import saved_state as saved
from aucmax._core.features import check_two_labels
from aucmax._core.validation import FloatArray
from aucmax.binary_ranker import BinaryRanker

# Rows whose kernel is computed at a time.
_ROWS_AT_A_TIME = 20_000


class KernelLogistic(BinaryRanker):
    r"""A smooth ranking: :math:`f(x) = \sum_k a_k \exp(-\gamma |x - x_k|^2)`.

    The landmarks :math:`x_k` are drawn from the training rows, and logistic regression
    on their Nystroem features gives the weights. `width` is gamma times the variance of
    all columns together.
    """

    _saved_state = saved.fields(
        n_features_in_=saved.count,
        weights_=saved.array("f", None),
        landmarks_=saved.array("f", "weights_", "n_features_in_", may_be_sparse=True),
        gamma_=saved.between(0, np.inf),
    )

    def __init__(
        self,
        n_landmarks: int = 400,
        width: float = 0.7,
        C: float = 100.0,
        random_state: int = 0,
    ) -> None:
        self.n_landmarks = n_landmarks
        self.width = width
        self.C = C
        self.random_state = random_state

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Draw landmarks and learn their weights; features are to be on one scale.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features)
            The features.
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
        gamma = self.width / max(_total_variance(X), np.finfo(float).tiny)
        nystroem = Nystroem(
            gamma=gamma,
            n_components=min(self.n_landmarks, X.shape[0]),
            random_state=self.random_state,
        )
        features = nystroem.fit_transform(X)
        # logistic regression penalises no constant, so centred features fit faster
        features -= features.mean(axis=0)
        logistic = LogisticRegression(C=self.C, max_iter=200, tol=1e-3)
        logistic.fit(features, labels, weight)
        landmarks: Any = nystroem.components_
        is_dense = isinstance(landmarks, np.ndarray)
        # all at once: an interrupted fit leaves the model as it was
        self.__dict__.update(
            classes_=classes,
            n_features_in_=X.shape[1],
            gamma_=float(gamma),
            landmarks_=landmarks if is_dense else sparse.csr_array(landmarks),
            weights_=nystroem.normalization_.T @ logistic.coef_[0],
        )
        return self

    def decision_function(self, X: Any) -> FloatArray:
        """Score rows by their distances to the landmarks.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features)
            The features.

        Returns
        -------
        ndarray of shape (n_rows,)
            Scores, positive where `predict` gives the positive class.
        """
        check_is_fitted(self)
        scores = np.empty(X.shape[0])
        for start in range(0, scores.size, _ROWS_AT_A_TIME):
            rows = slice(start, start + _ROWS_AT_A_TIME)
            kernel = rbf_kernel(X[rows], self.landmarks_, gamma=self.gamma_)
            scores[rows] = kernel @ self.weights_
        return scores


def _total_variance(X: Any) -> float:
    if not sparse.issparse(X):
        return float(X.var(axis=0).sum())
    matrix: Any = X
    means = np.asarray(matrix.mean(axis=0)).ravel()
    return float(matrix.multiply(matrix).sum() / matrix.shape[0] - means @ means)
