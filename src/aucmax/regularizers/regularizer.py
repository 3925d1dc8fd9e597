r"""The contract of a regularizer: the penalty of parameters, and how solvers use it.

:math:`\Omega` is convex, nonnegative and 0 at the origin; ``value`` is its definition.
The other methods are abilities; a solver asks for those that it needs.
"""

from abc import abstractmethod
from dataclasses import dataclass
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np

from aucmax._core.parameters import check_positive
from aucmax._core.validation import FloatArray


class WeightPenalty(NamedTuple):
    r"""The same penalty of each weight, :math:`\pi |w| + \kappa w^2 / 2`."""

    # with a radius, the absolute weights also sum to at most that (exactly that, if
    # they are nonnegative)
    l1: float  # pi
    curvature: float = 0.0  # kappa
    radius: float | None = None
    is_nonnegative: bool = False


class Regularizer(Protocol):
    """The methods of every regularizer."""

    def value(self, parameters: FloatArray) -> float:
        """Return the penalty of these parameters."""

    def gradient(self, parameters: FloatArray) -> FloatArray:
        """Return a gradient or subgradient of the penalty."""


@runtime_checkable
class ProximalRegularizer(Regularizer, Protocol):
    """A regularizer with a proximal step that bounds objectives from below."""

    def prox(self, point: FloatArray, step: float) -> FloatArray:
        r"""Return the minimiser of :math:`\Omega(w) + \|w - v\|^2 / (2 \, step)`."""

    def lower_bound(self, constant: float, slope: FloatArray) -> float:
        r"""Return the minimum of :math:`\Omega(w) + \max(0, o + \langle a, w \rangle)`.

        It bounds :math:`\Omega + C R` from below if the risk R is nonnegative (or is
        measured from its least value) and nowhere below the line: :math:`\max_{0 \le
        \theta \le 1} \theta o - \Omega^*(-\theta a)`. Over a set, it is the minimum of
        the line itself, which needs no bound of the risk.
        """


@runtime_checkable
class SparseRegularizer(ProximalRegularizer, Protocol):
    """A regularizer that is separable over weights and leaves many of them at 0."""

    def weight_penalty(self) -> WeightPenalty:
        """Return the penalty of one weight."""


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
    r"""The parameters whose norm is at most the radius, :math:`\|w\| \le r`."""

    # inside it, a line o + <a, w> is nowhere below o - r |a|_*, the dual norm
    @abstractmethod
    def norm(self, parameters: FloatArray) -> float:
        """Return the quantity that the radius limits."""

    @abstractmethod
    def support(self, direction: FloatArray) -> float:
        """Return the largest inner product of the direction with a point inside."""

    @abstractmethod
    def _nearest(self, point: FloatArray) -> FloatArray:
        """Project a point that is outside."""

    def prox(self, point: FloatArray, step: float = 1.0) -> FloatArray:
        """Project a point onto the ball; return a point inside unchanged."""
        return point if self.norm(point) <= self.radius else self._nearest(point)

    def lower_bound(self, constant: float, slope: FloatArray) -> float:
        """Return the minimum of a line over the ball."""
        return constant - self.support(slope)
