r"""Which model ranks best? Cross-validation on equal folds, with honest intervals.

Scores of models fitted to different folds are not on one scale, so rows are only
compared within their fold. With :math:`A_k` the AUC on the :math:`k`-th test fold,
:math:`p_k` positives and :math:`n_k` negatives in it, and weights
:math:`w_k = p_k n_k / \sum_l p_l n_l`,

.. math:: \hat A = \sum_k w_k A_k, \qquad
          \operatorname{var}(\hat A) = \sum_k w_k^2 \operatorname{var}(A_k)

is the share of pairs ordered correctly among all pairs within a fold, and its
variance with DeLong's for each fold [1]_. The partial AUC of a range is pooled alike,
with the variance that :func:`aucmax.metrics.auc_interval` has for it. The difference of
two models is treated alike, with the paired variance of DeLong in each fold. Intervals
and tests are then those of :func:`aucmax.metrics.auc_interval` and
:func:`aucmax.metrics.compare_auc` for the rows of all folds. The
cross-validated AUC with a variance from the influence of each test row, fold by fold,
is the estimator of LeDell, Petersen and van der Laan [2]_.

With queries, rows are compared within their query alone, no query is divided between
folds, and the estimate is the mean over the queries that have rows of both classes,
with Student's t for its interval and for the paired difference of two models
(:mod:`aucmax.model_selection.measures`). The same for more than two levels: each fold
takes the place of a query if there are none.

These variances describe the test rows, given the fitted models. The models themselves
depend on the rows of other test folds, and no unbiased estimate of what that adds
exists from one cross-validation. So that intervals of models that vary with their rows,
such as trees, are not too narrow, the variance V of two classes in one ranking is
replaced by

.. math:: \max\Big\{ \Big(1 + \frac{1}{K - 1}\Big) V, \;
          \Big(\frac{1}{K} + \frac{1}{K - 1}\Big) S^2 \Big\}

for K folds, with the variance :math:`S^2` of their values: the factor of Nadeau and
Bengio [3]_, where :math:`1 / (K - 1)` is the ratio of test to training rows. Each
p-value stands alone; there is no correction for many tests.

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

import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from aucmax.exceptions import OneClassQueryWarning, UnknownCategoriesWarning
from aucmax.model_selection.aim import MEASURES, choose_aim
from aucmax.model_selection.judges import Fold, compare_folds, summarise_folds
from aucmax.model_selection.models import BASELINES, compared_models, name_models
from aucmax.model_selection.results import (
    Comparison,
    FittedFold,
    ModelResult,
    VersusBaseline,
)
from aucmax.model_selection.splits import Splits
from aucmax.tables import (
    TableEncoder,
    TableModel,
    TableNotice,
    Target,
    as_table,
    describe_rows,
    digest_table,
    encode_target,
)
from aucmax.tables.table_model import (
    assemble_model,
    check_rows,
    fit_estimator,
    learn_encoder,
    score_rows,
    view_rows,
    view_training_rows,
)

__all__ = ["compare_models"]

Models = Mapping[str, TableModel]
Encode = Callable[[TableEncoder | None, str], tuple[TableEncoder, Any, Any]]


def compare_models(
    X: Any,
    y: Any,
    models: Sequence[Any] | None = None,
    *,
    qid: Any = None,
    sample_weight: Any = None,
    groups: Any = None,
    times: Any = None,
    test: tuple[Any, Any] | None = None,
    baselines: Sequence[str] | None = None,
    n_folds: int | None = None,
    metric: str | None = None,
    fpr_range: Sequence[float] | None = None,
    tpr_range: Sequence[float] | None = None,
    random_state: int = 0,
    progress: Callable[[str], None] | None = None,
) -> Comparison:
    """Cross-validate models on the same folds.

    The table is learned anew from the training rows of every fold. With queries, models
    that can learn within queries do; the others learn all rows together. With more than
    two levels, models that do not learn levels learn which rows are above the lowest.

    A range is what models with a name are trained for, if they can, and what all are
    chosen and tested by. A model whose scores are constant on a test fold ranks nothing
    there: it gets no numbers, and its result says so.

    Parameters
    ----------
    X : DataFrame (polars or pandas), array or sparse matrix, (rows, columns)
        Raw rows, without the target and the column of the queries.
    y : array-like of shape (rows,), or Target
        What is to be ranked. :func:`aucmax.tables.encode_target` makes a target, and
        says which of two values is the positive one without a choice. More than two
        values are levels of relevance if one of the models learns levels.
    models : sequence, optional
        Names from :data:`aucmax.model_selection.models.MODELS`, estimators, and pairs
        ``(name, estimator)`` of a classifier with ``decision_function`` or
        ``predict_proba``; none is changed. An estimator learns from the scaled, one-hot
        encoded table, or from gaps and category codes if it has a parameter
        ``categorical_features``; a :class:`~aucmax.tables.TableModel` says so itself.
        Without a name it goes by that of its class. By default
        :func:`aucmax.model_selection.compared_models`.
    qid : array-like of shape (rows,), optional
        The query of each row, unless `y` is a target, which has its own.
    sample_weight : array-like of shape (rows,), optional
        What each row counts, in training and in all measures.
    groups : array-like of shape (rows,), optional
        Rows of one group, such as one patient, are in one fold.
    times : array-like of shape (rows,), optional
        Numbers or dates: each fold is later than the rows that its models learn from.
    test : pair (table, target), optional
        Other rows: then models are fitted to all of `X` and tested on these, and there
        are no folds. The target is a :class:`~aucmax.tables.Target`, or values that
        `y` has, too.
    baselines : sequence of str, optional
        Names of the models that the others are tested against; by default those among
        :data:`aucmax.model_selection.models.BASELINES`.
    n_folds : int, optional
        Number of folds; each needs two rows of either class, or a query with both. By
        default 5, or fewer if a class is small, queries or groups are few, or times
        allow no more.
    metric : str, optional
        What decides: a key of :data:`aucmax.model_selection.MEASURES`. By default the
        partial AUC if a range is given, else the AUC, or the MAUC of more than two
        levels.
    fpr_range, tpr_range : pair of float, optional
        The part of the ROC curve that counts. If none is given, the partial AUC of
        false-positive rates up to 0.1 is shown beside the AUC.
    random_state : int, default=0
        Decides how rows, or queries, are dealt to the folds.
    progress : callable, optional
        Called with a line of news after each fit.

    Returns
    -------
    comparison : Comparison

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
    ...     n_folds=3,
    ... )
    >>> comparison
    Comparison of 3 models over 3 folds: best is 'logistic', AUC 0.8568
    """
    if models is None:
        has_range = fpr_range is not None or tpr_range is not None
        has_queries = qid is not None or getattr(y, "queries", None) is not None
        models = compared_models(metric == "partial_auc" or has_range, has_queries)
    learns_levels = any(m.levels == "learn" for m in name_models(models).values())
    target = encode_target(y, allow_levels=learns_levels, qid=qid)
    target = describe_rows(
        target, sample_weight=sample_weight, groups=groups, times=times
    )
    aim = choose_aim(target, metric, fpr_range, tpr_range)
    named = name_models(models, aim.ranges)
    baselines = _choose_baselines(baselines, named)
    table = as_table(X)
    check_rows(table, target)
    if test is None:
        splits = Splits.of_folds(table, target, n_folds, random_state)
    else:
        splits = Splits.of_two_tables(table, target, *test)
    notices = dict.fromkeys(splits.check())
    folds: list[Fold] = []
    for train, tested in splits.folds:
        known = splits.target.take(train)
        fold = Fold(tested, splits.target.take(tested), aim)
        folds.append(fold)
        encode = _encodings(splits.table[train], splits.table[tested], known)
        last = FittedFold({}, splits.table[tested], fold.target)
        for name, model in named.items():
            with _warnings_to(notices, name):
                last.models[name] = _fit_and_score(name, model, encode, known, fold)
            if progress is not None:
                where = (
                    f"fold {len(folds)}/{len(splits.folds)} " if test is None else ""
                )
                progress(where + _news(fold, name))
    found = _sum_up(folds, baselines, splits, tuple(notices))
    return replace(
        found,
        last_fold=last,
        random_state=random_state,
        fingerprint=digest_table(splits.table, splits.target),
    )


def _news(fold: Fold, name: str) -> str:
    value = fold.main(name)
    measured = f"{MEASURES[fold.aim.metric]} {value:.4f}"
    if np.isnan(value):
        measured = "constant scores"
    return f"{name} {measured} {fold.seconds[name]:.2f} s"


def _choose_baselines(wanted: Sequence[str] | None, named: Models) -> list[str]:
    if wanted is None:
        return [name for name in named if name in BASELINES]
    for name in wanted:
        if name not in named:
            raise ValueError(
                f"the baseline {name!r} is not among the models: {', '.join(named)}."
            )
    return [name for name in named if name in wanted]


def _encodings(train: Any, test: Any, target: Target) -> Encode:
    """Give a function that makes each matrix once, for all models that need it."""

    @cache
    def learn(template: TableEncoder | None) -> TableEncoder:
        return learn_encoder(template, train, target.relevant)

    @cache
    def encode(
        template: TableEncoder | None, view: str
    ) -> tuple[TableEncoder, Any, Any]:
        encoder = learn(template)
        known = view_training_rows(view, encoder, train, target)
        return encoder, known, view_rows(view, encoder, test)

    return encode


def _fit_and_score(
    name: str, model: TableModel, encode: Encode, target: Target, fold: Fold
) -> TableModel:
    encoder, known, new = encode(model.encoder, model.view)
    start = time.perf_counter()
    estimator = fit_estimator(model, encoder, known, target)
    seconds = time.perf_counter() - start
    fold.add(name, score_rows(estimator, new), seconds)
    return assemble_model(model, encoder, estimator, target)


@contextmanager
def _warnings_to(notices: dict[TableNotice, None], name: str) -> Iterator[None]:
    """Note what a model warns of, once, in place of its warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        # the target has counted them
        warnings.simplefilter("ignore", OneClassQueryWarning)
        # held-out rows of other queries, groups or times may well be unlike
        warnings.simplefilter("ignore", UnknownCategoriesWarning)
        yield
    for warning in caught:
        if issubclass(warning.category, UserWarning | RuntimeWarning):
            text = f"{name}: {str(warning.message).splitlines()[0]}"
            notices[TableNotice("model", text)] = None


