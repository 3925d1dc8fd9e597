"""Formulas of intervals and tests: logit, Newcombe, Wilson, Student's t."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from math import hypot, inf, sqrt
from typing import Any

import numpy as np
from scipy.special import expit, logit, ndtr, ndtri, stdtr, stdtrit

from aucmax.exceptions import FewRowsWarning

Rows = tuple[float, float]
Ends = tuple[float, float]

# The best of many thresholds looks better on the rows that chose it than on others.
# With this much more z at the lower ends, 92 to 98 % of intervals cover new rows.
EXTRA_FOR_THE_BEST = 0.5
# Chosen by the coverage of intervals of simulated rows, the first also by their width:
# `make coverage-intervals` tests both on other rows.
FEW_ERRORS = 5.0 - 1e-9  # less by rounding, so that equal weights change nothing
_FEW_ERRORS_FLOOR = 0.6
# Pseudo-rows of a class without a moved row, as many as Agresti and Coull add; and the
# number of moved rows from which none is needed. Chosen on scores of two values:
# coverage of 95 % or more, at most 1.1 times as wide with 5 moved rows in both classes.
_N_PSEUDO, _N_ENOUGH = 2.0, 10.0
_NEAR = 1.0 / 36.0  # of the squared distance of moved rows
_MIN_ROWS = 2.0 - 1e-9  # in the ranges; below, coverage fell under 92 % of 95 %


def warn_of_few_rows(rows: Rows) -> None:
    """Warn if the interval may not cover: narrow ranges, uneven weights."""
    if min(rows) < _MIN_ROWS:
        name = "positive" if rows[0] < rows[1] else "negative"
        warnings.warn(
            f"The interval rests on {min(rows):.2g} {name} rows within the ranges; "
            "with fewer than 2 it covers the area less often than it should. Widen "
            "the ranges, use more rows or even out their weights.",
            FewRowsWarning,
            stacklevel=3,
        )


def area_interval(
    auc: float,
    error: float,
    confidence_level: float,
    rows: Rows,
    degrees: Any = None,
    few_errors: float = FEW_ERRORS,
    unseen: float = 0.0,
) -> tuple[float, float]:
    """Return the ends of an area's interval; see :func:`auc_interval`."""
    few = max(min(rows), 1.0)
    is_few = error == 0.0 or few * min(auc, 1.0 - auc) < few_errors
    if not is_few:
        error = sqrt(error**2 + unseen)
    if auc in (0.0, 1.0):
        bound = ((1.0 - confidence_level) / 2.0) ** (1.0 / few)
        return (bound, 1.0) if auc else (0.0, 1.0 - bound)
    low, high = auc, auc
    if error > 0.0:
        quantile = t_quantile(
            few - 1.0 if degrees is None else degrees, confidence_level
        )
        low, high = logit_ends(auc, error, quantile)
    if is_few:
        many = max(*rows, 1.0)
        quantile = t_quantile(few + many - 2.0, confidence_level)
        score = _score_ends(auc, quantile, few * many, few, many)
        low, high = min(low, score[0]), max(high, score[1])
    return low, high


def logit_ends(auc: float, error: float, quantile: float) -> tuple[float, float]:
    """Return the ends of an interval on the logit scale."""
    margin = quantile * error / (auc * (1.0 - auc))
    return float(expit(logit(auc) - margin)), float(expit(logit(auc) + margin))


def textbook_interval(
    auc: float, error: float, confidence_level: float, rows: Rows, method: str
) -> Ends:
    """Return the ends by a method with the normal quantile."""
    quantile = t_quantile(inf, confidence_level)
    if method == "newcombe":  # method 5: the mean of both sizes in place of each
        mean = sum(rows) / 2.0
        return _score_ends(auc, quantile, rows[0] * rows[1], mean, mean)
    if method == "logit":
        return (auc, auc) if auc in (0.0, 1.0) else logit_ends(auc, error, quantile)
    return max(auc - quantile * error, 0.0), min(auc + quantile * error, 1.0)


def _score_ends(
    auc: float, quantile: float, n_pairs: float, few: float, many: float
) -> tuple[float, float]:
    """Bisect each end of Newcombe's interval."""

    def end(outer: float) -> float:
        inner = auc
        while outer != (middle := (outer + inner) / 2.0) != inner:
            low, high = sorted(((1 - middle) / (2 - middle), middle / (1 + middle)))
            spread = 1.0 + (many - 1.0) * high + (few - 1.0) * low
            variance = middle * (1.0 - middle) * spread / n_pairs
            if (middle - auc) ** 2 > quantile**2 * variance:
                outer = middle
            else:
                inner = middle
        return outer

    return end(0.0), end(1.0)


