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
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.model_selection import StratifiedKFold

from aucmax.metrics import auc_interval, compare_auc, partial_auc_score
from aucmax.tabular._frames import as_frame
from aucmax.tabular._pooling import pool_aucs, pool_differences
from aucmax.tabular._sparse import as_rows
from aucmax.tabular.encoder import TableEncoder
from aucmax.tabular.model import VIEWS, fit_estimator
from aucmax.tabular.models import COMPARED, MODELS, find_model
from aucmax.tabular.results import Comparison, ModelResult, VersusBaseline
from aucmax.tabular.target import Target

__all__ = ["compare_models"]

Floats = NDArray[np.float64]

_LEVEL = 0.05


@dataclass(frozen=True)
class _Fold:
    """One test fold: its rows, and what each model made of them."""

    rows: NDArray[np.intp]
    labels: NDArray[np.int64]
    scores: dict[str, Floats]
    seconds: dict[str, float]

    @property
    def sizes(self) -> tuple[int, int]:
        n_positive = int(self.labels.sum())
        return n_positive, self.labels.size - n_positive


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
    """Cross-validate models on the same stratified folds.

    The table is learned anew from the training rows of every fold.

    Parameters
    ----------
    X : DataFrame (polars or pandas), array or sparse matrix, (rows, columns)
        Raw rows, without the target.
    target : Target
        From :func:`aucmax.tabular.encode_target`.
    models : sequence of str
        Keys of :data:`aucmax.tabular.MODELS`; by default those not on request.
    n_folds : int, default=5
        Number of folds; each needs two rows of either class.
    fpr_range : tuple of float, default=(0, 0.1)
        Range of the partial AUC.
    random_state : int, default=0
        Decides how rows are dealt to the folds.
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
    results = tuple(_summarise(name, folds, fpr_range) for name in models)
    baselines = [result.name for result in results if result.is_baseline]
    return Comparison(
        results=results,
        tests=tuple(
            _test(name, baseline, folds)
            for name in models
            for baseline in baselines
            if name != baseline
        ),
        best=max(results, key=lambda result: result.auc).name,
        labels=target.labels,
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
) -> tuple[list[_Fold], tuple[str, ...]]:
    target.check_folds(n_folds)
    splitter = StratifiedKFold(n_folds, shuffle=True, random_state=random_state)
    folds: list[_Fold] = []
    notices: dict[str, None] = {}
    for k, (train, test) in enumerate(splitter.split(target.labels, target.labels)):
        fold = _Fold(test, target.labels[test], {}, {})
        encoder = TableEncoder().fit(rows[train])
        views = {MODELS[name].view for name in models}
        matrices = {
            view: (VIEWS[view](encoder, rows[train]), VIEWS[view](encoder, rows[test]))
            for view in views
        }
        for name in models:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                _fit_and_score(name, encoder, matrices, target.labels[train], fold)
            notices.update(_readable(name, caught))
            auc = auc_interval(fold.labels, fold.scores[name]).auc
            seconds = fold.seconds[name]
            progress(f"fold {k + 1}/{n_folds} {name} AUC {auc:.4f} {seconds:.2f} s")
        folds.append(fold)
    return folds, tuple(notices)


def _fit_and_score(
    name: str, encoder: TableEncoder, matrices: Any, labels: Any, fold: _Fold
) -> None:
    choice = MODELS[name]
    train, test = matrices[choice.view]
    start = time.perf_counter()
    estimator = fit_estimator(
        choice.make(labels.size), choice.view, encoder, train, labels
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
    name: str, folds: list[_Fold], fpr_range: tuple[float, float]
) -> ModelResult:
    weights = _weights(folds)
    aucs = [auc_interval(fold.labels, fold.scores[name]) for fold in folds]
    pooled = pool_aucs(aucs, weights, _n_disjoint_pairs(folds))
    partial = [
        partial_auc_score(fold.labels, fold.scores[name], fpr_range=fpr_range)
        for fold in folds
    ]
    return ModelResult(
        name=name,
        is_baseline=MODELS[name].is_baseline,
        auc=pooled.auc,
        low=pooled.low,
        high=pooled.high,
        partial_auc=float(weights @ partial),
        seconds=float(np.median([fold.seconds[name] for fold in folds])),
        fold_aucs=tuple(fold.auc for fold in aucs),
    )


def _test(name: str, baseline: str, folds: list[_Fold]) -> VersusBaseline:
    differences = [
        compare_auc(fold.labels, fold.scores[name], fold.scores[baseline])
        for fold in folds
    ]
    pooled = pool_differences(differences, _weights(folds), _n_disjoint_pairs(folds))
    verdict = "no difference"
    if pooled.p_value < _LEVEL:
        verdict = "beats" if pooled.difference > 0 else "loses"
    return VersusBaseline(
        name,
        baseline,
        pooled.difference,
        pooled.low,
        pooled.high,
        pooled.p_value,
        verdict,
    )


def _weights(folds: Sequence[_Fold]) -> Floats:
    pairs = np.array([float(p) * n for p, n in (fold.sizes for fold in folds)])
    return np.asarray(pairs / pairs.sum())


def _n_disjoint_pairs(folds: Sequence[_Fold]) -> int:
    return sum(min(fold.sizes) for fold in folds)


def _positions(name: str, folds: Sequence[_Fold]) -> Floats:
    """Share of the negatives of its fold that each row outranks; ties count half."""
    positions = np.empty(sum(fold.rows.size for fold in folds))
    for fold in folds:
        scores = fold.scores[name]
        negatives = np.sort(scores[fold.labels == 0])
        below = np.searchsorted(negatives, scores, side="left")
        up_to = np.searchsorted(negatives, scores, side="right")
        positions[fold.rows] = (below + up_to) / (2 * negatives.size)
    return positions


def _ignore(_: str) -> None:
    """Take no notice of progress."""
