r"""Which model ranks best? Cross-validation on equal folds, with honest intervals.

Scores of models fitted to different folds are not on one scale, so rows are only
compared within their fold. With :math:`A_k` the AUC on the :math:`k`-th test fold,
:math:`p_k` positives and :math:`n_k` negatives in it, and weights
:math:`w_k = p_k n_k / \sum_l p_l n_l`,

.. math:: \hat A = \sum_k w_k A_k, \qquad
          \operatorname{var}(\hat A) = \sum_k w_k^2 \operatorname{var}(A_k)

is the share of pairs ordered correctly among all pairs within a fold, and its
variance with DeLong's for each fold [1]_. The difference of two models is treated
alike, with the paired variance of DeLong in each fold; the test refers
:math:`z = \hat D / \operatorname{sd}(\hat D)` to the normal distribution. The
cross-validated AUC with a variance from the influence of each test row, fold by fold,
is the estimator of LeDell, Petersen and van der Laan [2]_.

With queries, rows are compared within their query alone, no query is divided between
folds, and the estimate is the mean over the queries that have rows of both classes,
with Student's t for its interval and for the paired difference of two models
(:mod:`aucmax.comparison.measures`). So it is with more than two levels, where each fold
takes the place of a query if there are none.

The variances describe the test rows, given the fitted models. That training sets
overlap is not in them: no unbiased estimate of that part exists from one
cross-validation. Each p-value stands alone; there is no correction for many tests.

References
----------
.. [1] E. DeLong, D. DeLong, D. Clarke-Pearson. Comparing the areas under two or more
   correlated receiver operating characteristic curves. Biometrics 44, 1988.
.. [2] E. LeDell, M. Petersen, M. van der Laan. Computationally efficient confidence
   intervals for cross-validated area under the ROC curve estimates. Electronic
   Journal of Statistics 9, 2015.
"""

import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from aucmax.comparison.folds import split_folds
from aucmax.comparison.judges import ByQueries, ByRows, Fold, choose_judge
from aucmax.comparison.measures import main_measure
from aucmax.comparison.models import COMPARED, MODELS, find_model
from aucmax.comparison.positions import positions
from aucmax.comparison.results import Comparison, ModelResult, VersusBaseline
from aucmax.exceptions import OneClassQueryWarning
from aucmax.tables._frames import as_frame
from aucmax.tables._sparse import as_rows
from aucmax.tables.encoder import TableEncoder
from aucmax.tables.table_model import VIEWS, fit_estimator
from aucmax.tables.target import Target

__all__ = ["compare_models"]

_LEVEL = 0.05


def compare_models(
    X: Any,
    target: Target,
    models: Sequence[str] = COMPARED,
    *,
    n_folds: int = 5,
    fpr_range: tuple[float, float] = (0.0, 0.1),
    random_state: int = 0,
    progress: Callable[[str], None] | None = None,
) -> Comparison:
    """Cross-validate models on the same folds.

    The table is learned anew from the training rows of every fold. With queries, models
    that can learn within queries do; the others learn all rows together. With more than
    two levels, models that do not learn levels learn which rows are above the lowest.

    Parameters
    ----------
    X : DataFrame (polars or pandas), array or sparse matrix, (rows, columns)
        Raw rows, without the target and the column of the queries.
    target : Target
        From :func:`aucmax.tables.encode_target`, with the queries if there are any.
    models : sequence of str
        Keys of :data:`aucmax.comparison.MODELS`; by default those not on request.
    n_folds : int, default=5
        Number of folds; each needs two rows of either class, or a query with both.
    fpr_range : tuple of float, default=(0, 0.1)
        Range of the partial AUC.
    random_state : int, default=0
        Decides how rows, or queries, are dealt to the folds.
    progress : callable, optional
        Called with a line of news after each fit.

    Returns
    -------
    comparison : Comparison
    """
    if not models:
        raise ValueError("name at least one model to compare.")
    for name in models:
        find_model(name)
    rows: Any = as_rows(X) if sparse.issparse(X) else as_frame(X)
    if rows.shape[0] != target.labels.size:
        raise ValueError(
            f"the table has {rows.shape[0]} rows, the target {target.labels.size}."
        )
    folds, notices = _run_folds(
        rows, target, models, n_folds, random_state, progress or _ignore
    )
    judge = choose_judge(folds, fpr_range)
    results = tuple(_summarise(name, folds, judge) for name in models)
    baselines = [result.name for result in results if result.is_baseline]
    return Comparison(
        results=results,
        tests=tuple(
            _test(name, baseline, judge)
            for name in models
            for baseline in baselines
            if name != baseline
        ),
        best=max(results, key=lambda result: result.main).name,
        target=target,
        unit=judge.unit,
        positions={name: _positions(name, folds) for name in models},
        n_folds=n_folds,
        fpr_range=fpr_range,
        notices=notices,
    )


