r"""Cross-validation of models on equal folds, with intervals and paired tests.

Scores of models fitted to different folds are not on one scale, so rows are only
compared within their fold. With :math:`A_k` the AUC on the :math:`k`-th test fold and
weights :math:`w_k` in proportion to its pairs of a positive and a negative row,

.. math:: \hat A = \sum_k w_k A_k, \qquad
          \operatorname{var}(\hat A) = \sum_k w_k^2 \operatorname{var}(A_k)

is the share of pairs ordered correctly within folds, with DeLong's variance of each
fold [1]_, as in the estimator of LeDell, Petersen and van der Laan [2]_. The partial
AUC and the paired difference of two models are pooled the same way, with the variances
of :func:`aucmax.inference.auc_interval` and :func:`aucmax.inference.compare_auc`.

Other metrics of two classes in one ranking are not means over folds. For these each
score is replaced by the share of its fold that it outranks, and all rows are measured
together (:func:`aucmax.inference.metric_interval`).

With queries, which no fold divides, the estimate is the mean over the queries that have
rows of both classes, with Student's t for its interval and for paired differences. The
same holds for more than two levels, where each fold counts as a query without queries.

These variances describe the test rows, given the fitted models. Models of K folds share
training rows, so the variance of one ranking is multiplied by :math:`2 - 1 / K`, which
is that of K values with the correlation 1 / K, as Nadeau and Bengio [3]_ suggest. Rows
of one group may depend on each other. P-values are adjusted for the number of tests by
Holm's method.

References
----------
.. [1] E. DeLong, D. DeLong, D. Clarke-Pearson. Comparing the areas under two or more
   correlated receiver operating characteristic curves. Biometrics 44, 1988.
.. [2] E. LeDell, M. Petersen, M. van der Laan. Computationally efficient confidence
   intervals for cross-validated area under the ROC curve estimates. Electronic
   Journal of Statistics 9, 2015.
.. [3] C. Nadeau, Y. Bengio. Inference for the generalization error. Machine Learning
   52, 2003.
"""

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import ArrayLike
from scipy import sparse

from aucmax._core.censored_times import is_survival_target
from aucmax._core.parameters import check_callable
from aucmax._core.row_splits import Folds
from aucmax._core.validation import FloatArray, positive_class_notes
from aucmax.exceptions import OneClassQueryWarning, UnknownCategoriesWarning
from aucmax.inference import MetricDifference
from aucmax.model_selection.comparison import Comparison, FittedFold, adjusted_tests
from aucmax.model_selection.goals import Goal, choose_goal
from aucmax.model_selection.held_out import HeldOutRows, measure_fold, summarise
from aucmax.model_selection.models import (
    BASELINES,
    SURVIVAL_CANDIDATES,
    compared_models,
    learns_levels,
    name_candidates,
    named_candidate,
    require_survival,
)
from aucmax.tables import Target, check_table, encode_target
from aucmax.tables._scaling import fit_width
from aucmax.tables.checks import TableNotice
from aucmax.tables.cross_fit import (
    FoldedTable,
    TableCandidate,
    check_rows,
    fitted_model,
)
from aucmax.tables.folds import split_rows
from aucmax.tables.frames import as_table, digest_table
from aucmax.tables.pandas_frames import for_frame

# of all searches of AutoRanker in a comparison, unless the user sets a limit
_AUTO_SECONDS = 60.0