def wilson_ends(
    share: Any, n: Any, confidence_level: float, extra_below: float = 0.0
) -> tuple[Any, Any]:
    """Return the ends of Wilson's interval of each share of n rows; 0 and 1 without.

    At an end, ``end - share == z * sqrt(end * (1 - end) / n)``. `extra_below` is added
    to z at the lower end, for a share that was chosen as the best of many.
    """
    z = t_quantile(inf, confidence_level)
    is_known = (np.asarray(n) > 0.0) & (share == share)
    n = np.where(is_known, n, 1.0)
    ends = []
    for quantile, without_rows in ((-z - extra_below, 0.0), (z, 1.0)):
        part = quantile**2 / n
        variance = np.maximum(share * (1.0 - share), 0.0) / n + part / (4.0 * n)
        end = (share + part / 2.0 + quantile * np.sqrt(variance)) / (1.0 + part)
        ends.append(np.where(is_known, np.clip(end, 0.0, 1.0), without_rows)[()])
    return ends[0], ends[1]


def t_quantile(degrees: float, confidence_level: float) -> float:
    """Return the quantile of a two-sided interval: Student's t, or normal if inf."""
    share = (1.0 + confidence_level) / 2.0
    if degrees == inf:
        return float(ndtri(share))
    return float(stdtrit(max(degrees, 1.0), share))


def t_tail(degrees: float, z: float) -> float:
    """Return the probability below z."""
    return float(ndtr(z) if degrees == inf else stdtr(max(degrees, 1.0), z))


def two_sided_test(
    difference: float,
    error: float,
    confidence_level: float,
    rows: Rows,
    areas: Sequence[float] = (),
    *,
    degrees: float | None = None,
    quantile: float | None = None,
    null: float = 0.0,
    margin: float | None = None,
    unseen: float = 0.0,
) -> tuple[float, float, float, float]:
    """Return the ends of the interval of a difference, its statistic and p-value.

    Without the areas, there is no rule for few errors.
    """
    few = max(min(rows), 1.0)
    degrees = few - 1.0 if degrees is None else degrees
    error = inflate_for_few_errors(error, few, areas, unseen)
    if quantile is None:
        quantile = t_quantile(degrees, confidence_level)
    low = max(difference - quantile * error, -1.0)
    high = min(difference + quantile * error, 1.0)
    z = (difference - (null if margin is None else -margin)) / error
    tail = t_tail(degrees, -abs(z) if margin is None else -z)
    p_value = min(2.0 * tail, 1.0) if margin is None else tail
    return low, high, z, p_value


def inflate_for_few_errors(
    error: float, few: float, areas: Sequence[float], unseen: float = 0.0
) -> float:
    """Add a floor to the error if few errors were observed; see :func:`compare_auc`."""
    n_errors = few * min((min(area, 1.0 - area) for area in areas), default=inf)
    is_small = error == 0.0 or n_errors < FEW_ERRORS
    return hypot(error, _FEW_ERRORS_FLOOR / few if is_small else sqrt(unseen))


def unseen_variance(
    squares: Any, quartics: Any, n_units: Sequence[float], least: float = 0.0
) -> Any:
    """Return the variance of pseudo-rows of all classes; see :func:`auc_interval`.

    Takes sums of squares and of fourth powers of the effects of each class. A row that
    differs from most others is moved, by a squared distance of at least `least`.
    """
    n = np.reshape(n_units, (-1, *[1] * (np.ndim(squares) - 1)))
    squares, quartics = n**2 * squares, n**4 * quartics  # of shares, not of effects
    total = squares.sum(axis=0)
    is_known = total > 0.0
    distance = quartics.sum(axis=0) / np.where(is_known, total, 1.0)
    class_distance = quartics / np.where(squares > 0.0, squares, 1.0)
    class_distance = np.maximum(
        class_distance, distance * _NEAR
    )  # closer rows are not moved
    n_moved = squares / np.where(class_distance > 0.0, class_distance, 1.0)
    missing = np.maximum(1.0 - n_moved / np.minimum(_N_ENOUGH, n / 4.0), 0.0)
    added = (missing * _N_PSEUDO / (n * (n + 2.0 * _N_PSEUDO))).sum(axis=0)
    return np.where(is_known, added * np.maximum(distance, least), 0.0)
