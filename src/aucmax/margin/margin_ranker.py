"""Sparse, certified ranking functions: the 1-norm margin family."""

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from aucmax._core import saved_state as saved
from aucmax._core.eval_set import LabelledRows
from aucmax._core.fitting import replace_state, reporter, unchanged_on_failure
from aucmax._core.parameters import check_interval
from aucmax._core.threshold import balanced_threshold
from aucmax.hypotheses.hypothesis_ensembles import weighted_ensemble
from aucmax.hypotheses.hypothesis_ranker import HypothesisRanker
from aucmax.hypotheses.scaled_columns import PrecomputedColumns, ScaledColumns
from aucmax.hypotheses.stumps import Stumps
from aucmax.margin.formulations import (
    FORMULATIONS,
    MarginRisk,
    check_class_rows,
    check_parameters,
    choose_epsilon,
    is_automatic,
    uses_epsilon,
    warn_of_margin,
)
from aucmax.margin.margin_certificate import (
    Certificate,
    ClassSizes,
    MarginCurve,
    certify,
)
from aucmax.margin.margin_problem import MarginProblem, MarginSolution
from aucmax.margin.scorecard import Scorecard
from aucmax.solvers.solver import Progress, StoppingRule


@dataclass(eq=False, repr=False)
class MarginRanker(HypothesisRanker):
    r"""Convex combination of hypotheses with the largest margin over pairs.

    Hypotheses :math:`h_k` map a row to [-1, 1]: scaled features, features of either
    sign, or decision stumps. The score is :math:`f = \sum_k \alpha_k h_k`, weights
    :math:`\alpha \ge 0` of sum 1, and a pair of a positive and a negative row has the
    margin :math:`(f(x_i) - f(x_j)) / 2`. The formulations differ in which margin is
    made as large as possible:

    - ``"pairs"``: the mean of the worst `epsilon` of all pair margins, the soft margin
      over pairs, exactly and at any size (LP-Pair, problems (2), (3) of [1]_);
    - ``"hard"``: the smallest of all pair margins (problems (4), (5));
    - ``"instances"``: half the difference between the mean of the `nu_pos` smallest
      scores of positives and that of the `nu_neg` largest of negatives (problems (7),
      (8)), never less than that over pairs;
    - ``"adaptive"``: the same with a `nu_pos` for which that is small, which is nearer
      to the margin over pairs: a local minimum, by the heuristic of section 4.2. Where
      problem (9) finds no descent, the neighbours at 5% to either side are tried, too;
    - ``"global"``: the same with the best `nu_pos` of all, certified.

    Few weights are not zero: the smallest are dropped where the tolerance allows. A
    certificate states the guarantees of the margin; `scorecard` prints the model.

    The second of the two labels in sorted order is the positive class.

    Parameters
    ----------
    hypotheses : str or list of callables, default="signed"
        "signed": each column, scaled to [-1, 1] by its range, in either direction;
        "features": the same, but only larger for positives; "stumps": every threshold
        of every column in either direction; "precomputed": the columns unchanged,
        within [-1, 1]. Or functions that map X to one value in [-1, 1] per row; such a
        model cannot be saved to a file. Constant columns are left out; constant
        functions and precomputed columns have margin 0.
    formulation : {"pairs", "hard", "instances", "adaptive", "global"}, default="pairs"
        The margin to maximise.
    epsilon : float or "auto", default="auto"
        Share of the pairs that may miss the margin, in (0, 1]; unused by "hard". The
        harder the data are to rank, the larger it must be for a margin above 0.
        "auto" takes the smallest of 0.01, 0.02, 0.03, 0.05, 0.07, 0.1, ..., 0.9 that
        leaves a margin of a tenth of that over all pairs.
    nu_pos, nu_neg : float, default=None
        For the three formulations over instances: how many positives and negatives, by
        weight, may miss the margin. If both are given, `epsilon` is unused; if one,
        their product is `epsilon` times the pairs; if none, both are the square root of
        `epsilon` times their class (Corollary 4). "adaptive" and "global" start there.
    tol : float, default=1e-3
        Certified gap at which to stop, relative to the margin, or to a hundredth of the
        best hypothesis' mean margin if that is larger.
    max_iter : int, default=1000
        Maximum number of iterations per solve; "adaptive" and "global" solve several.
    max_time : float, default=None
        Stop after this many seconds, with the best solution so far.
    curve_points : int, default=0
        With "global": number of additional points of `curve_`, for plots.
    callback : callable, default=None
        Called after each iteration with a :class:`~aucmax.solvers.Progress`, whose
        `value` is the margin; a true answer stops the fit. Not stored by
        :func:`aucmax.save`.
    verbose : int, default=0
        Whether to write one line per iteration or round to standard output.

    Attributes
    ----------
    columns_ : ndarray of int64 of shape (n_used,)
        The column of each hypothesis in use.
    weights_ : ndarray of shape (n_used,)
        Their weights, above 0.
    directions_ : ndarray of shape (n_used,)
        1, or -1 where the sign of the hypothesis is reversed.
    thresholds_ : ndarray of shape (n_used,)
        Of stumps: 1 above the threshold, -1 up to it.
    low_, high_ : ndarray of shape (n_features,)
        Of other hypotheses: the range that was mapped to [-1, 1].
    coef_ : ndarray of shape (1, n_features)
        Of other hypotheses: the same scores as weights of the raw columns.
    intercept_ : ndarray of shape (1,)
        Of other hypotheses: the constant of these scores.
    threshold_ : float
        Threshold of `predict`: for "hard", minus the bias of Theorem 2; otherwise that
        of the best balanced accuracy on the training rows.
    epsilon_ : float
        The share of the pairs that may miss the margin, if it was used.
    certificate_ : Certificate
        The guarantees of the margin.
    objective_ : float
        The margin.
    dual_gap_ : float
        Upper bound of the largest margin minus `objective_`. For "global", a bound of
        the distance to the smallest of the largest margins, in either direction.
    n_iter_ : int
        Iterations of all solves.
    n_passes_ : float
        Passes over the data: one product forward and one back.
    history_ : dict of str to ndarray of shape (n_steps,)
        For "adaptive" and "global": "nu_pos" and "margin" after each of their steps.
    curve_ : MarginCurve
        For "global": the margin as a function of nu_pos.
    classes_ : ndarray of shape (2,)
        The labels; the second is the positive class.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if the training data had names that are all strings.

    Warns
    -----
    MarginWarning
        If the largest margin is not above 0: no combination ranks the worst `epsilon`
        of the pairs right on average.
    ConvergenceWarning
        If a limit was reached before the tolerance; the message states the gap.

    See Also
    --------
    aucmax.plots.ScorecardDisplay : The model as a picture.
    aucmax.plots.MarginCurveDisplay : The curve of "global" as a picture.

    References
    ----------
    .. [1] D. Suehiro, K. Hatano, E. Takimoto. Approximate reduction from AUC
       maximization to 1-norm soft margin optimization. ALT 2011.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from aucmax import MarginRanker
    >>> from aucmax.metrics import roc_auc_score
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = MarginRanker().fit(X[:300], y[:300])
    >>> roc_auc_score(y[300:], model.decision_function(X[300:])) > 0.98
    True
    >>> model.epsilon_
    0.05
    >>> model.certificate_.pairs_achieved >= model.certificate_.pairs_guaranteed
    True
    """

    _saved_state = saved.fields(
        certificate_=saved.instance_of(Certificate),
        **saved.optional(
            curve_=saved.instance_of(MarginCurve),
            objective_=saved.number,
            dual_gap_=saved.number,
            n_passes_=saved.number,
            epsilon_=saved.number,
        ),
    )

    hypotheses: str | Sequence[Callable[[Any], ArrayLike]] = "signed"
    formulation: str = "pairs"
    epsilon: float | str = "auto"
    _: KW_ONLY
    nu_pos: float | None = None
    nu_neg: float | None = None
    tol: float = 1e-3
    max_iter: int = 1000
    max_time: float | None = None
    curve_points: int = 0
    callback: Callable[[Progress], object] | None = None
    verbose: int = 0

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features)
            The features. float32 and float64 arrays, memory maps, CSR and CSC matrices
            are read in place, sparse ones never made dense. Functions as hypotheses
            accept anything with rows. Dask arrays and frames, for "features" and
            "signed", stay on their workers.
        y : array-like of shape (n_rows,)
            Two distinct labels, each of at least two rows.
        sample_weight : array-like of shape (n_rows,), default=None
            Nonnegative row weights; the weight of a pair is the product of its rows'.

        Returns
        -------
        self : object
            The fitted model.
        """
        with unchanged_on_failure(self):
            check_parameters(self)
            classes, rows = self._training_rows(X, y, sample_weight)
            risk_at = self._risk_at(classes, rows)
            problem = self._problem(rows)
            epsilon = self._epsilon_or_all
            if is_automatic(self.epsilon) and uses_epsilon(self):
                epsilon = choose_epsilon(problem, risk_at)
            risk, search = risk_at(epsilon), FORMULATIONS[self.formulation].search
            if search is None:
                solution = problem.solve(risk)
            else:
                solution = search(problem, risk, None, self.curve_points)
            self._keep(classes, problem, epsilon, solution)
        return self

    def fit_path(
        self,
        X: Any,
        y: ArrayLike,
        epsilons: Sequence[float],
        sample_weight: ArrayLike | None = None,
    ) -> list["MarginRanker"]:
        """Fit one model per epsilon, each from the solution of its neighbour.

        From a large epsilon to a small one all cuts stay valid, so a path costs little
        more than its hardest model. `max_time` limits the whole path.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features)
            The features. float32 and float64 arrays, memory maps, CSR and CSC matrices
            are read in place, sparse ones never made dense. Functions as hypotheses
            accept anything with rows. Dask arrays and frames, for "features" and
            "signed", stay on their workers.
        y : array-like of shape (n_rows,)
            Two distinct labels, each of at least two rows.
        epsilons : sequence of float
            Shares of the pairs that may miss the margin, in any order.
        sample_weight : array-like of shape (n_rows,), default=None
            Nonnegative row weights; the weight of a pair is the product of its rows'.

        Returns
        -------
        list of MarginRanker
            Fitted clones of this estimator, in the order of `epsilons`.
        """
        for epsilon in epsilons:
            check_interval("epsilons", epsilon, 1.0)
        models = [clone(self).set_params(epsilon=epsilon) for epsilon in epsilons]
        reader = clone(self).set_params(epsilon=1.0)
        check_parameters(reader)
        classes, rows = reader._training_rows(X, y, sample_weight)
        search = FORMULATIONS[self.formulation].search
        risk_at = reader._risk_at(classes, rows)
        risks = [risk_at(epsilon) for epsilon in epsilons]
        problem, start = reader._problem(rows), None
        for k in sorted(range(len(models)), key=lambda k: -models[k].epsilon):
            for name in ("n_features_in_", "feature_names_in_"):
                if hasattr(reader, name):
                    setattr(models[k], name, getattr(reader, name))
            counts = problem.n_passes, len(problem.history)
            if search is None:
                # row weights allowed for a larger nu are allowed for a smaller one
                start = problem.solve(risks[k], start, reuse_cuts=True)
            else:
                start = search(problem, risks[k], start, self.curve_points)
            models[k]._keep(classes, problem, epsilons[k], start, counts)
        return models

    def scorecard(
        self,
        total: float = 100.0,
        decimals: int | None = 1,
        *,
        feature_names: Sequence[str] | None = None,
    ) -> Scorecard:
        """Return the model as points per feature, to print or plot.

        The points of a row give `decision_function` plus `threshold_`.

        Parameters
        ----------
        total : float, default=100.0
            Sum of all points.
        decimals : int or None, default=1
            Decimals of the points; None for exact points.
        feature_names : sequence of str, default=None
            Names to use instead of those of training.

        Returns
        -------
        Scorecard
        """
        check_is_fitted(self, "weights_")
        weights = self.weights_ * self.directions_
        names = feature_names or self._hypothesis_names()
        points: dict[str, Any] = {"total": total, "decimals": decimals}
        if hasattr(self, "thresholds_"):
            columns, thresholds = self.columns_, self.thresholds_
            return Scorecard.from_stumps(names, columns, thresholds, weights, **points)
        spread = np.zeros(self.low_.size)
        spread[self.columns_] = weights
        return Scorecard.from_features(names, spread, self.low_, self.high_, **points)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        formulation = FORMULATIONS.get(self.formulation)
        # one pair of rows in the wrong order leaves no hard margin
        if formulation is not None and formulation.is_hard:
            tags.classifier_tags.poor_score = True
        return tags

    @property
    def _fits_dask(self) -> bool:
        return self._kind in ("features", "signed")

    def _risk_at(
        self, classes: NDArray[Any], rows: LabelledRows
    ) -> Callable[[float], MarginRisk]:
        """Return minus the margin as a function of epsilon; check it for these rows."""
        check_class_rows(classes, rows.labels, rows.weight)
        sizes = ClassSizes.from_labels(rows.labels, rows.weight)
        has_effect = uses_epsilon(self)

        def risk_at(epsilon: float) -> MarginRisk:
            if has_effect and not is_automatic(self.epsilon):
                sizes.check_epsilon(epsilon)
            formulation = FORMULATIONS[self.formulation]
            return formulation.risk(sizes, epsilon, self.nu_pos, self.nu_neg)

        risk_at(self._epsilon_or_all)
        return risk_at

    @property
    def _epsilon_or_all(self) -> float:
        """The parameter, or 1 if it is to be chosen."""
        return 1.0 if is_automatic(self.epsilon) else float(self.epsilon)

    def _problem(self, rows: LabelledRows) -> MarginProblem:
        """Return the problem of the hypotheses on checked data."""
        stopping = StoppingRule(self.tol, self.max_iter, self.max_time, reporter(self))
        X, labels, weight, _ = rows
        hypotheses: ScaledColumns | Stumps
        usable = None
        if self._kind == "stumps":
            hypotheses = Stumps.fit(X, self._names)
            n_varying = hypotheses.n_hypotheses
        else:
            is_precomputed = self._kind == "precomputed"
            columns_type = PrecomputedColumns if is_precomputed else ScaledColumns
            hypotheses = columns_type.fit(X, self._names)
            varying = np.flatnonzero(~hypotheses.constant)
            n_varying = varying.size
            # a constant precomputed hypothesis counts, with margin 0
            if not is_precomputed and n_varying < hypotheses.n_hypotheses:
                usable = varying
        if n_varying == 0:
            raise ValueError(
                "every column of X is constant, so all scores would be equal. Add at "
                "least one feature that varies."
            )
        signed = self._kind in ("signed", "stumps")
        return MarginProblem(
            hypotheses, labels, weight, stopping, usable, signed=signed
        )

    def _keep(
        self,
        classes: NDArray[Any],
        problem: MarginProblem,
        epsilon: float,
        solution: MarginSolution,
        counts: tuple[float, int] = (0.0, 0),
    ) -> None:
        """Set the fitted state; `counts` are earlier models' passes and iterations."""
        if not solution.path:  # a search has pruned its points
            solution = problem.pruned(solution)
        scores, labels = solution.point.scores, problem.labels
        weight = problem.sample_weight
        if FORMULATIONS[self.formulation].is_hard:
            threshold = float(scores[labels].min() + scores[~labels].max()) / 2.0
        else:
            threshold = balanced_threshold(scores, labels, weight)
        ensemble = weighted_ensemble(problem.hypotheses, problem.weights(solution))
        gap = solution.gap / max(abs(solution.margin), problem.floor)
        state = {
            "classes_": classes,
            **ensemble.state(),
            **ensemble.linear_form(threshold),
            "threshold_": threshold,
            "certificate_": certify(solution.risk, scores, labels, weight, gap),
            "objective_": solution.margin,
            "dual_gap_": solution.gap,
            "n_iter_": len(problem.history) - counts[1],
            "n_passes_": problem.n_passes - counts[0],
        }
        if uses_epsilon(self):
            state["epsilon_"] = float(epsilon)
        if solution.path:
            state["history_"] = {
                "nu_pos": np.array([step.nu_pos for step in solution.path]),
                "margin": np.array([step.margin for step in solution.path]),
            }
        if solution.curve is not None:
            state["curve_"] = solution.curve
        warn_of_margin(self, solution, problem, epsilon)
        replace_state(self, state)

    def _hypothesis_names(self) -> list[str]:
        if not isinstance(self.hypotheses, str):
            return [
                getattr(function, "__name__", f"hypothesis {k}")
                for k, function in enumerate(self.hypotheses)
            ]
        if self._names is not None:
            return [str(name) for name in self._names]
        return [f"x{k}" for k in range(self.n_features_in_)]