def compare_models(
    X: object,
    y: object,
    models: Sequence[object] | None = None,
    *,
    qid: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    times: ArrayLike | None = None,
    test: tuple[Any, object] | None = None,
    cv: object = None,
    metric: str | None = None,
    fpr_range: Sequence[float] | None = None,
    tpr_range: Sequence[float] | None = None,
    pos_label: object = None,
    progress: Callable[[str], None] | None = None,
) -> Comparison:
    """Cross-validate models on the same folds.

    The columns are learned from the training rows of every fold. With queries, models
    that can learn within queries do; the others learn from all rows together. With more
    than two levels, models that do not learn levels learn which rows are above the
    lowest.

    With a range, models of the list are trained for it if they can, and its partial AUC
    ranks and tests all models. A model whose scores are constant on a test fold has no
    measures; its result states this problem.

    Parameters
    ----------
    X : DataFrame (polars or pandas), array or sparse matrix, (rows, columns)
        Raw rows, without the target and the column of the queries.
    y : array-like of shape (rows,), or Target
        Labels, or a target of :func:`aucmax.tables.encode_target`. Events and times, as
        :func:`aucmax.metrics.survival_target` makes them, are compared by Harrell's C,
        and `qid` gives strata. More than two values are levels of relevance if one of
        the models learns levels.
    models : sequence, optional
        Names from :data:`aucmax.model_selection.MODELS`, estimators, and pairs
        ``(name, estimator)`` of a classifier with ``decision_function`` or
        ``predict_proba``; none is changed. An estimator learns from the scaled, one-hot
        encoded table, or from missing values and category codes if it has a parameter
        ``categorical_features``; a pipeline with a ColumnTransformer or a
        :class:`~aucmax.tables.TableEncoder` gets the table itself. A pair
        ``("lambdamart", {"n_estimators": 500})`` sets parameters of a named model. The
        default name is that of the class. Models are tested against logistic,
        lightgbm, lambdarank and cox, those that take part, or else against the first.
        By default linear, logistic, lightgbm and
        lambdamart are compared; with a range also lambdamart-pauc, with queries also
        lambdarank; with censored times the models that learn them, and estimators of
        other packages that score risks by ``predict``. "auto" is
        :class:`~aucmax.AutoRanker`; unless its pair sets ``time_limit``, its searches
        take 60 seconds over all folds.
    qid : array-like of shape (rows,), optional
        The query of each row, unless `y` is a target, which has its own.
    sample_weight : array-like of shape (rows,), optional
        Row weights, in training and in all measures.
    groups : array-like of shape (n_rows,), default=None
        Rows of one group are in one fold.
    times : array-like of shape (rows,), optional
        Numbers or dates: each fold is later than the training rows of its models.
    test : pair (table, target), optional
        Test rows: models are fitted to all of `X` and tested on these, without folds.
        The target is a :class:`~aucmax.tables.Target`, or values that also occur in
        `y`.
    cv : int or splitter, optional
        Number of folds, or a splitter of scikit-learn whose test folds are disjoint;
        each fold needs two rows of either class, or a query with both. By default 5,
        or fewer if a class is small, queries or groups are few, or times allow no more.
    metric : str, optional
        The metric that decides, by a name that :class:`AutoRanker` takes: "auc",
        "average_precision", "recall@fpr=0.01", "ndcg@10", ... By default the partial
        AUC if a range is given, else the AUC (c-statistic), for levels in queries
        "ndcg@10", and without queries "mauc". Without queries, a number of top rows
        counts among all rows, and a fold uses the same share.
    fpr_range, tpr_range : pair of float, optional
        The part of the ROC curve that counts. Without one, the partial AUC of
        false positive rates up to 0.1 is shown beside the AUC.
    pos_label : optional
        The positive value, as in :func:`aucmax.tables.encode_target`.
    progress : callable, optional
        Called with a line of text after each fit.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from aucmax.model_selection import compare_models
    >>> from aucmax.datasets import load_demo
    >>> machines = load_demo().head(1000)
    >>> comparison = compare_models(
    ...     machines.drop("failed"),
    ...     machines["failed"],
    ...     ["linear", "logistic", ("naive Bayes", GaussianNB())],
    ...     cv=3,
    ... )
    >>> comparison
    Comparison of 3 models over 3 folds: best is 'linear', AUC 0.8794
    """
    check_callable("progress", progress)
    is_survival = is_survival_target(y) or getattr(y, "is_survival", False)
    has_queries = qid is not None or getattr(y, "queries", None) is not None
    if models is None:
        has_range = fpr_range is not None or tpr_range is not None
        models = compared_models(metric == "partial_auc" or has_range, has_queries)
        models = SURVIVAL_CANDIDATES if is_survival else models
    may_be_levels = learns_levels(models, has_queries)
    target = encode_target(
        y,
        pos_label,
        sample_weight=sample_weight,
        qid=qid,
        groups=groups,
        times=times,
        allow_levels=may_be_levels,
    )
    goal = choose_goal(target, metric, fpr_range, tpr_range)
    table = as_table(X)
    check_rows(table, target)
    if target.is_survival:
        require_survival(models)
    if test is not None:
        scheme, (table, target, folds) = "test", _append_rows(table, target, *test)
    else:
        scheme = "groups" if target.groups is not None else "folds"
        scheme = "times" if target.times is not None else scheme
        folds = split_rows(target, cv, random_state=0)

    candidates = _make_candidates(models, goal, target, len(folds), X)
    baselines = [name for name in candidates if name in BASELINES]
    baselines = baselines or [*candidates][:1] * (len(candidates) > 1)
    folded = FoldedTable(table, target, folds)
    notices = dict.fromkeys(check_table(folded.table, target, folds))
    if not isinstance(y, Target):
        share = target.n_positive / target.labels.size
        notes = positive_class_notes(target.grading.positive, share, pos_label)
        notices = {TableNotice("positive class", n): None for n in notes} | notices
    fold_of_row = np.full(target.labels.size, -1)
    for k, (_, tested) in enumerate(folds):
        fold_of_row[tested] = k
    rows = np.flatnonzero(fold_of_row >= 0)
    # by default a fold has a share of the rows that are one list
    is_part = scheme != "test" and target.queries is None
    share = rows.size / target.labels.size if is_part else 1.0
    held_out = HeldOutRows(target.take(rows), fold_of_row[rows], goal, share)
    scores = {name: np.empty(rows.size) for name in candidates}
    seconds: dict[str, list[float]] = {name: [] for name in candidates}
    for k, (held, part) in enumerate(held_out.take_folds()):
        last = FittedFold({}, folded.encoder(k), table[rows[held]], part.target)
        for name, candidate in candidates.items():
            with _collect_warnings(notices, name):
                fitted = folded.fit_and_score(candidate, k)
            scores[name][held] = fitted.scores
            seconds[name].append(fitted.seconds)
            last.models[name] = fitted_model(
                last.encoder, candidate.view, fitted.estimator
            )
            if progress is not None:
                fold = "" if scheme == "test" else f"fold {k + 1}/{len(folds)} "
                outcome = _outcome(part, fitted.scores)
                progress(f"{fold}{name} {outcome} {fitted.seconds:.2f} s")
        folded.forget(k)
    results = [
        summarise(held_out, name, scores[name], seconds[name], name in baselines)
        for name in candidates
    ]
    ranked = [result for result in results if result.problem is None]
    return Comparison(
        results=tuple(results),
        tests=_test_models(held_out, [one.name for one in ranked], baselines, scores),
        best=max(ranked, key=lambda one: one.main).name if ranked else None,
        target=held_out.target,
        unit=held_out.unit,
        positions={one.name: _positions(held_out, scores[one.name]) for one in ranked},
        scores={one.name: scores[one.name] for one in ranked},
        fold_numbers=held_out.folds,
        n_folds=len(folds),
        scheme=scheme,
        goal=goal,
        notices=tuple(notices),
        last_fold=last,
        fingerprint=digest_table(table, target),
    )


