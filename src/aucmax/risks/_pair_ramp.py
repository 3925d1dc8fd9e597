"""The smallest pairs, the later of them by falling shares."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from aucmax._core.validation import FloatArray
from aucmax.risks import _kernels
from aucmax.risks._hinge_sums import window_laplacian
from aucmax.risks._sorted_pairs import SortedPairs

__all__ = ["Ramp"]

_MOST_STEPS = 60  # to a threshold, by halves in the worst case
_LARGEST_MISS = 1e-12  # in units of nu; less is left to a mixture of two ramps


class Ramp(NamedTuple):
    """Shares ``clip((threshold - difference) / width + 1/2, 0, 1)`` of all pairs.

    The threshold is such that they weigh nu together. Those of a row's pairs, times
    their weights, add up to its share.
    """

    threshold: float
    width: float
    positive_shares: FloatArray
    negative_shares: FloatArray

    @classmethod
    def of(cls, pairs: SortedPairs, nu: float, width: float, hard: float) -> "Ramp":
        """Find the threshold, given that without a width.

        The total grows with the threshold, from at most nu half a width below the hard
        one to at least nu half a width above.
        """
        low = cls._at(pairs, hard - 0.5 * width, width)
        high = cls._at(pairs, hard + 0.5 * width, width)
        # what the total misses at both ends; the Illinois variant of regula falsi
        below, above = low.total - nu, high.total - nu
        was_low: bool | None = None
        for _ in range(_MOST_STEPS):
            if below >= 0.0 or above <= 0.0 or above - below <= _LARGEST_MISS * nu:
                break
            part = below / (below - above)
            middle = low.threshold + part * (high.threshold - low.threshold)
            if not low.threshold < middle < high.threshold:
                break
            ramp = cls._at(pairs, middle, width)
            miss = ramp.total - nu
            if miss < 0.0:
                low, below = ramp, miss
                above = above / 2.0 if was_low else high.total - nu
            else:
                high, above = ramp, miss
                below = below / 2.0 if was_low is False else low.total - nu
            was_low = miss < 0.0
            if abs(miss) <= _LARGEST_MISS * nu:
                break
        return low._mixed(high, nu)

    @classmethod
    def _at(cls, pairs: SortedPairs, threshold: float, width: float) -> "Ramp":
        positive, negative = pairs.positive, pairs.negative
        lifted = negative.values + threshold
        shares = []
        for own, values, other, others in (
            (positive, positive.values, negative, lifted),
            (negative, lifted, positive, positive.values),
        ):
            sums = np.empty(own.size)
            _kernels.ramp_sums(
                values, others, other.weights_or_empty, width / 2.0, 0.0, own.side, sums
            )
            if own.weights is not None:
                sums *= own.weights
            shares.append(sums)
        return cls(threshold, width, shares[0], shares[1])

    @property
    def total(self) -> float:
        """The weight of all shares."""
        return float(self.positive_shares.sum())

    def _mixed(self, other: "Ramp", nu: float) -> "Ramp":
        """Mix two ramps so that they weigh nu: float64 tells few thresholds apart."""
        least, most = self.total, other.total
        part = (nu - least) / (most - least) if most > least else 0.0
        part = min(max(part, 0.0), 1.0)
        mixed = [
            own + part * (theirs - own)
            for own, theirs in zip(self[2:], other[2:], strict=True)
        ]
        # what rounding leaves; a line has to have the same slopes in both classes
        return Ramp(
            self.threshold + part * (other.threshold - self.threshold),
            self.width,
            *(shares * (nu / shares.sum()) for shares in mixed),
        )

    def curvature(self, pairs: SortedPairs) -> Callable[[Any], FloatArray]:
        """Return the form of pairs whose shares move, at a fixed threshold."""
        positive, negative = pairs.positive, pairs.negative
        lifted = negative.values + self.threshold
        return window_laplacian(
            (positive.rows, positive.explicit_weights / self.width),
            (negative.rows, negative.explicit_weights),
            np.searchsorted(lifted, positive.values - self.width / 2.0),
            np.searchsorted(lifted, positive.values + self.width / 2.0),
        )
