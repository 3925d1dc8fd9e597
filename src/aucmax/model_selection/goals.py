"""The goal of a comparison: the measure that decides, and its part of the ROC curve."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from aucmax._core.parameters import check_range
from aucmax.metrics import (
    mean_average_precision,
    multiclass_auc_score,
    ndcg_score,
    ordinal_auc_score,
    partial_auc_score,
    roc_auc_score,
)
from aucmax.tables import Target

Range: TypeAlias = tuple[float, float]
Floats: TypeAlias = NDArray[np.float64]
Metric: TypeAlias = Callable[..., float]

WHOLE: Range = (0.0, 1.0)
# shown beside the AUC without a range
_DEFAULT_FPR: Range = (0.0, 0.1)
# they separate all levels; the others see the lowest and the rest
_OF_LEVELS = {"mauc", "ordinal_auc", "ndcg"}

#: Name of each measure in records, and its title in printed text.
MEASURES = {
    "auc": "AUC",
    "partial_auc": "partial AUC",
    "mauc": "MAUC",
    "ordinal_auc": "ordinal AUC",
    "ndcg": "NDCG@10",
    "map": "MAP",
}


@dataclass(frozen=True)
class Goal:
    """The measure that models are chosen and tested by, and the ranges of its part."""

    metric: str  # a key of `MEASURES`
    fpr_range: Range = _DEFAULT_FPR
    tpr_range: Range = WHOLE

    @property
    def ranges(self) -> dict[str, Any]:
        """The ranges that models are trained for: none unless they decide."""
        if self.metric != "partial_auc":
            return {}
        return {"fpr_range": self.fpr_range, "tpr_range": self.tpr_range}

    @property
    def title(self) -> str:
        """The title of the metric."""
        return MEASURES[self.metric]

    @property
    def part_in_words(self) -> str:
        """The part of the curve in a sentence."""
        text = "false-positive rates {:g} to {:g}".format(*self.fpr_range)
        if self.tpr_range == WHOLE:
            return text
        return text + ", true-positive rates {:g} to {:g}".format(*self.tpr_range)

    @property
    def part(self) -> str:
        """The part of the curve in a few characters."""
        text = "{:g}-{:g}".format(*self.fpr_range)
        if self.tpr_range == WHOLE:
            return text
        return text + " x {:g}-{:g}".format(*self.tpr_range)

    def titles(self, names: Iterable[str]) -> list[str]:
        """Return the titles of measures in a table."""
        titles = {**MEASURES, "partial_auc": f"pAUC {self.part}"}
        return [titles[name] for name in names]


def measures_of(target: Target) -> list[str]:
    """Return the names of the measures of a target, the default first."""
    names = ["auc", "partial_auc"]
    if target.is_graded:
        names = ["mauc", "ordinal_auc", "auc"]
    return names if target.queries is None else [*names, "ndcg", "map"]


def choose_goal(
    target: Target,
    metric: str | None = None,
    fpr_range: Sequence[float] | None = None,
    tpr_range: Sequence[float] | None = None,
) -> Goal:
    """Return the goal: by default the partial AUC of a range, else the AUC or MAUC."""
    fpr = None if fpr_range is None else check_range("fpr_range", fpr_range)
    tpr = None if tpr_range is None else check_range("tpr_range", tpr_range)
    is_part = any(ends not in (None, WHOLE) for ends in (fpr, tpr))
    if is_part and target.is_graded:
        raise ValueError(
            "a range selects a part of the ROC curve of two classes, but the target "
            f"has {len(target.level_counts)} levels. Choose the positive value, or "
            "leave out the range."
        )
    known = measures_of(target)
    if metric is None:
        metric = "partial_auc" if is_part else known[0]
    elif metric not in known:
        raise ValueError(_explain_metric(metric, known, target))
    if fpr is None:
        fpr = WHOLE if tpr not in (None, WHOLE) else _DEFAULT_FPR
    return Goal(metric, fpr, tpr or WHOLE)


def _explain_metric(metric: str, known: Sequence[str], target: Target) -> str:
    labels = "levels of relevance" if target.is_graded else "two classes"
    labels += " without queries" if target.queries is None else " in queries"
    problem = "does not apply to" if metric in MEASURES else "is unknown; with"
    return f"the metric {metric!r} {problem} {labels}: choose from {', '.join(known)}."


def measure(target: Target, scores: Floats, goal: Goal) -> dict[str, Floats]:
    """Measure each query that has rows of two levels, the metric of the goal first.

    Without queries all rows form one. With more than two levels ``auc`` and ``map`` are
    of the rows above the lowest, and NaN for a query that has no row of the lowest.
    """
    metrics: dict[str, Metric] = {
        "auc": roc_auc_score,
        "partial_auc": partial(
            partial_auc_score, fpr_range=goal.fpr_range, tpr_range=goal.tpr_range
        ),
        "mauc": multiclass_auc_score,
        "ordinal_auc": ordinal_auc_score,
        "ndcg": partial(ndcg_score, k=10),
        "map": mean_average_precision,
    }
    names = sorted(measures_of(target), key=lambda name: name != goal.metric)
    relevant = target.relevant
    return {
        name: by_query(
            metrics[name],
            target.labels if name in _OF_LEVELS else relevant,
            target,
            scores,
        )
        for name in names
    }


def by_query(
    metric: Metric, labels: NDArray[np.int64], target: Target, scores: Floats
) -> Floats:
    """Measure each query; NaN for those whose labels are all equal."""
    values = np.full(len(target.blocks), np.nan)
    for k, rows in enumerate(target.blocks):
        if labels[rows].min() < labels[rows].max():
            weights = target.weights_of(rows)
            values[k] = metric(labels[rows], scores[rows], sample_weight=weights)
    return values