def _make_candidates(
    models: Sequence[object], goal: Goal, target: Target, n_folds: int, X: object
) -> dict[str, TableCandidate]:
    """Return a candidate for each model, trained for the goal if it can be."""

    def make(name: str, parameters: Mapping[str, Any] | None = None) -> TableCandidate:
        metric = None if target.is_graded else goal.other_metric
        candidate = named_candidate(
            name, ranges=goal.ranges, metric=metric, parameters=parameters
        )
        if name != "auto":
            return candidate
        if "time_limit" not in (parameters or {}):
            candidate.estimator.set_params(time_limit=_AUTO_SECONDS / n_folds)
        if target.is_graded and target.queries is None and goal.metric == "auc":
            return candidate._replace(learns_levels=False)
        if target.is_graded or not goal.is_area:
            candidate.estimator.set_params(metric=goal.metric)
        return candidate

    candidates = name_candidates(models, make)
    return {name: for_frame(one, X) for name, one in candidates.items()}


def _test_models(
    rows: HeldOutRows,
    names: Sequence[str],
    baselines: Sequence[str],
    scores: Mapping[str, FloatArray],
) -> tuple[MetricDifference, ...]:
    """Test every model against every other baseline."""
    tests = [
        replace(
            rows.compare(scores[name], scores[baseline]),
            names=(name, baseline),
            metric=rows.goal.metric,
        )
        for name in names
        for baseline in baselines
        if baseline in names and baseline != name
    ]
    return adjusted_tests(tests)


