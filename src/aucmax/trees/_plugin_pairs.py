"""The gradient, hessian and metric of one objective, for the rows of any library."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aucmax._core.features import check_relevance_levels
from aucmax._core.parameters import check_interval, check_range
from aucmax._core.validation import FloatArray, IntArray, check_binary_labels
from aucmax.risks.bound_pair_logistic import BoundPairLogistic
from aucmax.trees.pair_objectives import METRICS, OUTSIDE_WEIGHT, find_objective

Prepared = TypeVar("Prepared")

_MAX_KEPT = 4  # data sets: one to train on, and a few to evaluate


@dataclass(frozen=True)
class LabelledRows:
    """Labels, weights and queries of a data set."""

    labels: NDArray[Any]  # classes or levels
    weights: NDArray[Any] | None = None  # of the rows
    sizes: NDArray[Any] | None = None  # rows of each query; None for one query
    query_weights: NDArray[Any] | None = None

    @property
    def qid(self) -> IntArray | None:
        """The query of each row."""
        if self.sizes is None:
            return None
        return np.repeat(np.arange(self.sizes.size), self.sizes)

    def is_equal(self, other: LabelledRows) -> bool:
        """Return whether all values are the same, in a pass over each array."""
        return all(
            mine is None and its is None
            if mine is None or its is None
            else np.array_equal(mine, its)
            for mine, its in zip(vars(self).values(), vars(other).values(), strict=True)
        )


class Recent(Generic[Prepared]):
    """Keep what has been prepared for the last few data sets.

    They are recognised by their values: libraries copy arrays at each call, and users
    may change labels. Comparing them costs a small part of preparing them.
    """

    def __init__(self, prepare: Callable[[LabelledRows], Prepared]) -> None:
        self._prepare = prepare
        self._kept: list[tuple[LabelledRows, Prepared]] = []

    def get(self, rows: LabelledRows) -> Prepared:
        """Return what belongs to these rows, prepared now if it is not kept."""
        for known, prepared in self._kept:
            if known.is_equal(rows):
                return prepared
        prepared = self._prepare(rows)
        self._kept = [(deepcopy(rows), prepared), *self._kept[: _MAX_KEPT - 1]]
        return prepared


@dataclass(frozen=True)
class _WeightedPairs:
    pairs: BoundPairLogistic
    row_weights: FloatArray | None  # of the queries of the rows

    def derivatives(self, scores: NDArray[Any]) -> tuple[FloatArray, FloatArray]:
        gradient, hessian = self.pairs.gradient_hessian(scores, scaled=True)
        if self.row_weights is not None:
            gradient *= self.row_weights
            hessian *= self.row_weights
        return gradient, hessian


class PairPlug:
    """One objective over all pairs, and the metric that it aims at.

    `fpr_range` and `outside_weight`, which negatives outside of the range weigh, are
    for the partial AUC alone.
    """

    def __init__(
        self,
        objective: str,
        fpr_range: Sequence[float],
        outside_weight: float = OUTSIDE_WEIGHT,
        n_jobs: int = 1,
    ) -> None:
        fpr_range = check_range("fpr_range", fpr_range)
        check_interval("outside_weight", outside_weight, 1.0, zero=True)
        self._arguments = objective, fpr_range, outside_weight, n_jobs
        self._objective = find_objective(objective)
        self._metric = METRICS[self._objective.metric]
        self._risk = self._objective.risk(fpr_range, outside_weight, n_jobs)
        self._pairs = Recent(self._prepare_pairs)
        self._measures = Recent(self._prepare_measure)

    @property
    def name(self) -> str:
        """What the metric is called: as XGBoost maximises what begins with auc."""
        return f"aucmax_{self._metric.name}"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self._arguments  # without the rows that are kept

    def gradient_hessian(
        self, rows: LabelledRows, scores: NDArray[Any]
    ) -> tuple[FloatArray, FloatArray]:
        """Return both derivatives, on the scale of about one per row."""
        _reject_diverged(scores)
        return self._pairs.get(rows).derivatives(scores)

    def measure(self, rows: LabelledRows, scores: NDArray[Any]) -> float:
        """Return the metric; higher is better."""
        _reject_diverged(scores)
        return self._measures.get(rows)(scores)

    def _prepare_pairs(self, rows: LabelledRows) -> _WeightedPairs:
        self._check_labels(rows.labels)
        pairs = self._risk.bind(rows.labels, rows.weights, rows.qid)
        if rows.sizes is None or rows.query_weights is None:
            return _WeightedPairs(pairs, None)
        by_row = np.repeat(rows.query_weights, rows.sizes)
        return _WeightedPairs(pairs, by_row.astype(np.float64))

    def _prepare_measure(self, rows: LabelledRows) -> Callable[[ArrayLike], float]:
        self._check_labels(rows.labels)
        return self._metric.prepare(
            rows.labels, rows.qid, rows.weights, self._arguments[1]
        )

    def _check_labels(self, labels: NDArray[Any]) -> None:
        if self._objective.labels == "two":
            check_binary_labels(labels, "label")
        else:
            check_relevance_levels(self, labels)


def _reject_diverged(scores: NDArray[Any]) -> None:
    is_finite = np.isfinite(scores)
    if is_finite.all():
        return
    row = int(np.argmin(is_finite))
    raise ValueError(
        f"{scores.size - np.count_nonzero(is_finite)} of {scores.size} scores are not "
        f"finite, the first in row {row}: {scores.flat[row]}. Training has diverged: "
        "lower the learning rate, ask for more rows in a leaf or for a larger L2 "
        "penalty. If this is the first round, look at the initial scores."
    )
