"""Half the squared Euclidean norm, and the ball of the norm."""

from dataclasses import dataclass

from aucmax._core.validation import FloatArray
from aucmax.regularizers.projections import euclidean_norm
from aucmax.regularizers.regularizer import Ball


@dataclass(frozen=True)
class L2:
    r"""Half the squared Euclidean norm, :math:`\Omega(w) = \frac12 \|w\|^2`."""

    curvature = 1.0

    def value(self, parameters: FloatArray) -> float:
        """Return half the squared norm."""
        return float(parameters @ parameters) / 2.0

    def gradient(self, parameters: FloatArray) -> FloatArray:
        """Return the parameters themselves."""
        return parameters

    def prox(self, point: FloatArray, step: float) -> FloatArray:
        """Shrink the point."""
        return point / (1.0 + step)

    def lower_bound(self, constant: float, slope: FloatArray) -> float:
        """Return the minimum of half the square plus the positive part of a line."""
        if constant <= 0.0:
            return 0.0
        square = euclidean_norm(slope) ** 2
        tilt = min(1.0, constant / square) if square > 0.0 else 1.0
        return tilt * constant - tilt**2 * square / 2.0


@dataclass(frozen=True)
class L2Ball(Ball):
    r"""Weights of limited Euclidean norm, :math:`\|w\|_2 \le r`."""

    radius: float = 1.0

    def norm(self, parameters: FloatArray) -> float:
        """Return the Euclidean norm."""
        return euclidean_norm(parameters)

    def support(self, direction: FloatArray) -> float:
        """Return the largest inner product of the direction with a point inside."""
        return self.radius * euclidean_norm(direction)

    def _nearest(self, point: FloatArray) -> FloatArray:
        return point / euclidean_norm(point) * self.radius
