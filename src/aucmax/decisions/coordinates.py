"""The ROC curve in numbers: rates at thresholds, and one rate at another."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from aucmax._core.docstrings import documented
from aucmax._core.parameters import check_interval
from aucmax._core.validation import check_binary_labels, check_scores
from aucmax.decisions.operating_point import operating_point
from aucmax.metrics import MetricInterval, metric_interval

if TYPE_CHECKING:
    import polars as pl

_DECIMALS = 12  # of a rate: 1 - 0.9 is below 1 / 10, where the curve may rise


@documented
def sensitivity_at_specificity(
    y_true: ArrayLike,
    y_score: ArrayLike,
    specificity: float,
    *,
    confidence: float = 0.95,
    n_resamples: int = 1000,
    random_state: int | np.random.Generator | None = 0,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    pos_label: Any = None,
) -> MetricInterval:
    """Sensitivity (recall) at a given specificity (1 - false positive rate).

    The highest recall at a false positive rate of at most ``1 - specificity``, with the
    interval of :func:`aucmax.metrics.metric_interval` for ``"recall@fpr=..."``, which
    allows for the threshold being estimated.

    Parameters
    ----------
    specificity : float
        A share from 0 to 1.
    n_resamples : int
        Number of bootstrap samples, with `groups`.
    random_state : int, numpy.random.Generator or None
        Seed of the samples.
    groups : array-like of shape (n_rows,), optional
        The group (cluster) of each row; whole groups are drawn.

    Returns
    -------
    MetricInterval
        ``sensitivity`` with ``low`` and ``high``.

    See Also
    --------
    operating_point : A threshold with such a rate, and its outcome.

    Examples
    --------
    >>> from aucmax.decisions import sensitivity_at_specificity
    >>> y, scores = [0, 1] * 20, [*range(30), *range(10)]
    >>> sensitivity_at_specificity(y, scores, 0.8)
    sensitivity 0.2500 (95% interval 0.0461 to 0.5822)
    """
    check_interval("specificity", specificity, 1.0, zero=True)
    metric = f"recall@fpr={round(1.0 - specificity, _DECIMALS)!r}"
    recall = metric_interval(
        y_true,
        y_score,
        metric,
        confidence=confidence,
        n_resamples=n_resamples,
        random_state=random_state,
        sample_weight=sample_weight,
        groups=groups,
        pos_label=pos_label,
    )
    return replace(recall, metric="sensitivity")


@documented
def specificity_at_sensitivity(
    y_true: ArrayLike, y_score: ArrayLike, sensitivity: float, **options: Any
) -> MetricInterval:
    """Specificity (1 - false positive rate) at a given sensitivity (recall).

    The ROC curve read from the other side: :func:`sensitivity_at_specificity` with the
    classes and the order of the scores exchanged.

    Parameters
    ----------
    sensitivity : float
        A share from 0 to 1.
    **options
        As in :func:`sensitivity_at_specificity`.

    Returns
    -------
    MetricInterval
        ``specificity`` with ``low`` and ``high``.

    Examples
    --------
    >>> from aucmax.decisions import specificity_at_sensitivity
    >>> y, scores = [0, 1] * 20, [*range(30), *range(10)]
    >>> specificity_at_sensitivity(y, scores, 0.8)
    specificity 0.3000 (95% interval 0.0473 to 0.5966)
    """
    check_interval("sensitivity", sensitivity, 1.0, zero=True)
    pos_label = options.pop("pos_label", None)
    _, is_positive = check_binary_labels(y_true, pos_label=pos_label)
    found = sensitivity_at_specificity(
        ~is_positive, -check_scores(y_score), sensitivity, **options
    )
    return replace(found, metric="specificity")


@documented
def roc_coordinates(
    y_true: ArrayLike, y_score: ArrayLike, thresholds: ArrayLike, **options: Any
) -> pl.DataFrame:
    """Return a table of rates at thresholds, with their intervals.

    Parameters
    ----------
    thresholds : array-like
        Scores above a threshold are called positive.
    **options
        ``confidence``, ``sample_weight``, ``groups`` and ``pos_label``, as in
        :func:`operating_point`, which has one row of the table.

    Returns
    -------
    polars.DataFrame
        One row per threshold: sensitivity, specificity and ppv, each with ``_low`` and
        ``_high``; npv, accuracy, youden (sensitivity + specificity - 1), tp, fp, tn,
        fn.

    Examples
    --------
    >>> from aucmax.decisions import roc_coordinates
    >>> table = roc_coordinates([0, 0, 1, 1], [1, 3, 2, 4], [1.5, 3.5])
    >>> table["sensitivity"].to_list(), table["specificity"].to_list()
    ([1.0, 0.5], [0.5, 1.0])
    """
    import polars as pl

    rows = []
    for threshold in check_scores(thresholds, name="thresholds").tolist():
        one = operating_point(y_true, y_score, threshold=threshold, **options)
        low, high = one.intervals["fpr"]
        rates = {
            "sensitivity": (one.recall, *one.intervals["recall"]),
            "specificity": (1.0 - one.fpr, 1.0 - high, 1.0 - low),
            "ppv": (one.precision, *one.intervals["precision"]),
        }
        row: dict[str, float] = {"threshold": threshold}
        for name, (value, low, high) in rates.items():
            row |= {name: value, f"{name}_low": low, f"{name}_high": high}
        below, right = one.missed + one.passed, one.found + one.passed
        row["npv"] = one.passed / below if below else np.nan
        row["accuracy"] = right / (one.n_alerts + below)
        row |= {"youden": one.recall - one.fpr, "tp": one.found}
        rows.append(row | {"fp": one.false_alarms, "tn": one.passed, "fn": one.missed})
    return pl.DataFrame(rows)
