"""Regression on a bent line per column: an additive model that can be read."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.utils.validation import check_is_fitted

from aucmax._core import saved_state as saved
from aucmax._core.features import check_two_labels
from aucmax._core.validation import FloatArray
from aucmax.binary_ranker import BinaryRanker, SurvivalRanker
from aucmax.exceptions import IncompatibleError, ModelFileError
from aucmax.linear.auc_svc import AUCSVC

# Rows whose ramps are computed at a time.
_ROWS_AT_A_TIME = 20_000


class AdditiveLogistic(BinaryRanker):
    r"""A sum of one curve per column, linear between quantiles of the column.

    .. math:: f(x) = \sum_k \left( a_k x_k + \sum_j c_{kj} r_{kj}(x_k) \right)

    The ramp :math:`r_{kj}` rises from 0 to 1 between two neighbouring quantiles: with
    equal weights the ramps are the rank of the row in the column. `weights_` has the
    weight of each column's value, then those of its ramps: 0 in a column that has fewer
    than two, which would repeat the value.
    """

    _saved_state = saved.fields(
        n_features_in_=saved.count,
        weights_=saved.array("f", "n_features_in_", None),
        knots_=saved.array("f", None, None),
    )

    def __init__(self, n_ramps: int = 10, C: float = 0.2) -> None:
        self.n_ramps = n_ramps
        self.C = C

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn the curves; features are to be on one scale.

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
        knots = np.zeros((X.shape[1], self.n_ramps + 1))
        filled = np.arange(X.shape[1])
        if hasattr(X, "nnz"):
            # of the others no quantile but the ends differs from zero
            n_filled = np.bincount(X.indices, minlength=X.shape[1])
            filled = np.flatnonzero(n_filled * self.n_ramps > labels.size)
        steps = np.linspace(0.0, 1.0, self.n_ramps + 1)
        knots[filled] = np.quantile(_dense(X[:, filled]), steps, axis=0).T
        coef = self._weigh(_values_and_ramps(X, knots), labels, weight)
        weights = np.zeros(knots.shape)
        weights[:, 0], ramps = np.split(coef, [X.shape[1]])
        weights[is_bent(knots), 1:] = ramps.reshape(-1, self.n_ramps)
        # all at once: an interrupted fit leaves the model as it was
        self.__dict__.update(
            self._target_attributes(classes),
            n_features_in_=X.shape[1],
            knots_=knots,
            weights_=weights,
        )
        return self

    def _weigh(
        self, basis: Any, labels: NDArray[Any], weight: FloatArray | None
    ) -> FloatArray:
        """Return the weights of the values and ramps."""
        logistic = LogisticRegression(C=self.C, max_iter=200, tol=1e-3)
        return np.asarray(logistic.fit(basis, labels, weight).coef_[0])

    def decision_function(self, X: Any) -> FloatArray:
        """Score rows by the sum of their curves.

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
        ramps = self.weights_[is_bent(self.knots_), 1:]
        weights = np.concatenate([self.weights_[:, 0], ramps.ravel()])
        for start in range(0, scores.size, _ROWS_AT_A_TIME):
            rows = slice(start, start + _ROWS_AT_A_TIME)
            basis = _values_and_ramps(X[rows], self.knots_)
            scores[rows] = basis @ weights
        return scores

    def _check_state(self) -> None:
        """Reject a loaded state that no fit could have left."""
        if not hasattr(self, "weights_"):
            return
        if self.weights_.shape != self.knots_.shape:
            raise ModelFileError("knots and weights differ in number")
        if (np.diff(self.knots_) < 0.0).any():
            raise ModelFileError("the knots of a column do not rise")


class AdditiveCox(AdditiveLogistic, SurvivalRanker):
    """The same sum of curves for censored times, by Cox's partial likelihood.

    `C` is the weight of the likelihood per event and row.
    """

    def __init__(self, n_ramps: int = 5, C: float = 0.03) -> None:
        super().__init__(n_ramps, C)

    def _weigh(
        self, basis: Any, labels: NDArray[Any], weight: FloatArray | None
    ) -> FloatArray:
        if labels.dtype.names is None:
            raise IncompatibleError(
                "AdditiveCox learns events and times, but y has labels."
            )
        model = AUCSVC(self.C * labels.size, loss="cox")
        return np.asarray(model.fit(basis, labels, weight).coef_[0])


def is_bent(knots: FloatArray) -> Any:
    """Whether each column has several ramps: a quantile that repeats leaves none."""
    return np.count_nonzero(np.diff(knots, axis=1), axis=1) > 1


def _values_and_ramps(X: Any, knots: FloatArray) -> Any:
    """Return the values of all columns, then the ramps of those that have several."""
    bent = is_bent(knots)
    lower, widths = knots[bent, :-1], np.diff(knots[bent], axis=1)
    widths[widths == 0.0] = np.inf
    ramps = (_dense(X[:, bent])[:, :, None] - lower) / widths
    ramps = np.clip(ramps, 0.0, 1.0, out=ramps).reshape(X.shape[0], -1)
    if sparse.issparse(X):
        both: Any = [X, sparse.csr_array(ramps)]
        return sparse.csr_array(sparse.hstack(both))
    return np.hstack([X, ramps])


def _dense(X: Any) -> Any:
    return np.asarray(X.toarray() if hasattr(X, "toarray") else X)
