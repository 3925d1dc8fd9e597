"""How well scores rank, query by query."""

from collections.abc import Callable
from functools import partial
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from aucmax.metrics import (
    mean_average_precision,
    multiclass_auc_score,
    ndcg_score,
    ordinal_auc_score,
    partial_auc_score,
    roc_auc_score,
)
from aucmax.model_selection.aim import Aim, measures_of
from aucmax.tables import Target

__all__ = ["measure"]

Floats = NDArray[np.float64]
Metric: TypeAlias = Callable[..., float]

# they tell all levels apart; the others see the lowest and the rest
_OF_LEVELS = {"mauc", "ordinal_auc", "ndcg"}


def measure(target: Target, scores: Floats, aim: Aim) -> dict[str, Floats]:
    """Measure each query that has rows of two levels; what is aimed at comes first.

    Parameters
    ----------
    target : Target
        What is ranked; without queries all rows are one.
    scores : ndarray of shape (rows,)
        Higher scores rank higher.
    aim : Aim
        What comes first, and the part of the ROC curve.

    Returns
    -------
    measures : dict of str to ndarray of shape (queries,)
        Those of :func:`aucmax.model_selection.aim.measures_of`. With more than 2 levels
        ``auc`` and ``map`` are of the rows above the lowest, and NaN for a query that
        has no row of the lowest.
    """
    metrics: dict[str, Metric] = {
        "auc": roc_auc_score,
        "partial_auc": partial(
            partial_auc_score, fpr_range=aim.fpr_range, tpr_range=aim.tpr_range
        ),
        "mauc": multiclass_auc_score,
        "ordinal_auc": ordinal_auc_score,
        "ndcg": partial(ndcg_score, k=10),
        "map": mean_average_precision,
    }
    names = sorted(measures_of(target), key=lambda name: name != aim.metric)
    return {name: _by_query(metrics[name], name, target, scores) for name in names}


def _by_query(metric: Metric, name: str, target: Target, scores: Floats) -> Floats:
    labels = target.labels if name in _OF_LEVELS else target.relevant
    values = np.full(len(target.blocks), np.nan)
    for k, rows in enumerate(target.blocks):
        if labels[rows].min() < labels[rows].max():
            weights = target.weights_of(rows)
            values[k] = metric(labels[rows], scores[rows], sample_weight=weights)
    return values
