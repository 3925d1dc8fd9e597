r"""One estimate from the estimates of several folds.

With weights :math:`w_k` that sum to one, the estimate is :math:`\sum_k w_k A_k` and
its variance :math:`\sum_k w_k^2 \sigma_k^2`, the folds having no test row in common.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from aucmax.metrics import AUCComparison, AUCInterval
from aucmax.metrics.uncertainty import TwoSidedTest, logit_interval, two_sided_test

__all__ = ["PooledAUC", "pool_aucs", "pool_differences"]

Floats = NDArray[np.float64]

_CONFIDENCE = 0.95


class PooledAUC(NamedTuple):
    """An AUC over several folds with its 95% interval."""

    auc: float
    low: float
    high: float


def pool_aucs(folds: list[AUCInterval], weights: Floats, n_pairs: int) -> PooledAUC:
    """Combine AUCs; the interval is that of :func:`aucmax.metrics.auc_interval`.

    Without any variance (all pairs in order) the exact binomial bound for `n_pairs`
    disjoint pairs is used.
    """
    auc = float(weights @ [fold.auc for fold in folds])
    error = _pooled_error(folds, weights)
    return PooledAUC(auc, *logit_interval(auc, error, _CONFIDENCE, n_pairs))


def pool_differences(
    folds: list[AUCComparison], weights: Floats, n_pairs: int
) -> TwoSidedTest:
    """Combine paired differences of AUCs and test them against zero, on both sides.

    Without any variance Hoeffding's inequality for `n_pairs` disjoint pairs takes the
    place of the normal distribution, as in :func:`aucmax.metrics.compare_auc`.
    """
    difference = float(weights @ [fold.difference for fold in folds])
    error = _pooled_error(folds, weights)
    return two_sided_test(difference, error, _CONFIDENCE, n_pairs)


def _pooled_error(
    folds: list[AUCInterval] | list[AUCComparison], weights: Floats
) -> float:
    return float(np.linalg.norm(weights * [fold.standard_error for fold in folds]))
