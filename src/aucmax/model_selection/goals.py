"""The goal of a comparison: the measure that decides, and its part of the ROC curve."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from aucmax._core.parameters import check_range
from aucmax.exceptions import NotEnoughClassesError
from aucmax.metrics.metric_names import metric_title, names, parse_metric
from aucmax.tables import Target
from aucmax.tables.folds import is_usable

Range: TypeAlias = tuple[float, float]
Floats: TypeAlias = NDArray[np.float64]

WHOLE: Range = (0.0, 1.0)
#: The ranges of the whole curve.
WHOLE_CURVE: dict[str, Any] = {"fpr_range": WHOLE, "tpr_range": WHOLE}
# shown beside the AUC without a range
_DEFAULT_FPR: Range = (0.0, 0.1)


@dataclass(frozen=True)
class Goal:
    """The measure that models are chosen and tested by, and the ranges of its part."""

    metric: str  # a name for `parse_metric`
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
        return metric_title(self.metric)

    @property
    def other_metric(self) -> str | None:
        """The metric, unless it is an area."""
        return None if self.is_area else self.metric

    @property
    def is_area(self) -> bool:
        """Whether it is the AUC or the partial AUC."""
        return self.metric in ("auc", "partial_auc")

    @property
    def part_in_words(self) -> str:
        """The part of the curve in a sentence."""
        text = "false positive rates {:g} to {:g}".format(*self.fpr_range)
        if self.tpr_range == WHOLE:
            return text
        return text + ", true positive rates {:g} to {:g}".format(*self.tpr_range)

    @property
    def part(self) -> str:
        """The part of the curve in a few characters."""
        text = "{:g}-{:g}".format(*self.fpr_range)
        if self.tpr_range == WHOLE:
            return text
        return text + " x {:g}-{:g}".format(*self.tpr_range)

    def titles(self, names: Iterable[str]) -> list[str]:
        """Return the titles of measures in a table."""
        titles = {"partial_auc": f"pAUC {self.part}"}
        return [titles.get(name) or metric_title(name) for name in names]


def measures_of(target: Target) -> list[str]:
    """Return the names of the measures of a target, the default first."""
    if target.is_survival:
        return ["concordance"]
    if not target.is_graded:
        areas = ["auc", "partial_auc"]
        return areas if target.queries is None else [*areas, "ndcg@10", "map"]
    areas = ["mauc", "ordinal_auc", "auc"]
    return areas if target.queries is None else ["ndcg@10", *areas, "map"]


def choose_goal(
    target: Target,
    metric: str | None = None,
    fpr_range: Sequence[float] | None = None,
    tpr_range: Sequence[float] | None = None,
) -> Goal:
    """Return the goal; by default the partial AUC of a range, else the first measure.

    That is the AUC, for levels of relevance NDCG@10, or without queries the MAUC.
    """
    fpr = None if fpr_range is None else check_range("fpr_range", fpr_range)
    tpr = None if tpr_range is None else check_range("tpr_range", tpr_range)
    is_part = any(ends not in (None, WHOLE) for ends in (fpr, tpr))
    if is_part and (target.is_graded or target.is_survival):
        levels = f"{len(target.level_counts)} levels"
        raise ValueError(
            "a range selects a part of the ROC curve of two classes, but the target "
            f"has {'censored times' if target.is_survival else levels}. Leave out the "
            "range, or choose the positive value of a target of two classes."
        )
    names_of_target = measures_of(target)
    if metric is None:
        metric = "partial_auc" if is_part else names_of_target[0]
    elif not _applies(metric, target):
        raise ValueError(_explain_metric(metric, target))
    if fpr is None:
        fpr = WHOLE if tpr not in (None, WHOLE) else _DEFAULT_FPR
    return Goal(metric, fpr, tpr or WHOLE)


def _applies(metric: str, target: Target) -> bool:
    """Return whether a target has the labels and queries that a metric needs."""
    kind = parse_metric(metric).kind
    if kind.uses_times or target.is_survival:
        return kind.uses_times and target.is_survival
    if kind.needs_queries:
        return target.queries is not None
    return not kind.takes_range if target.is_graded else not kind.uses_levels


def _explain_metric(metric: str, target: Target) -> str:
    labels = "levels of relevance" if target.is_graded else "two classes"
    labels += " without queries" if target.queries is None else " in queries"
    labels = "censored times" if target.is_survival else labels
    listed = ", ".join(name for name in names() if _applies(name, target))
    return f"the metric {metric!r} does not apply to {labels}: choose from {listed}."


def by_query(metric: str, target: Target, scores: Floats, goal: Goal) -> Floats:
    """Measure each query that has rows of two levels; NaN without two classes.

    Without queries all rows form one. With more than two levels ``auc`` and ``map`` are
    of the rows above the lowest, and NaN for a query that has no row of the lowest.
    """
    named, rows = parse_metric(metric), np.arange(scores.size)
    if target.queries is not None:
        rows = np.flatnonzero(is_usable(target))
    if rows.size == 0:
        return np.empty(0)
    usable = target.take(rows)
    ranges = {"fpr_range": goal.fpr_range, "tpr_range": goal.tpr_range}
    try:
        values = named.function(
            usable.labels if named.kind.uses_levels else usable.relevant,
            scores[rows],
            sample_weight=usable.weights,
            qid=usable.queries,
            average="macro" if usable.queries is None else None,
            **(ranges if named.kind.takes_range else {}),
        )
    except NotEnoughClassesError:
        return np.full(usable.n_queries or 1, np.nan)
    values = np.atleast_1d(values)
    if metric == "map" and usable.queries is not None:
        # like the AUC, it needs a row of the lowest level
        _, codes = np.unique(usable.queries, return_inverse=True)
        values[np.bincount(codes) == np.bincount(codes, usable.relevant)] = np.nan
    return values
