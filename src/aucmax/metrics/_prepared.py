"""Metrics of rows whose labels, weights and queries stay, for training loops."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numpy.typing import ArrayLike

from aucmax.metrics.multiclass import (
    multiclass_auc_score,
    ordinal_auc_score,
    prepare_multiclass_auc,
    prepare_ordinal_auc,
)
from aucmax.metrics.roc import partial_auc_score, prepare_partial_auc, roc_auc_score


def prepare_metric(
    metric: Callable[..., float],
    y_true: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    qid: ArrayLike | None = None,
    **options: Any,
) -> Callable[[ArrayLike], float]:
    """Check labels, weights and queries once; return the metric of any scores.

    Finding distinct labels and queries at each call would cost as much as the metric.
    """
    prepare = _PREPARED[metric]
    return prepare(y_true, sample_weight=sample_weight, qid=qid, **options)


_PREPARED: dict[Callable[..., float], Callable[..., Callable[[ArrayLike], float]]] = {
    roc_auc_score: prepare_partial_auc,
    partial_auc_score: prepare_partial_auc,
    multiclass_auc_score: prepare_multiclass_auc,
    ordinal_auc_score: prepare_ordinal_auc,
}
