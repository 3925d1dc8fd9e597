"""The partial likelihood of Cox's proportional hazards model as a risk."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from aucmax._core.validation import FloatArray
from aucmax.exceptions import NotEnoughClassesError
from aucmax.risks._pairs.cox_sums import RowsAtRisk, sum_likelihood
from aucmax.risks.contract import BoundSurvivalRisk


class CoxLikelihood(BaseEstimator):
    r"""Negative log partial likelihood of Cox's model, per event.

    .. math:: R(s) = \frac{1}{\sum_{e_i = 1} w_i} \sum_{e_i = 1} w_i
              \left( \log \sum_{t_j \ge t_i} w_j e^{s_j} - s_i \right)

    with the risk set of an event in the inner sum: the rows of its stratum (`queries`)
    that are observed for at least as long. Events tied at one time have the same risk
    set (Breslow). A high score means an early event. Convex; O(m log m) once to sort m
    rows by time, O(m) per call.

    See Also
    --------
    Concordance : The loss of all comparable pairs.

    References
    ----------
    .. [1] N. Breslow. Covariance analysis of censored survival data. Biometrics 30
       (1974), 89-99.

    Examples
    --------
    >>> from aucmax.metrics import survival_target
    >>> from aucmax.risks import CoxLikelihood
    >>> y = survival_target([1, 1, 0], [2.0, 5.0, 6.0])
    >>> value, gradient = CoxLikelihood().bind(y).value_and_gradient([0.0, 0.0, 0.0])
    >>> print(f"{value:.4f}", gradient.round(4))
    0.8959 [-0.3333 -0.0833  0.4167]
    """

    def bind(
        self,
        labels: Any,
        sample_weight: ArrayLike | None = None,
        queries: ArrayLike | None = None,
    ) -> "BoundCoxLikelihood":
        """Return the risk of these rows; `labels` have fields ``event``, ``time``."""
        return BoundCoxLikelihood(self, labels, sample_weight, queries)


class BoundCoxLikelihood(BoundSurvivalRisk):
    """The partial likelihood of given rows."""

    is_convex = is_smooth = True
    relative_error = 1e-12  # of sums over many rows

    def __init__(
        self,
        risk: CoxLikelihood,
        labels: Any,
        sample_weight: ArrayLike | None,
        queries: ArrayLike | None,
    ) -> None:
        super().__init__(risk, labels, sample_weight, queries)
        self._weights = self.rows.weight[self.rows.order]
        self._events = self._weights * self.rows.event[self.rows.order]
        self._total = float(self._events.sum())
        if not self._total > 0.0:
            raise NotEnoughClassesError(
                "There are no events (of positive weight), so there is nothing to "
                "rank. Check that event is 1 where the event was observed."
            )
        events = self._events[self._events > 0.0]
        # an event is in its own risk set
        self.least_value = float(events @ np.log(events)) / self._total
        # as many as the events, whatever the scale of weights
        self.row_scale = self.n_rows * self._total / float(self._weights.sum())

    def _derivatives(
        self, scores: FloatArray, with_value: bool = True
    ) -> tuple[float, FloatArray, FloatArray]:
        rows, found = self.rows, np.empty((2, self.n_rows))
        ordered = scores[rows.order]
        laid_out = RowsAtRisk(
            rows.times, rows.strata, ordered, self._weights, self._events
        )
        with np.errstate(over="ignore"):  # of differences, whose exp is then 0
            value = sum_likelihood(laid_out, *found)
        gradient, hessian = np.empty(self.n_rows), np.empty(self.n_rows)
        gradient[rows.order], hessian[rows.order] = found / self._total
        return value / self._total, gradient, hessian
