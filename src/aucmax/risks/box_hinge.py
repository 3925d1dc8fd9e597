"""The hinge over the pairs in a box of the ROC curve: a difference of convex risks."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from sklearn.base import BaseEstimator

from aucmax._parameters import check_range
from aucmax._validation import BoolArray, FloatArray
from aucmax.risks._hinge_sums import LARGEST_GAP_AT_A_KINK
from aucmax.risks._ranges import check_sizes
from aucmax.risks.base import Support
from aucmax.risks.partial_hinge import PartialHinge

__all__ = ["BoxHinge", "LinearizedBoxHinge"]


class _Part(NamedTuple):
    """A convex risk and how often it counts."""

    factor: float
    risk: PartialHinge


class BoxHinge(BaseEstimator):
    r"""Mean hinge over the pairs of a box of the ROC curve; not convex.

    With ``fpr_range=(a, b)`` and ``tpr_range=(c, d)``, negatives ranked from the
    highest score down and positives from the lowest up, and rows at the ends in part,

    .. math:: D(s) = \frac{1}{(b - a) W_- \, (d - c) W_+}
              \sum_{i \in P} \sum_{j \in N} u_i c_j \max(0, 1 - s_i + s_j)

    over the positives with ranks in :math:`[(1 - d) W_+, (1 - c) W_+]` and the
    negatives with ranks in :math:`[a W_-, b W_-]`. It is at least 1 - partial AUC. The
    first ranks are left out where :math:`a > 0` or :math:`d < 1`, and rows that move
    there cost nothing any more: that is why it is not convex. Boxes that start with
    the first ranks have convex sums, :math:`F(x, y)` over the first :math:`x W_-`
    negatives and :math:`y W_+` positives, and others are differences of those:

    .. math:: D = \frac{F(b, 1 - c) - F(a, 1 - c) - F(b, 1 - d) + F(a, 1 - d)}
              {(b - a) (d - c)}

    A majorant that touches here, :meth:`linearized_at`, is convex: minimise it, start
    again from there, and D never rises.

    Parameters
    ----------
    fpr_range, tpr_range : pair of float, default=(0.0, 1.0)
        Lower and upper end, ``0 <= low < high <= 1``.

    See Also
    --------
    PartialHinge : A convex bound of 1 - partial AUC.

    References
    ----------
    .. [1] P. D. Tao, L. T. H. An. Convex analysis approach to d.c. programming: theory,
       algorithms and applications. Acta Mathematica Vietnamica 22(1), 1997.

    Examples
    --------
    >>> import numpy as np
    >>> from aucmax.risks import BoxHinge
    >>> scores = np.array([1.0, 3.0, 0.5, 0.0])
    >>> labels = np.array([True, False, False, False])
    >>> risk = BoxHinge(fpr_range=(1 / 3, 1))  # the negative ahead is left out
    >>> round(risk.value(scores, labels), 12)
    0.25
    >>> convex = risk.linearized_at(scores, labels)
    >>> round(convex.value(scores, labels), 12)
    0.25
    """

    def __init__(
        self,
        fpr_range: Sequence[float] = (0.0, 1.0),
        *,
        tpr_range: Sequence[float] = (0.0, 1.0),
    ) -> None:
        self.fpr_range = fpr_range
        self.tpr_range = tpr_range

    def check_sizes(
        self, labels: BoolArray, sample_weight: FloatArray | None = None
    ) -> None:
        """Complain about a range that covers less than one row of its class."""
        check_sizes(self.fpr_range, self.tpr_range, labels, sample_weight)

    def value(
        self,
        scores: FloatArray,
        labels: BoolArray,
        sample_weight: FloatArray | None = None,
    ) -> float:
        """Return the risk of these scores."""
        added, taken_off = self._parts()
        value = sum(
            sign * part.factor * part.risk.value(scores, labels, sample_weight)
            for sign, parts in ((1.0, added), (-1.0, taken_off))
            for part in parts
        )
        return max(value, 0.0)

    def linearized_at(
        self,
        scores: FloatArray,
        labels: BoolArray,
        sample_weight: FloatArray | None = None,
    ) -> "LinearizedBoxHinge":
        """Return the convex risk with tangents at these scores for what is taken off.

        It is nowhere below this risk, and equal to it at these scores. It is meant for
        the same rows, with the same labels and weights.
        """
        added, taken_off = self._parts()
        slope, offset = np.zeros_like(scores), 0.0
        for part in taken_off:
            value, subgradient = part.risk.value_and_subgradient(
                scores, labels, sample_weight
            )
            slope -= part.factor * subgradient
            offset -= part.factor * (value - float((subgradient * scores).sum()))
        return LinearizedBoxHinge(added, slope, offset)

    def _parts(self) -> tuple[list[_Part], list[_Part]]:
        """Return the convex sums that are added, and those that are taken off."""
        a, b = check_range("fpr_range", self.fpr_range)
        c, d = check_range("tpr_range", self.tpr_range)
        size = (b - a) * (d - c)
        parts: tuple[list[_Part], list[_Part]] = [], []
        for end, lowest, is_taken_off in ((b, c, 0), (a, c, 1), (b, d, 1), (a, d, 0)):
            if end > 0.0 and lowest < 1.0:
                risk = PartialHinge((0.0, end), tpr_range=(lowest, 1.0))
                parts[is_taken_off].append(_Part(end * (1.0 - lowest) / size, risk))
        return parts


class LinearizedBoxHinge:
    """A convex majorant of :class:`BoxHinge`; made by :meth:`BoxHinge.linearized_at`.

    A sum of smoothable risks and a linear function of the scores, so it can be smoothed
    as well. Like the risk that it bounds, it is at least 0.
    """

    can_be_smoothed = True

    least_value = 0.0
    gap_at_kinks = LARGEST_GAP_AT_A_KINK

    def __init__(
        self, parts: Sequence[_Part], slope: FloatArray, offset: float
    ) -> None:
        self._parts = parts
        self._slope = slope
        self._offset = offset

    def value(
        self,
        scores: FloatArray,
        labels: BoolArray,
        sample_weight: FloatArray | None = None,
    ) -> float:
        """Return the risk of these scores."""
        return self._line_at(scores) + sum(
            part.factor * part.risk.value(scores, labels, sample_weight)
            for part in self._parts
        )

    def value_and_subgradient(
        self,
        scores: FloatArray,
        labels: BoolArray,
        sample_weight: FloatArray | None = None,
    ) -> tuple[float, FloatArray]:
        """Return the risk of these scores and one subgradient."""
        value, subgradient = self._line_at(scores), self._slope.copy()
        for part in self._parts:
            own, slope = part.risk.value_and_subgradient(scores, labels, sample_weight)
            value += part.factor * own
            subgradient += part.factor * slope
        return value, subgradient

    def smoothed(
        self,
        scores: FloatArray,
        labels: BoolArray,
        sample_weight: FloatArray | None = None,
        *,
        width: float,
    ) -> Support:
        """Return a line below the risk whose slope is the smoothed risk's gradient."""
        value, offset = self._line_at(scores), self._offset
        subgradient = self._slope.copy()
        for part in self._parts:
            own = part.risk.smoothed(scores, labels, sample_weight, width=width)
            value += part.factor * own.value
            offset += part.factor * own.offset
            subgradient += part.factor * own.subgradient
        return Support(value, subgradient, offset)

    def curvature(
        self,
        scores: FloatArray,
        labels: BoolArray,
        sample_weight: FloatArray | None = None,
        *,
        width: float,
    ) -> Callable[[FloatArray], FloatArray]:
        """Return the smoothed risk's Hessian L as the map V -> V^T L V."""
        forms = [
            part.risk.curvature(scores, labels, sample_weight, width=width)
            for part in self._parts
        ]

        def form(columns: FloatArray) -> FloatArray:
            hessian = np.zeros((columns.shape[1], columns.shape[1]))
            for part, of_part in zip(self._parts, forms, strict=True):
                hessian += part.factor * of_part(columns)
            return hessian

        return form

    def _line_at(self, scores: FloatArray) -> float:
        return self._offset + float((self._slope * scores).sum())
