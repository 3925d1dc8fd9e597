r"""What a regularizer is: the price of the parameters, and how a solver works with it.

Contract: :math:`\Omega` is convex, nonnegative and 0 at the origin; ``value`` is its
definition. The other methods are abilities; a solver asks for the one it needs.
"""

from abc import abstractmethod
from dataclasses import dataclass
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np

from aucmax._core.parameters import check_positive
from aucmax._core.validation import FloatArray


class Hull(NamedTuple):
    """The hull of the origin and the unit vectors, or of those of one sign alone."""

    radius: float  # distance of the vertices from the origin
    is_signed: bool  # whether there are vertices of either sign, and the origin
    price: float = 0.0  # of a unit of weight


class Regularizer(Protocol):
    """The methods of every regularizer."""

    def value(self, parameters: FloatArray) -> float:
        """Return the price of these parameters."""

    def gradient(self, parameters: FloatArray) -> FloatArray:
        """Return a (sub)gradient of the price."""


@runtime_checkable
class ProximalRegularizer(Regularizer, Protocol):
    """A regularizer that a step can end with, and that bounds objectives."""

    def prox(self, point: FloatArray, step: float) -> FloatArray:
        r"""Return the minimiser of :math:`\Omega(w) + \|w - v\|^2 / (2 \, step)`.

        Of a ball it is the projection of the point v, whatever the step.
        """

    def lower_bound(self, constant: float, slope: FloatArray) -> float:
        r"""Return the minimum of :math:`\Omega(w) + \max(0, o + \langle a, w \rangle)`.

        It bounds :math:`\Omega + C R` from below, if the risk R is nonnegative and
        nowhere below the line. From the conjugate of the regularizer it is
        :math:`\max_{0 \le \theta \le 1} \theta o - \Omega^*(-\theta a)`.
        """


@runtime_checkable
class HullRegularizer(Regularizer, Protocol):
    """A hull of few directions, or the price of the weights in one."""

    def middle(self, n_parameters: int) -> FloatArray:
        """Return a point inside, to start from."""

    def hull(self, value: float) -> Hull:
        """Return a hull that holds the minimisers, given the value of some point."""


class PricedWeights(NamedTuple):
    r"""A price that is the same for each weight, :math:`\pi |w| + \kappa w^2 / 2`.

    Or, with a `radius`, weights whose absolute values sum to at most that.
    """

    price: float  # pi
    curvature: float = 0.0  # kappa
    radius: float | None = None  # None: no limit


@runtime_checkable
class SparseRegularizer(ProximalRegularizer, Protocol):
    """A regularizer that sees one weight at a time, and leaves many of them at 0."""

    def priced_weights(self) -> PricedWeights:
        """Return what a weight costs."""


@runtime_checkable
class QuadraticRegularizer(Regularizer, Protocol):
    r"""A regularizer that is :math:`\frac{\kappa}{2} \|w\|^2`."""

    curvature: float


@dataclass(frozen=True)
class ConvexSet:
    """A set that costs nothing; solvers never leave it."""

    radius: float

    def __post_init__(self) -> None:
        check_positive("radius", self.radius)

    def value(self, parameters: FloatArray) -> float:
        """Return 0: solvers stay inside."""
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
