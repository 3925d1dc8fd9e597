r"""What a regularizer is: the price of the parameters, and how a solver works with it.

Contract: :math:`\Omega` is convex, nonnegative and 0 at the origin; ``value`` is its
definition. The other methods are abilities; a solver asks for the one it needs.
"""

from typing import NamedTuple, Protocol, runtime_checkable

from aucmax._validation import FloatArray

__all__ = [
    "MasterSolution",
    "ProximalRegularizer",
    "QuadraticRegularizer",
    "Regularizer",
    "RegularizerWithLevels",
    "RegularizerWithMaster",
]


class MasterSolution(NamedTuple):
    """The minimiser of a regularizer plus a piecewise-linear model of the risk.

    Attributes
    ----------
    parameters : ndarray of shape (n_parameters,)
        Where the model's minimum lies.
    multipliers : ndarray of shape (n_cuts,)
        The share of each cut at that minimum: nonnegative, of sum 1.
    lower_bound : float
        The minimum, from the dual: the true objective is nowhere below it.
    """

    parameters: FloatArray
    multipliers: FloatArray
    lower_bound: float


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
class RegularizerWithMaster(Regularizer, Protocol):
    """A regularizer that cutting-plane methods can work with."""

    def minimize_model(
        self,
        gradients: FloatArray,
        offsets: FloatArray,
        gram: FloatArray,
        C: float,
        start: FloatArray,
    ) -> MasterSolution:
        r"""Minimise :math:`\Omega(w) + C \max_k (o_k + \langle a_k, w \rangle)`."""


@runtime_checkable
class RegularizerWithLevels(Regularizer, Protocol):
    """A convex set, or its price, that level methods can work with."""

    def middle(self, n_parameters: int) -> FloatArray:
        """Return a point inside, to start from."""

    def level_step(
        self,
        gradients: FloatArray,
        offsets: FloatArray,
        multipliers: FloatArray,
        center: FloatArray,
        value: float,
        fraction: float,
    ) -> MasterSolution:
        """Bound the highest cut from below; project the center onto a level set."""


class QuadraticRegularizer(RegularizerWithMaster, Protocol):
    """A regularizer whose Hessian is a multiple of the identity."""

    curvature: float
