"""Half the squared Euclidean norm, and the ball of that norm."""

import numpy as np
from sklearn.base import BaseEstimator

from aucmax._validation import FloatArray
from aucmax.regularizers.ball import Ball
from aucmax.regularizers.base import MasterSolution
from aucmax.regularizers.projections import euclidean_norm
from aucmax.regularizers.simplex_qp import minimize_on_simplex

__all__ = ["L2", "L2Ball"]


class L2(BaseEstimator):
    r"""Half the squared Euclidean norm, :math:`\Omega(w) = \frac12 \|w\|^2`.

    Over the shares :math:`\lambda` of the cuts, a point of the simplex, the dual of its
    master problem is

    .. math:: \max_\lambda \; C \, o^T \lambda
              - \frac{C^2}{2} \Big\| \sum_k \lambda_k a_k \Big\|^2,
              \qquad w = -C \sum_k \lambda_k a_k ,

    a quadratic program as small as the number of cuts.
    """

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
        norm = euclidean_norm(slope)
        if norm * norm <= constant:
            return constant - norm * norm / 2.0
        distance = constant / norm  # of the origin from where the line is 0
        return distance * distance / 2.0

    def minimize_model(
        self,
        gradients: FloatArray,
        offsets: FloatArray,
        gram: FloatArray,
        C: float,
        start: FloatArray,
    ) -> MasterSolution:
        """Minimise this regularizer plus C times the highest of the cuts.

        Parameters
        ----------
        gradients : ndarray of shape (n_cuts, n_parameters)
            The slopes of the cuts.
        offsets : ndarray of shape (n_cuts,)
            Their constants.
        gram : ndarray of shape (n_cuts, n_cuts)
            ``gradients @ gradients.T``, kept by the caller as cuts come and go.
        C : float
            The weight of the risk.
        start : ndarray of shape (n_cuts,)
            A point of the simplex to start from.

        Returns
        -------
        MasterSolution
            The minimiser, the cuts' shares and the certified lower bound.
        """
        multipliers = minimize_on_simplex(C * gram, offsets, start)
        parameters = -C * (multipliers @ gradients)
        lower_bound = C * float(offsets @ multipliers) - self.value(parameters)
        return MasterSolution(parameters, multipliers, float(np.float64(lower_bound)))


class L2Ball(Ball):
    r"""Weights of limited Euclidean norm, :math:`\|w\|_2 \le r`.

    All methods cost O(n).

    Parameters
    ----------
    radius : float, default=1.0
        The largest norm.

    Examples
    --------
    >>> import numpy as np
    >>> from aucmax.regularizers import L2Ball
    >>> L2Ball(radius=1.0).prox(np.array([3.0, -4.0]))
    array([ 0.6, -0.8])
    """

    def norm(self, parameters: FloatArray) -> float:
        """Return the Euclidean norm."""
        return euclidean_norm(parameters)

    def support(self, direction: FloatArray) -> float:
        """Return the largest inner product of the direction with a point inside."""
        return self.radius * euclidean_norm(direction)

    def _nearest(self, point: FloatArray) -> FloatArray:
        return point / euclidean_norm(point) * self.radius
