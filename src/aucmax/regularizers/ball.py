"""What norm balls have in common: free inside, forbidden outside."""

from abc import abstractmethod
from math import isfinite
from numbers import Real

import numpy as np
from sklearn.base import BaseEstimator

from aucmax._validation import FloatArray

__all__ = ["Ball", "ConvexSet", "check_radius"]


def check_radius(radius: float) -> None:
    """Raise an error unless a ball of this radius holds more than the origin."""
    if not (isinstance(radius, Real) and isfinite(radius) and radius > 0.0):
        raise ValueError(
            f"radius must be positive and finite, got {radius!r}: a ball without "
            "extent leaves every weight at 0."
        )


class ConvexSet(BaseEstimator):
    """A set of some radius that costs nothing inside; solvers never leave it."""

    def __init__(self, radius: float = 1.0) -> None:
        check_radius(radius)
        self.radius = radius

    def value(self, parameters: FloatArray) -> float:
        """Return 0: parameters inside cost nothing, and solvers stay inside."""
        return 0.0

    def gradient(self, parameters: FloatArray) -> FloatArray:
        """Return the zero vector."""
        return np.zeros_like(parameters)


class Ball(ConvexSet):
    r"""The parameters of at most some norm, :math:`\|w\| \le r`.

    The conjugate of a ball is its support function, so that a line
    :math:`o + \langle a, w \rangle` is nowhere in it below :math:`o - r \|a\|_*`.
    """

    @abstractmethod
    def norm(self, parameters: FloatArray) -> float:
        """Return what the radius limits."""

    @abstractmethod
    def support(self, direction: FloatArray) -> float:
        """Return the largest inner product of the direction with a point inside."""

    @abstractmethod
    def _nearest(self, point: FloatArray) -> FloatArray:
        """Project a point that is outside."""

    def prox(self, point: FloatArray, step: float = 1.0) -> FloatArray:
        """Project a point onto the ball; one inside is returned itself."""
        return point if self.norm(point) <= self.radius else self._nearest(point)

    def lower_bound(self, constant: float, slope: FloatArray) -> float:
        """Return the minimum over the ball of a line, or 0 if that is higher."""
        return max(0.0, constant - self.support(slope))
