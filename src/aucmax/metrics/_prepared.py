"""Metrics of rows whose labels, weights and queries stay, for training loops."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numpy.typing import ArrayLike

from aucmax.metrics._steps import check_two_classes
from aucmax.metrics.multiclass import (
    multiclass_auc_score,
    ordinal_auc_score,
    prepare_multiclass_auc,
    prepare_ordinal_auc,
)
from aucmax.metrics.partial import partial_auc_score, prepare_partial_auc
from aucmax.metrics.roc import roc_auc_score

__all__ = ["prepare_metric"]


def prepare_metric(
    metric: Callable[..., float],
    y_true: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    qid: ArrayLike | None = None,
    **options: Any,
) -> Callable[[ArrayLike], float]:
    """Check labels, weights and queries once; return the metric of any scores.

    The value and the errors are those of `metric`: roc_auc_score, partial_auc_score,
    multiclass_auc_score or ordinal_auc_score, with its further `options`. What is left
    out at each call, finding distinct labels and queries, costs as much as the metric
    itself.
    """
    prepare = _PREPARED[metric]
    return prepare(y_true, sample_weight=sample_weight, qid=qid, **options)


def _prepare_roc_auc(
    y_true: ArrayLike,
    *,
    sample_weight: ArrayLike | None,
    qid: ArrayLike | None,
    pos_label: Any = None,
) -> Callable[[ArrayLike], float]:
    rows = check_two_classes(y_true, sample_weight, qid, pos_label)
    return lambda y_score: rows.task(y_score).mean_area()


_PREPARED: dict[Callable[..., float], Callable[..., Callable[[ArrayLike], float]]] = {
    roc_auc_score: _prepare_roc_auc,
    partial_auc_score: prepare_partial_auc,
    multiclass_auc_score: prepare_multiclass_auc,
    ordinal_auc_score: prepare_ordinal_auc,
}
