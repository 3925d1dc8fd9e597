"""Margins over instances: the smallest positives against the largest negatives."""

from collections.abc import Callable
from typing import Any

import numpy as np

from aucmax._core.validation import FloatArray
from aucmax.risks._pairs.class_rows import SmoothChoice
from aucmax.risks._pairs.margin_rows import (
    BoundMargin,
    MarginRisk,
    checked_nu,
    half_difference_of_means,
)
from aucmax.risks.contract import Support


class InstanceMargin(MarginRisk):
    r"""Half of: mean of the largest negatives less mean of the smallest positives.

    .. math:: R(s) = \frac{1}{2} \Big( \frac{1}{\nu_-} \sum_{\text{largest}} w_j s_j
              - \frac{1}{\nu_+} \sum_{\text{smallest}} w_i s_i \Big)

    over the worst rows of each class, of weights :math:`\nu_-` and :math:`\nu_+`; ties
    at the end share by weight. At most :class:`PairMargin` with :math:`\nu = \nu_+
    \nu_-`, its reduction to instances: problems (7) and (8) of Suehiro, Hatano,
    Takimoto, ALT 2011. Convex and positively homogeneous. Costs two selections,
    O(n_rows).
    """

    def __init__(self, nu_pos: float, nu_neg: float) -> None:
        self.nu_pos = nu_pos
        self.nu_neg = nu_neg


class BoundInstanceMargin(BoundMargin):
    """The instance margin of given rows."""

    risk: InstanceMargin
    can_be_smoothed = True

    def _prepare(self) -> None:
        positive, negative = (own.total_weight for own in self._classes)
        self._nus = (
            checked_nu("nu_pos", self.risk.nu_pos, "positives", positive),
            checked_nu("nu_neg", self.risk.nu_neg, "negatives", negative),
        )

    def value_and_gradient(self, scores: FloatArray) -> tuple[float, FloatArray]:
        """Return the risk of these scores and one subgradient, from one selection."""
        positive, negative = (own.with_scores(scores) for own in self._classes)
        return half_difference_of_means((positive, negative), self._nus, scores.size)

    def smoothed(self, scores: FloatArray, width: float) -> Support:
        """Return a line below the risk: shares fall from 1 to 0 over the width."""
        value, _ = self.value_and_gradient(scores)
        subgradient = np.zeros(scores.size)
        choices = self._smooth_choices(scores, width)
        for choice, nu in zip(choices, self._nus, strict=True):
            chosen = choice.chosen
            shares = 0.5 * chosen.side / nu * chosen.explicit_weights
            subgradient[chosen.rows] = shares
        return Support(value, subgradient, 0.0)

    def curvature(
        self, scores: FloatArray, width: float
    ) -> Callable[[Any], FloatArray]:
        """Return the smoothed risk's Hessian L as the map V -> V^T L V."""
        positive, negative = self._smooth_choices(scores, width)
        nu_pos, nu_neg = self._nus

        def form(columns: Any) -> FloatArray:
            hessian: FloatArray = positive.scatter(columns) * (0.5 / nu_pos)
            hessian += negative.scatter(columns) * (0.5 / nu_neg)
            return hessian

        return form

    def _smooth_choices(self, scores: FloatArray, width: float) -> list[SmoothChoice]:
        return [
            SmoothChoice.of(own.with_scores(scores), nu / own.total_weight, width)
            for own, nu in zip(self._classes, self._nus, strict=True)
        ]


InstanceMargin._bound = BoundInstanceMargin