def _run_folds(
    rows: Any,
    target: Target,
    models: Sequence[str],
    n_folds: int,
    random_state: int,
    progress: Callable[[str], None],
) -> tuple[list[Fold], tuple[str, ...]]:
    folds: list[Fold] = []
    notices: dict[str, None] = {}
    for k, (train, test) in enumerate(split_folds(target, n_folds, random_state)):
        fold = Fold(test, target.take(test), {}, {})
        encoder = TableEncoder().fit(rows[train])
        views = {MODELS[name].view for name in models}
        matrices = {
            view: (VIEWS[view](encoder, rows[train]), VIEWS[view](encoder, rows[test]))
            for view in views
        }
        for name in models:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                # the target has counted them
                warnings.simplefilter("ignore", OneClassQueryWarning)
                _fit_and_score(name, encoder, matrices, target.take(train), fold)
            notices.update(_readable(name, caught))
            metric, value = main_measure(fold.target, fold.scores[name])
            progress(
                f"fold {k + 1}/{n_folds} {name} {metric.upper()} {value:.4f} "
                f"{fold.seconds[name]:.2f} s"
            )
        folds.append(fold)
    return folds, tuple(notices)


def _fit_and_score(
    name: str, encoder: TableEncoder, matrices: Any, target: Target, fold: Fold
) -> None:
    choice = MODELS[name]
    train, test = matrices[choice.view]
    start = time.perf_counter()
    estimator = fit_estimator(
        choice.make(target.labels.size),
        train,
        target.labels if choice.learns_levels else target.relevant,
        target.queries,
        encoder.categorical_features_ if choice.view == "trees" else None,
    )
    fold.seconds[name] = time.perf_counter() - start
    fold.scores[name] = np.asarray(estimator.decision_function(test), dtype=np.float64)


def _readable(name: str, caught: Sequence[warnings.WarningMessage]) -> dict[str, None]:
    return {
        f"{name}: {str(warning.message).splitlines()[0]}": None
        for warning in caught
        if issubclass(warning.category, UserWarning | RuntimeWarning)
    }


def _summarise(
    name: str, folds: Sequence[Fold], judge: ByRows | ByQueries
) -> ModelResult:
    summary = judge.summarise(name)
    return ModelResult(
        name=name,
        is_baseline=MODELS[name].is_baseline,
        measures=summary.measures,
        low=summary.low,
        high=summary.high,
        seconds=float(np.median([fold.seconds[name] for fold in folds])),
        folds=summary.folds,
    )


def _test(name: str, baseline: str, judge: ByRows | ByQueries) -> VersusBaseline:
    found = judge.test(name, baseline)
    verdict = "no difference"
    if found.p_value < _LEVEL:
        verdict = "beats" if found.difference > 0 else "loses"
    return VersusBaseline(
        name,
        baseline,
        found.difference,
        found.low,
        found.high,
        found.p_value,
        verdict,
    )


def _positions(name: str, folds: Sequence[Fold]) -> NDArray[np.float64]:
    joined = np.empty(sum(fold.rows.size for fold in folds))
    for fold in folds:
        joined[fold.rows] = positions(fold.target, fold.scores[name])
    return joined


def _ignore(_: str) -> None:
    """Take no notice of progress."""
