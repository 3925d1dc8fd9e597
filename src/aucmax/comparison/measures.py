r"""How well scores rank, query by query, and how sure that is.

With :math:`A_1, \dots, A_n` the measure on each of n queries, the estimate is their
mean, whose standard error is that of n independent values. The interval and the test
of a difference (the mean of the paired differences :math:`A_q - B_q`) refer it to
Student's t with n - 1 degrees of freedom.
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr, stdtrit

from aucmax.metrics import (
    multiclass_auc_score,
    ordinal_auc_score,
    partial_auc_score,
    roc_auc_score,
)
from aucmax.metrics.uncertainty import TwoSidedTest, logit_interval, two_sided_test
from aucmax.tables.target import Target

__all__ = ["MeanInterval", "main_measure", "mean_interval", "measure", "paired_test"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Metric: TypeAlias = Callable[[Integers, Floats], float]

CONFIDENCE = 0.95


class MeanInterval(NamedTuple):
    """A mean with its 95% interval."""

    mean: float
    low: float
    high: float


def measure(
    target: Target, scores: Floats, fpr_range: tuple[float, float]
) -> dict[str, Floats]:
    """Measure each query that has rows of two levels; the main measure comes first.

    Parameters
    ----------
    target : Target
        What is ranked; without queries all rows are one.
    scores : ndarray of shape (rows,)
        Higher scores rank higher.
    fpr_range : tuple of float
        Range of the partial AUC.

    Returns
    -------
    measures : dict of str to ndarray of shape (queries,)
        Two classes: ``auc`` and ``partial_auc``. More levels: ``mauc``,
        ``ordinal_auc``, and ``auc`` of the rows above the lowest level, which is NaN
        for a query that has no row of the lowest.
    """
    return {
        name: _each(metric, target, labels, scores)
        for name, (metric, labels) in _metrics(target, fpr_range).items()
    }


def main_measure(target: Target, scores: Floats) -> tuple[str, float]:
    """Return the name of the main measure, and its mean over the queries."""
    name, (metric, labels) = next(iter(_metrics(target).items()))
    return name, float(_each(metric, target, labels, scores).mean())


def _metrics(
    target: Target, fpr_range: tuple[float, float] = (0.0, 1.0)
) -> dict[str, tuple[Metric, Integers]]:
    """Return what can be measured, and against which labels."""
    if target.is_graded:
        return {
            "mauc": (multiclass_auc_score, target.labels),
            "ordinal_auc": (ordinal_auc_score, target.labels),
            "auc": (roc_auc_score, target.relevant),
        }
    return {
        "auc": (roc_auc_score, target.labels),
        "partial_auc": (partial(partial_auc_score, fpr_range=fpr_range), target.labels),
    }


def _each(metric: Metric, target: Target, labels: Integers, scores: Floats) -> Floats:
    return np.array(
        [
            metric(labels[rows], scores[rows])
            if labels[rows].min() < labels[rows].max()
            else np.nan
            for rows in target.blocks
        ]
    )


def mean_interval(values: Floats) -> MeanInterval:
    """Return the mean of two or more independent values between 0 and 1.

    If all are 0 or all are 1, the interval is that of so many coins.
    """
    mean, error = _mean_and_error(values)
    if error == 0:
        return MeanInterval(mean, *logit_interval(mean, 0.0, CONFIDENCE, values.size))
    margin = _quantile(values.size) * error
    return MeanInterval(mean, max(mean - margin, 0.0), min(mean + margin, 1.0))


def paired_test(values: Floats, baseline: Floats) -> TwoSidedTest:
    """Test whether the mean difference of paired values is zero, on both sides.

    If all differences are equal, Hoeffding's inequality takes the place of t.
    """
    difference, error = _mean_and_error(values - baseline)
    if error == 0:
        return two_sided_test(difference, 0.0, CONFIDENCE, values.size)
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
