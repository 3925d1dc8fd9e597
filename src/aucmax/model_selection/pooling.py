"""One estimate from several: of folds by their weights, of queries by their mean.

:mod:`aucmax.model_selection.cross_validation` has the formula for folds. The mean over
n queries has the error of n independent values, and refers to Student's t.
"""

import warnings
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr, stdtrit

from aucmax.exceptions import FewRowsWarning
from aucmax.metrics import AUCComparison, AUCInterval
from aucmax.metrics.uncertainty import (
    Rows,
    TwoSidedTest,
    area_interval,
    two_sided_test,
    warn_of_few_rows,
)

__all__ = [
    "Estimate",
    "ignore_few_rows",
    "mean_interval",
    "paired_test",
    "pool_aucs",
    "pool_differences",
]

Floats = NDArray[np.float64]

CONFIDENCE = 0.95


class Estimate(NamedTuple):
    """A measure between 0 and 1 with its 95% interval, NaN where there is none."""

    value: float
    low: float
    high: float


def pool_aucs(
    folds: Sequence[AUCInterval],
    weights: Floats,
    *,
    of_models: bool = False,
) -> Estimate:
    """Combine AUCs by weights that sum to one.

    The interval is that of :func:`aucmax.metrics.auc_interval` for the rows of all
    folds. With `of_models`, each fold has a model of its own, fitted to the other
    folds, and what that adds to the variance is allowed for.
    """
    values = np.array([fold.auc for fold in folds])
    auc = float(weights @ values)
    error = _pooled_error(folds, weights)
    if of_models:
        error = _with_fitting_error(error, values, weights)
    return Estimate(auc, *area_interval(auc, error, CONFIDENCE, _pooled_rows(folds)))


def pool_differences(
    folds: Sequence[AUCComparison],
    weights: Floats,
    *,
    of_models: bool = False,
) -> TwoSidedTest:
    """Combine paired differences of AUCs and test them against zero, on both sides.

    The test is that of :func:`aucmax.metrics.compare_auc`; `of_models` is as in
    :func:`pool_aucs`.
    """
    values = np.array([fold.difference for fold in folds])
    difference = float(weights @ values)
    error = _pooled_error(folds, weights)
    if of_models:
        error = _with_fitting_error(error, values, weights)
    both = np.array([(fold.auc_a, fold.auc_b) for fold in folds])
    auc_a, auc_b = (weights @ both).tolist()
    rows = _pooled_rows(folds)
    return two_sided_test(difference, error, CONFIDENCE, rows, (auc_a, auc_b))


def ignore_few_rows() -> "warnings.catch_warnings[None]":
    """Return a context for single folds, whose few rows are pooled with others."""
    return warnings.catch_warnings(action="ignore", category=FewRowsWarning)


def _pooled_error(
    folds: Sequence[AUCInterval] | Sequence[AUCComparison], weights: Floats
) -> float:
    return float(np.linalg.norm(weights * [fold.standard_error for fold in folds]))


def _pooled_rows(folds: Sequence[AUCInterval] | Sequence[AUCComparison]) -> Rows:
    positive, negative = np.sum([fold.rows for fold in folds], axis=0).tolist()
    warn_of_few_rows((positive, negative))
    return positive, negative


def _with_fitting_error(error: float, values: Floats, weights: Floats) -> float:
    """Widen the error of the test rows by what the fits of the folds' models add.

    See :mod:`aucmax.model_selection.cross_validation`.
    """
    k = values.size
    if k == 1 or error == 0.0:
        return error
    spread = k / (k - 1) * float(weights @ (values - weights @ values) ** 2)
    by_rows = (1.0 + 1.0 / (k - 1)) * error**2
    by_folds = (1.0 / k + 1.0 / (k - 1)) * spread
    return float(np.sqrt(max(by_rows, by_folds)))


def mean_interval(values: Floats) -> Estimate:
    """Return the mean of independent values between 0 and 1.

    If all are 0 or all are 1, the interval is that of so many coins; a single value has
    none.
    """
    mean, error = _mean_and_error(values)
    if values.size == 1:
        return Estimate(mean, np.nan, np.nan)
    if error == 0:
        bound = ((1.0 - CONFIDENCE) / 2.0) ** (1.0 / values.size)
        ends = {1.0: (bound, 1.0), 0.0: (0.0, 1.0 - bound)}
        return Estimate(mean, *ends.get(mean, (mean, mean)))
    margin = _quantile(values.size) * error
    return Estimate(mean, max(mean - margin, 0.0), min(mean + margin, 1.0))


def paired_test(values: Floats, baseline: Floats) -> TwoSidedTest:
    """Test whether the mean difference of paired values is zero, on both sides.

    If all differences are equal, their variance is that of :func:`compare_auc` alone.
    """
    difference, error = _mean_and_error(values - baseline)
    if error == 0:
        rows, areas = (values.size,) * 2, (values.mean(), baseline.mean())
        return two_sided_test(difference, 0.0, CONFIDENCE, rows, areas)
    t = difference / error
    margin = _quantile(values.size) * error
    return TwoSidedTest(
        difference,
        max(difference - margin, -1.0),
        min(difference + margin, 1.0),
        t,
        float(2.0 * stdtr(values.size - 1, -abs(t))),
    )


def _mean_and_error(values: Floats) -> tuple[float, float]:
    if np.ptp(values) == 0:
        return float(values[0]), 0.0
    return float(values.mean()), float(values.std(ddof=1) / np.sqrt(values.size))


def _quantile(n_values: int) -> float:
    return float(stdtrit(n_values - 1, (1.0 + CONFIDENCE) / 2.0))
