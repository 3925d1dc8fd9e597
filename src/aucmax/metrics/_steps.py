"""The ROC curve as steps: the mass of each class at each distinct score.

From the highest score down, every step moves the curve right by its share of the
negative mass and up by its share of the positive mass: a diagonal where both tie.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from aucmax._core.parameters import check_choice, check_range
from aucmax._core.sorting import (
    RowNumbers,
    row_number_type,
    sort_in_groups,
    sort_with_order,
)
from aucmax._core.validation import (
    BoolArray,
    FloatArray,
    IntArray,
    check_binary_labels,
    check_class_weights,
    check_qid,
    check_sample_weight,
    check_scores,
)
from aucmax.exceptions import NotEnoughClassesError
from aucmax.metrics import _ranking_kernels

Box = tuple[float, float, float, float]  # low FPR, high FPR, low TPR, high TPR
WHOLE_SQUARE: Box = (0.0, 1.0, 0.0, 1.0)
# with fewer rows, numpy takes a few milliseconds and nothing has to be compiled
_MANY = 2**15


@dataclass(frozen=True)
class QueryOrder:
    """The rows of each query, counted once for any number of rankings."""

    codes: RowNumbers | None  # the number of each row's query; None where all are one
    offsets: IntArray  # sorted, query q owns the rows offsets[q] .. offsets[q + 1] - 1

    def sort(self, values: FloatArray) -> RowNumbers:
        """Return the order by query, then by value; equal values stay put; O(m)."""
        if self.codes is None:
            return sort_with_order(values)[0]
        return sort_in_groups(values, self.codes, self.offsets)


def check_queries(qid: ArrayLike | None, n_rows: int) -> QueryOrder:
    """Check the query ids, or make one query of all rows."""
    queries = None if qid is None else check_qid(qid, n_rows)
    if queries is None or queries.n_queries == 1:
        return QueryOrder(None, np.array([0, n_rows]))
    sizes = np.bincount(queries.codes, minlength=queries.n_queries)
    offsets = np.concatenate(([0], np.cumsum(sizes)))
    return QueryOrder(queries.codes.astype(row_number_type(n_rows)), offsets)


def tie_starts(ranked: FloatArray | IntArray, offsets: IntArray) -> IntArray:
    """Return where each run of equal scores within a query starts."""
    is_start = np.empty(ranked.size, dtype=bool)
    np.not_equal(ranked[1:], ranked[:-1], out=is_start[1:])
    is_start[offsets[:-1]] = True
    return np.flatnonzero(is_start)


def mean_over_queries(
    values: FloatArray, needed: str = "rows of both classes"
) -> float:
    """Average over the queries that have a value; NaN marks those that have none."""
    has_value = ~np.isnan(values)
    if not has_value.any():
        raise NotEnoughClassesError(
            f"None of the {values.size} queries has {needed}, so there is nothing to "
            "average. Check that qid numbers queries, not rows."
        )
    return float(values[has_value].mean())


#: How to average over queries; None returns the value of each.
AVERAGES = ("macro", "micro", "impressions", None)


class QueryValues(NamedTuple):
    """A metric of each query, NaN where it has none, and the weights of queries."""

    values: FloatArray
    rows: FloatArray  # the weight of its rows
    parts: FloatArray  # the weight of what the metric is a share of

    def average(
        self, average: str | None, needed: str = "rows of both classes"
    ) -> float | FloatArray:
        """Average over the queries that have a value; None returns all values."""
        check_choice("average", average, AVERAGES)
        if average is None:
            return self.values
        mean = mean_over_queries(self.values, needed)
        if average == "macro":
            return mean
        weights = self.rows if average == "impressions" else self.parts
        has_value = ~np.isnan(self.values)
        return float(np.average(self.values[has_value], weights=weights[has_value]))


def check_box(fpr_range: Sequence[float], tpr_range: Sequence[float]) -> Box:
    """Check two ranges; return the ends of both."""
    fpr, tpr = check_range("fpr_range", fpr_range), check_range("tpr_range", tpr_range)
    return (*fpr, *tpr)


def box_size(box: Box) -> float:
    """Return the area of a box."""
    return (box[1] - box[0]) * (box[3] - box[2])


@dataclass(frozen=True)
class Steps:
    """Masses of consecutive steps, one per distinct score, the highest first."""

    negative: FloatArray
    positive: FloatArray
    offsets: IntArray  # query q owns the steps offsets[q] .. offsets[q + 1] - 1

    def areas(self, box: Sequence[float] = WHOLE_SQUARE) -> FloatArray:
        """Return per query the area under the curve in a box, NaN without a class."""
        is_small = self.offsets.size == 2 and self.negative.size < _MANY
        if is_small and tuple(box) == WHOLE_SQUARE:
            return np.array([_whole_area(self.negative, self.positive)])
        areas: FloatArray = _ranking_kernels.box_areas(
            self.negative, self.positive, self.offsets, tuple(map(float, box))
        )
        return areas


@dataclass(frozen=True)
class RankedSteps(Steps):
    """Steps of rows."""

    order: RowNumbers  # rows by query, the highest score first
    starts: IntArray  # where each step begins in this order
    scores: FloatArray  # of each step

    def counts_above(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the distinct scores, and true and false positives above k of them.

        Of one query; k counts from 0. Scores without any weight are left out.
        """
        has_weight = self.positive + self.negative > 0.0
        tp, fp = (
            np.concatenate(([0.0], np.cumsum(masses[has_weight])))
            for masses in (self.positive, self.negative)
        )
        return self.scores[has_weight], tp, fp

    def number_of_rows(self) -> RowNumbers:
        """Return the number of each row's step."""
        numbers = np.empty(self.order.size, dtype=self.order.dtype)
        sizes = np.diff(self.starts, append=self.order.size)
        numbers[self.order] = np.repeat(np.arange(self.starts.size), sizes)
        return numbers


