"""The rows of one class: where they stand, their scores, their weights."""

import math
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import brentq

from aucmax._core.sorting import RowNumbers, row_number_type, sort_with_order
from aucmax._core.validation import BoolArray, FloatArray
from aucmax.risks._pairs.pair_laplacians import gram, without_threshold
from aucmax.risks._pairs.selection_kernels import split_cell


class ClassMembers(NamedTuple):
    """The rows of one class with any weight; the side is that of `ClassRows`."""

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
    labels: BoolArray, sample_weight: FloatArray | None
) -> tuple[ClassMembers, ClassMembers]:
    """Return both classes without rows of weight 0."""
    classes = []
    for members, side in ((labels, -1), (~labels, 1)):
        if sample_weight is not None:
            members = members & (sample_weight > 0.0)
        rows = np.flatnonzero(members).astype(row_number_type(members.size))
        weights = None if sample_weight is None else sample_weight[rows]
        classes.append(ClassMembers(rows, weights, side))
    return classes[0], classes[1]


class ClassRows(NamedTuple):
    """Rows of one class, in any order; side 1 for negatives, -1 for positives."""

    # rows with the highest score times side matter most
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
    def keys(self) -> FloatArray:
        """Scores of negatives, or minus those of positives: they fall with the rank."""
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


_MAX_SORTED_KEYS = 512
_CELLS = 2048
_ROUNDING = 1e-9  # a share nearer to 0 or 1 does not move with its key


class TopThreshold(NamedTuple):
    """Where a class is cut: rows above the threshold count, of those at it a share."""

    threshold: float
    share: float

    def shares(self, values: FloatArray) -> FloatArray:
        """Return the share by which each row counts."""
        shares = (values > self.threshold).astype(np.float64)
        shares[values == self.threshold] = self.share
        return shares


class SmoothChoice(NamedTuple):
    """The first rows of a class, the later of them by falling shares; sorted."""

    # a row of key k counts by the share clip((k - threshold) / width + 1/2, 0, 1)
    chosen: ClassRows  # their weights times their shares
    exact: FloatArray  # their weights in the exact choice
    threshold: float
    sloping: RowNumbers  # the places of those whose share moves with the key
    slopes: FloatArray  # by how much

    @classmethod
    def from_class(cls, rows: ClassRows, share: float, width: float) -> "SmoothChoice":
        """Choose a share of the class."""
        if share >= 1.0:
            rows, none = rows.sorted(), np.empty(0, dtype=np.intp)
            return cls(rows, rows.explicit_weights, -math.inf, none, np.empty(0))
        amount = share * rows.total_weight
        cut = weighted_top(rows.keys, rows.weights, amount)
        near = rows.at(np.flatnonzero(rows.keys >= cut.threshold - width)).sorted()
        keys = near.keys
        weights = near.explicit_weights
        threshold, shares = _soft_shares(keys, weights, amount, width, cut.threshold)
        sloping = np.flatnonzero((shares > _ROUNDING) & (shares < 1.0 - _ROUNDING))
        chosen = near._replace(weights=weights * shares)
        exact = weights * cut.shares(keys)
        return cls(chosen, exact, threshold, sloping, weights[sloping] / width)

    def shortfall(self, width: float) -> float:
        """Return how much the smoothed sum falls as a unit of weight is added."""
        heights = self.chosen.keys - self.threshold + 0.5 * width
        shares = np.clip(heights / width, 0.0, 1.0)
        weights = self.chosen.explicit_weights
        return float((weights * (heights - 0.5 * width * shares)).sum())

    def scatter(self, columns: Any) -> FloatArray:
        """Return the scatter of the rows whose shares move, about their centre."""
        rows = columns[self.chosen.rows[self.sloping]]
        pulls = self.slopes @ rows
        stiffness = float(self.slopes.sum())
        return without_threshold(gram(rows, self.slopes), pulls, stiffness)


def _soft_shares(
    keys: FloatArray, weights: FloatArray, amount: float, width: float, hard: float
) -> tuple[float, FloatArray]:
    """Find the threshold at which soft shares weigh the amount, and the shares."""
    # in widths from the hard threshold, so that rounding is relative to the width
    places = (keys - hard) / width + 0.5

    def excess(shift: float) -> float:
        return float((weights * np.clip(places - shift, 0.0, 1.0)).sum()) - amount

    shift = -0.5
    if excess(-0.5) > 0.0:
        shift = 0.5 if excess(0.5) >= 0.0 else brentq(excess, -0.5, 0.5, xtol=1e-14)
    shares = np.clip(places - shift, 0.0, 1.0)
    total = float((weights * shares).sum())
    return hard + shift * width, np.minimum(shares * (amount / total), 1.0)


def weighted_top(
    keys: FloatArray, weights: FloatArray | None, amount: float
) -> TopThreshold:
    """Find the cut above which the keys weigh the amount, above 0; usually in O(n)."""
    remaining = np.empty(0) if weights is None else weights
    above = 0.0
    while keys.size > _MAX_SORTED_KEYS:
        heavier, inside, inside_weights = split_cell(
            keys, remaining, amount - above, _CELLS
        )
        above += heavier
        is_narrower = inside.size < keys.size / 2
        keys, remaining = inside, inside_weights
        if not is_narrower:
            break
    order, ascending = sort_with_order(keys)
    cumulative = np.ones(keys.size) if remaining.size == 0 else remaining[order]
    # cumulative[k] weighs the k + 1 highest keys
    cumulative, descending = np.cumsum(cumulative[::-1]), ascending[::-1]
    threshold = descending[np.searchsorted(cumulative[:-1], amount - above)]
    first = np.searchsorted(-descending, -threshold)
    last = np.searchsorted(-descending, -threshold, side="right") - 1
    if first > 0:
        above += cumulative[first - 1]
        cumulative -= cumulative[first - 1]
    # weights may be lost beside larger ones
    share = (amount - above) / cumulative[last] if cumulative[last] > 0.0 else 1.0
    return TopThreshold(float(threshold), float(min(max(share, 0.0), 1.0)))
