"""The L1 norm as a penalty and as a limit, and convex combinations."""

from dataclasses import dataclass

import numpy as np

from aucmax._core.validation import FloatArray
from aucmax.regularizers import projections
from aucmax.regularizers.regularizer import Ball, ConvexSet, WeightPenalty


def bound_below_norm(constant: float, dual_norm: float) -> float:
    """Return the minimum of a norm plus the positive part of a line."""
    # a line too steep for the norm (dual norm above 1) is tilted until it is not
    return max(0.0, constant) / max(1.0, dual_norm)


@dataclass(frozen=True)
class L1:
    r"""The sum of absolute weights, :math:`\Omega(w) = \|w\|_1`."""

    def value(self, parameters: FloatArray) -> float:
        """Return the sum of absolute weights."""
        return float(np.abs(parameters).sum())

    def gradient(self, parameters: FloatArray) -> FloatArray:
        """Return the signs, a subgradient."""
        return np.sign(parameters)

    def prox(self, point: FloatArray, step: float) -> FloatArray:
        """Move each weight towards 0 by the step."""
        return projections.soft_threshold(point, step)

    def lower_bound(self, constant: float, slope: FloatArray) -> float:
        """Return the minimum of the norm plus the positive part of a line."""
        return bound_below_norm(constant, _largest_magnitude(slope))

    def weight_penalty(self) -> WeightPenalty:
        """Return the penalty of one weight."""
        return WeightPenalty(1.0)


@dataclass(frozen=True)
class L1Ball(Ball):
    r"""Weights of either sign, :math:`\|w\|_1 \le` `radius`."""

    radius: float = 1.0

    def norm(self, parameters: FloatArray) -> float:
        """Return the sum of the absolute weights."""
        return float(np.abs(parameters).sum())

    def support(self, direction: FloatArray) -> float:
        """Return the largest inner product of the direction with a point inside."""
        return self.radius * _largest_magnitude(direction)

    def _nearest(self, point: FloatArray) -> FloatArray:
        nearest = projections.nearest_in_l1_ball(np.abs(point), self.radius)
        return projections.with_signs_of(point, nearest)

    def weight_penalty(self) -> WeightPenalty:
        """Return the penalty of one weight: nothing, within the radius."""
        return WeightPenalty(0.0, radius=self.radius)


@dataclass(frozen=True)
class Simplex(ConvexSet):
    r"""Nonnegative weights of sum `radius`: convex combinations."""

    radius: float = 1.0

    def prox(self, point: FloatArray, step: float = 1.0) -> FloatArray:
        """Project a point onto the simplex."""
        # a constant in all coordinates does not move the projection; with this one the
        # positive parts sum to at least the radius
        shifted = point - point.max() + self.radius
        return projections.nearest_in_l1_ball(shifted, self.radius)

    def lower_bound(self, constant: float, slope: FloatArray) -> float:
        """Return the minimum of a line over the simplex."""
        return constant + self.radius * float(slope.min())

    def weight_penalty(self) -> WeightPenalty:
        """Return the penalty of one weight: nothing, within the radius."""
        return WeightPenalty(0.0, radius=self.radius, is_nonnegative=True)


def _largest_magnitude(vector: FloatArray) -> float:
    """Return the dual of the L1 norm."""
    return float(np.abs(vector).max(initial=0.0))
