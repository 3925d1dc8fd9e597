"""A linear model that chooses its loss, its range and its C by cross-validation."""

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from itertools import product
from numbers import Integral
from typing import Any, NamedTuple, Self

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import check_cv
from sklearn.utils.validation import check_is_fitted

from aucmax._core import features, parameters
from aucmax._core import saved_state as saved
from aucmax._core.dask_dispatch import map_over_partitions
from aucmax._core.eval_set import LabelledRows
from aucmax._core.fitting import replace_state, reporter, unchanged_on_failure
from aucmax._core.row_matrix import as_row_matrix, linear_scores
from aucmax._core.row_splits import Folds, class_folds, unit_folds
from aucmax._core.threads import one_blas_thread
from aucmax._core.threshold import balanced_threshold
from aucmax._core.validation import FloatArray, check_qid
from aucmax.binary_ranker import SurvivalRanker
from aucmax.exceptions import IncompatibleError, NotEnoughClassesError
from aucmax.linear.loss_search import (
    CANDIDATE_LOSSES,
    SIMPLE_LOSSES,
    SMOOTH_RANKS,
    WHOLE,
    Candidate,
    Candidates,
    finalists,
    fit_candidates,
    is_positive,
    sample_rows,
    score_candidates,
    search_results,
)
from aucmax.linear.risk_choice import check_whole_range
from aucmax.metrics.metric_names import NamedMetric, parse_metric
from aucmax.risks import PartialHinge

_DEFAULT_RANGE = (0.0, 0.1)  # of metric="partial_auc" without ranges
_WIDTHS = (0.1, 0.3)  # of smooth ranks: the better one differs from table to table
# End of a wider range of false positive rates, in ends of the range: its rows change
# less from fold to fold, and the folds of most public tables prefer it.
_WIDER = 3.0
# test rows of the rarer class after which two candidates are left
_MIN_TESTED = 50
# Rows in all folds until which folds are drawn again, at most so often: with fewer rows
# the standard error of a difference over four folds is about the difference.
_MIN_ROWS, _MAX_REPEATS = 2000, 5


class SearchProgress(NamedTuple):
    """Progress of a search, passed to the callback after each fold.

    Attributes
    ----------
    fold, n_folds : int
        Finished folds, and all folds.
    best : dict
        The parameters with the best mean so far.
    score : float
        That mean.
    seconds : float
        Time since the start.
    """

    fold: int
    n_folds: int
    best: dict[str, Any]
    score: float
    seconds: float

    def __str__(self) -> str:
        return (
            f"fold {self.fold} of {self.n_folds}, {self.seconds:.1f} s, best so far "
            f"{self.score:.4f} by {self.best}"
        )


