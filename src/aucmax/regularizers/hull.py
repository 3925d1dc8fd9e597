"""Weights that may be mixed but not enlarged: the simplex and the L1 ball."""

from dataclasses import dataclass

import numpy as np

from aucmax._core.validation import FloatArray
from aucmax.regularizers.ball import Ball, ConvexSet
from aucmax.regularizers.base import Hull, PricedWeights
from aucmax.regularizers.l1 import largest_magnitude, sum_of_magnitudes
from aucmax.regularizers.projections import nearest_magnitudes, with_signs_of

__all__ = ["L1Ball", "Simplex"]


@dataclass(frozen=True)
class Simplex(ConvexSet):
    r"""Nonnegative weights of sum `radius`: convex combinations.

    Parameters
    ----------
    radius : float, default=1.0
        The sum of the weights.
    """

    radius: float = 1.0

    def middle(self, n_parameters: int) -> FloatArray:
        """Return the mean of the vertices, where a solver may start."""
        return np.full(n_parameters, self.radius / n_parameters)

    def hull(self, value: float) -> Hull:
        """Return the set itself."""
        return Hull(self.radius, is_signed=False)


@dataclass(frozen=True)
class L1Ball(Ball):
    r"""Weights of either sign, :math:`\|w\|_1 \le` `radius`.

    The origin counts as a vertex: it takes what the absolute weights leave. To move its
    share has no price. A projection costs O(n log n), mostly less than a sort.

    Parameters
    ----------
    radius : float, default=1.0
        The most that the absolute weights may sum to.
    """

    radius: float = 1.0

    def norm(self, parameters: FloatArray) -> float:
        """Return the sum of the absolute weights."""
        return sum_of_magnitudes(parameters)

    def support(self, direction: FloatArray) -> float:
        """Return the largest inner product of the direction with a point inside."""
        return self.radius * largest_magnitude(direction)

    def _nearest(self, point: FloatArray) -> FloatArray:
        nearest = nearest_magnitudes(np.abs(point), self.radius)
        return with_signs_of(point, nearest)

    def middle(self, n_parameters: int) -> FloatArray:
        """Return the origin, where a solver may start."""
        return np.zeros(n_parameters)

    def hull(self, value: float) -> Hull:
        """Return the set itself."""
        return Hull(self.radius, is_signed=True)

    def priced_weights(self) -> PricedWeights:
        """Return what a weight costs: nothing, within the radius."""
        return PricedWeights(0.0, radius=self.radius)
