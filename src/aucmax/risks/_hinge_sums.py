"""Sums of hinges over the pairs of two sorted classes."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from aucmax._core.sorting import RowNumbers
from aucmax._core.validation import FloatArray, IntArray
from aucmax.risks import _kernels
from aucmax.risks._class_rows import ClassRows
from aucmax.risks._forms import gram, sums_of_windows
from aucmax.risks.contract import Support

__all__ = [
    "LARGEST_GAP_AT_A_KINK",
    "hinge_support",
    "laplacian",
    "mean_hinge",
    "shifted",
    "window_laplacian",
]

# In units of the largest score: a pair as close to the kink as this is at it, because
# else rounding, and with it the order of the rows, would decide on which side it is.
LARGEST_GAP_AT_A_KINK = 1e-12


def shifted(
    positive: ClassRows,
    negative: ClassRows,
    margin: float,
    *,
    lift: float | None = None,
) -> tuple[ClassRows, ClassRows, float]:
    """Take a constant off both sorted classes, and lift the negatives by the margin.

    Or by another `lift`. The constant changes no risk, and without it sums of scores
    keep their digits. Also returns how far from the kink a pair is still at it.
    """
    low = float(min(positive.values[0], negative.values[0]))
    high = float(max(positive.values[-1], negative.values[-1]))
    constant = min(max(low, 0.0), high)
    lift = margin if lift is None else lift
    return (
        positive._replace(values=positive.values - constant),
        negative._replace(values=negative.values - (constant - lift)),
        LARGEST_GAP_AT_A_KINK * max(-low, high, margin),
    )


def mean_hinge(lifted: ClassRows, positive: ClassRows) -> float:
    """Return the weighted mean over pairs of max(0, lifted - positive)."""
    total = _kernels.hinge_total(
        lifted.values,
        lifted.weights_or_empty,
        positive.values,
        positive.weights_or_empty,
    )
    return float(total / (lifted.total_weight * positive.total_weight))


def hinge_support(
    positive: ClassRows,
    lifted: ClassRows,
    n_rows: int,
    *,
    margin: float,
    width: float = 0.0,
    slack: float = 0.0,
) -> Support:
    """Return the mean hinge and the line of its smoothed gradient.

    The negatives are lifted by the margin. Rows of neither class have slope 0.
    """
    subgradient = np.zeros(n_rows)
    pairs = positive.total_weight * lifted.total_weight
    shares = 0.0
    for own, other in ((positive, lifted), (lifted, positive)):
        sums = np.empty_like(own.values)
        _kernels.ramp_sums(
            own.values,
            other.values,
            other.weights_or_empty,
            width / 2.0,
            slack,
            own.side,
            sums,
        )
        if own.weights is not None:
            sums *= own.weights
        shares = float(sums.sum()) / pairs
        sums *= own.side / pairs
        subgradient[own.rows] = sums
    return Support(mean_hinge(lifted, positive), subgradient, margin * shares)


def laplacian(
    positive: ClassRows, lifted: ClassRows, width: float
) -> Callable[[FloatArray], FloatArray]:
    """Return the smoothed mean hinge's Hessian L as the map V -> V^T L V.

    It is the Laplacian of the graph that joins the pairs within ``width / 2`` of the
    kink. The partners of a row are neighbours in sorted order, so their sums are
    differences of prefix sums: O(m k^2) for k columns.
    """
    # the partners of a positive are the lifted negatives from `first` to before `last`
    first = np.searchsorted(lifted.values, positive.values - width / 2.0)
    last = np.searchsorted(lifted.values, positive.values + width / 2.0)
    pairs = positive.total_weight * lifted.total_weight
    return window_laplacian(
        (positive.rows, positive.explicit_weights / (pairs * width)),
        (lifted.rows, lifted.explicit_weights),
        first,
        last,
    )


def window_laplacian(
    positive: tuple[RowNumbers, FloatArray],
    lifted: tuple[RowNumbers, FloatArray],
    first: IntArray,
    last: IntArray,
) -> Callable[[FloatArray], FloatArray]:
    """Return the Laplacian L of rows that are joined in windows, as V -> V^T L V.

    Of each class there are the rows and their weights. A positive is joined with the
    lifted negatives from `first` to before `last`, by the product of their weights. V
    is dense or sparse.
    """
    mass_positive, mass_lifted = positive[1], lifted[1]
    masses = _prefix_sums(mass_lifted)
    of_positive = mass_positive * (masses[last] - masses[first])
    n_positive, n = mass_positive.size, mass_lifted.size
    entering = np.bincount(first, mass_positive, minlength=n + 1)
    leaving = np.bincount(last, mass_positive, minlength=n + 1)
    of_lifted = mass_lifted * np.cumsum(entering - leaving)[:n]
    degrees = np.concatenate([of_positive, of_lifted])
    rows = np.concatenate([positive[0], lifted[0]])

    def form(columns: Any) -> FloatArray:
        ordered = columns[rows]
        if sparse.issparse(ordered):
            return _sparse_form(ordered)
        partners = _prefix_sums(mass_lifted[:, None] * ordered[n_positive:])
        pulled = degrees[:, None] * ordered
        # both halves of the symmetric cross term at once; made symmetric below
        crossed = partners[last]
        crossed -= partners[first]
        crossed *= (2.0 * mass_positive)[:, None]
        pulled[:n_positive] -= crossed
        hessian: FloatArray = ordered.T @ pulled
        return (hessian + hessian.T) / 2.0

    def _sparse_form(ordered: Any) -> FloatArray:
        own = sparse.diags_array(mass_positive) @ ordered[:n_positive]
        others = sparse.diags_array(mass_lifted) @ ordered[n_positive:]
        crossed = sums_of_windows(own, others, first, last)
        return gram(ordered, degrees) - crossed - crossed.T

    return form


def _prefix_sums(rows: FloatArray) -> FloatArray:
    """Return the sums of the first 0, 1, 2, ... rows."""
    sums = np.zeros((rows.shape[0] + 1, *rows.shape[1:]))
    np.cumsum(rows, axis=0, out=sums[1:])
    return sums
