"""How well scores rank, query by query."""

from collections.abc import Callable
from functools import partial
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from aucmax.metrics import (
    multiclass_auc_score,
    ordinal_auc_score,
    partial_auc_score,
    roc_auc_score,
)
from aucmax.tables import Target

__all__ = ["MEASURES", "measure"]

Floats = NDArray[np.float64]
Metric: TypeAlias = Callable[[NDArray[np.int64], Floats], float]

#: Name of each measure in records, and what it is called in texts.
MEASURES = {
    "auc": "AUC",
    "partial_auc": "partial AUC",
    "mauc": "MAUC",
    "ordinal_auc": "ordinal AUC",
}


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
    partial_auc = partial(partial_auc_score, fpr_range=fpr_range)
    metrics: dict[str, Metric] = (
        {"mauc": multiclass_auc_score, "ordinal_auc": ordinal_auc_score}
        if target.is_graded
        else {"auc": roc_auc_score, "partial_auc": partial_auc}
    )
    measured = {
        name: np.array([metric(target.labels[q], scores[q]) for q in target.blocks])
        for name, metric in metrics.items()
    }
    if target.is_graded:
        relevant = target.relevant
        measured["auc"] = np.array(
            [
                np.nan if relevant[q].all() else roc_auc_score(relevant[q], scores[q])
                for q in target.blocks
            ]
        )
    return measured