def _outcome(rows: HeldOutRows, scores: FloatArray) -> str:
    value = measure_fold(rows, scores)
    return "constant scores" if np.isnan(value) else f"{rows.goal.title} {value:.4f}"


def _positions(rows: HeldOutRows, scores: FloatArray) -> FloatArray:
    """Return the share of the negatives of its fold that each row outranks."""
    positions = np.empty(scores.size)
    for held, part in rows.take_folds():
        positions[held] = part.target.positions(scores[held])
    return positions


@contextmanager
def _collect_warnings(notices: dict[TableNotice, None], name: str) -> Iterator[None]:
    """Turn each warning of a model into one notice."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        # the target has counted them
        warnings.simplefilter("ignore", OneClassQueryWarning)
        # expected of held-out rows of other queries, groups or times
        warnings.simplefilter("ignore", UnknownCategoriesWarning)
        yield
    for warning in caught:
        if issubclass(warning.category, UserWarning | RuntimeWarning):
            text = f"{name}: {str(warning.message).splitlines()[0]}"
            notices[TableNotice("model", text)] = None


def _append_rows(
    table: object, target: Target, X: object, y: object
) -> tuple[Any, Target, Folds]:
    """Append test rows; return all rows, and the fold that separates them again."""
    names = {"y": "the target of the test rows"}
    other = encode_target(y, grading=target.grading, names=names)
    if (target.queries is None) != (other.queries is None):
        raise ValueError(
            "training and test rows must both have queries, or neither of them."
        )
    is_binary = other.queries is None and not other.is_survival
    if is_binary and min(other.n_positive, other.n_negative) < 2:
        raise ValueError(
            f"{other.n_positive} of {other.labels.size} test rows are positive; at "
            "least two rows of either class are needed to test models."
        )
    rows = np.arange(target.labels.size + other.labels.size, dtype=np.intp)
    train, tested = np.split(rows, [target.labels.size])
    return (_stacked(table, as_table(X)), target.followed_by(other), [(train, tested)])


def _stacked(first: Any, second: Any) -> Any:
    if isinstance(first, pl.DataFrame) != isinstance(second, pl.DataFrame):
        raise ValueError(
            "training and test rows must both be tables with named columns, or both "
            "sparse matrices."
        )
    if isinstance(first, pl.DataFrame):
        missing = [name for name in first.columns if name not in second.columns]
        if missing:
            shown = ", ".join(map(repr, missing[:5]))
            raise ValueError(
                f"the test rows lack columns of the training rows: {shown}."
            )
        return pl.concat([first, second.select(first.columns)], how="vertical_relaxed")
    width = max(first.shape[1], second.shape[1])
    return sparse.vstack([fit_width(first, width), fit_width(second, width)], "csr")
