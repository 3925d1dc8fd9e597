"""Sums of hinges over the pairs of two sorted classes."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from aucmax._core.validation import BoolArray, FloatArray
from aucmax.risks._pairs import hinge_kernels
from aucmax.risks._pairs.class_rows import ClassRows
from aucmax.risks._pairs.forms import window_laplacian
from aucmax.risks.contract import Support

# In units of the largest score: a pair as close to the kink as this is at it. Otherwise
# rounding, and with it the order of the rows, would decide on which side it is.
MAX_KINK_DISTANCE = 1e-12


def shifted(
    positive: ClassRows,
    negative: ClassRows,
    margin: float,
    *,
    lift: float | None = None,
) -> tuple[ClassRows, ClassRows, float]:
    """Subtract a constant from both sorted classes; lift negatives by the margin."""
    # without the constant, sums of scores keep their digits; also returns the distance
    # within which a pair is at the kink
    low = float(min(positive.values[0], negative.values[0]))
    high = float(max(positive.values[-1], negative.values[-1]))
    constant = min(max(low, 0.0), high)
    lift = margin if lift is None else lift
    return (
        positive._replace(values=positive.values - constant),
        negative._replace(values=negative.values - (constant - lift)),
        MAX_KINK_DISTANCE * max(-low, high, margin),
    )


def mean_hinge(lifted: ClassRows, positive: ClassRows) -> float:
    """Return the weighted mean over pairs of max(0, lifted - positive)."""
    total = hinge_kernels.hinge_total(
        lifted.values,
        lifted.weights_or_empty,
        positive.values,
        positive.weights_or_empty,
    )
    return float(total / (lifted.total_weight * positive.total_weight))


def hinge_slopes(
    positive: ClassRows,
    lifted: ClassRows,
    n_rows: int,
    *,
    width: float = 0.0,
    slack: float = 0.0,
) -> tuple[FloatArray, float]:
    """Return the smoothed gradient of the mean hinge, and its sum over negatives."""
    subgradient = np.zeros(n_rows)
    pairs = positive.total_weight * lifted.total_weight
    shares = 0.0
    for own, other in ((positive, lifted), (lifted, positive)):
        sums = np.empty_like(own.values)
        hinge_kernels.ramp_sums(
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
    return subgradient, shares


def laplacian(
    positive: ClassRows, lifted: ClassRows, width: float
) -> Callable[[FloatArray], FloatArray]:
    """Return the smoothed mean hinge's Hessian L as the map V -> V^T L V."""
    # the Laplacian of the pairs within width / 2 of the kink, in O(m k^2) for k columns
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


_CELLS_PER_WIDTH = 32.0


class HingeGrid(NamedTuple):
    """Cells over the range of the scores; the margin is a whole number of them."""

    low: float
    scale: float  # cells per unit of score
    n_cells: int
    lift: int  # the margin, in cells
    reach: int  # half the smoothing width, in cells

    @classmethod
    def cover(
        cls, scores: FloatArray, margin: float, width: float
    ) -> "HingeGrid | None":
        """Return a grid fine enough for the width, or None if sorting is cheaper."""
        low, high = float(scores.min()), float(scores.max())
        lift = int(np.ceil(_CELLS_PER_WIDTH * margin / width))
        scale = lift / margin
        if not (high - low) * scale < scores.size / 2 or lift > scores.size:
            return None
        n_cells = int((high - low) * scale) + 1
        return cls(low, scale, n_cells, lift, max(1, round(width * scale / 2.0)))

    def support(
        self,
        scores: FloatArray,
        labels: BoolArray,
        sample_weight: FloatArray | None,
        margin: float,
        *,
        ranges: tuple[float, float] = (1.0, 1.0),
        choice_width: float = 1.0,
    ) -> Support:
        """Evaluate the smoothed risk over the first rows, cell by cell."""
        # the slope chooses rows smoothly, over choice_width widths; the value exactly
        weights = np.empty(0) if sample_weight is None else sample_weight
        masses, moments, shares = np.zeros((3, 2, self.n_cells))
        place = self.low, self.scale
        hinge_kernels.cell_masses(scores, labels, weights, *place, masses, moments)
        amounts = masses.sum(axis=1) * ranges
        pairs = float(amounts[0] * amounts[1])
        choice = np.ones_like(masses)
        if min(ranges) < 1.0:
            reach = max(1, round(choice_width * self.reach))
            hinge_kernels.smooth_choice(masses, amounts, reach, choice)
        chosen = masses * choice
        hinge_kernels.cell_shares(chosen, self.lift, self.reach, shares)
        met = float((chosen[0] * shares[0]).sum()) / pairs
        if min(ranges) < 1.0:
            hinge_kernels.keep_first(masses, moments, amounts)
        total = hinge_kernels.cell_hinge_bound(masses, moments, self.lift)
        subgradient = np.empty_like(scores)
        shares *= choice / pairs
        hinge_kernels.cell_subgradient(
            scores, labels, weights, *place, shares, subgradient
        )
        return Support(float(total) / self.scale / pairs, subgradient, margin * met)
