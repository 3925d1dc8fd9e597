"""Margins over instances: the smallest positives against the largest negatives."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from aucmax._core.validation import BoolArray, FloatArray
from aucmax.risks._pairs.class_rows import SmoothChoice, split_classes
from aucmax.risks._pairs.margin_rows import (
    BoundMargin,
    Lowest,
    MarginRisk,
    checked_nu,
    half_difference_of_means,
)
from aucmax.risks.contract import Support


class InstanceMargin(MarginRisk):
    r"""Half of: mean of the largest negatives less mean of the smallest positives.

    .. math:: R(s) = \frac{1}{2} \Big( \frac{1}{\nu_-} \sum_{\text{largest}} w_j s_j
              - \frac{1}{\nu_+} \sum_{\text{smallest}} w_i s_i \Big)

    over the negatives of largest score that weigh :math:`\nu_-` together, and the
    positives of smallest score that weigh :math:`\nu_+`: minus a margin between them.
    If the last row counts in part, rows that tie with it share in proportion to their
    weights, so the order of the rows does not matter.

    At most the risk :class:`PairMargin` with :math:`\nu = \nu_+ \nu_-`, of which it is
    the reduction to instances: problems (7) and (8) of Suehiro, Hatano, Takimoto. ALT
    2011. Convex and positively homogeneous; a constant added to every score changes
    nothing. Costs two selections, O(n_rows).
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
        """Return the risk of these scores and one subgradient, from one selection.

        The subgradient of a positive row is minus half its share in the mean, that of a
        negative row plus half, so each class adds up to one half.
        """
        positive, negative = (own.with_scores(scores) for own in self._classes)
        return half_difference_of_means((positive, negative), self._nus, scores.size)

    def smoothed(self, scores: FloatArray, width: float) -> Support:
        """Return a line below the risk whose slope is the smoothed risk's gradient.

        The shares of rows fall from 1 to 0 over the width, instead of all at once.
        """
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


class InstanceMargins:
    """Means of the smallest positives and largest negatives, for many sizes at once.

    Sorts each class once; then each size costs O(log n_rows). Sizes are weights, above
    0 and at most that of the class, and may be fractional.
    """

    def __init__(
        self,
        scores: FloatArray,
        labels: BoolArray,
        sample_weight: FloatArray | None = None,
    ) -> None:
        self._positive, self._negative = (
            Lowest.of(own.with_scores(scores))
            for own in split_classes(labels, sample_weight)
        )

    def mean_smallest_positive(self, nu_pos: ArrayLike) -> FloatArray:
        """Return the mean of the positives of smallest score that weigh `nu_pos`."""
        return self._positive.mean(_checked_nus(nu_pos, self._positive, "positive"))

    def mean_largest_negative(self, nu_neg: ArrayLike) -> FloatArray:
        """Return the mean of the negatives of largest score that weigh `nu_neg`."""
        return -self._negative.mean(_checked_nus(nu_neg, self._negative, "negative"))

    def smallest_positive_threshold(self, nu_pos: ArrayLike) -> FloatArray:
        """Return the largest score that has a share in that mean of positives."""
        nus = _checked_nus(nu_pos, self._positive, "positive")
        return self._positive.threshold(nus)

    def largest_negative_threshold(self, nu_neg: ArrayLike) -> FloatArray:
        """Return the smallest score that has a share in that mean of negatives."""
        nus = _checked_nus(nu_neg, self._negative, "negative")
        return -self._negative.threshold(nus)


def _checked_nus(nus: ArrayLike, lowest: Lowest, name: str) -> FloatArray:
    array, total = np.asarray(nus, dtype=np.float64), lowest.total_weight
    for nu in (array.min(initial=total), array.max(initial=total)):
        checked_nu(f"nu_{name[:3]}", float(nu), f"{name}s", total)
    return np.minimum(array, total)