@dataclass(eq=False, repr=False)
class LinearRankerCV(SurvivalRanker):
    r"""Linear model that chooses its loss, range and C by cross-validation.

    Folds compare plain logistic regression with losses over pairs, trained on the
    range of the ROC curve that you choose, on a wider one and on the whole curve,
    each with several weights C. The metric itself decides: the area under the curve,
    the part of it within `fpr_range` and `tpr_range`, or any other one that `metric`
    names, such as the average precision; per query with `qid`.

    The first fold compares all candidates on 4,000 of its training rows, or on more if
    a class has fewer than 1,000 among them; with fewer than 50 test rows of a class, so
    do further folds. The best logistic regression and the best other candidate remain.
    The other folds fit these two to all of their training rows, and the better one in
    the mean is fitted to all rows. With few rows, whose folds are noisy, the folds are
    drawn up to five times.

    The second of the two labels in sorted order is the positive class. Fitted to
    censored times (a `y` with the fields ``event`` and ``time``, see
    :func:`aucmax.metrics.survival_target`), Cox's model takes the part of logistic
    regression, losses are those of all comparable pairs, and Harrell's C decides.

    Parameters
    ----------
    fpr_range, tpr_range : pair of float, default=(0.0, 1.0)
        The part of the ROC curve: ``fpr_range=(0, 0.1)`` is the top tenth of the
        negatives, ``tpr_range=(0.9, 1)`` the lowest tenth of the positives.
    metric : str, default=None
        The metric that decides and that `score` returns: "auc", "partial_auc" (of the
        ranges, or of false positive rates up to 0.1), "average_precision",
        "precision@100", "recall@100", "lift@100", "recall@fpr=0.01",
        "recall@precision=0.9", "precision@recall=0.8", "gini", "ks"; with queries also
        "ndcg@10" and "map". By default the AUC, or the partial AUC of the ranges. A
        fold has a share of all rows, and its k is that share of k.
    losses : str or sequence of str, default=None
        The losses to compare: "logistic regression" (of rows), "hinge" and "sigmoid"
        (of pairs; see :class:`AUCSVC`), "smooth average precision" (of ranks; see
        :class:`aucmax.risks.SmoothAveragePrecision`). By default logistic regression,
        the sigmoid and, for metrics of the top of the list, smooth average precision.
    C_values : sequence of float, default=(0.1, 1.0, 10.0)
        Weights of the loss per row. Logistic regression also tries a tenth and a
        hundredth of the smallest and ten times the largest; the sigmoid tries a tenth
        of each instead.
    cv : int, splitter or iterable, default=4
        Number of folds, a splitter of scikit-learn's, or the folds themselves. With a
        number, rows of one group or of one query are in one fold.
    standardize : bool, default=True
        Whether to centre and scale the columns of dense data in the fit. Columns of
        zeros and ones keep their scale, and sparse data stay unchanged.
    max_time : float, default=None
        Seconds for the folds; the folds finished by then decide.
    n_jobs : int, default=1
        Number of folds that run at the same time, each in its own process.
    random_state : int, default=0
        Seed of the division into folds.
    callback : callable, default=None
        Called after each fold with a :class:`~aucmax.linear.SearchProgress`; a true
        answer ends the search. Not stored by :func:`aucmax.save`.
    verbose : int, default=0
        Whether to write one line per iteration or round to standard output.

    Attributes
    ----------
    best_params_ : dict
        "loss" ("cox" for Cox's model), "fpr_range", "tpr_range" and "C" of the model,
        and the "width" of a smooth average precision, for logistic scores of standard
        deviation 1.
    best_score_ : float
        Its mean over the folds that decided, which is too high as an estimate for new
        rows: the model was chosen by it.
    best_index_ : int
        Its index in `cv_results_`.
    cv_results_ : dict of lists and ndarrays
        As scikit-learn has it: "params", "mean_test_score", "std_test_score",
        "rank_test_score", "split0_test_score", ..., "mean_fit_time", "mean_n_passes".
        Means are over the folds that decided; candidates that were left out before
        have a mean of NaN.
    n_splits_ : int
        Number of folds, those that only compared all candidates included.
    n_passes_ : float
        Passes over the data of the final fit.
    coef_ : ndarray of shape (1, n_features)
        The weights of the columns as they came.
    intercept_ : ndarray of shape (1,)
        Minus the threshold of the best balanced accuracy on the training rows.
    classes_ : ndarray of shape (2,)
        The labels; the second is the positive class.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if the training data had names that are all strings.

    See Also
    --------
    AUCSVC : One loss, one range, one C, and other penalties.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from aucmax import LinearRankerCV
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = LinearRankerCV(fpr_range=(0, 0.1)).fit(X[::2], y[::2])
    >>> round(model.score(X[1::2], y[1::2]), 2)
    0.89
    >>> model = LinearRankerCV(metric="average_precision").fit(X[::2], y[::2])
    >>> round(model.score(X[1::2], y[1::2]), 2)
    0.99
    """

    _unsaved_params = ("callback",)
    _saved_state = saved.fields(
        coef_=saved.array("f", 1, "n_features_in_"),
        intercept_=saved.array("f", 1),
        **saved.optional(
            n_passes_=saved.number,
            n_splits_=saved.count,
            best_index_=saved.count,
            best_score_=saved.number,
            best_params_=saved.instance_of(dict),
            cv_results_=saved.instance_of(dict),
        ),
    )
    _fits_dask = True

    _: KW_ONLY
    fpr_range: Sequence[float] = WHOLE
    tpr_range: Sequence[float] = WHOLE
    metric: str | None = None
    losses: str | Sequence[str] | None = None
    C_values: Sequence[float] = (0.1, 1.0, 10.0)
    cv: Any = 4
    standardize: bool = True
    max_time: float | None = None
    n_jobs: int = 1
    random_state: int = 0
    callback: Callable[[SearchProgress], object] | None = None
    verbose: int = 0

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        qid: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Compare the candidates on folds, and fit the best to all rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features)
            The features. Arrays and frames of Dask stay on their workers.
        y : array-like of shape (n_rows,)
            Two distinct labels; the second in sorted order is the positive class.
        sample_weight : array-like of shape (n_rows,), default=None
            Nonnegative row weights; the weight of a pair is the product of its rows'.
        qid : array-like of shape (n_rows,), default=None
            The query of each row; the value is then a mean over queries.
        groups : array-like of shape (n_rows,), default=None
            Rows of one group are in one fold.

        Returns
        -------
        self : object
            The fitted model.
        """
        with unchanged_on_failure(self):
            self._check_parameters()
            report, began = reporter(self), time.perf_counter()
            metric = self._named_metric()
            rows, classes, centre, scale = self._checked_rows(
                X, y, sample_weight, qid, metric
            )
            candidates = self._candidates(metric, has_times=classes is None)
            if classes is None:
                metric = parse_metric("concordance")
            folds = self._folds(rows, groups)
            n_pruning = _n_pruning_folds(folds, is_positive(rows.labels))
            # Dask has workers of its own
            n_jobs = 1 if as_row_matrix(rows.X).on_workers else self.n_jobs
            kept, measured = list(range(len(candidates))), list[FloatArray]()
            with one_blas_thread():
                for number, (_, test) in enumerate(folds):
                    if number in (0, n_pruning):
                        trains = [train for train, _ in folds[number:]]
                        if number < n_pruning:
                            trains = [
                                sample_rows(train, rows) for train in trains[:n_pruning]
                            ]
                        elif number:
                            kept = finalists(np.array(measured)[:, 0], candidates)
                        some = [candidates[k] for k in kept]
                        fits = Parallel(n_jobs, return_as="generator")(
                            delayed(fit_candidates)(rows, some, train)
                            for train in trains
                        )
                    weights, *costs = next(fits)
                    scores = score_candidates(rows, weights, metric, test)
                    measured.append(np.full((3, len(candidates)), np.nan))
                    measured[-1][:, kept] = scores, *costs
                    seconds = time.perf_counter() - began
                    progress = _progress(measured, candidates, len(folds), seconds)
                    if self._should_stop(progress, report):
                        break
                results = search_results(np.array(measured), candidates, n_pruning)
                best = int(results["rank_test_score"].argmin())
                fitted = fit_candidates(rows, [candidates[best]])
            weights, _, n_passes = (values[0] for values in fitted)
            coef, threshold = weights / scale, 0.0
            if classes is not None:
                row_scores = as_row_matrix(rows.X).matvec(weights)
                threshold = balanced_threshold(row_scores, rows.labels, rows.weight)
            replace_state(
                self,
                {
                    **self._target_attributes(classes),
                    "coef_": coef[None, :],
                    "intercept_": np.array([-threshold - float(centre @ coef)]),
                    "n_passes_": float(n_passes),
                    "n_splits_": len(measured),
                    "best_index_": best,
                    "best_params_": candidates[best].parameters,
                    "best_score_": float(results["mean_test_score"][best]),
                    "cv_results_": results,
                },
            )
        return self

    @map_over_partitions
    def decision_function(self, X: Any) -> FloatArray:
        """Score rows: the higher, the more likely positive.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features)
            The features. Arrays and frames of Dask stay on their workers.

        Returns
        -------
        ndarray of shape (n_rows,)
            Scores, positive where `predict` gives the positive class.
        """
        check_is_fitted(self, "coef_")
        X = features.check_features(self, X, fitting=False)
        return linear_scores(X, self.coef_, self.intercept_)

    def _part_of_the_curve(self) -> dict[str, Any]:
        fpr = parameters.check_range("fpr_range", self.fpr_range)
        tpr = parameters.check_range("tpr_range", self.tpr_range)
        if self.metric == "partial_auc" and fpr == tpr == WHOLE:
            fpr = _DEFAULT_RANGE
        return {"fpr_range": fpr, "tpr_range": tpr}

    def _metric(self) -> Callable[..., float]:
        return self._named_metric().function

    def _named_metric(self) -> NamedMetric:
        """Return the metric that decides, with the part of the curve that counts."""
        metric = parse_metric("partial_auc" if self.metric is None else self.metric)
        if metric.kind.uses_levels and not metric.kind.needs_queries:
            raise ValueError(
                f"metric={self.metric!r} compares levels of relevance, but this model "
                "has two classes. Use metric='auc'."
            )
        part: Any = self._part_of_the_curve()
        if metric.kind.takes_range:
            return replace(metric, options=part)
        if set(part.values()) != {WHOLE}:
            raise ValueError(
                f"metric={self.metric!r} has no part of the curve, which contradicts "
                f"fpr_range={self.fpr_range!r} and tpr_range={self.tpr_range!r}. Leave "
                "out metric, or the ranges."
            )
        return metric

    def _check_parameters(self) -> None:
        if self.losses is not None and not isinstance(self.losses, str):
            parameters.check_names("losses", self.losses)
        losses = [self.losses] if isinstance(self.losses, str) else self.losses
        for loss in [] if losses is None else losses or [""]:
            parameters.check_choice("losses", loss, CANDIDATE_LOSSES)
        if not hasattr(self.C_values, "__len__") or len(self.C_values) == 0:
            raise ValueError(
                f"C_values must be a list of weights, got {self.C_values!r}."
            )
        for C in self.C_values:
            parameters.check_positive("C_values", C)
        if isinstance(self.cv, Integral):
            parameters.check_integer("cv", self.cv, least=2)
        parameters.check_integer("n_jobs", self.n_jobs)
        parameters.check_max_time(self.max_time)

    def _checked_rows(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None,
        qid: ArrayLike | None,
        metric: NamedMetric,
    ) -> tuple[LabelledRows, NDArray[Any] | None, FloatArray, FloatArray]:
        """Return rows, their classes, and the centre and scale of their columns."""
        X, classes, labels, weight = features.check_training_data(
            self, X, y, sample_weight
        )
        features.check_column_sizes(X, getattr(self, "feature_names_in_", None))
        queries = None if qid is None else check_qid(qid, labels.size)
        if queries is None and metric.kind.needs_queries:
            raise ValueError(f"metric={self.metric!r} needs queries: pass qid.")
        centre, scale = np.zeros(X.shape[1]), np.ones(X.shape[1])
        if self.standardize and not as_row_matrix(X).is_sparse:
            X, centre, scale = _standardized(X, weight)
        return LabelledRows(X, labels, weight, queries), classes, centre, scale

    def _candidates(self, metric: NamedMetric, *, has_times: bool) -> list[Candidate]:
        """Return all combinations that the target supports, the simpler ones first."""
        fpr, tpr = self._part_of_the_curve().values()
        if metric.options.get("fpr"):  # the range that a rate of it depends on
            fpr = (0.0, metric.options["fpr"])
        losses = [self.losses] if isinstance(self.losses, str) else self.losses
        if losses is None:
            # per query, the metrics that need queries are of the top as well
            is_top = metric.kind.is_top or metric.kind.needs_queries
            losses = ["logistic regression", "sigmoid", *[SMOOTH_RANKS] * is_top]
        ranges = [(WHOLE, WHOLE)]
        if (fpr, tpr) != ranges[0]:
            if fpr[1] < 1.0:
                ranges.append(((0.0, min(1.0, round(_WIDER * fpr[1], 12))), tpr))
            ranges.append((fpr, tpr))
        is_supported = not metric.kind.uses_times
        if has_times:
            check_whole_range(PartialHinge(fpr, tpr_range=tpr))
            is_whole_metric = self.metric in (None, "concordance")
            is_supported = is_whole_metric and SMOOTH_RANKS not in losses
        if not is_supported:
            held = "events and times" if has_times else "labels"
            raise IncompatibleError(
                f"metric={self.metric!r} and losses={self.losses!r} are not for a y "
                f"with {held}. Leave both at None."
            )
        candidates = []
        for loss in filter(losses.__contains__, CANDIDATE_LOSSES):
            C_values = [float(C) for C in self.C_values]
            if loss in SIMPLE_LOSSES:
                least, most = min(C_values), max(C_values)
                C_values = [least / 100.0, least / 10.0, *C_values, most * 10.0]
                loss = "cox" if has_times else loss
            if loss == "sigmoid":
                C_values = [C / 10.0 for C in C_values]
            # the hinge of a narrow range is often smallest where all scores tie
            trained = ranges if loss == "sigmoid" else ranges[:1]
            widths = _WIDTHS if loss == SMOOTH_RANKS else (None,)
            combined = product([loss], trained, widths, C_values)
            candidates += [
                Candidate(name, *ends, C, width) for name, ends, width, C in combined
            ]
        return list(dict.fromkeys(candidates))

    def _should_stop(
        self, progress: SearchProgress, report: Callable[[Any], object] | None
    ) -> bool:
        """Report a fold; return whether to leave out the others, with a warning."""
        is_stopped = report is not None and bool(report(progress))
        is_late = self.max_time is not None and progress.seconds >= self.max_time
        if progress.fold == progress.n_folds or not (is_stopped or is_late):
            return False
        warnings.warn(
            f"the search ended after {progress.fold} of {progress.n_folds} folds, "
            "which decide the choice. Allow more max_time, or fewer C_values.",
            ConvergenceWarning,
            stacklevel=3,
        )
        return True

    def _folds(self, rows: LabelledRows, groups: ArrayLike | None) -> Folds:
        """Divide the rows; both parts of each fold have rows of both classes."""
        labels, has_times = (
            is_positive(rows.labels),
            rows.labels.dtype.names is not None,
        )
        # strata of censored times are divided
        unit = None if has_times else rows.codes
        if groups is not None:
            unit = check_qid(groups, labels.size, "groups").codes
        if not isinstance(self.cv, Integral):
            try:
                splitter = check_cv(self.cv)
                folds = [*splitter.split(np.zeros(labels.size), labels, unit)]
            except TypeError:  # an iterable, but not of pairs
                folds = []
            if not folds:
                raise ValueError(
                    "cv must be a number of folds, a splitter, or a list of pairs of "
                    f"training and test rows, got {self.cv!r}."
                )
        elif unit is not None:
            seed = self.random_state
            folds = unit_folds(labels, unit, int(self.cv), seed, is_balanced=True)
        else:
            n_positive = int(np.count_nonzero(labels))
            rarer = min(n_positive, labels.size - n_positive)
            if rarer < int(self.cv) and not has_times:
                raise NotEnoughClassesError(
                    f"one class has {rarer} rows, too few for cv={self.cv} folds. Use "
                    "fewer folds, or more rows of that class."
                )
            n_repeats = min(max(-(-_MIN_ROWS // labels.size), 1), _MAX_REPEATS)
            folds = class_folds(labels, int(self.cv), self.random_state, n_repeats)
        for k, parts in enumerate(folds):
            for part, name in zip(parts, ("training", "test"), strict=True):
                n_positive = int(np.count_nonzero(labels[part]))
                if 0 < n_positive < part.size + has_times:
                    continue
                one_class = "negative" if n_positive else "positive"
                missing = "event, thus no comparable" if has_times else one_class
                raise NotEnoughClassesError(
                    f"fold {k} has no {missing} row among its {part.size} {name} rows. "
                    "Use fewer folds (cv), or smaller groups."
                )
        return folds


def _n_pruning_folds(folds: Folds, labels: NDArray[np.bool_]) -> int:
    """Return the number of folds that compare all candidates; the others decide."""
    counts = [np.bincount(labels[test], minlength=2) for _, test in folds]
    n_tested = np.cumsum(counts, axis=0).min(axis=1)
    n_pruning = int(np.searchsorted(n_tested, _MIN_TESTED)) + 1
    return n_pruning if n_pruning + 2 <= len(folds) else 0


def _progress(
    measured: list[FloatArray], candidates: Candidates, n_folds: int, seconds: float
) -> SearchProgress:
    mean = np.mean(measured, axis=0)[0]
    best = int(np.nanargmax(mean))
    parameters = candidates[best].parameters
    return SearchProgress(
        len(measured), n_folds, parameters, float(mean[best]), seconds
    )


def _standardized(
    X: Any, weight: FloatArray | None
) -> tuple[Any, FloatArray, FloatArray]:
    """Return dense data on one scale, the centres and the scales."""
    # a column of zeros and ones keeps its scale, which would make a large number of a
    # rare category
    rows = as_row_matrix(X)
    weights = np.ones(rows.shape[0]) if weight is None else weight
    total = weights.sum()
    parts = rows.reduce_rows(_sums, weights)
    centre = sum(sums for sums, _ in parts) / total
    squares = sum(rows.reduce_rows(_squares, weights, centre=centre))
    spread = np.sqrt(squares / total)
    is_indicator = np.all([indicators for _, indicators in parts], axis=0)
    scale = np.where((spread > 0.0) & ~is_indicator, spread, 1.0)
    return rows.transform(_scaled, centre=centre, scale=scale), centre, scale


def _sums(block: Any, row_values: FloatArray) -> tuple[FloatArray, NDArray[np.bool_]]:
    return row_values @ block, (block * block == block).all(axis=0)


def _squares(block: Any, row_values: FloatArray, centre: FloatArray) -> FloatArray:
    return np.asarray(row_values @ (block - centre) ** 2)


def _scaled(block: Any, centre: FloatArray, scale: FloatArray) -> FloatArray:
    return np.asarray((block - centre) / scale)
