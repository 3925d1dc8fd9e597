"""A linear model that maximises the area under the ROC curve, or a part of it."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from aucmax._core import features, parameters
from aucmax._core import saved_state as saved
from aucmax._core.dask_dispatch import map_over_partitions
from aucmax._core.fitting import replace_state, reporter, unchanged_on_failure
from aucmax._core.row_matrix import linear_scores
from aucmax._core.validation import FloatArray, check_qid
from aucmax.binary_ranker import SurvivalRanker
from aucmax.exceptions import ConstantScoresWarning, IncompatibleError
from aucmax.linear.penalties import check_penalty, choose_regularizer
from aucmax.linear.risk_choice import check_loss, choose_risk, convex_risks
from aucmax.metrics.concordance import prepare_concordance
from aucmax.metrics.roc import prepare_partial_auc
from aucmax.regularizers.regularizer import ProximalRegularizer
from aucmax.risks import BoundRisk, PartialHinge
from aucmax.risks.contract import BoundSurvivalRisk
from aucmax.solvers.bounded_loss import BoundedLossSolver
from aucmax.solvers.choice import SOLVERS, retry_if_all_zero
from aucmax.solvers.risk_objective import LinearObjective
from aucmax.solvers.solver import Progress, Solution, Solver, Start, StoppingRule

# With a radius the objective is the risk, which is 1 where all scores are equal and may
# be 0 at its best. Below this value a gap is relative to it and not to the risk.
Problem: TypeAlias = tuple[LinearObjective, ProximalRegularizer, Solver]
_MIN_SCALE_OF_GAP = 0.01
# The partial likelihood of equal scores is far above 0: models differ by about this
# share of it, to which its tolerance is relative.
_SHARE_THAT_DIFFERS = 1e-3


@dataclass(eq=False, repr=False)
class AUCSVC(SurvivalRanker):
    r"""Linear support vector machine that maximises the area under the ROC curve.

    .. math:: \min_w \; \Omega(w) + C \, R(X w)

    By default :math:`\Omega(w) = \frac12 \|w\|^2`, and the risk is the mean hinge

    .. math:: R(s) = \frac{1}{W_+ W_-}
              \sum_{i \in P} \sum_{j \in N} v_i v_j \max(0, 1 - s_i + s_j)

    over all pairs of a positive and a negative row, with row weights :math:`v` and
    their class totals :math:`W_\pm`. The pairs are never formed: a pass over the data
    costs two products with it and one sort of the scores. `dual_gap_` certifies how far
    `objective_` can be from the optimum.

    `fpr_range` and `tpr_range` choose a part of the curve. With ``fpr_range=(0, b)``
    the mean is over the highest-scored :math:`b W_-` of the negatives alone, with
    ``tpr_range=(c, 1)`` over the lowest-scored :math:`(1 - c) W_+` of the positives.
    Other ranges have a convex bound of 1 - partial AUC instead, see
    :class:`aucmax.risks.PartialHinge` for its formula and for `bound`.

    `loss` is the loss of a pair:

    ==========  ====================================================================
    "hinge"     :math:`\max(0, 1 - s_i + s_j)`, the support vector machine
    "logistic"  :math:`\log(1 + e^{s_j - s_i})`: smooth, convex and certified, too
    "sigmoid"   :math:`1 / (1 + e^{s_i - s_j})`: at most 1, however far ahead the
                negative is, for any range. Not convex: the descent from several convex
                solutions finds a local optimum, without a certificate.
    "cox"       for censored times: the partial likelihood of
                :class:`aucmax.risks.CoxLikelihood`, convex and certified, too
    ==========  ====================================================================

    Fitted to censored times (a `y` with the fields ``event`` and ``time``, see
    :func:`aucmax.metrics.survival_target`), the pairs are those of
    :class:`aucmax.risks.Concordance`, and a higher score means an earlier event.

    `penalty` is the regularizer:

    ============  ==================================================================
    "l2"          :math:`\Omega(w) = \frac12 \|w\|^2`
    "l1"          :math:`\Omega(w) = \|w\|_1`: few columns are used
    "elasticnet"  :math:`\Omega(w) = \rho \|w\|_1 + \frac{1 - \rho}{2} \|w\|^2`
    "group"       :math:`\Omega(w) = \sum_g \sqrt{n_g} \, \|w_g\|_2`: few groups are
                  used
    ============  ==================================================================

    Unused weights are exactly 0. A `radius` replaces the penalty by a limit:

    .. math:: \min_w \; R(X w) \quad \text{where} \quad \Omega(w) \le \text{radius}

    (for "l2", :math:`\|w\| \le` `radius`).

    The second of the two labels in sorted order is the positive class. Scale the
    columns first (``StandardScaler``): the penalty treats all columns alike.

    Parameters
    ----------
    C : float, default=10.0
        Weight of the risk, a mean over pairs. Larger values fit the training pairs
        more closely; search from 1 to 1000, by `fit_path`. Unused with a `radius`.
    loss : {"hinge", "logistic", "sigmoid", "cox"}, default="hinge"
        Loss of a pair, or of an event ("cox"). Use "sigmoid" for a narrow range, or
        classes that overlap much.
    radius : float, default=None
        Limit of the norm; larger values fit the training pairs more closely.
    fpr_range, tpr_range : pair of float, default=(0.0, 1.0)
        The part of the ROC curve whose area to maximise: ``fpr_range=(0, 0.1)`` ranks
        positives above the highest-scored tenth of the negatives. A range must cover at
        least one row. "hinge" needs an `fpr_range` from 0 or a `tpr_range` to 1,
        "logistic" both.
    bound : {"tight", "loose"}, default="tight"
        Bound of 1 - partial AUC by hinges: "tight" (SVMpAUC-tight, the better one)
        counts the rows of the range alone, "loose" (SVMpAUC) all rows.
    penalty : {"l2", "l1", "elasticnet", "group"}, default="l2"
        The regularizer.
    l1_ratio : float, default=0.5
        The share :math:`\rho` of the L1 norm in "elasticnet", from 0 to 1.
    groups : sequence of sequences, default=None
        For "group": the columns of each group, by number or, in a data frame, by name.
        Each column is in one group.
    tol : float, default=1e-3
        Certified gap at which to stop, relative to the objective, or with a `radius`
        to 0.01 where the risk is below that; for "cox", to a thousandth of it.
    max_iter : int, default=1000
        Maximum number of iterations; one pass over the data each.
    max_time : float, default=None
        Stop after this many seconds, with the best solution so far.
    solver : {"auto", "newton", "bundle", "subgradient", "descent"}, default="auto"
        "auto" chooses by penalty, risk, shape and `tol`; the user guide has its table.
        "newton" needs few passes at any C but keeps an n_features x n_features matrix
        (of the columns in use, for "l1" and "elasticnet"), and supports these and "l2"
        without a radius, ``bound="tight"``, an `fpr_range` from 0 and a `tpr_range` to
        1, not for censored times. "bundle" (cutting planes) and "subgradient" (proximal
        steps with momentum) support every penalty and convex loss. "descent" (L-BFGS)
        supports ``penalty="l2"`` with "logistic" and "cox". All certify the same gap.
        ``loss="sigmoid"`` needs "auto".
    warm_start : bool, default=False
        Whether a further `fit` starts from the present `coef_`.
    callback : callable, default=None
        Called after each iteration with its progress; the fit stops if it returns true.
    verbose : int, default=0
        Whether to write one line per iteration or round to standard output.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features)
        The weights.
    intercept_ : ndarray of shape (1,)
        Minus the threshold of the best balanced accuracy on the training rows (the
        point of the ROC curve farthest above the diagonal). It does not affect ranking.
    n_iter_ : int
        Iterations of the solver.
    n_passes_ : float
        Passes over the data: one product in each direction.
    is_certified_ : bool
        Whether `dual_gap_` bounds the distance to the optimum: not for "sigmoid".
    gradient_norm_ : float
        For "sigmoid": the length of the objective's gradient at the weights.
    starts_ : list of dict
        For "sigmoid": the name of each "start", its "start_objective" and
        "start_metric", and "objective" and "metric" at the end of its descent. The
        model has the weights of the lowest objective among those that rank the training
        rows no worse than the best start.
    objective_ : float
        The value reached: :math:`\Omega(w) + C R`, or with a `radius` the risk alone.
    dual_gap_ : float
        `objective_` minus a certified lower bound of the optimum; NaN for "sigmoid".
        Rounding may raise the bound by up to 1e-8 of the objective if no column's mean
        is more than a million times its standard deviation.
    history_ : dict of str to ndarray of shape (n_iter\_,)
        After each iteration: the best "objective", "dual_gap", "n_passes", "seconds".
    classes_ : ndarray of shape (2,)
        The labels; the second is the positive class.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if the training data had names that are all strings.

    See Also
    --------
    aucmax.LinearRankerCV : Chooses the loss, the range and C.
    aucmax.LevelSumRanker : For more than two levels of relevance.
    sklearn.linear_model.LogisticRegression : Often as good when classes overlap evenly.

    Notes
    -----
    float32 data are not copied; sums are in float64. Columns whose largest entries are
    beyond 1e100, or below 1e-100, are rejected.

    If the classes overlap much in a narrow range, the hinge may be smallest at weights
    of 0, where it is 1. The fit then issues a
    :class:`~aucmax.exceptions.ConstantScoresWarning`. The sigmoid has no such minimum.

    References
    ----------
    .. [1] T. Joachims. A support vector method for multivariate performance
       measures. ICML 2005.
    .. [2] H. Narasimhan, S. Agarwal. SVMpAUC-tight: a new support vector method for
       optimizing partial AUC based on a tight convex upper bound. KDD 2013.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from aucmax import AUCSVC
    >>> from aucmax.metrics import roc_auc_score
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), AUCSVC()).fit(X[:300], y[:300])
    >>> round(roc_auc_score(y[300:], model.decision_function(X[300:])), 4)
    0.9997

    Early recognition with few columns:

    >>> machine = AUCSVC(100.0, fpr_range=(0, 0.1), penalty="l1")
    >>> model = make_pipeline(StandardScaler(), machine).fit(X[:300], y[:300])
    >>> bool((model[-1].coef_ == 0).any())
    True
    """

    _unsaved_params = ("callback",)
    _saved_state = saved.fields(
        coef_=saved.array("f", 1, "n_features_in_"),
        intercept_=saved.array("f", 1),
        **saved.optional(
            n_iter_=saved.count,
            n_passes_=saved.number,
            objective_=saved.number,
            dual_gap_=saved.number,
            gradient_norm_=saved.number,
            is_certified_=saved.instance_of(bool),
            starts_=saved.instance_of(list),
            history_=saved.instance_of(dict),
        ),
    )
    _fits_dask = True

    C: float = 10.0
    _: KW_ONLY
    loss: str = "hinge"
    radius: float | None = None
    fpr_range: Sequence[float] = (0.0, 1.0)
    tpr_range: Sequence[float] = (0.0, 1.0)
    bound: str = "tight"
    penalty: str = "l2"
    l1_ratio: float = 0.5
    groups: Sequence[Sequence[Any]] | None = None
    tol: float = 1e-3
    max_iter: int = 1000
    max_time: float | None = None
    solver: str = "auto"
    warm_start: bool = False
    callback: Callable[[Progress], object] | None = None
    verbose: int = 0

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        qid: ArrayLike | None = None,
    ) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features)
            The features. float32 and float64 arrays, memory maps, CSR and CSC matrices
            are read in place. Arrays and frames of Dask stay on their workers.
        y : array-like of shape (n_rows,)
            Two distinct labels; the second in sorted order is the positive class.
        sample_weight : array-like of shape (n_rows,), default=None
            Nonnegative row weights; the weight of a pair is the product of its rows'.
        qid : array-like of shape (n_rows,), default=None
            The query of each row; the value is then a mean over queries.

        Returns
        -------
        self : object
            The fitted model.
        """
        with unchanged_on_failure(self):
            self._check_parameters()
            X, classes, risk = self._bound(X, y, sample_weight, qid)
            problem = self._problem(X, risk, qid)
            start = None
            if self.warm_start and hasattr(self, "coef_"):
                if self.coef_.shape[1] != X.shape[1]:
                    raise ValueError(
                        f"warm_start continues a fit on {self.coef_.shape[1]} "
                        f"features, but X has {X.shape[1]}. Set warm_start=False to "
                        "start again."
                    )
                # a step of 0 projects onto a ball, and changes nothing otherwise
                objective, regularizer, _ = problem
                start = Start(objective.at(regularizer.prox(self.coef_[0], 0.0)))
            solution = self._solve(problem, start, classes)
            if solution.converged and not self.coef_.any():
                self._warn_of_constant_scores()
        return self

    def fit_path(
        self,
        X: Any,
        y: ArrayLike,
        C_values: Sequence[float] | None = None,
        *,
        radii: Sequence[float] | None = None,
        sample_weight: ArrayLike | None = None,
        qid: ArrayLike | None = None,
    ) -> list["AUCSVC"]:
        """Fit one model per C or radius, each from the solution of its neighbour.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features)
            The features. float32 and float64 arrays, memory maps, CSR and CSC matrices
            are read in place. Arrays and frames of Dask stay on their workers.
        y : array-like of shape (n_rows,)
            Two distinct labels; the second in sorted order is the positive class.
        C_values : sequence of float, default=None
            Weights of the risk, in any order.
        radii : sequence of float, default=None
            Limits of the norm, in any order, instead of `C_values`.
        sample_weight : array-like of shape (n_rows,), default=None
            Nonnegative row weights; the weight of a pair is the product of its rows'.
        qid : array-like of shape (n_rows,), default=None
            The query of each row; the value is then a mean over queries.

        Returns
        -------
        list of AUCSVC
            Fitted clones of this estimator, in the order of `C_values` or `radii`.
        """
        if (C_values is None) == (radii is None):
            given = "neither" if C_values is None else "both"
            raise ValueError(f"fit_path needs C_values or radii, got {given}.")
        if C_values is not None and self.radius is not None:
            raise ValueError(
                f"C has no effect with radius={self.radius!r}, so all models of a path "
                "over C_values would be equal. Set radius=None, or pass radii."
            )
        name = "radius" if C_values is None else "C"
        values: Any = radii if C_values is None else C_values
        models = [clone(self).set_params(**{name: value}) for value in values]
        for model in models:
            model._check_parameters()
        witness = clone(self)  # so that this estimator stays as it is
        X, classes, risk = witness._bound(X, y, sample_weight, qid)
        columns = {k: v for k, v in vars(witness).items() if k.endswith("_in_")}
        start: Start | None = None
        for model in sorted(models, key=lambda model: (model.radius or 0.0, model.C)):
            model.__dict__.update(columns)
            solution = model._solve(model._problem(X, risk, qid), start, classes)
            start = Start(solution.point, solution.cuts)
        return models

    @map_over_partitions
    def decision_function(self, X: Any) -> FloatArray:
        """Score rows: the higher, the more likely positive.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features)
            The features. float32 and float64 arrays, memory maps, CSR and CSC matrices
            are read in place. Arrays and frames of Dask stay on their workers.

        Returns
        -------
        ndarray of shape (n_rows,)
            Scores, positive where `predict` gives the positive class.
        """
        check_is_fitted(self, "coef_")
        X = features.check_features(self, X, fitting=False)
        return linear_scores(X, self.coef_, self.intercept_)

    def _part_of_the_curve(self) -> dict[str, Any]:
        return {"fpr_range": self.fpr_range, "tpr_range": self.tpr_range}

    @property
    def _convex_risk(self) -> PartialHinge:
        return PartialHinge(self.fpr_range, tpr_range=self.tpr_range, bound=self.bound)

    @property
    def _penalty(self) -> tuple[Any, ...]:
        return self.penalty, self.radius, self.l1_ratio, self.groups

    @property
    def _stopping(self) -> StoppingRule:
        floor = 0.0 if self.radius is None else _MIN_SCALE_OF_GAP
        tol = self.tol
        if self.loss == "cox":
            floor = self.C if self.radius is None else 1.0
            tol *= _SHARE_THAT_DIFFERS
        return StoppingRule(tol, self.max_iter, self.max_time, reporter(self), floor)

    def _check_parameters(self) -> None:
        parameters.check_positive("C", self.C)
        parameters.check_positive("tol", self.tol)
        parameters.check_integer("max_iter", self.max_iter)
        parameters.check_max_time(self.max_time)
        parameters.check_choice("solver", self.solver, SOLVERS)
        check_penalty(*self._penalty)
        check_loss(self.loss, self._convex_risk)

    def _bound(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None,
        qid: ArrayLike | None,
    ) -> tuple[Any, NDArray[Any] | None, BoundRisk]:
        """Return the checked rows, their classes and the risk of their scores."""
        X, classes, labels, weight = features.check_training_data(
            self, X, y, sample_weight
        )
        features.check_column_sizes(X, getattr(self, "feature_names_in_", None))
        risk = choose_risk(self.loss, self._convex_risk, labels, weight, qid)
        return X, classes, risk

    def _problem(self, X: Any, risk: BoundRisk, qid: ArrayLike | None) -> Problem:
        objective = LinearObjective(X, risk, self.C if self.radius is None else 1.0)
        names = getattr(self, "feature_names_in_", None)
        regularizer = choose_regularizer(X.shape[1], names, *self._penalty)
        if risk.is_convex:
            return objective, regularizer, SOLVERS[self.solver](self._stopping)
        if self.solver != "auto":
            raise IncompatibleError(
                f"loss={self.loss!r} is not convex and has its own solver, got "
                f"solver={self.solver!r}. Use solver='auto'."
            )
        labels, weight = getattr(risk, "target", risk.labels), risk.sample_weight
        queries = None if qid is None else check_qid(qid, labels.size).codes
        risks = convex_risks(self._convex_risk, labels, weight, queries)
        options: dict[str, Any] = {"sample_weight": weight, "qid": queries}
        prepare: Any = prepare_concordance
        if not isinstance(risk, BoundSurvivalRisk):
            prepare = prepare_partial_auc
            options |= self._part_of_the_curve()
        measure = prepare(labels, **options)
        solver = BoundedLossSolver(self._stopping, risks, measure)
        return objective, regularizer, solver

    def _solve(
        self, problem: Problem, start: Start | None, classes: NDArray[Any] | None
    ) -> Solution:
        """Minimise, and store the solution in the attributes of a fitted model."""
        objective, regularizer, solver = problem
        solution = solver.minimize(objective, regularizer, start)
        if self.loss == "hinge":
            retry_with = SOLVERS[self.solver], self._stopping
            solution = retry_if_all_zero(solution, objective, regularizer, *retry_with)
        solution.warn_if_unfinished(self._stopping)
        history = np.array(solution.history).T[1:].copy()
        columns = "n_passes", "objective", "dual_gap", "seconds"
        # censored times have no threshold
        threshold = 0.0 if classes is None else objective.threshold(solution.point)
        fitted = {
            **self._target_attributes(classes),
            "coef_": solution.point.parameters[None, :],
            "intercept_": np.array([-threshold]),
            "n_iter_": len(solution.history),
            "n_passes_": objective.n_passes,
            "objective_": solution.value,
            "dual_gap_": solution.gap,
            "is_certified_": objective.risk.is_convex,
            "history_": dict(zip(columns, history, strict=True)),
        }
        if isinstance(solver, BoundedLossSolver):
            fitted["gradient_norm_"] = solver.gradient_norm
            fitted["starts_"] = solver.starts
        replace_state(self, fitted)
        return solution

    def _warn_of_constant_scores(self) -> None:
        small = f"C={self.C:g} is too small, or " if self.radius is None else ""
        advice = "Use loss='sigmoid', raise" if self.is_certified_ else "Raise"
        warnings.warn(
            f"all weights are 0, so all scores tie: {small}the rows overlap so much "
            f"within fpr_range={self.fpr_range!r} and tpr_range={self.tpr_range!r} "
            f"that no weights have a smaller risk with loss={self.loss!r} and this "
            f"penalty. {advice} C or radius, widen the ranges, or add features that "
            "separate the rows.",
            ConstantScoresWarning,
            stacklevel=3,
        )
