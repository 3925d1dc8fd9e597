"""The area under the ROC curve or a part of it, and the curve itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from aucmax._core.parameters import check_choice, check_integer, reject_foreign
from aucmax._core.validation import FloatArray, IntArray
from aucmax.metrics._steps import (
    Box,
    Steps,
    box_size,
    check_box,
    check_task,
    check_two_classes,
)


@reject_foreign(
    max_fpr="partial_auc_score(y_true, y_score, fpr_range=(0, max_fpr), "
    "standardize='mcclish') is what scikit-learn computes.",
    multi_class="sklearn.metrics.roc_auc_score has it, for one column per class.",
    labels="sklearn.metrics.roc_auc_score has it, for one column per class.",
)
def roc_auc_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    qid: ArrayLike | None = None,
    pos_label: object = None,
    average: str | None = "macro",
) -> Any:
    r"""Share of positive-negative pairs that the scores put in the right order.

    .. math::
        \mathrm{AUC} = \frac{1}{pn} \sum_{i \in P} \sum_{j \in N}
        [s_i > s_j] + \tfrac12 [s_i = s_j]

    Also called c-statistic or concordance; the Gini coefficient is 2 AUC - 1. With
    weights, a pair counts as the product of its weights. Costs O(m log m).

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        Labels of two classes: booleans, numbers or strings.
    y_score : array-like of shape (n_rows,)
        Finite scores, high for positive or relevant rows; compared as float64.
    sample_weight : array-like of shape (n_rows,), default=None
        Nonnegative row weights; the weight of a pair is the product of its rows'.
    qid : array-like of shape (n_rows,), default=None
        The query of each row; the value is then a mean over queries.
    pos_label : label, default=None
        The positive class; by default, the second label in sorted order.
    average : {"macro", "micro", "impressions", None}, default="macro"
        Mean over queries: each weighs the same; its pairs or what else the metric
        is a share of; its rows (GAUC). None returns each value, NaN without pairs.

    Returns
    -------
    float
        Between 0 and 1; 0.5 for scores that carry no information. With
        ``average=None`` an array with the value of each query.

    Raises
    ------
    NotEnoughClassesError
        If one class is missing or has no weight, or no query has both classes.

    See Also
    --------
    aucmax.inference.auc_interval : With an interval.
    partial_auc_score : A part of the curve.

    References
    ----------
    .. [1] J. A. Hanley, B. J. McNeil. The meaning and use of the area under a receiver
       operating characteristic (ROC) curve. Radiology 143(1), 1982.

    Examples
    --------
    >>> from aucmax.metrics import roc_auc_score
    >>> roc_auc_score([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    0.75
    >>> roc_auc_score([0, 1, 0, 1], [1, 2, 9, 8], qid=["a", "a", "b", "b"])
    0.5
    """
    task = check_task(y_true, y_score, sample_weight, qid, pos_label)
    return task.average_area(average)


def partial_auc_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    fpr_range: Sequence[float] = (0.0, 1.0),
    tpr_range: Sequence[float] = (0.0, 1.0),
    sample_weight: ArrayLike | None = None,
    qid: ArrayLike | None = None,
    pos_label: object = None,
    standardize: str = "mean",
    average: str | None = "macro",
) -> Any:
    r"""Area under the ROC curve within ranges of false and true positive rate.

    With the ranges :math:`[a, b]` and :math:`[c, d]`, and the curve :math:`T(x)`,

    .. math:: A = \int_a^b \min(\max(T(x), c), d) - c \;\mathrm{d}x

    is the part of the box :math:`[a, b] \times [c, d]` that lies under the curve: T(x)
    is the sensitivity (recall) at specificity :math:`1 - x`. In pairs: the negative on
    rank :math:`j` from the top counts by the part of :math:`((j - 1) / n, j / n]` that
    lies in :math:`[a, b]`, and a positive by :math:`[c, d]` in the same way, so the
    ends need not fall on a row. Rows of equal score form one straight line of the curve
    (the trapezoid rule), which gives a tied pair one half where the range covers the
    whole tie. Costs as much as the full AUC.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        Labels of two classes: booleans, numbers or strings.
    y_score : array-like of shape (n_rows,)
        Finite scores, high for positive or relevant rows; compared as float64.
    fpr_range, tpr_range : pair of float, default=(0.0, 1.0)
        The part of the ROC curve: ``fpr_range=(0, 0.1)`` is the top tenth of the
        negatives, ``tpr_range=(0.9, 1)`` the lowest tenth of the positives.
    sample_weight : array-like of shape (n_rows,), default=None
        Nonnegative row weights; the weight of a pair is the product of its rows'.
    qid : array-like of shape (n_rows,), default=None
        The query of each row; the value is then a mean over queries.
    pos_label : label, default=None
        The positive class; by default, the second label in sorted order.
    standardize : {"mean", "area", "mcclish"}
        ``"mean"`` divides the area by that of the box: the share of correct pairs,
        1 for a perfect ranking. ``"area"`` returns the area itself. ``"mcclish"``
        maps the diagonal to 0.5 and a perfect ranking to 1, as scikit-learn's
        ``roc_auc_score(max_fpr=...)`` does; the value may be below 0.5.
    average : {"macro", "micro", "impressions", None}, default="macro"
        Mean over queries: each weighs the same; its pairs or what else the metric
        is a share of; its rows (GAUC). None returns each value, NaN without pairs.

    Returns
    -------
    float
        The area, on the scale chosen. With ``average=None`` an array with the value of
        each query.

    See Also
    --------
    aucmax.inference.auc_interval : With an interval.
    aucmax.AUCSVC : A model that is trained for a part of the curve.

    References
    ----------
    .. [1] D. K. McClish. Analyzing a portion of the ROC curve. Medical Decision
       Making 9(3), 1989.
    .. [2] H. Yang, K. Lu, X. Lyu, F. Hu. Two-way partial AUC and its properties.
       Statistical Methods in Medical Research 28(1), 2019.

    Examples
    --------
    >>> from aucmax.metrics import partial_auc_score
    >>> y, scores = [0, 0, 0, 0, 1, 1], [1, 2, 3, 5, 4, 6]
    >>> partial_auc_score(y, scores, fpr_range=(0, 0.5))
    0.75
    >>> partial_auc_score(y, scores, fpr_range=(0, 0.5), standardize="area")
    0.375
    >>> partial_auc_score(y, scores, fpr_range=(0, 0.25), tpr_range=(0.5, 1))
    0.0
    """
    rows: Any = {"sample_weight": sample_weight, "qid": qid, "pos_label": pos_label}
    scale: Any = {"standardize": standardize, "average": average}
    ranges: Any = {"fpr_range": fpr_range, "tpr_range": tpr_range}
    return prepare_partial_auc(y_true, **ranges, **rows, **scale)(y_score)


def prepare_partial_auc(
    y_true: ArrayLike,
    *,
    fpr_range: Sequence[float] = (0.0, 1.0),
    tpr_range: Sequence[float] = (0.0, 1.0),
    standardize: str = "mean",
    average: str | None = "macro",
    **rows: Any,
) -> Callable[[ArrayLike], Any]:
    """Check and count the labels once; return :func:`partial_auc_score` of them."""
    box = check_box(fpr_range, tpr_range)
    check_choice("standardize", standardize, STANDARDS)
    rescale = STANDARDS[standardize](box)
    checked = check_two_classes(y_true, **rows)

    def measure(y_score: ArrayLike) -> Any:
        areas = checked.task(y_score).average_area(average, box)
        return np.array([*map(rescale, areas)]) if average is None else rescale(areas)

    return measure


Rescaling = Callable[[float], float]


def _as_mean(box: Box) -> Rescaling:
    return lambda area: min(area / box_size(box), 1.0)


def _as_area(box: Box) -> Rescaling:
    return lambda area: area


def _as_mcclish(box: Box) -> Rescaling:
    diagonal = Steps(np.ones(1), np.ones(1), np.array([0, 1]))
    chance = float(diagonal.areas(box)[0])
    above = box_size(box) - chance
    if above <= 0:
        raise ValueError(
            "standardize='mcclish' needs a box that reaches above the diagonal, but "
            f"fpr_range={box[:2]} and tpr_range={box[2:]} lie below it."
        )
    return lambda area: 0.5 * (1.0 + (area - chance) / above)


STANDARDS: dict[str, Callable[[Box], Rescaling]] = {
    "mean": _as_mean,
    "area": _as_area,
    "mcclish": _as_mcclish,
}


def roc_curve(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    pos_label: object = None,
    max_points: int | None = None,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the corners of the ROC curve, from (0, 0) to (1, 1).

    Rows of equal score form one step, drawn as a straight line. Points inside a
    horizontal or vertical line are dropped. The true positive rate is also called
    sensitivity or recall, and one minus the false positive rate specificity. The
    largest difference of both rates is the Kolmogorov-Smirnov statistic (KS),
    ``(tpr - fpr).max()``. Costs O(m log m).

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        Labels of two classes: booleans, numbers or strings.
    y_score : array-like of shape (n_rows,)
        Finite scores, high for positive or relevant rows; compared as float64.
    sample_weight : array-like of shape (n_rows,), default=None
        Nonnegative row weights; the weight of a pair is the product of its rows'.
    pos_label : label, default=None
        The positive class; by default, the second label in sorted order.
    max_points : int, optional
        Maximum number of points, evenly spread along the curve, with both ends.

    Returns
    -------
    fpr, tpr : ndarray of shape (n_points,)
        False and true positive rates, both ascending.
    thresholds : ndarray of shape (n_points,)
        Point k calls rows with a score of at least ``thresholds[k]`` positive; the
        first is infinity.

    See Also
    --------
    aucmax.plots.ROCCurveDisplay : A picture of it, with a band.

    Examples
    --------
    >>> from aucmax.metrics import roc_curve
    >>> fpr, tpr, thresholds = roc_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> fpr.tolist(), tpr.tolist()
    ([0.0, 0.0, 0.5, 0.5, 1.0], [0.0, 0.5, 0.5, 1.0, 1.0])
    """
    if max_points is not None:
        check_integer("max_points", max_points, 2)
    task = check_task(y_true, y_score, sample_weight, pos_label=pos_label)
    scores, tp, fp = task.steps().counts_above()
    right, up = np.diff(fp) > 0.0, np.diff(tp) > 0.0
    turns = (right[1:] | right[:-1]) & (up[1:] | up[:-1])
    kept = np.flatnonzero(np.concatenate(([True], turns, [True])))
    fpr, tpr = fp[kept] / fp[-1], tp[kept] / tp[-1]
    thinned = _thinned(fpr, tpr, max_points)
    return fpr[thinned], tpr[thinned], np.append(np.inf, scores)[kept][thinned]


def _thinned(
    fpr: FloatArray, tpr: FloatArray, max_points: int | None
) -> IntArray | slice:
    """Return which points to keep, evenly spread along the curve."""
    if max_points is None or fpr.size <= max_points:
        return slice(None)
    along = fpr + tpr
    wanted = np.linspace(0.0, along[-1], max_points)
    nearest = np.searchsorted(along, wanted)
    return np.unique(np.concatenate(([0], nearest[1:-1], [along.size - 1])))