def _sum_up(
    folds: Sequence[Fold],
    baselines: Sequence[str],
    splits: Splits,
    notices: tuple[TableNotice, ...],
) -> Comparison:
    results = [_result(folds, name, name in baselines) for name in folds[0].scores]
    ranked = [result.name for result in results if result.problem is None]
    tests = []
    for name in ranked:
        for baseline in baselines:
            if baseline in ranked and baseline != name:
                test = compare_folds(folds, name, baseline)
                difference, low, high, _, p_value = test
                tests.append(
                    VersusBaseline(name, baseline, difference, low, high, p_value)
                )
    rows = np.concatenate([fold.rows for fold in folds])
    order = np.argsort(rows)
    sound = [result for result in results if result.problem is None]
    best = max(sound, key=lambda result: result.main).name if sound else None
    return Comparison(
        results=tuple(results),
        tests=tuple(tests),
        best=best,
        target=splits.target.take(rows[order]),
        unit=folds[0].unit,
        positions={
            name: np.concatenate([f.target.positions(f.scores[name]) for f in folds])[
                order
            ]
            for name in ranked
        },
        scores={
            name: np.concatenate([fold.scores[name] for fold in folds])[order]
            for name in ranked
        },
        fold_numbers=np.repeat(
            np.arange(len(folds)), [fold.rows.size for fold in folds]
        )[order],
        n_folds=len(folds),
        scheme=splits.scheme,
        aim=folds[0].aim,
        notices=notices,
    )


def _result(folds: Sequence[Fold], name: str, is_baseline: bool) -> ModelResult:
    summary = summarise_folds(folds, name)
    problem = None
    if summary.n_constant:
        problem = f"constant scores on {summary.n_constant} of {len(folds)} folds"
    return ModelResult(
        name,
        is_baseline,
        summary.measures,
        summary.low,
        summary.high,
        float(np.median([fold.seconds[name] for fold in folds])),
        summary.folds,
        problem,
    )
