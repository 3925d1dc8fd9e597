"""Rows of one class in the order of their scores, and sums over pairs of classes."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from aucmax._sorting import RowNumbers, row_number_type
from aucmax._validation import BoolArray, FloatArray
from aucmax.risks import _kernels
from aucmax.risks.base import Support

__all__ = [
    "ROUNDING",
    "SortedClass",
    "class_rows",
    "hinge_support",
    "laplacian",
    "mean_hinge",
    "rounding_slack",
]

ROUNDING = 1e-12  # of the largest score: closer to a kink, a pair is at it


class SortedClass(NamedTuple):
    """The rows of one class by ascending score: where they stand, score, weight."""

    rows: RowNumbers
    values: FloatArray
    weights: FloatArray  # empty for ones

    @property
    def total_weight(self) -> float:
        """Weight of all rows."""
        return float(self.weights.sum()) if self.weights.size else float(self.rows.size)

    @property
    def explicit_weights(self) -> FloatArray:
        """The weights, also where they are ones."""
        return self.weights if self.weights.size else np.ones(self.rows.size)


def class_rows(members: BoolArray) -> RowNumbers:
    """Return the numbers of the rows of one class."""
    return np.flatnonzero(members).astype(row_number_type(members.size))


def mean_hinge(lifted: SortedClass, positive: SortedClass) -> float:
    """Return the weighted mean over pairs of max(0, lifted - positive)."""
    total = _kernels.hinge_total(
        lifted.values, lifted.weights, positive.values, positive.weights
    )
    return float(total / (lifted.total_weight * positive.total_weight))


def rounding_slack(largest: float, margin: float) -> float:
    """Return how far from the kink a pair is at it, but for rounding."""
    return ROUNDING * max(largest, margin)


def hinge_support(
    positive: SortedClass,
    lifted: SortedClass,
    subgradient: FloatArray,
    *,
    margin: float,
    width: float = 0.0,
    slack: float = 0.0,
) -> Support:
    """Return the mean hinge and the line of its smoothed gradient.

    The negatives are lifted by the margin. The slope is written into `subgradient`, in
    the rows of the two classes alone.
    """
    pairs = positive.total_weight * lifted.total_weight
    shares = 0.0
    for own, other, side in ((positive, lifted, -1), (lifted, positive, 1)):
        sums = np.empty_like(own.values)
        _kernels.ramp_sums(
            own.values, other.values, other.weights, width / 2.0, slack, side, sums
        )
        if own.weights.size:
            sums *= own.weights
        shares = float(sums.sum()) / pairs
        sums *= side / pairs
        subgradient[own.rows] = sums
    return Support(mean_hinge(lifted, positive), subgradient, margin * shares)


def laplacian(
    positive: SortedClass, lifted: SortedClass, width: float
) -> Callable[[FloatArray], FloatArray]:
    """Return the smoothed mean hinge's Hessian L as the map V -> V^T L V.

    It is the Laplacian of the graph that joins the pairs within ``width / 2`` of the
    kink. The partners of a row are neighbours in sorted order, so their sums are
    differences of prefix sums: O(m k^2) for k columns.
    """
    scale = 1.0 / (positive.total_weight * lifted.total_weight * width)
    mass_positive, mass_lifted = positive.explicit_weights, lifted.explicit_weights
    # the partners of a positive are the lifted negatives from `first` to before `last`
    first = np.searchsorted(lifted.values, positive.values - width / 2.0)
    last = np.searchsorted(lifted.values, positive.values + width / 2.0)
    masses = _prefix_sums(mass_lifted)
    of_positive = mass_positive * (masses[last] - masses[first])
    n = lifted.rows.size
    entering = np.bincount(first, mass_positive, minlength=n + 1)
    leaving = np.bincount(last, mass_positive, minlength=n + 1)
    of_lifted = mass_lifted * np.cumsum(entering - leaving)[:n]
    degrees = np.concatenate([of_positive, of_lifted])
    rows = np.concatenate([positive.rows, lifted.rows])
    n_positive = positive.rows.size

    def form(columns: FloatArray) -> FloatArray:
        ordered = columns[rows]
        partners = _prefix_sums(mass_lifted[:, None] * ordered[n_positive:])
        pulled = (scale * degrees)[:, None] * ordered
        # both halves of the symmetric cross term at once; made symmetric below
        crossed = partners[last]
        crossed -= partners[first]
        crossed *= (2.0 * scale * mass_positive)[:, None]
        pulled[:n_positive] -= crossed
        hessian: FloatArray = ordered.T @ pulled
        return (hessian + hessian.T) / 2.0

    return form


def _prefix_sums(rows: FloatArray) -> FloatArray:
    """Return the sums of the first 0, 1, 2, ... rows."""
    sums = np.zeros((rows.shape[0] + 1, *rows.shape[1:]))
    np.cumsum(rows, axis=0, out=sums[1:])
    return sums
