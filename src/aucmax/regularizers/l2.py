"""Half the squared Euclidean norm."""

import numpy as np
from sklearn.base import BaseEstimator

from aucmax._validation import FloatArray
from aucmax.regularizers.base import MasterSolution
from aucmax.regularizers.simplex_qp import minimize_on_simplex

__all__ = ["L2"]


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
