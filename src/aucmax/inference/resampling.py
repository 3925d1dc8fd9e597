"""Intervals by resampling: for any metric, and for the ROC curve."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from math import sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aucmax._core.parameters import check_integer, random_generator
from aucmax._core.validation import (
    FloatArray,
    IntArray,
    check_levels,
    check_qid,
    check_sample_weight,
    check_score_matrix,
    check_scores,
)
from aucmax.exceptions import NotEnoughClassesError
from aucmax.inference.influence import Influence, check_groups, class_sizes
from aucmax.inference.results import MetricInterval, check_confidence
from aucmax.metrics._steps import BinaryRows, RankingTask, Steps, check_task

_MAX_CHORDS = 1000  # of the curve of each sample


class ROCBand(NamedTuple):
    """A ROC curve at false positive rates, with the ends of a pointwise band."""

    fpr: FloatArray
    tpr: FloatArray
    low: FloatArray
    high: FloatArray


def bootstrap_interval(
    metric: Callable[..., float],
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    confidence_level: float = 0.95,
    n_resamples: int = 1000,
    stratified: bool = True,
    random_state: int | np.random.Generator | None = None,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    qid: ArrayLike | None = None,
    **metric_options: Any,
) -> MetricInterval:
    """Percentile interval of any metric by resampling rows or whole queries.

    Rows are drawn with replacement, within each label if stratified. If ``qid`` or
    ``groups`` are given, whole queries or groups are drawn instead, since their rows
    are not independent; a query drawn twice counts as two. A draw without a class, on
    which the metric is undefined, is replaced by another. Costs n_resamples calls of
    the metric. For the AUC and the partial AUC use :func:`auc_interval`, which allows
    for few rows.

    Parameters
    ----------
    metric : callable
        Called as ``metric(y_true, y_score, **options)``; any metric of this module.
    y_true : array-like of shape (n_rows,)
        Labels.
    y_score : array-like of shape (n_rows,) or (n_rows, n_classes)
        Scores, in the shape that the metric needs.
    confidence_level : float, default=0.95
        Probability that the interval is meant to cover.
    n_resamples : int
        Number of draws; at least 2.
    stratified : bool
        Whether each label keeps its number of rows; ignored if ``qid`` or ``groups``
        is given.
    random_state : int, numpy.random.Generator or None
        Seed of the draws; the same seed gives the same interval.
    sample_weight, qid : array-like of shape (n_rows,), optional
        Resampled along with the rows, and passed to the metric if given.
    groups : array-like of shape (n_rows,), optional
        The group (cluster) of each row; not with ``qid``.
    **metric_options
        Further options of the metric, such as ``fpr_range=(0, 0.1)``, ``k=10`` or
        ``pos_label="yes"``.

    Returns
    -------
    MetricInterval
        ``value`` of the full sample, with ``low``, ``high`` and ``standard_error``.

    See Also
    --------
    metric_interval : Metrics by name, by the method that suits each.

    References
    ----------
    .. [1] B. Efron, R. J. Tibshirani. An introduction to the bootstrap. Chapman and
       Hall, 1993, chapter 13.

    Examples
    --------
    >>> from aucmax.inference import bootstrap_interval
    >>> from aucmax.metrics import partial_auc_score
    >>> interval = bootstrap_interval(
    ...     partial_auc_score, [0, 0, 0, 1, 1, 1], [1, 2, 4, 3, 5, 6],
    ...     fpr_range=(0, 0.5), n_resamples=200, random_state=0)
    >>> interval.low <= interval.value <= interval.high
    True
    """
    check_confidence(confidence_level)
    check_integer("n_resamples", n_resamples, 2)
    if not callable(metric):
        raise TypeError(
            f"metric must be a function of labels and scores, got {metric!r}."
        )
    _, labels = check_levels(y_true)
    arrays: dict[str, NDArray[Any]] = {
        "y_true": np.asarray(y_true),
        "y_score": check_score_columns(y_score, labels.size),
    }
    weights = check_sample_weight(sample_weight, labels.size)
    if weights is not None:
        arrays["sample_weight"] = weights
    rng = random_generator(random_state)

    def measure(y_true: object, y_score: object, **rows: Any) -> float:
        return metric(y_true, y_score, **rows, **metric_options)  # names may differ

    if qid is not None:
        if groups is not None:
            raise ValueError("groups cannot be given with qid: queries are drawn.")
        codes = check_qid(qid, labels.size).codes
        draws = _draw_queries(codes, rng)
        value = measure(**arrays, qid=codes)
    else:
        clusters = check_groups(groups, labels.size)
        strata = labels if stratified else np.zeros_like(labels)
        draws = draw_units(strata, clusters, rng)
        value = measure(**arrays)
    samples = evaluate_draws(measure, arrays, draws, n_resamples)
    low, high = percentiles(samples, confidence_level)
    error = float(samples.std(ddof=1))
    name = getattr(metric, "__name__", "").removesuffix("_score")
    name = name if name.isidentifier() else ""  # of a lambda
    return MetricInterval(
        float(value), float(low), float(high), error, confidence_level, None, name
    )


def roc_band(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    fpr: ArrayLike | None = None,
    confidence_level: float = 0.95,
    n_resamples: int = 500,
    random_state: int | np.random.Generator | None = 0,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    pos_label: object = None,
) -> ROCBand:
    """Pointwise confidence band of the ROC curve, for drawing.

    At each false positive rate, the percentiles of the true positive rate over
    stratified bootstrap samples. The band holds point by point, not for the whole curve
    at once, and closes where the sample shows no variation (at the corners, or when the
    classes are separated). Curves of more than 1000 steps are drawn by 1000 chords.
    Costs one sort, then about n_resamples times a thousand operations.

    With weights, rows are drawn with equal probability and keep their weights, as in
    :func:`bootstrap_interval`. With groups, whole groups are drawn. Both cost
    O(n_resamples m).

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        Labels of two classes: booleans, numbers or strings.
    y_score : array-like of shape (n_rows,)
        Finite scores, high for positive or relevant rows; compared as float64.
    fpr : array-like, optional
        False positive rates of the band, ascending in [0, 1]; by default 101 equally
        spaced ones.
    confidence_level : float, default=0.95
        Probability that the interval is meant to cover.
    n_resamples : int
        Number of bootstrap samples; at least 2.
    random_state : int, numpy.random.Generator or None
        Seed of the samples.
    sample_weight : array-like of shape (n_rows,), optional
        Weights of independent rows (not how often a row was seen).
    groups : array-like of shape (n_rows,), optional
        The group (cluster) of each row, such as the patient that several rows are from.
    pos_label : label, default=None
        The positive class; by default, the second label in sorted order.

    Returns
    -------
    fpr, tpr, low, high : ndarray of shape (n_rates,)
        A named tuple: the curve and its band at the rates. Where the curve is vertical,
        its upper end is taken.

    See Also
    --------
    aucmax.plots.ROCCurveDisplay : A picture of curve and band.

    Examples
    --------
    >>> from aucmax.inference import roc_band
    >>> band = roc_band([0, 0, 0, 1, 1, 1], [1, 2, 4, 3, 5, 6], fpr=[0.0, 0.5, 1.0])
    >>> band.tpr.tolist()
    [0.6666666666666666, 1.0, 1.0]
    """
    check_confidence(confidence_level)
    check_integer("n_resamples", n_resamples, 2)
    grid = np.linspace(0.0, 1.0, 101) if fpr is None else _check_grid(fpr)
    task = check_task(y_true, y_score, sample_weight, pos_label=pos_label)
    codes = check_groups(groups, task.scores.size)
    if task.sample_weight is not None:
        kept = task.sample_weight > 0.0
        weights = task.sample_weight[kept]
        task = RankingTask(task.scores[kept], task.is_positive[kept], weights)
        codes = None if codes is None else codes[kept]
    steps = task.steps()
    chords = _chords(steps)
    rng = random_generator(random_state)
    draws = _draw_masses(task, chords[steps.number_of_rows()], codes, rng)
    curves = [_tpr_on(grid, *masses) for masses in islice(draws, n_resamples)]
    low, high = percentiles(curves, confidence_level)
    n_chords = int(chords[-1]) + 1
    tpr = _tpr_on(
        grid,
        np.bincount(chords, steps.negative, n_chords),
        np.bincount(chords, steps.positive, n_chords),
    )
    return ROCBand(grid, tpr, low, high)


Draw = tuple[IntArray, IntArray | None]


def draw_units(
    strata: IntArray, groups: IntArray | None, rng: np.random.Generator
) -> Iterator[Draw]:
    """Yield draws of rows within strata, or of whole groups if there are any."""
    if groups is None:
        return _draw_rows(strata, rng)
    return ((rows, None) for rows, _ in _draw_queries(groups, rng))


def _draw_rows(labels: IntArray, rng: np.random.Generator) -> Iterator[Draw]:
    """Yield draws of rows, with the original number of rows of each label."""
    order = np.argsort(labels, kind="stable")
    sizes = np.bincount(labels)
    starts = np.repeat(np.cumsum(sizes) - sizes, sizes)
    extents = np.repeat(sizes, sizes)
    while True:
        yield order[starts + rng.integers(0, extents)], None


def _draw_queries(codes: IntArray, rng: np.random.Generator) -> Iterator[Draw]:
    """Yield draws of whole queries, of the original number, each with a new number."""
    order = np.argsort(codes, kind="stable")
    sizes = np.bincount(codes)
    starts = np.cumsum(sizes) - sizes
    while True:
        drawn = rng.integers(0, sizes.size, sizes.size)
        numbers = np.repeat(np.arange(drawn.size), sizes[drawn])
        first = np.cumsum(sizes[drawn]) - sizes[drawn]
        places = np.arange(numbers.size) - first[numbers] + starts[drawn][numbers]
        yield order[places], numbers


def _draw_masses(
    task: RankingTask,
    chords: IntArray,
    groups: IntArray | None,
    rng: np.random.Generator,
) -> Iterator[tuple[Any, Any]]:
    """Yield the mass of negatives and positives on each chord for drawn rows."""
    is_positive, n_chords = task.is_positive, int(chords.max()) + 1
    if groups is None and task.sample_weight is None:
        counts = [
            np.bincount(chords[s], minlength=n_chords)
            for s in (~is_positive, is_positive)
        ]
        while True:
            negative, positive = (rng.multinomial(c.sum(), c / c.sum()) for c in counts)
            yield negative, positive
    weights = np.ones(chords.size) if task.sample_weight is None else task.sample_weight
    for rows, _ in draw_units(is_positive.astype(np.int64), groups, rng):
        negative, positive = (
            np.bincount(chords[rows], weights[rows] * side[rows], n_chords)
            for side in (~is_positive, is_positive)
        )
        if positive.any() and negative.any():  # else, another draw
            yield negative, positive


def evaluate_draws(
    measure: Callable[..., float],
    arrays: dict[str, NDArray[np.generic]],
    draws: Iterator[Draw],
    n_resamples: int,
) -> FloatArray:
    """Return the metric of each draw; one on which it is undefined is replaced."""
    samples: list[float] = []
    n_failed = 0
    while len(samples) < n_resamples:
        rows, qid = next(draws)
        drawn = {name: array[rows] for name, array in arrays.items()}
        if qid is not None:
            drawn["qid"] = qid
        try:
            samples.append(measure(**drawn))
        except NotEnoughClassesError as error:
            n_failed += 1
            if n_failed > 10 * n_resamples:
                raise NotEnoughClassesError(
                    f"The metric is undefined on nearly all resamples: {error} Use "
                    "more rows, or stratified=True."
                ) from error
    return np.array(samples)


def _chords(steps: Steps) -> IntArray:
    """Return the chord of each step, counted from the highest scores."""
    if steps.positive.size <= _MAX_CHORDS:
        return np.arange(steps.positive.size)
    # chords of even length
    positive, negative = steps.positive, steps.negative
    along = np.cumsum(negative / negative.sum() + positive / positive.sum())
    places = (along / along[-1] * _MAX_CHORDS).astype(np.int64)
    _, chords = np.unique(np.minimum(places, _MAX_CHORDS - 1), return_inverse=True)
    return chords


def _tpr_on(grid: FloatArray, negative: Any, positive: Any) -> FloatArray:
    fpr = np.concatenate(([0.0], np.cumsum(negative)))
    tpr = np.concatenate(([0.0], np.cumsum(positive)))
    # np.interp takes the last of equal abscissae: the upper end of a vertical line
    curve: FloatArray = np.interp(grid, fpr / fpr[-1], tpr / tpr[-1])
    return curve


def drawn_influence(
    metric: Callable[..., float],
    rows: BinaryRows,
    scores: FloatArray,
    groups: IntArray | None,
    unit: float,
    n_resamples: int,
    seed: int,
) -> Influence:
    """Return a metric by its unit, with the deviations of draws of rows as effects."""
    arrays = {"y_true": rows.is_positive, "y_score": scores}
    if rows.sample_weight is not None:
        arrays["sample_weight"] = rows.sample_weight
    strata = np.zeros(scores.size, dtype=np.int64)
    units = draw_units(strata, groups, np.random.default_rng(seed))
    draws = evaluate_draws(metric, arrays, units, n_resamples) / unit
    effects = (draws - draws.mean()) / sqrt(draws.size - 1.0)
    _, sizes = class_sizes(rows, groups)
    degrees = max(min(sizes) - 1.0, 1.0)
    value = float(metric(**arrays)) / unit
    part, scale = (effects, degrees), (unit, 0.0)
    return Influence(value, [part], sizes, degrees, scale=scale, draws=draws)


def percentiles(samples: Any, confidence_level: float) -> Any:
    """Return the percentile interval of the samples, along their first axis."""
    tail = 50.0 * (1.0 - confidence_level)
    return np.percentile(samples, [tail, 100.0 - tail], axis=0)


def check_score_columns(y_score: Any, n_rows: int, name: str = "y_score") -> FloatArray:
    """Check one column of scores, or a matrix of several."""
    try:
        is_matrix = np.ndim(y_score) == 2
    except ValueError:  # lists of unequal length
        is_matrix = False
    check = check_score_matrix if is_matrix else check_scores
    return check(y_score, n_rows, name)


def _check_grid(fpr: ArrayLike) -> FloatArray:
    grid = check_scores(fpr, name="fpr")
    if grid[0] < 0 or grid[-1] > 1 or (np.diff(grid) < 0).any():
        raise ValueError("fpr must ascend within [0, 1].")
    return grid
