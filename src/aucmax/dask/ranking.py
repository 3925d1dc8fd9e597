"""The ROC curve of rows in parts: workers send the rarer class, and count the other.

The d distinct scores of the rarer class bound 2 d + 1 steps of the ranking, on which
each worker counts its own rows of the common class. All counts are exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aucmax._core.validation import (
    BoolArray,
    FloatArray,
    IntArray,
    check_binary_labels,
    check_scores,
)
from aucmax.dask import partitions
from aucmax.dask.cluster import Cluster
from aucmax.dask.partitions import Part
from aucmax.dask.tasks import Key, Tasks
from aucmax.exceptions import NotEnoughClassesError
from aucmax.inference.area_influence import influences_of_steps
from aucmax.metrics import _ranking_kernels
from aucmax.metrics._steps import RankingTask, Steps


@dataclass(frozen=True)
class PartitionRows:
    """Checked rows of one partition, all of positive weight."""

    number: int
    labels: NDArray[Any]
    scores: dict[str, FloatArray]
    weight: FloatArray | None
    qid: NDArray[Any] | None

    def task(self, name: str, is_positive: BoolArray) -> RankingTask:
        """Return the ranking of these rows by one of the scores."""
        return RankingTask(self.scores[name], is_positive, self.weight)


def check_parts(
    tasks: Tasks, columns: dict[str, Any], score_names: list[str]
) -> list[Key]:
    """Return the tasks that check the rows of each part, as :class:`PartitionRows`."""
    return [
        tasks.add(_check_rows, part, number=number, score_names=score_names)
        for number, part in enumerate(partitions.rows_in_parts(tasks, columns))
    ]


def _check_rows(part: Part, number: int, score_names: Sequence[str]) -> PartitionRows:
    """Check the rows of a part; leave out those of weight 0."""
    partitions.check_lengths(part, number)
    arrays = {name: np.asarray(block) for name, block in part.items()}
    labels = arrays["y_true"]
    if labels.size == 0:
        return PartitionRows(
            number, labels, dict.fromkeys(score_names, np.zeros(0)), None, None
        )
    with partitions.naming_partition(number):
        scores = {name: check_scores(arrays[name], None, name) for name in score_names}
        weight, qid = arrays.get("sample_weight"), arrays.get("qid")
        if weight is None:
            return PartitionRows(number, labels, scores, None, qid)
        weight = partitions.check_weights(weight)
    kept = weight > 0.0
    if not kept.all():
        scores = {name: values[kept] for name, values in scores.items()}
        qid = None if qid is None else qid[kept]
        labels, weight = labels[kept], weight[kept]
    return PartitionRows(number, labels, scores, weight, qid)


class LabelCounts(NamedTuple):
    """The distinct labels of some rows, how many rows have each, and their weight."""

    labels: NDArray[Any]
    counts: IntArray
    largest_weight: float


def _find_classes(rows: PartitionRows) -> LabelCounts:
    labels, weight = rows.labels, rows.weight
    largest = 1.0 if weight is None else float(weight.max(initial=0.0))
    if labels.size == 0:
        return LabelCounts(labels, np.zeros(0, np.int64), largest)
    with partitions.naming_partition(rows.number):
        try:
            classes, is_positive = check_binary_labels(labels)
        except NotEnoughClassesError:
            return LabelCounts(labels[:1], np.array([labels.size]), largest)
    n_positive = np.count_nonzero(is_positive)
    return LabelCounts(
        classes, np.array([labels.size - n_positive, n_positive]), largest
    )


@dataclass(frozen=True)
class Classes:
    """The positive class, the rarer class, and the unit of the weights."""

    positive: Any
    rarer_is_positive: bool
    exponent: int  # of two, by which weights are divided: the largest is about 1

    def is_positive(self, rows: PartitionRows) -> BoolArray:
        """Return whether each row is positive."""
        return np.asarray(rows.labels == self.positive, dtype=bool)

    def keys(self, rows: PartitionRows, name: str, rarer: bool) -> IntArray:
        """Return the scores of the rows of one class as integers in their order."""
        wanted = self.rarer_is_positive == rarer
        return rows.task(name, self.is_positive(rows)).keys(wanted)

    def weights(self, rows: PartitionRows, rarer: bool) -> FloatArray | None:
        """Return the weights of the rows of one class."""
        if rows.weight is None:
            return None
        members = self.is_positive(rows) == (self.rarer_is_positive == rarer)
        scaled: FloatArray = np.ldexp(rows.weight[members], -self.exponent)
        return scaled


def _agree_on_classes(
    found: Sequence[LabelCounts], pos_label: Any, weighted: bool
) -> Classes:
    seen = [one for one in found if one.labels.size]
    if not seen:
        raise ValueError(
            f"y_true has no rows{' of positive weight' * weighted}; at least one of "
            "each class is needed."
        )
    distinct = np.concatenate([one.labels for one in seen])
    counts = np.concatenate([one.counts for one in seen])
    if (distinct == distinct[0]).all():
        raise NotEnoughClassesError(
            f"y_true has one class only: all {counts.sum()} rows"
            f"{' of positive weight' * weighted} are {distinct[0]!r}. Two classes are "
            "needed to rank one above the other."
        )
    classes, is_positive = check_binary_labels(distinct, pos_label=pos_label)
    n_positive = counts[is_positive].sum()
    exponent = int(np.frexp(max(one.largest_weight for one in seen))[1])
    return Classes(classes[1], bool(2 * n_positive <= counts.sum()), exponent)


class ClassMasses(NamedTuple):
    """The weight and the squared weight of one class on each step."""

    weight: FloatArray
    square: FloatArray

    @property
    def total(self) -> float:
        """The weight of the class."""
        return float(self.weight.sum())

    def mean_and_variance(self, values: FloatArray) -> tuple[float, float]:
        """Return the mean of values of the steps, and the variance of that mean."""
        # relative to one of them: equal values give exactly that mean, and variance 0
        centre = values[np.argmax(self.weight)]
        mean = float(centre + self.weight @ (values - centre) / self.total)
        return mean, self.variance_about(float(self.square @ (values - mean) ** 2))

    def variance_about(self, sum_of_squares: float) -> float:
        """Return the variance of a mean from weighted squares about it."""
        return sum_of_squares / (self.total**2 - float(self.square.sum()))


@dataclass(frozen=True)
class RarerClassGrid:
    """The distinct scores of the rarer class, and its weight on the steps."""

    keys: IntArray
    rarer: ClassMasses
    classes: Classes

    def places(self, rows: PartitionRows, name: str, rarer: bool) -> IntArray:
        """Return the step of each row of one class."""
        keys = self.classes.keys(rows, name, rarer)
        steps: IntArray = _ranking_kernels.locate(keys, self.keys)
        return steps

    def shares_below(self) -> FloatArray:
        """Return the share of the rarer class below each step, with half of its own."""
        weight = self.rarer.weight
        ends = np.cumsum(weight)
        shares: FloatArray = (ends - 0.5 * weight) / ends[-1]
        return shares


def _rarer_keys(
    rows: PartitionRows, classes: Classes, name: str
) -> tuple[IntArray, FloatArray | None]:
    """Return the keys of the rarer class, and its weights if there are any."""
    return classes.keys(rows, name, True), classes.weights(rows, True)


def _merge_keys(found: Sequence[Any], classes: Classes) -> RarerClassGrid:
    keys, weights = zip(*(one for one in found if one[0].size), strict=True)
    grid, places = np.unique(np.concatenate(keys), return_inverse=True)
    joined = None if weights[0] is None else np.concatenate(weights)
    masses = _masses(places, joined, grid.size)
    weight = _on_odd_steps(masses.weight)
    square = weight if joined is None else _on_odd_steps(masses.square)
    return RarerClassGrid(grid, ClassMasses(weight, square), classes)


def _masses(places: IntArray, weights: FloatArray | None, n: int) -> ClassMasses:
    if weights is None:
        counts = np.bincount(places, minlength=n).astype(np.float64)
        return ClassMasses(counts, counts)
    sums = (np.bincount(places, each, n) for each in (weights, weights**2))
    return ClassMasses(*(np.asarray(each, dtype=np.float64) for each in sums))


def _on_odd_steps(masses: NDArray[Any]) -> FloatArray:
    steps = np.zeros(2 * masses.size + 1)
    steps[1::2] = masses
    return steps


def _count_common(rows: PartitionRows, grid: RarerClassGrid, name: str) -> ClassMasses:
    weights = grid.classes.weights(rows, False)
    return _masses(grid.places(rows, name, False), weights, grid.rarer.weight.size)


def _add_masses(several: Sequence[ClassMasses]) -> ClassMasses:
    weight = sum(one.weight for one in several)
    is_plain = all(one.square is one.weight for one in several)
    square = weight if is_plain else sum(one.square for one in several)
    return ClassMasses(np.asarray(weight), np.asarray(square))


@dataclass(frozen=True)
class StepMasses:
    """Both classes on the steps of one ranking, the lowest scores first."""

    positive: ClassMasses
    negative: ClassMasses

    def area(self, box: Sequence[float]) -> float:
        """Return the area under the curve within a box."""
        right, up = self.negative.weight[::-1].copy(), self.positive.weight[::-1].copy()
        return float(Steps(right, up, np.array([0, right.size])).areas(box)[0])

    def influences(self, box: Sequence[float]) -> tuple[FloatArray, FloatArray]:
        """Return the influence of a positive and a negative on each step."""
        return influences_of_steps(self.positive.weight, self.negative.weight, box)


def _both(grid: RarerClassGrid, common: ClassMasses) -> StepMasses:
    if grid.classes.rarer_is_positive:
        return StepMasses(grid.rarer, common)
    return StepMasses(common, grid.rarer)


class Rankings:
    """Tasks that rank the rows of all parts by one or more scores."""

    def __init__(
        self, columns: dict[str, Any], score_names: list[str], pos_label: Any
    ) -> None:
        self.tasks = Tasks()
        self.rows = check_parts(self.tasks, columns, score_names)
        found = [self.tasks.add(_find_classes, rows) for rows in self.rows]
        weighted = columns.get("sample_weight") is not None
        self.classes = self.tasks.add(
            _agree_on_classes, found, pos_label=pos_label, weighted=weighted
        )

    def compute(self, wanted: Key | list[Key]) -> Any:
        """Return the result of a task, or of each of a list."""
        return Cluster().compute(self.tasks, wanted)

    def grid(self, name: str) -> Key:
        """Return the task that merges the rarer class, as a :class:`RarerClassGrid`."""
        found = [
            self.tasks.add(_rarer_keys, rows, self.classes, name=name)
            for rows in self.rows
        ]
        return self.tasks.add(_merge_keys, found, self.classes)

    def steps(self, name: str, grid: Key) -> Key:
        """Return the task that counts both classes, as :class:`StepMasses`."""
        counts = [
            self.tasks.add(_count_common, rows, grid, name=name) for rows in self.rows
        ]
        return self.tasks.add(_both, grid, self.tasks.combine(_add_masses, counts))

    def auc(self, name: str) -> float:
        """Compute the area under the whole curve from a few numbers per part."""
        grid = self.grid(name)
        found = self.compute(
            [
                self.tasks.add(_sum_of_shares, rows, grid, name=name)
                for rows in self.rows
            ]
        )
        return float(sum(one[0] for one in found) / sum(one[1] for one in found))


def _sum_of_shares(
    rows: PartitionRows, grid: RarerClassGrid, name: str
) -> tuple[float, float]:
    """Return what rows of the common class add to the AUC, and their weight."""
    below = grid.shares_below()
    shares = below if not grid.classes.rarer_is_positive else 1.0 - below
    own = shares[grid.places(rows, name, False)]
    weights = grid.classes.weights(rows, False)
    if weights is None:
        return float(own.sum()), float(own.size)
    return float(weights @ own), float(weights.sum())