@dataclass(frozen=True)
class RankingTask:
    """Checked arguments of a metric of two classes; None stands for one query."""

    scores: FloatArray
    is_positive: BoolArray
    sample_weight: FloatArray | None = None
    queries: QueryOrder | None = None

    @property
    def n_positive(self) -> int:
        """Number of positive rows."""
        return int(np.count_nonzero(self.is_positive))

    def mean_area(self, box: Sequence[float] = WHOLE_SQUARE) -> float:
        """Return the area under the ROC curve in a box, as a mean over the queries."""
        if self.queries is None or self.queries.codes is None:
            is_plain = self.sample_weight is None and tuple(box) == WHOLE_SQUARE
            if is_plain and self.scores.size >= _MANY:
                return self._share_of_pairs()
            return float(self.steps().areas(box)[0])
        return mean_over_queries(self.areas_by_query(box).values)

    def areas_by_query(self, box: Sequence[float] = WHOLE_SQUARE) -> QueryValues:
        """Return the area of each query, NaN where it has rows of one class only."""
        steps = self.steps()
        starts = steps.offsets[:-1]
        positive, negative = (
            np.add.reduceat(masses, starts)
            for masses in (steps.positive, steps.negative)
        )
        rows, pairs = positive + negative, positive * negative
        return QueryValues(steps.areas(box), rows, pairs)

    def average_area(
        self, average: str | None, box: Sequence[float] = WHOLE_SQUARE
    ) -> Any:
        """Return the area in a box, averaged over the queries in any way."""
        if average == "macro":
            return self.mean_area(box)
        return self.areas_by_query(box).average(average)

    def steps(self) -> RankedSteps:
        """Return one step per distinct score of each query."""
        queries = self.queries or check_queries(None, self.scores.size)
        order = queries.sort(-self.scores)
        ranked, is_positive = self.scores[order], self.is_positive[order]
        weights = (
            np.ones(1) if self.sample_weight is None else self.sample_weight[order]
        )
        starts = tie_starts(ranked, queries.offsets)
        negative, positive = (
            np.add.reduceat(np.where(side, weights, 0.0), starts)
            for side in (~is_positive, is_positive)
        )
        offsets = np.searchsorted(starts, queries.offsets)
        return RankedSteps(negative, positive, offsets, order, starts, ranked[starts])

    def _share_of_pairs(self) -> float:
        """Return the whole area: sort both classes, and merge them."""
        split = np.empty_like(self.scores)
        _ranking_kernels.split_classes(self.scores, self.is_positive, split)
        positive, negative = np.split(split, [self.n_positive])
        positive.sort()
        negative.sort()
        n_pairs = positive.size * negative.size
        return float(_ranking_kernels.count_ordered(positive, negative) / (2 * n_pairs))


@dataclass(frozen=True)
class BinaryRows:
    """Checked labels, weights and queries, for any number of rankings."""

    is_positive: BoolArray
    sample_weight: FloatArray | None
    queries: QueryOrder

    def task(self, y_score: ArrayLike, name: str = "y_score") -> RankingTask:
        """Check scores of these rows."""
        scores = check_scores(y_score, self.is_positive.size, name)
        return RankingTask(scores, self.is_positive, self.sample_weight, self.queries)


def check_two_classes(
    y_true: ArrayLike,
    sample_weight: ArrayLike | None = None,
    qid: ArrayLike | None = None,
    pos_label: object = None,
) -> BinaryRows:
    """Check the labels, weights and queries of a metric of two classes."""
    classes, is_positive = check_binary_labels(y_true, pos_label=pos_label)
    weights = check_sample_weight(sample_weight, is_positive.size)
    check_class_weights(classes, is_positive, weights)
    return BinaryRows(is_positive, weights, check_queries(qid, is_positive.size))


def check_task(
    y_true: ArrayLike,
    y_score: ArrayLike,
    sample_weight: ArrayLike | None = None,
    qid: ArrayLike | None = None,
    pos_label: object = None,
    name: str = "y_score",
) -> RankingTask:
    """Check the arguments that all metrics of two classes share."""
    return check_two_classes(y_true, sample_weight, qid, pos_label).task(y_score, name)


def _whole_area(negative: FloatArray, positive: FloatArray) -> float:
    """Return the area under the whole curve, NaN where a class has no mass."""
    # brought near 1 by powers of two, so that nothing overflows and nothing is rounded
    negative = np.ldexp(negative, -np.frexp(negative.max())[1])
    positive = np.ldexp(positive, -np.frexp(positive.max())[1])
    height = np.cumsum(positive)
    n, p = float(negative.sum()), float(height[-1])
    if n == 0.0 or p == 0.0:
        return np.nan
    area = float(np.sum(negative * (height - 0.5 * positive)))
    return min(area / n / p, 1.0)
