"""The rows of one class: where they stand, their scores, their weights."""

from typing import NamedTuple

import numpy as np

from aucmax._core.sorting import RowNumbers, row_number_type, sort_with_order
from aucmax._core.validation import BoolArray, FloatArray

__all__ = ["ClassMembers", "ClassRows", "split_classes"]


class ClassMembers(NamedTuple):
    """The rows of one class that weigh anything; the side is that of `ClassRows`."""

    rows: RowNumbers
    weights: FloatArray | None  # None for ones
    side: int

    @property
    def total_weight(self) -> float:
        """Weight of all rows."""
        return float(self.rows.size if self.weights is None else self.weights.sum())

    def with_scores(self, scores: FloatArray) -> "ClassRows":
        """Return the rows with their scores, given those of both classes."""
        return ClassRows(self.rows, scores[self.rows], self.weights, self.side)


def split_classes(
    labels: BoolArray, sample_weight: FloatArray | None, *, rescale: bool = False
) -> tuple[ClassMembers, ClassMembers]:
    """Return the positives and the negatives, without rows that weigh nothing.

    With `rescale`, weights are in units of each class's heaviest row: no product of two
    of them overflows.
    """
    classes = []
    for members, side in ((labels, -1), (~labels, 1)):
        if sample_weight is not None:
            members = members & (sample_weight > 0.0)
        rows = np.flatnonzero(members).astype(row_number_type(members.size))
        weights = None if sample_weight is None else sample_weight[rows]
        if weights is not None and rescale:
            weights = weights / weights.max()
        classes.append(ClassMembers(rows, weights, side))
    return classes[0], classes[1]


class ClassRows(NamedTuple):
    """Rows of one class, in any order.

    The side is 1 for negatives and -1 for positives: the rows that matter most are
    those with the highest score times side.
    """

    rows: RowNumbers
    values: FloatArray
    weights: FloatArray | None  # None for ones
    side: int

    @property
    def size(self) -> int:
        """Number of rows."""
        return self.rows.size

    @property
    def total_weight(self) -> float:
        """Weight of all rows."""
        return float(self.size if self.weights is None else self.weights.sum())

    @property
    def explicit_weights(self) -> FloatArray:
        """The weights, also where they are ones."""
        return np.ones(self.size) if self.weights is None else self.weights

    @property
    def weights_or_empty(self) -> FloatArray:
        """The weights as kernels take them: empty for ones."""
        return np.empty(0) if self.weights is None else self.weights

    @property
    def keys(self) -> FloatArray:
        """What falls with the rank: the score of a negative, minus a positive's."""
        return self.values if self.side > 0 else -self.values

    def at(self, places: RowNumbers) -> "ClassRows":
        """Return some of the rows."""
        weights = None if self.weights is None else self.weights[places]
        return ClassRows(self.rows[places], self.values[places], weights, self.side)

    def sorted(self) -> "ClassRows":
        """Return the rows by ascending score."""
        order, values = sort_with_order(self.values)
        weights = None if self.weights is None else self.weights[order]
        return ClassRows(self.rows[order], values, weights, self.side)
