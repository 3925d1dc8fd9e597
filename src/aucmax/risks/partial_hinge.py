"""The hinge over the pairs of a part of the ROC curve: the risk of SVMpAUC."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from aucmax._core.validation import BoolArray, FloatArray
from aucmax.risks._pairs import box_kernels
from aucmax.risks._pairs.class_rows import (
    ClassRows,
    SmoothChoice,
    first_rows,
    split_classes,
)
from aucmax.risks._pairs.hinge_sums import (
    HingeGrid,
    hinge_support,
    laplacian,
    mean_hinge,
    shifted,
)
from aucmax.risks._pairs.rank_box import RankBox, check_sizes
from aucmax.risks.contract import BoundRisk, Support
from aucmax.risks.per_query import BoundPerQuery

_MARGIN = 1.0
# Width of the slope from chosen to not chosen, in widths of the hinge's. Measured: from
# 2 to 6 solvers need the fewest passes.
_CHOICE_WIDTH = 4.0


class PartialHinge(BaseEstimator):
    r"""Mean hinge over the pairs of a part of the ROC curve, above 1 - partial AUC.

    Negatives are ranked from the highest score down, positives from the lowest up. With
    ``fpr_range=(0, b)`` and ``tpr_range=(c, 1)`` the first :math:`b W_-` of the
    negatives and the first :math:`(1 - c) W_+` of the positives count, where
    :math:`W_\pm` are the weights of the classes (numbers of rows by default). A row at
    which a range ends counts in part, :math:`c_j \le w_j`, :math:`u_i \le w_i`:

    .. math:: R(s) = \frac{1}{b W_- \, (1 - c) W_+} \sum_{i \in P} \sum_{j \in N}
              u_i c_j \max(0, 1 - s_i + s_j)

    This is the largest such mean over all choices of rows, hence convex. It is
    :class:`PairHinge` where the ranges are whole. The other risks are structural:
    over all orders :math:`\pi` of the rows, with all sums over pairs and their parts,

    .. math:: R(s) = \frac{1}{(b - a) W_- \, (d - c) W_+} \max_\pi \Big\{
              \ell(\pi) + \sum_{j \prec_\pi i} u_i c_j (s_j - s_i) \Big\}

    where :math:`j \prec_\pi i` are the pairs that the order gets wrong, and
    :math:`\ell` is the weight of those with both ranks, in this order, inside of the
    ranges. ``bound="tight"`` also chooses, at their worst, the rows that take part: the
    first negatives up to :math:`b W_-`, the first positives up to :math:`(1-c) W_+`.
    ``bound="loose"`` orders all rows, which adds :math:`\max(0, s_j - s_i)` for each
    pair with a row outside. Thus 1 - partial AUC <= tight <= loose. All are convex,
    at least 0, and 1 for constant scores.

    With `fpr_range` starting at :math:`a > 0`, a positive either stays among the
    skipped negatives, where it costs :math:`\max(0, s_j - s_i)` a pair, or it passes
    all of them, for :math:`s_j - s_i` a pair, and pays the hinge in the range:
    whichever is more. With `tpr_range` ending below 1, the classes change roles.

    A row of weight 2 counts as two equal rows. Rows that tie at the end of a range
    share what is left of it, so the order of the rows has no say. At a kink the
    inactive side is chosen, within rounding (1e-12 of the largest score that counts).

    Costs a selection, and a sort of the rows selected; ``bound="loose"`` a sort of all.

    Parameters
    ----------
    fpr_range, tpr_range : pair of float, default=(0.0, 1.0)
        Lower and upper end, ``0 <= low < high <= 1``. Either `fpr_range` starts at 0 or
        `tpr_range` ends at 1.
    bound : {"tight", "loose"}, default="tight"
        Which rows the adversary may order.

    See Also
    --------
    aucmax.metrics.partial_auc_score : What this bounds.

    References
    ----------
    .. [1] H. Narasimhan, S. Agarwal. A structural SVM based approach for optimizing
       partial AUC. ICML 2013.
    .. [2] H. Narasimhan, S. Agarwal. SVMpAUC-tight: a new support vector method for
       optimizing partial AUC based on a tight convex upper bound. KDD 2013.

    Examples
    --------
    >>> import numpy as np
    >>> from aucmax.risks import PartialHinge
    >>> scores = np.array([1.5, 0.5, 0.0, -1.0, -2.0])
    >>> labels = np.array([True, False, False, False, False])
    >>> PartialHinge((0, 0.5)).bind(labels).value(scores)
    0.0
    >>> PartialHinge((0, 0.5)).bind(labels).value_and_gradient(-scores)
    (4.0, array([-1. ,  0. ,  0. ,  0.5,  0.5]))
    >>> PartialHinge((0.5, 1), bound="loose").bind(labels).value(-scores)
    5.25
    """

    def __init__(
        self,
        fpr_range: Sequence[float] = (0.0, 1.0),
        *,
        tpr_range: Sequence[float] = (0.0, 1.0),
        bound: str = "tight",
    ) -> None:
        self.fpr_range = fpr_range
        self.tpr_range = tpr_range
        self.bound = bound

    def bind(
        self,
        labels: ArrayLike,
        sample_weight: ArrayLike | None = None,
        queries: ArrayLike | None = None,
    ) -> "BoundPartialHinge | BoundPerQuery":
        """Return the risk of these rows: see :meth:`Risk.bind`.

        A range that covers less than one row of a query takes that part of its first
        row.
        """
        box = self.rank_box()
        if queries is None:
            return BoundPartialHinge(self, box, labels, sample_weight)
        return BoundPerQuery(self, box, labels, sample_weight, queries)

    def rank_box(self) -> RankBox:
        """Return the ranges as shares of ranks; raise if a parameter is invalid."""
        return RankBox.of(self.fpr_range, self.tpr_range, self.bound)

    def check_sizes(
        self, labels: BoolArray, sample_weight: FloatArray | None = None
    ) -> None:
        """Raise if a range covers less than one row of its class."""
        check_sizes(self.fpr_range, self.tpr_range, labels, sample_weight)


class BoundPartialHinge(BoundRisk):
    """The partial hinge of given rows, which may be a choice of rows or structural."""

    risk: PartialHinge
    least_value = 0.0

    def __init__(
        self,
        risk: PartialHinge,
        box: RankBox,
        labels: ArrayLike,
        sample_weight: ArrayLike | None,
    ) -> None:
        super().__init__(risk, labels, sample_weight)
        self._box = box
        self.can_be_smoothed = box.is_choice_of_rows
        self.line_margin = _MARGIN if self.can_be_smoothed else None
        members = ~self.labels if box.is_mirrored else self.labels
        self._classes = split_classes(members, self.sample_weight, rescale=True)

    def value(self, scores: FloatArray) -> float:
        """Return the risk of these scores."""
        if not self.can_be_smoothed:
            return self._structural(scores)[0]
        positive, lifted, _ = self._chosen(scores)
        return mean_hinge(lifted, positive)

    def value_and_gradient(self, scores: FloatArray) -> tuple[float, FloatArray]:
        """Return the risk of these scores and one subgradient, from one sort."""
        if not self.can_be_smoothed:
            return self._structural(scores)
        positive, lifted, slack = self._chosen(scores)
        return hinge_support(
            positive, lifted, scores.size, margin=_MARGIN, slack=slack
        )[:2]

    def smoothed(self, scores: FloatArray, width: float) -> Support:
        """Return a line below the risk whose slope is the smoothed risk's gradient.

        Beside the kinks of the hinges, the choice of rows is smoothed: a row counts by
        the share ``clip((k - threshold) / (4 width) + 1/2, 0, 1)``, with its score k,
        or minus the score for a positive, and the threshold such that the shares fill
        the range. Any shares that do give a line below the risk.
        The value is at most a few hundredths of `width` above the risk, never below.
        """
        self._reject_if_structural()
        grid = HingeGrid.cover(scores, _MARGIN, width)
        if grid is not None:
            return grid.support(
                scores,
                self.labels,
                self.sample_weight,
                _MARGIN,
                ranges=(self._box.negatives, self._box.positives),
                choice_width=_CHOICE_WIDTH,
            )
        positive, negative = self._smooth_choices(scores, width)
        positives, lifted, _ = shifted(positive.chosen, negative.chosen, _MARGIN)
        support = hinge_support(
            positives, lifted, scores.size, margin=_MARGIN, width=width
        )
        positives, lifted, _ = shifted(positive.exactly, negative.exactly, _MARGIN)
        return support._replace(value=mean_hinge(lifted, positives))

    def curvature(
        self, scores: FloatArray, width: float
    ) -> Callable[[Any], FloatArray]:
        """Return the smoothed risk's Hessian L as the map V -> V^T L V.

        To the Laplacian of the pairs near the kink comes the scatter of the rows near
        the threshold of the choice, which trade places as their scores move. Its
        weight is the slope of the risk at the threshold, which is exact where the slope
        does not change near it.
        """
        self._reject_if_structural()
        positive, negative = self._smooth_choices(scores, width)
        positives, lifted, _ = shifted(positive.chosen, negative.chosen, _MARGIN)
        of_pairs = laplacian(positives, lifted, width)
        moving = [
            (own, _slope_at_threshold(own, other, width))
            for own, other in ((positive, negative), (negative, positive))
            if own.sloping.size
        ]

        def form(columns: Any) -> FloatArray:
            hessian = of_pairs(columns)
            for choice, slope in moving:
                hessian += slope * choice.scatter(columns)
            return hessian

        return form

    def _reject_if_structural(self) -> None:
        if not self.can_be_smoothed:
            raise self.cannot_be_smoothed()

    def _chosen(self, scores: FloatArray) -> tuple[ClassRows, ClassRows, float]:
        """Return the rows that count, sorted, the negatives lifted, and the slack."""
        positive, negative = (own.with_scores(scores) for own in self._classes)
        return shifted(
            first_rows(positive, self._box.positives).sorted(),
            first_rows(negative, self._box.negatives).sorted(),
            _MARGIN,
        )

    def _smooth_choices(
        self, scores: FloatArray, width: float
    ) -> tuple[SmoothChoice, SmoothChoice]:
        positive, negative = (own.with_scores(scores) for own in self._classes)
        width = _CHOICE_WIDTH * width
        return (
            SmoothChoice.of(positive, self._box.positives, width),
            SmoothChoice.of(negative, self._box.negatives, width),
        )

    def _structural(self, scores: FloatArray) -> tuple[float, FloatArray]:
        """Return the risk and a subgradient where the order of the rows matters."""
        box = self._box
        sign = -1.0 if box.is_mirrored else 1.0
        seen = -scores if box.is_mirrored else scores
        positive, negative = (own.with_scores(seen) for own in self._classes)
        amounts = np.array([box.skip, box.negatives, box.positives])
        amounts[:2] *= negative.total_weight
        amounts[2] *= positive.total_weight
        if not box.is_loose:
            positive = first_rows(positive, box.positives)
            negative = first_rows(negative, box.negatives)
        positives, negatives, slack = shifted(
            positive.sorted(), negative.sorted(), _MARGIN, lift=0.0
        )
        down, up = np.zeros(positives.size), np.zeros(negatives.size)
        total = box_kernels.box_hinge(
            positives.values,
            positives.explicit_weights,
            negatives.values,
            negatives.explicit_weights,
            amounts,
            box.is_loose,
            slack,
            down,
            up,
        )
        pairs = (amounts[1] - amounts[0]) * amounts[2]
        subgradient = np.zeros_like(scores)
        subgradient[positives.rows] = down * (-sign / pairs)
        subgradient[negatives.rows] = up * (sign / pairs)
        return float(total / pairs), subgradient


def _slope_at_threshold(own: SmoothChoice, other: SmoothChoice, width: float) -> float:
    """Return the slope of the risk in the score of a row at the threshold.

    It is the share of the other class that a row there is paired with.
    """
    gaps = _MARGIN + own.threshold + other.chosen.keys
    shares = np.clip(gaps / width + 0.5, 0.0, 1.0)
    share = float(np.average(shares, weights=other.chosen.weights))
    return share / own.chosen.total_weight
