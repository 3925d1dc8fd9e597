r"""What a regularizer is: the price of the parameters, and how a solver works with it.

Contract: :math:`\Omega` is convex, nonnegative and 0 at the origin; ``value`` is its
definition. The other methods are abilities; a solver asks for the one it needs.
"""

from typing import NamedTuple, Protocol, runtime_checkable

from aucmax._core.validation import FloatArray

__all__ = [
    "Hull",
    "HullRegularizer",
    "PricedWeights",
    "ProximalRegularizer",
    "QuadraticRegularizer",
    "Regularizer",
    "SparseRegularizer",
]


class Hull(NamedTuple):
    """The hull of the origin and the unit vectors, or of those of one sign alone.

    Attributes
    ----------
    radius : float
        How far the vertices are from the origin.
    is_signed : bool
        Whether there are vertices of either sign, and the origin.
    price : float
        What a unit of weight costs.
    """

    radius: float
    is_signed: bool
    price: float = 0.0


class Regularizer(Protocol):
    """What every regularizer offers."""

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

    Attributes
    ----------
    price : float
        What a unit of weight costs, :math:`\pi`.
    curvature : float
        How that grows with the weight, :math:`\kappa`.
    radius : float or None
        The most that absolute weights may sum to; None if that has no limit.
    """

    price: float
    curvature: float = 0.0
    radius: float | None = None


@runtime_checkable
class SparseRegularizer(ProximalRegularizer, Protocol):
    """A regularizer that sees one weight at a time, and leaves many of them at 0."""

    def priced_weights(self) -> PricedWeights:
        """Return what a weight costs."""


@runtime_checkable
class QuadraticRegularizer(Regularizer, Protocol):
    r"""A regularizer that is :math:`\frac{\kappa}{2} \|w\|^2`."""

    curvature: float
