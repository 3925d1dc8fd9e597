"""The elastic net (Zou, Hastie, 2005): few weights stay, correlated ones together."""

from dataclasses import dataclass

import numpy as np

from aucmax._core.parameters import check_interval
from aucmax._core.validation import FloatArray
from aucmax.regularizers.projections import (
    half_square,
    nearest_in_elastic_net_ball,
    soft_threshold,
    support,
    tilt_of_least_cost,
    with_signs_of,
)
from aucmax.regularizers.regularizer import Ball, WeightPenalty


@dataclass(frozen=True)
class ElasticNet:
    r"""A mixture, :math:`\rho \|w\|_1 + \frac{1 - \rho}{2} \|w\|^2`, of both norms."""

    l1_ratio: float = 0.5  # rho, from 0 to 1

    def __post_init__(self) -> None:
        check_interval("l1_ratio", self.l1_ratio, 1.0, zero=True)

    def value(self, parameters: FloatArray) -> float:
        """Return the penalty of these parameters."""
        return _penalty(parameters, self.l1_ratio)

    def gradient(self, parameters: FloatArray) -> FloatArray:
        """Return a subgradient, which is 0 in each weight that is 0."""
        rho = self.l1_ratio
        slope: FloatArray = rho * np.sign(parameters) + (1.0 - rho) * parameters
        return slope

    def prox(self, point: FloatArray, step: float) -> FloatArray:
        """Move each weight towards 0, then shrink it."""
        rho, step = self.l1_ratio, float(step)
        return soft_threshold(point, step * rho) / (1.0 + step * (1.0 - rho))

    def lower_bound(self, constant: float, slope: FloatArray) -> float:
        r"""Return the minimum of the penalty plus the positive part of a line.

        .. math:: \max_{0 \le \theta \le 1} \; \theta o
                  - \frac{1}{2 (1 - \rho)} \sum_i (\theta |a_i| - \rho)_+^2
        """
        if constant <= 0.0:
            return 0.0
        magnitudes = np.abs(slope)
        rho, theta = self.l1_ratio, 1.0
        fall = float((magnitudes * np.maximum(magnitudes - rho, 0.0)).sum())
        if fall > (1.0 - rho) * constant:  # else the bound grows up to theta = 1
            theta = min(tilt_of_least_cost(constant, magnitudes, rho), 1.0)
        bound = theta * constant
        if rho < 1.0:
            excess = np.maximum(theta * magnitudes - rho, 0.0)
            bound -= half_square(excess, 1.0 / (1.0 - rho))
        return max(0.0, bound)

    def weight_penalty(self) -> WeightPenalty:
        """Return the penalty of one weight."""
        return WeightPenalty(self.l1_ratio, 1.0 - self.l1_ratio)


@dataclass(frozen=True)
class ElasticNetBall(Ball):
    r"""The weights with :math:`\rho \|w\|_1 + \frac{1-\rho}{2} \|w\|^2 \le r`."""

    radius: float = 1.0  # the largest penalty, not a distance
    l1_ratio: float = 0.5  # rho, from 0 to 1

    def __post_init__(self) -> None:
        super().__post_init__()
        check_interval("l1_ratio", self.l1_ratio, 1.0, zero=True)

    def norm(self, parameters: FloatArray) -> float:
        """Return the penalty of these parameters."""
        return _penalty(parameters, self.l1_ratio)

    def support(self, direction: FloatArray) -> float:
        """Return the largest inner product of the direction with a point inside."""
        return support(direction, self.radius, self.l1_ratio)

    def _nearest(self, point: FloatArray) -> FloatArray:
        nearest = nearest_in_elastic_net_ball(np.abs(point), self.radius, self.l1_ratio)
        return with_signs_of(point, nearest)


def _penalty(parameters: FloatArray, l1_ratio: float) -> float:
    return l1_ratio * float(np.abs(parameters).sum()) + half_square(
        parameters, 1.0 - l1_ratio
    )
