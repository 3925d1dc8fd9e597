"""The sum of absolute weights: few of them stay."""

from dataclasses import dataclass

import numpy as np

from aucmax._core.validation import FloatArray
from aucmax.regularizers.base import Hull, PricedWeights
from aucmax.regularizers.projections import soft_threshold

__all__ = ["L1", "bound_below_norm", "largest_magnitude", "sum_of_magnitudes"]


def sum_of_magnitudes(vector: FloatArray) -> float:
    """Return the L1 norm."""
    return float(np.abs(vector).sum())


def largest_magnitude(vector: FloatArray) -> float:
    """Return the dual of the L1 norm."""
    return float(np.abs(vector).max(initial=0.0))


def bound_below_norm(constant: float, dual_norm: float) -> float:
    r"""Return the minimum of a norm and the positive part of a line.

    The conjugate of a norm is 0 where the dual norm is at most 1, and infinite
    elsewhere: a line too steep for the norm is tilted until it is not.
    """
    return max(0.0, constant) / max(1.0, dual_norm)


@dataclass(frozen=True)
class L1:
    r"""The sum of absolute weights, :math:`\Omega(w) = \|w\|_1`.

    A weight that is not worth its price becomes exactly 0. All methods cost O(n).

    References
    ----------
    .. [1] N. Parikh, S. Boyd. Proximal algorithms. Foundations and Trends in
       Optimization 1 (2014), section 6.5.2.

    Examples
    --------
    >>> import numpy as np
    >>> from aucmax.regularizers import L1
    >>> L1().prox(np.array([3.0, -0.5, -2.0]), step=1.0)
    array([ 2.,  0., -1.])
    """

    def value(self, parameters: FloatArray) -> float:
        """Return the sum of absolute weights."""
        return sum_of_magnitudes(parameters)

    def gradient(self, parameters: FloatArray) -> FloatArray:
        """Return the signs, a subgradient."""
        return np.sign(parameters)

    def prox(self, point: FloatArray, step: float) -> FloatArray:
        """Move each weight towards 0 by the step."""
        return soft_threshold(point, step)

    def lower_bound(self, constant: float, slope: FloatArray) -> float:
        """Return the minimum of the norm plus the positive part of a line."""
        return bound_below_norm(constant, largest_magnitude(slope))

    def middle(self, n_parameters: int) -> FloatArray:
        """Return the origin, where a solver may start."""
        return np.zeros(n_parameters)

    def hull(self, value: float) -> Hull:
        """Return the L1 ball that holds the minimisers."""
        # a minimiser's norm is no more than any value, as the risk is not negative
        return Hull(value, is_signed=True, price=1.0)

    def priced_weights(self) -> PricedWeights:
        """Return what a weight costs."""
        return PricedWeights(1.0)
