"""The hinge over all pairs, or those of a part of the ROC curve, of given rows."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from aucmax._core.validation import FloatArray
from aucmax.risks._pairs import box_kernels
from aucmax.risks._pairs.class_rows import (
    ClassRows,
    SmoothChoice,
    first_rows,
    split_classes,
)
from aucmax.risks._pairs.hinge_sums import (
    HingeGrid,
    hinge_slopes,
    laplacian,
    mean_hinge,
    shifted,
)
from aucmax.risks._pairs.rank_box import RankBox
from aucmax.risks.contract import BoundRisk, Form, Risk, Support

# Width of the slope from chosen to not chosen, in widths of the hinge's. Measured: from
# 2 to 6 solvers need the fewest passes.
_CHOICE_WIDTH = 4.0


class BoundHinge(BoundRisk):
    """A mean hinge over a part of the pairs, as a choice of rows or structural."""

    is_convex, least_value = True, 0.0

    def __init__(
        self,
        risk: Risk,
        box: RankBox,
        labels: ArrayLike,
        sample_weight: ArrayLike | None,
        *,
        margin: float = 1.0,
    ) -> None:
        super().__init__(risk, labels, sample_weight)
        self._box, self._margin = box, float(margin)
        self.can_be_smoothed = box.is_choice_of_rows
        self.line_margin = self._margin if self.can_be_smoothed else None
        members = ~self.labels if box.is_mirrored else self.labels
        self._classes = split_classes(members, self.sample_weight, rescale=True)

    def _value(self, scores: FloatArray) -> float:
        if not self.can_be_smoothed:
            return self._structural(scores)[0]
        positive, lifted, _ = self._chosen(scores)
        return mean_hinge(lifted, positive)

    def _value_and_gradient(self, scores: FloatArray) -> tuple[float, FloatArray]:
        if not self.can_be_smoothed:
            return self._structural(scores)
        positive, lifted, slack = self._chosen(scores)
        slopes, _ = hinge_slopes(positive, lifted, scores.size, slack=slack)
        return mean_hinge(lifted, positive), slopes

    def _smoothed(self, scores: FloatArray, width: float) -> Support:
        # The choice of rows is smoothed, too: a row of key k (minus the score of a
        # positive) counts by ``clip((k - threshold) / (4 width) + 1/2, 0, 1)``, and any
        # shares that fill the range give a line below the risk. Many rows are counted
        # in cells of about ``width / 32``: the value is then a few hundredths of
        # `width` above the risk at most.
        grid = HingeGrid.cover(scores, self._margin, width)
        if grid is not None:
            return grid.support(
                scores,
                self.labels,
                self.sample_weight,
                self._margin,
                ranges=(self._box.negatives, self._box.positives),
                choice_width=_CHOICE_WIDTH,
            )
        positive, negative = self._smooth_choices(scores, width)
        positives, lifted, _ = shifted(positive.chosen, negative.chosen, self._margin)
        slopes, total = hinge_slopes(positives, lifted, scores.size, width=width)
        positives, lifted, _ = shifted(positive.exactly, negative.exactly, self._margin)
        return Support(mean_hinge(lifted, positives), slopes, self._margin * total)

    def _curvature(self, scores: FloatArray, width: float) -> Form:
        # The Laplacian of the pairs near the kink, plus the scatter of rows near the
        # threshold of the choice, which trade places; its weight is the slope there.
        positive, negative = self._smooth_choices(scores, width)
        positives, lifted, _ = shifted(positive.chosen, negative.chosen, self._margin)
        of_pairs = laplacian(positives, lifted, width)
        moving = [
            (own, self._slope_at_threshold(own, other, width))
            for own, other in ((positive, negative), (negative, positive))
            if own.sloping.size
        ]

        def form(columns: Any) -> FloatArray:
            hessian = of_pairs(columns)
            for choice, slope in moving:
                hessian += slope * choice.scatter(columns)
            return hessian

        return form

    def _chosen(self, scores: FloatArray) -> tuple[ClassRows, ClassRows, float]:
        """Return the rows that count, sorted, the negatives lifted, and the slack."""
        positive, negative = (own.with_scores(scores) for own in self._classes)
        return shifted(
            first_rows(positive, self._box.positives).sorted(),
            first_rows(negative, self._box.negatives).sorted(),
            self._margin,
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
            positive.sorted(), negative.sorted(), self._margin, lift=0.0
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

    def _slope_at_threshold(
        self, own: SmoothChoice, other: SmoothChoice, width: float
    ) -> float:
        """Return the share of the other class paired with a row at the threshold."""
        gaps = self._margin + own.threshold + other.chosen.keys
        shares = np.clip(gaps / width + 0.5, 0.0, 1.0)
        share = float(np.average(shares, weights=other.chosen.weights))
        return share / own.chosen.total_weight
