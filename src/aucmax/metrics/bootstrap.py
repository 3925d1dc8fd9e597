"""Intervals by resampling: for any metric, and for the ROC curve."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aucmax._validation import (
    FloatArray,
    IntArray,
    check_levels,
    check_qid,
    check_sample_weight,
    check_scores,
)
from aucmax.exceptions import NotEnoughClassesError
from aucmax.metrics._steps import check_task
from aucmax.metrics.uncertainty import check_confidence

__all__ = ["BootstrapInterval", "ROCBand", "bootstrap_interval", "roc_band"]


@dataclass(frozen=True)
class BootstrapInterval:
    """A metric with its bootstrap standard error and percentile interval."""

    value: float
    low: float
    high: float
    standard_error: float
    confidence: float
    n_resamples: int

    def __str__(self) -> str:
        return f"{self.value:.4f} [{self.low:.4f}, {self.high:.4f}]"


@dataclass(frozen=True)
class ROCBand:
    """A ROC curve on a grid of false positive rates, with a pointwise band."""

    fpr: FloatArray
    tpr: FloatArray
    low: FloatArray
    high: FloatArray
    confidence: float


def bootstrap_interval(
    metric: Callable[..., float],
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    confidence: float = 0.95,
    n_resamples: int = 1000,
    stratified: bool = True,
    random_state: int | np.random.Generator | None = None,
    sample_weight: ArrayLike | None = None,
    qid: ArrayLike | None = None,
    **metric_options: Any,
) -> BootstrapInterval:
    """Percentile interval of any metric by resampling rows or whole queries.

    Rows are drawn with replacement, within each label if stratified. If ``qid`` is
    given, whole queries are drawn instead, since rows of one query are not independent;
    a query drawn twice counts as two. A draw on which the metric is not defined (for
    want of a class) is replaced by another. Costs n_resamples calls of the metric. For
    the plain AUC, :func:`auc_interval` is faster and better founded.

    Parameters
    ----------
    metric : callable
        Called as ``metric(y_true, y_score, **options)``; any metric of this module.
    y_true, y_score : array-like of shape (n_rows,)
        Labels and scores.
    confidence : float
        Probability that the interval is meant to cover.
    n_resamples : int
        Number of draws; at least 2.
    stratified : bool
        Whether each label keeps its number of rows. Without effect if ``qid`` is given.
    random_state : int, numpy.random.Generator or None
        Seed of the draws; the same seed gives the same interval.
    sample_weight, qid : array-like of shape (n_rows,), optional
        Resampled along with the rows, and passed on to the metric if given.
    **metric_options
        Further options of the metric, such as ``fpr_range=(0, 0.1)`` or ``k=10``.

    Returns
    -------
    BootstrapInterval
        The metric of the full sample as ``value``, and ``low``, ``high``,
        ``standard_error``, ``confidence``, ``n_resamples``.

    References
    ----------
    .. [1] B. Efron, R. J. Tibshirani. An introduction to the bootstrap. Chapman and
       Hall, 1993, chapter 13.

    Examples
    --------
    >>> from aucmax.metrics import bootstrap_interval, partial_auc_score
    >>> interval = bootstrap_interval(
    ...     partial_auc_score, [0, 0, 0, 1, 1, 1], [1, 2, 4, 3, 5, 6],
    ...     fpr_range=(0, 0.5), n_resamples=200, random_state=0)
    >>> interval.low <= interval.value <= interval.high
    True
    """
    check_confidence(confidence)
    if n_resamples < 2:
        raise ValueError(f"n_resamples must be at least 2, got {n_resamples!r}.")
    _, labels = check_levels(y_true)
    arrays: dict[str, NDArray[Any]] = {
        "y_true": np.asarray(y_true),
        "y_score": check_scores(y_score, labels.size),
    }
    weights = check_sample_weight(sample_weight, labels.size)
    if weights is not None:
        arrays["sample_weight"] = weights
    rng = np.random.default_rng(random_state)
    if qid is None:
        draws = _draw_rows(labels if stratified else np.zeros_like(labels), rng)
        value = metric(**arrays, **metric_options)
    else:
        codes = check_qid(qid, labels.size).codes
        draws = _draw_queries(codes, rng)
        value = metric(**arrays, qid=codes, **metric_options)
    samples = _evaluate(metric, arrays, metric_options, draws, n_resamples)
    tail = 50.0 * (1.0 - confidence)
    low, high = np.percentile(samples, [tail, 100.0 - tail])
    error = float(samples.std(ddof=1))
    return BootstrapInterval(
        float(value), float(low), float(high), error, confidence, n_resamples
    )


def roc_band(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    fpr: ArrayLike | None = None,
    confidence: float = 0.95,
    n_resamples: int = 500,
    random_state: int | np.random.Generator | None = 0,
) -> ROCBand:
    """Pointwise confidence band of the ROC curve, for drawing.

    At each false positive rate, the percentiles of the true positive rate over
    stratified bootstrap samples. The band holds point by point, not for the whole curve
    at once, and closes where the sample shows no variation (at the corners, or when the
    classes are separated). Curves of more than 1000 steps are drawn by 1000 chords.
    Costs one sort, then about n_resamples times a thousand operations.

    Parameters
    ----------
    y_true, y_score : array-like of shape (n_rows,)
        As in :func:`roc_auc_score`.
    fpr : array-like, optional
        False positive rates to look at, ascending in [0, 1]; 101 even ones by default.
    confidence : float
        Probability that the band is meant to cover at each point.
    n_resamples : int
        Number of bootstrap samples; at least 2.
    random_state : int, numpy.random.Generator or None
        Seed of the samples.

    Returns
    -------
    ROCBand
        The record of ``fpr``, ``tpr`` (the curve itself), ``low``, ``high`` and
        ``confidence``. Where the curve is vertical, its upper end is taken.

    Examples
    --------
    >>> from aucmax.metrics import roc_band
    >>> band = roc_band([0, 0, 0, 1, 1, 1], [1, 2, 4, 3, 5, 6], fpr=[0.0, 0.5, 1.0])
    >>> band.tpr.tolist()
    [0.6666666666666666, 1.0, 1.0]
    """
    check_confidence(confidence)
    if n_resamples < 2:
        raise ValueError(f"n_resamples must be at least 2, got {n_resamples!r}.")
    grid = np.linspace(0.0, 1.0, 101) if fpr is None else _check_grid(fpr)
    steps = check_task(y_true, y_score).steps()
    negative, positive = _merged(steps.negative, steps.positive, 1000)
    rng = np.random.default_rng(random_state)
    right = rng.multinomial(int(negative.sum()), negative / negative.sum(), n_resamples)
    up = rng.multinomial(int(positive.sum()), positive / positive.sum(), n_resamples)
    curves = [_tpr_on(grid, x, y) for x, y in zip(right, up, strict=True)]
    tail = 50.0 * (1.0 - confidence)
    low, high = np.percentile(curves, [tail, 100.0 - tail], axis=0)
    return ROCBand(grid, _tpr_on(grid, negative, positive), low, high, confidence)


Draw = tuple[IntArray, IntArray | None]


def _draw_rows(labels: IntArray, rng: np.random.Generator) -> Iterator[Draw]:
    """Draw rows without end, as many of each label as there are."""
    order = np.argsort(labels, kind="stable")
    sizes = np.bincount(labels)
    starts = np.repeat(np.cumsum(sizes) - sizes, sizes)
    extents = np.repeat(sizes, sizes)
    while True:
        yield order[starts + rng.integers(0, extents)], None


def _draw_queries(codes: IntArray, rng: np.random.Generator) -> Iterator[Draw]:
    """Draw whole queries without end, as many as there are, each with a new number."""
    order = np.argsort(codes, kind="stable")
    sizes = np.bincount(codes)
    starts = np.cumsum(sizes) - sizes
    while True:
        drawn = rng.integers(0, sizes.size, sizes.size)
        numbers = np.repeat(np.arange(drawn.size), sizes[drawn])
        first = np.cumsum(sizes[drawn]) - sizes[drawn]
        places = np.arange(numbers.size) - first[numbers] + starts[drawn][numbers]
        yield order[places], numbers


def _evaluate(
    metric: Callable[..., float],
    arrays: dict[str, NDArray[Any]],
    options: dict[str, Any],
    draws: Iterator[Draw],
    n_resamples: int,
) -> FloatArray:
    samples: list[float] = []
    n_failed = 0
    while len(samples) < n_resamples:
        rows, qid = next(draws)
        drawn = {name: array[rows] for name, array in arrays.items()}
        if qid is not None:
            drawn["qid"] = qid
        try:
            samples.append(metric(**drawn, **options))
        except NotEnoughClassesError as error:
            n_failed += 1
            if n_failed > 10 * n_resamples:
                raise NotEnoughClassesError(
                    f"The metric is undefined on nearly all resamples: {error} Use "
                    "more rows, or stratified=True."
                ) from error
    return np.array(samples)


def _merged(
    negative: FloatArray, positive: FloatArray, n_most: int
) -> tuple[FloatArray, FloatArray]:
    """Merge neighbouring steps into at most n_most of even length along the curve."""
    if negative.size <= n_most:
        return negative, positive
    along = np.cumsum(negative / negative.sum() + positive / positive.sum())
    piece = np.minimum((along / along[-1] * n_most).astype(int), n_most - 1)
    starts = np.searchsorted(piece, np.unique(piece))
    return np.add.reduceat(negative, starts), np.add.reduceat(positive, starts)


def _tpr_on(grid: FloatArray, negative: FloatArray, positive: FloatArray) -> FloatArray:
    fpr = np.concatenate(([0.0], np.cumsum(negative)))
    tpr = np.concatenate(([0.0], np.cumsum(positive)))
    # np.interp takes the last of equal abscissae: the upper end of a vertical line
    curve: FloatArray = np.interp(grid, fpr / fpr[-1], tpr / tpr[-1])
    return curve


def _check_grid(fpr: ArrayLike) -> FloatArray:
    grid = check_scores(fpr, name="fpr")
    if grid[0] < 0 or grid[-1] > 1 or (np.diff(grid) < 0).any():
        raise ValueError("fpr must ascend within [0, 1].")
    return grid
