"""Logistic regression on a bent line per column: an additive model that can be read."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.linear_model import LogisticRegression
from sklearn.utils.validation import check_is_fitted

from aucmax._features import check_two_labels
from aucmax._validation import FloatArray
from aucmax.base import BinaryRanker
from aucmax.exceptions import ModelFileError

__all__ = ["AdditiveLogistic"]

# Rows whose ramps are computed at a time.
_ROWS_AT_A_TIME = 20_000


class AdditiveLogistic(BinaryRanker):
    r"""A sum of one curve per column, linear between quantiles of the column.

    .. math:: f(x) = \sum_k \left( a_k x_k + \sum_j c_{kj} r_{kj}(x_k) \right)

    The ramp :math:`r_{kj}` rises from 0 to 1 between two neighbouring quantiles: with
    equal weights the ramps are the rank of the row in the column.

    Parameters
    ----------
    n_ramps : int, default=10
        Ramps per column.
    C : float, default=0.2
        Weight of the loss.

    Attributes
    ----------
    knots_ : ndarray of shape (n_features, n_ramps + 1)
        Quantiles of each column.
    weights_ : ndarray of shape (n_features, n_ramps + 1)
        Of each column's value, and of its ramps.
    classes_ : ndarray of shape (2,)
        Negative and positive label.
    """

    def __init__(self, n_ramps: int = 10, C: float = 0.2) -> None:
        self.n_ramps = n_ramps
        self.C = C

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn the curves.

        Parameters
        ----------
        X : ndarray of shape (n_rows, n_features)
            Features on one scale.
        y : array-like of shape (n_rows,)
            Two distinct labels.
        sample_weight : array-like of shape (n_rows,), default=None
            Row weights.

        Returns
        -------
        self : AdditiveLogistic
            The fitted model.
        """
        classes, labels, weight = check_two_labels(self, y, sample_weight, X.shape[0])
        knots = np.quantile(X, np.linspace(0.0, 1.0, self.n_ramps + 1), axis=0).T
        logistic = LogisticRegression(C=self.C, max_iter=200, tol=1e-3)
        logistic.fit(_values_and_ramps(X, knots), labels, weight)
        self.classes_ = classes
        self.knots_ = knots
        self.weights_ = logistic.coef_[0].reshape(knots.shape)
        return self

    def decision_function(self, X: Any) -> FloatArray:
        """Score rows by the sum of their curves.

        Parameters
        ----------
        X : ndarray of shape (n_rows, n_features)
            The features.

        Returns
        -------
        ndarray of shape (n_rows,)
            Scores.
        """
        check_is_fitted(self)
        scores = np.empty(X.shape[0])
        for start in range(0, scores.size, _ROWS_AT_A_TIME):
            rows = slice(start, start + _ROWS_AT_A_TIME)
            basis = _values_and_ramps(X[rows], self.knots_)
            scores[rows] = basis @ self.weights_.ravel()
        return scores

    def _check_state(self) -> None:
        """Refuse a loaded state that no fit could have left."""
        if hasattr(self, "weights_") and (
            self.weights_.ndim != 2 or self.weights_.shape != self.knots_.shape
        ):
            raise ModelFileError("knots and weights differ in number")


def _values_and_ramps(X: Any, knots: FloatArray) -> FloatArray:
    """Return each column's value and its ramps, column by column."""
    widths = np.diff(knots, axis=1)
    # a quantile that is several at once has no ramp between them
    widths[widths == 0.0] = np.inf
    basis = np.empty((X.shape[0], *knots.shape))
    basis[:, :, 0] = X
    np.subtract(X[:, :, None], knots[None, :, :-1], out=basis[:, :, 1:])
    basis[:, :, 1:] /= widths
    np.clip(basis[:, :, 1:], 0.0, 1.0, out=basis[:, :, 1:])
    return basis.reshape(X.shape[0], -1)
