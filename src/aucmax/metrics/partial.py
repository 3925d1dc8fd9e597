"""The area under a part of the ROC curve."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from aucmax._core.dask_dispatch import dispatch_to_dask
from aucmax._core.docstrings import documented
from aucmax._core.parameters import check_choice, check_range
from aucmax.metrics._steps import Steps, check_two_classes

__all__ = ["partial_auc_score"]


@documented
@dispatch_to_dask
def partial_auc_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    fpr_range: Sequence[float] = (0.0, 1.0),
    tpr_range: Sequence[float] = (0.0, 1.0),
    sample_weight: ArrayLike | None = None,
    qid: ArrayLike | None = None,
    pos_label: Any = None,
    standardize: str = "mean",
) -> float:
    r"""Area under the ROC curve within ranges of false and true positive rate.

    With the ranges :math:`[a, b]` and :math:`[c, d]`, and the curve :math:`T(x)`,

    .. math:: A = \int_a^b \min(\max(T(x), c), d) - c \;\mathrm{d}x

    is the part of the box :math:`[a, b] \times [c, d]` that lies under the curve. In
    pairs: negatives are ranked from the highest score down, and of the one on rank
    :math:`j` that part counts by which :math:`((j - 1) / n, j / n]` overlaps
    :math:`[a, b]`; positives likewise with :math:`[c, d]`. So the ends need not fall
    on a row. Rows of equal score form one straight line of the curve (the trapezoid
    rule), which gives a tied pair one half where the range covers the whole tie.

    Costs as much as the full AUC.

    Parameters
    ----------
    standardize : {"mean", "area", "mcclish"}
        ``"mean"`` divides the area by that of the box: the share of correct pairs,
        1 for a perfect ranking. ``"area"`` returns the area itself. ``"mcclish"``
        maps the diagonal to 0.5 and a perfect ranking to 1, as scikit-learn's
        ``roc_auc_score(max_fpr=...)`` does; the value may be below 0.5.

    Returns
    -------
    float
        The area, on the scale chosen.

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
    return prepare_partial_auc(
        y_true,
        fpr_range=fpr_range,
        tpr_range=tpr_range,
        sample_weight=sample_weight,
        qid=qid,
        pos_label=pos_label,
        standardize=standardize,
    )(y_score)


def prepare_partial_auc(
    y_true: ArrayLike,
    *,
    fpr_range: Sequence[float] = (0.0, 1.0),
    tpr_range: Sequence[float] = (0.0, 1.0),
    sample_weight: ArrayLike | None = None,
    qid: ArrayLike | None = None,
    pos_label: Any = None,
    standardize: str = "mean",
) -> Callable[[ArrayLike], float]:
    """Check and count the labels once; return :func:`partial_auc_score` of them."""
    box = (
        *check_range("fpr_range", fpr_range),
        *check_range("tpr_range", tpr_range),
    )
    check_choice("standardize", standardize, STANDARDS)
    rescale = STANDARDS[standardize](box)
    rows = check_two_classes(y_true, sample_weight, qid, pos_label)
    return lambda y_score: rescale(rows.task(y_score).mean_area(box))


Box = tuple[float, float, float, float]
Rescaling = Callable[[float], float]


def _box_size(box: Box) -> float:
    return (box[1] - box[0]) * (box[3] - box[2])


def _as_mean(box: Box) -> Rescaling:
    return lambda area: min(area / _box_size(box), 1.0)


def _as_area(box: Box) -> Rescaling:
    return lambda area: area


def _as_mcclish(box: Box) -> Rescaling:
    diagonal = Steps(np.ones(1), np.ones(1), np.array([0, 1]))
    chance = float(diagonal.areas(box)[0])
    room = _box_size(box) - chance
    if room <= 0:
        raise ValueError(
            "standardize='mcclish' needs a box that reaches above the diagonal, but "
            f"fpr_range={box[:2]} and tpr_range={box[2:]} lie below it."
        )
    return lambda area: 0.5 * (1.0 + (area - chance) / room)


STANDARDS: dict[str, Callable[[Box], Rescaling]] = {
    "mean": _as_mean,
    "area": _as_area,
    "mcclish": _as_mcclish,
}
