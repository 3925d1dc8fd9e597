"""Sparse, certified ranking functions: the 1-norm margin family."""

import warnings
from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from aucmax._core import saved_state as saved
from aucmax._core.docstrings import documented
from aucmax._core.fitting import replace_state, reporter, unchanged_on_failure
from aucmax._core.parameters import check_interval
from aucmax._core.threshold import balanced_threshold
from aucmax._core.validation import FloatArray
from aucmax.hypotheses.hypothesis_ranker import HypothesisRanker, TrainingRows
from aucmax.margin._checks import check_class_rows, check_parameters, is_automatic
from aucmax.margin._complaints import complaint
from aucmax.margin.automatic_epsilon import choose_epsilon
from aucmax.margin.certificate import Certificate
from aucmax.margin.curve import MarginCurve
from aucmax.margin.formulations import FORMULATIONS
from aucmax.margin.hypothesis_sets import make_problem
from aucmax.margin.problem import MarginProblem, MarginResult
from aucmax.margin.request import Request
from aucmax.margin.scorecard import Scorecard
from aucmax.margin.sizes import ClassSizes
from aucmax.solvers import Progress, StoppingRule

__all__ = ["MarginRanker"]


@documented
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
      to the margin over pairs: a local minimum, by the heuristic of section 4.2;
    - ``"global"``: the same with the best `nu_pos` of all, certified.

    Few weights are not zero: the smallest are dropped where the tolerance allows. The
    solution comes with a certificate of what its margin guarantees, and can be printed
    as a scorecard.

    The second of the two labels in sorted order is the positive class.

    Parameters
    ----------
    formulation : {"pairs", "hard", "instances", "adaptive", "global"}, default="pairs"
        Which margin to maximise.
    epsilon : float or "auto", default="auto"
        The share of the pairs that may miss the margin, in (0, 1]; unused by "hard".
        The harder the data are to rank, the larger it must be for a margin above 0.
        "auto" takes the smallest of 0.01, 0.02, 0.03, 0.05, 0.07, 0.1, ..., 0.9 that
        leaves a margin of a tenth of that over all pairs.
    hypotheses : str or list of callables, default="signed"
        "signed": each column, scaled to [-1, 1] by its range, in either direction;
        "features": the same, but only larger for positives; "stumps": every threshold
        of every column in either direction, by column generation; "precomputed": the
        columns as they are, within [-1, 1]. Or functions that map X to one value in
        [-1, 1] per row; such a model cannot be saved to a file. Constant columns are
        left out, but a constant hypothesis of your own counts: it has margin 0.
    nu_pos, nu_neg : float, default=None
        For the three formulations over instances: how many positives and negatives, by
        weight, may miss the margin. If both are given, `epsilon` is unused; if one,
        their product is `epsilon` times the pairs; if none, both are the square root of
        `epsilon` times their class (Corollary 4). "adaptive" and "global" start there.
    tol : float, default=1e-3
        Stop when the certified gap is at most this share of the margin, or of a
        hundredth of the best hypothesis' mean margin where the margin is nearer to 0.
    max_iter : int, default=1000
        The most iterations of one solve; "adaptive" and "global" take several.
    curve_points : int, default=0
        With "global": how many more points of `curve_` to solve, for its picture.
    callback : callable, default=None
        Called with a :class:`~aucmax.solvers.Progress` after each iteration, whose
        `value` is the margin; a true answer stops the whole fit. Not saved in model
        files.

    Attributes
    ----------
    columns_ : ndarray of int64 of shape (n_used,)
        The column of each hypothesis in use.
    weights_ : ndarray of shape (n_used,)
        Their weights, above 0.
    directions_ : ndarray of shape (n_used,)
        1, or -1 where the hypothesis counts turned round.
    thresholds_ : ndarray of shape (n_used,)
        Of stumps: 1 above the threshold, -1 up to it.
    low_, high_ : ndarray of shape (n_features,)
        Of other hypotheses: the range that was mapped to [-1, 1].
    coef_ : ndarray of shape (1, n_features)
        Of other hypotheses: the same scores as weights of the raw columns.
    intercept_ : ndarray of shape (1,)
        Of other hypotheses: what makes `predict` cut the ranking at 0.
    threshold_ : float
        Where `predict` cuts the combination: for "hard", minus the bias of Theorem 2;
        else the cut of best balanced accuracy on the training rows.
    epsilon_ : float
        The share of the pairs that may miss the margin, where it was used.
    certificate_ : Certificate
        What the margin guarantees.
    objective_ : float
        The margin reached.
    dual_gap_ : float
        How much larger the largest possible margin can be. For "global", by how much
        the smallest of the largest margins can differ, upwards or downwards.
    n_iter_ : int
        Iterations used, over all solves.
    n_passes_ : float
        Passes over the data: one product forward and one back.
    history_ : dict of str to ndarray of shape (n_steps,)
        For "adaptive" and "global": "nu_pos" and "margin" after each step of the
        heuristic.
    curve_ : MarginCurve
        For "global": the margin as a function of nu_pos.

    Warns
    -----
    MarginWarning
        If the largest margin is not above 0. That is a valid answer: no combination
        ranks the worst `epsilon` of the pairs right on average.
    ConvergenceWarning
        If a limit was reached before the tolerance; the message has the gap.

    See Also
    --------
    aucmax.plots.scorecard : The model as a picture.
    aucmax.plots.margin_curve : The curve of "global" as a picture.

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

    def __init__(
        self,
        formulation: str = "pairs",
        epsilon: float | str = "auto",
        hypotheses: str | Sequence[Callable[[Any], ArrayLike]] = "signed",
        *,
        nu_pos: float | None = None,
        nu_neg: float | None = None,
        tol: float = 1e-3,
        max_iter: int = 1000,
        max_time: float | None = None,
        curve_points: int = 0,
        callback: Callable[[Progress], object] | None = None,
        verbose: int = 0,
    ) -> None:
        self.formulation = formulation
        self.epsilon = epsilon
        self.hypotheses = hypotheses
        self.nu_pos = nu_pos
        self.nu_neg = nu_neg
        self.tol = tol
        self.max_iter = max_iter
        self.max_time = max_time
        self.curve_points = curve_points
        self.callback = callback
        self.verbose = verbose

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features)
            The features. float32 and float64 arrays, memory maps, CSR and CSC matrices
            are read in place, sparse ones never made dense. A list of functions may
            take anything with rows. Arrays and frames of Dask, for features, stay on
            their workers.
        y : array-like of shape (n_rows,)
            Two distinct labels, each of at least two rows.
        """
        with unchanged_on_failure(self):
            check_parameters(self)
            classes, rows = self._training_rows(X, y, sample_weight)
            request = self._request(classes, rows)
            self._solve(self._problem(rows), request, classes, None)
        return self

    def fit_path(
        self,
        X: Any,
        y: ArrayLike,
        epsilons: Sequence[float],
        sample_weight: ArrayLike | None = None,
    ) -> list["MarginRanker"]:
        """Fit one model for each epsilon, every one starting from its neighbour.

        From a large epsilon to a small one all cuts stay valid, so that a path costs
        little more than its hardest model. `max_time` is for the path as a whole.

        Parameters
        ----------
        epsilons : sequence of float
            The shares of the pairs that may miss the margin, in any order.

        Returns
        -------
        list of MarginRanker
            Fitted clones of this estimator, in the order of `epsilons`; the estimator
            itself stays as it is.
        """
        for epsilon in epsilons:
            check_interval("epsilons", epsilon, 1.0)
        models = [clone(self).set_params(epsilon=epsilon) for epsilon in epsilons]
        door = clone(self).set_params(epsilon=1.0)
        check_parameters(door)
        classes, rows = door._training_rows(X, y, sample_weight)
        requests = [model._request(classes, rows) for model in models]
        problem, start = door._problem(rows), None
        for k in sorted(range(len(models)), key=lambda k: -models[k].epsilon):
            for name in ("n_features_in_", "feature_names_in_"):
                if hasattr(door, name):
                    setattr(models[k], name, getattr(door, name))
            start = models[k]._solve(problem, requests[k], classes, start)
        return models

    def scorecard(
        self,
        total: float = 100.0,
        decimals: int | None = 1,
        *,
        feature_names: Sequence[str] | None = None,
    ) -> Scorecard:
        """Write the model as points for each feature that is used.

        Print it, or draw it with :func:`aucmax.plots.scorecard`. The points of a row
        give its combination, that is `decision_function` plus `threshold_`.

        Parameters
        ----------
        total : float, default=100.0
            The sum of all points.
        decimals : int or None, default=1
            To how many decimals points are rounded; None leaves them exact.
        feature_names : sequence of str, default=None
            Other names than those of training.

        Returns
        -------
        Scorecard
            The table.
        """
        check_is_fitted(self, "weights_")
        weights = self.weights_ * self.directions_
        names = feature_names or self._hypothesis_names()
        if hasattr(self, "thresholds_"):
            return Scorecard.from_stumps(
                names,
                self.columns_,
                self.thresholds_,
                weights,
                total=total,
                decimals=decimals,
            )
        spread = np.zeros(self.low_.size)
        spread[self.columns_] = weights
        return Scorecard.from_features(
            names, spread, self.low_, self.high_, total=total, decimals=decimals
        )

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

    def _request(self, classes: NDArray[Any], rows: TrainingRows) -> Request:
        """Return what is asked for, in terms of these classes."""
        check_class_rows(classes, rows.labels, rows.weight)
        request = Request(
            ClassSizes.of(rows.labels, rows.weight),
            1.0 if is_automatic(self.epsilon) else float(self.epsilon),
            self.nu_pos,
            self.nu_neg,
            self.curve_points,
        )
        formulation = FORMULATIONS[self.formulation]
        if formulation.uses_epsilon(request) and not is_automatic(self.epsilon):
            request.sizes.check_epsilon(request.epsilon)
        formulation.risk(request)  # or an error
        return request

    def _problem(self, rows: TrainingRows) -> MarginProblem:
        report = reporter(self)
        return make_problem(
            self._kind,
            *rows,
            names=self._names,
            stopping=StoppingRule(self.tol, self.max_iter, self.max_time, report),
        )

    def _solve(
        self,
        problem: MarginProblem,
        request: Request,
        classes: NDArray[Any],
        start: MarginResult | None,
    ) -> MarginResult:
        passes, iterations = problem.n_passes, problem.limits.n_iter
        formulation = FORMULATIONS[self.formulation]
        uses_epsilon = formulation.uses_epsilon(request)
        if uses_epsilon and is_automatic(self.epsilon):
            request = choose_epsilon(problem, formulation.risk, request)
        fitted = formulation.fit(problem, request, start)
        result = fitted.result
        ensemble = problem.ensemble(result.weights)
        threshold = self._cut(result.scores, problem)
        state = {
            "classes_": classes,
            **ensemble.state(),
            **ensemble.linear_form(threshold),
            "threshold_": threshold,
            "certificate_": fitted.certificate(problem),
            "objective_": result.margin,
            "dual_gap_": result.gap,
            "n_iter_": problem.limits.n_iter - iterations,
            "n_passes_": problem.n_passes - passes,
        }
        if uses_epsilon:
            state["epsilon_"] = request.epsilon
        if fitted.steps:
            state["history_"] = {
                "nu_pos": np.array([step.nu_pos for step in fitted.steps]),
                "margin": np.array([step.result.margin for step in fitted.steps]),
            }
        if fitted.curve is not None:
            state["curve_"] = fitted.curve
        warning = complaint(self, result, problem, request.epsilon, state["n_iter_"])
        if warning is not None:
            warnings.warn(*warning, stacklevel=3)
        replace_state(self, state)
        return fitted.unpruned

    def _cut(self, scores: FloatArray, problem: MarginProblem) -> float:
        """Find where `predict` cuts the ranking in two."""
        labels = problem.labels
        if FORMULATIONS[self.formulation].is_hard:
            return float(scores[labels].min() + scores[~labels].max()) / 2.0
        return balanced_threshold(scores, labels, problem.sample_weight)

    def _hypothesis_names(self) -> list[str]:
        if not isinstance(self.hypotheses, str):
            return [
                getattr(function, "__name__", f"hypothesis {k}")
                for k, function in enumerate(self.hypotheses)
            ]
        if self._names is not None:
            return [str(name) for name in self._names]
        return [f"x{k}" for k in range(self.n_features_in_)]
