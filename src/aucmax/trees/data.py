"""From what the user hands over to what trees are grown on."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aucmax._core.features import (
    check_relevance_levels,
    check_row_count,
    check_two_labels,
    levels_with_weight,
)
from aucmax._core.validation import (
    FloatArray,
    IntArray,
    Queries,
    TooManyClassesError,
    check_qid,
    check_sample_weight,
    labels_among,
)
from aucmax.trees.pair_objectives import PairObjective

__all__ = ["TrainingLabels", "TreeRows", "check_rows"]


@dataclass(frozen=True)
class TrainingLabels:
    """The labels that a model has seen."""

    values: NDArray[Any]  # negative and positive class, or the levels; ascending
    is_levels: bool

    @classmethod
    def of(cls, estimator: Any) -> Self:
        """Return what the attributes of a fitted model say."""
        if hasattr(estimator, "levels_"):
            return cls(estimator.levels_, True)
        return cls(estimator.classes_, False)

    def fitted_attributes(self) -> dict[str, Any]:
        """Return what `of` needs."""
        return {"levels_" if self.is_levels else "classes_": self.values}

    def encode(self, estimator: Any, y: ArrayLike, name: str) -> NDArray[Any]:
        """Return labels as risks and metrics take them; levels may be new ones."""
        if self.is_levels:
            return check_relevance_levels(estimator, y, name)
        return labels_among(self.values, y, name)

    def decode(self, labels: NDArray[Any]) -> NDArray[Any]:
        """Return labels as the user has them."""
        return labels if self.is_levels else self.values[labels.astype(np.intp)]


@dataclass(frozen=True)
class TreeRows:
    """Rows to train on, or to validate on."""

    X: Any  # the features as LightGBM shall see them
    labels: NDArray[Any]  # positive or not, or the level
    weight: FloatArray | None
    queries: Queries | None

    @property
    def qid(self) -> IntArray | None:
        """The number of each row's query."""
        return None if self.queries is None else self.queries.codes

    def part(self, rows: IntArray) -> "TreeRows":
        """Return some of the rows."""
        queries = self.queries
        return TreeRows(
            self.X[rows],
            self.labels[rows],
            None if self.weight is None else self.weight[rows],
            None if queries is None else Queries(queries.codes[rows], queries.ids),
        )


def check_rows(
    estimator: Any,
    objective: PairObjective,
    X: Any,
    y: ArrayLike,
    sample_weight: ArrayLike | None,
    qid: ArrayLike | None,
) -> tuple[TrainingLabels, TreeRows]:
    """Check what `fit` receives besides X, which is checked already.

    Rows without weight are left out.
    """
    check = _check_levels if objective.labels == "levels" else _check_classes
    known, labels, weight = check(estimator, y, sample_weight, X.shape[0])
    queries = None if qid is None else check_qid(qid, labels.size)
    rows = TreeRows(X, labels, weight, queries)
    if weight is not None and not weight.all():
        rows = rows.part(np.flatnonzero(weight))
    return known, rows


def _check_classes(
    estimator: Any, y: ArrayLike, sample_weight: ArrayLike | None, n_rows: int
) -> tuple[TrainingLabels, NDArray[Any], FloatArray | None]:
    try:
        classes, labels, weight = check_two_labels(estimator, y, sample_weight, n_rows)
    except TooManyClassesError as error:
        raise ValueError(
            f"{error} Or rank levels of relevance with objective='mauc' or 'ordinal'."
        ) from None
    return TrainingLabels(classes, False), labels, weight


def _check_levels(
    estimator: Any, y: ArrayLike, sample_weight: ArrayLike | None, n_rows: int
) -> tuple[TrainingLabels, NDArray[Any], FloatArray | None]:
    levels = check_relevance_levels(estimator, y)
    check_row_count(levels, n_rows)
    weight = check_sample_weight(sample_weight, n_rows)
    return TrainingLabels(levels_with_weight(levels, weight), True), levels, weight
