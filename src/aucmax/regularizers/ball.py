"""What norm balls have in common: free inside, forbidden outside."""

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np

from aucmax._core.parameters import check_positive
from aucmax._core.validation import FloatArray

__all__ = ["Ball", "ConvexSet"]


@dataclass(frozen=True)
class ConvexSet:
    """A set of some radius that costs nothing inside; solvers never leave it."""

    radius: float

    def __post_init__(self) -> None:
        check_positive("radius", self.radius)

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
