"""A linear machine that maximises the area under the ROC curve."""

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from aucmax._features import (
    check_features,
    check_training_data,
    explain_non_finite,
)
from aucmax._threshold import balanced_threshold
from aucmax._validation import FloatArray
from aucmax.linear.objective import LinearObjective
from aucmax.regularizers import L2
from aucmax.risks import PairHinge
from aucmax.solvers import (
    BundleSolver,
    Progress,
    SmoothedNewtonSolver,
    Solution,
    Start,
    StoppingRule,
)

__all__ = ["AUCSVC"]

_NEWTON_ITERATIONS = 100

SOLVERS: dict[str, Callable[[StoppingRule], BundleSolver | SmoothedNewtonSolver]] = {
    "bundle": BundleSolver,
    "newton": SmoothedNewtonSolver,
}


class AUCSVC(ClassifierMixin, BaseEstimator):
    r"""Linear support vector machine that maximises the area under the ROC curve.

    .. math:: \min_w \; \frac12 \|w\|^2 + C \, \frac{1}{W_+ W_-}
              \sum_{i \in P} \sum_{j \in N} v_i v_j \max(0, 1 - w^T (x_i - x_j))

    over all pairs of a positive and a negative row, with row weights :math:`v` and
    their class totals :math:`W_\pm`. The pairs are never formed: a pass over the data
    costs two products with it and one sort of the scores. The solution comes with a
    certificate: `dual_gap_` bounds how far `objective_` can be from the optimum.

    The second of the two labels in sorted order is the positive class. Scale the
    columns first (``StandardScaler``): the penalty treats all alike.

    Parameters
    ----------
    C : float, default=10.0
        Weight of the risk, which is a mean over pairs and so does not grow with the
        data. Larger values fit the training pairs more closely; 1 to 1000 is worth a
        search, which `fit_path` makes cheap.
    tol : float, default=1e-3
        The certified gap at which to stop, relative to the objective.
    max_iter : int, default=1000
        The most iterations; one pass over the data each.
    max_time : float, default=None
        The most seconds.
    solver : {"auto", "newton", "bundle"}, default="auto"
        "newton" needs few passes at any C but keeps an n_features x n_features matrix;
        "bundle" keeps one row of n_features numbers per iteration. "auto" takes
        "newton" for up to 1000 features if there are at least 10 rows a feature and
        `tol` is at least 1e-6, goes over to "bundle" if 100 iterations were not enough,
        and takes "bundle" for other shapes. Both certify the same gap.
    warm_start : bool, default=False
        Whether a further `fit` starts from the present `coef_`.
    callback : callable, default=None
        Called after each iteration with a :class:`~aucmax.solvers.Progress`; a true
        answer stops the fit. Not stored by :func:`aucmax.save`.
    verbose : int, default=0
        Whether to write one line an iteration to standard output.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels; the second is the positive class.
    coef_ : ndarray of shape (1, n_features)
        The weights.
    intercept_ : ndarray of shape (1,)
        Minus the threshold of the best balanced accuracy on the training rows (the
        point of the ROC curve farthest above the diagonal). It does not affect ranking.
    n_iter_ : int
        Iterations of the solver.
    n_passes_ : float
        Passes over the data: one product in each direction.
    objective_ : float
        The primal value reached.
    dual_gap_ : float
        `objective_` minus a certified lower bound of the optimum.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if the training data had names that are all strings.

    See Also
    --------
    aucmax.metrics.roc_auc_score : The area itself.
    sklearn.linear_model.LogisticRegression : Often as good when classes overlap evenly.

    Notes
    -----
    float32 data are used as they are, so products carry seven digits; the gap is then
    certified to about as many.

    References
    ----------
    .. [1] T. Joachims. A support vector method for multivariate performance
       measures. ICML 2005.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from aucmax import AUCSVC
    >>> from aucmax.metrics import roc_auc_score
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), AUCSVC()).fit(X[:300], y[:300])
    >>> round(roc_auc_score(y[300:], model.decision_function(X[300:])), 3)
    0.996
    """

    _unsaved_params = ("callback",)

    def __init__(
        self,
        C: float = 10.0,
        *,
        tol: float = 1e-3,
        max_iter: int = 1000,
        max_time: float | None = None,
        solver: str = "auto",
        warm_start: bool = False,
        callback: Callable[[Progress], object] | None = None,
        verbose: int = 0,
    ) -> None:
        self.C = C
        self.tol = tol
        self.max_iter = max_iter
        self.max_time = max_time
        self.solver = solver
        self.warm_start = warm_start
        self.callback = callback
        self.verbose = verbose

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features)
            The features. float32 and float64 arrays, memory maps, CSR and CSC matrices
            are read in place.
        y : array-like of shape (n_rows,)
            Two distinct labels.
        sample_weight : array-like of shape (n_rows,), default=None
            Row weights; a pair weighs the product of its rows'.

        Returns
        -------
        self : AUCSVC
            The fitted model.
        """
        self._check_parameters()
        X, classes, labels, weight = check_training_data(self, X, y, sample_weight)
        objective = LinearObjective(X, labels, PairHinge(), self.C, weight)
        start = None
        if self.warm_start and hasattr(self, "coef_"):
            self._check_width(self.coef_.shape[1])
            start = Start(objective.at(self.coef_[0]))
        self._solve(objective, classes, start)
        return self

    def fit_path(
        self,
        X: Any,
        y: ArrayLike,
        C_values: Sequence[float],
        sample_weight: ArrayLike | None = None,
    ) -> list["AUCSVC"]:
        """Fit one model for each C, every one starting from its neighbour's solution.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features)
            The features, checked once.
        y : array-like of shape (n_rows,)
            Two distinct labels.
        C_values : sequence of float
            The weights of the risk, in any order.
        sample_weight : array-like of shape (n_rows,), default=None
            Row weights.

        Returns
        -------
        list of AUCSVC
            Fitted clones of this estimator, in the order of `C_values`.
        """
        models = [clone(self).set_params(C=C) for C in C_values]
        for model in models:
            model._check_parameters()
        X, classes, labels, weight = check_training_data(self, X, y, sample_weight)
        start = None
        for model in sorted(models, key=lambda model: model.C):
            for name in ("n_features_in_", "feature_names_in_"):
                if hasattr(self, name):
                    setattr(model, name, getattr(self, name))
            objective = LinearObjective(X, labels, PairHinge(), model.C, weight)
            solution = model._solve(objective, classes, start)
            start = Start(solution.point, solution.cuts)
        return models

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
        check_is_fitted(self, "coef_")
        X = check_features(self, X, fitting=False)
        # in the data's precision, as in the fit
        weights = self.coef_[0].astype(X.dtype, copy=False)
        scores: FloatArray = np.asarray(X @ weights, dtype=np.float64)
        return scores + float(self.intercept_[0])

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the positive class where the score is above 0.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features)
            The features.

        Returns
        -------
        ndarray of shape (n_rows,)
            Labels.
        """
        scores = self.decision_function(X)
        return np.asarray(self.classes_[(scores > 0.0).astype(np.intp)])

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.sparse = True
        return tags

    def _check_state(self) -> None:
        """Refuse a loaded state that no fit could have left."""
        if not hasattr(self, "coef_"):
            return
        if (
            self.coef_.shape != (1, self.n_features_in_)
            or self.intercept_.shape != (1,)
            or self.classes_.shape != (2,)
        ):
            raise ValueError("coef_, intercept_ and classes_ do not fit together")

    def _check_parameters(self) -> None:
        for name in ("C", "tol", "max_iter"):
            value = getattr(self, name)
            if not isinstance(value, Real) or not 0.0 < float(value) < np.inf:
                raise ValueError(f"{name} must be positive and finite, got {value!r}.")
        if self.max_time is not None and not self.max_time >= 0.0:
            raise ValueError(
                f"max_time must be None or seconds, got {self.max_time!r}."
            )
        if self.solver != "auto" and self.solver not in SOLVERS:
            known = ", ".join(repr(name) for name in ("auto", *SOLVERS))
            raise ValueError(f"solver must be one of {known}, got {self.solver!r}.")

    def _check_width(self, n_features: int) -> None:
        if n_features != self.n_features_in_:
            raise ValueError(
                f"warm_start continues a fit on {n_features} features, but X has "
                f"{self.n_features_in_}. Set warm_start=False to start anew."
            )

    def _solve(
        self, objective: LinearObjective, classes: NDArray[Any], start: Start | None
    ) -> Solution:
        rule = StoppingRule(self.tol, self.max_iter, self.max_time, self._report)
        try:
            solution = self._minimize(objective, rule, start)
        except FloatingPointError:
            names = getattr(self, "feature_names_in_", None)
            raise ValueError(explain_non_finite(objective.X, names)) from None
        solution.warn_if_unfinished(rule)
        scores = solution.point.scores
        threshold = balanced_threshold(
            scores, objective.labels, objective.sample_weight
        )
        self.classes_ = classes
        self.coef_ = solution.point.parameters[None, :]
        self.intercept_ = np.array([-threshold])
        self.n_iter_ = solution.n_iter
        self.n_passes_ = objective.n_passes
        self.objective_ = solution.value
        self.dual_gap_ = solution.gap
        return solution

    def _minimize(
        self, objective: LinearObjective, rule: StoppingRule, start: Start | None
    ) -> Solution:
        if self.solver != "auto":
            return SOLVERS[self.solver](rule).minimize(objective, L2(), start)
        n_rows, n_features = objective.X.shape
        tall = n_features <= 1000 and n_rows >= 10 * n_features
        if tall and self.tol >= 1e-6:
            # where few pairs are left near the margin, cutting planes do better
            limit = min(_NEWTON_ITERATIONS, self.max_iter)
            solver = SmoothedNewtonSolver(replace(rule, max_iter=limit))
            solution = solver.minimize(objective, L2(), start)
            if solution.converged or solution.n_iter < limit or limit == self.max_iter:
                return solution
            start = Start(solution.point, solution.cuts, solution.history)
        return BundleSolver(rule).minimize(objective, L2(), start)

    def _report(self, progress: Progress) -> object:
        if self.verbose:
            sys.stdout.write(f"AUCSVC: {progress}\n")
        return self.callback is not None and self.callback(progress)
