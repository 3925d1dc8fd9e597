"""The hinge over all positive-negative pairs: the risk of SVM-AUC."""

from collections.abc import Callable
from typing import Any

from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from aucmax._core.parameters import check_positive
from aucmax._core.validation import FloatArray
from aucmax.risks._pairs.class_rows import ClassRows, split_classes
from aucmax.risks._pairs.hinge_sums import (
    HingeGrid,
    hinge_support,
    laplacian,
    mean_hinge,
    shifted,
)
from aucmax.risks._pairs.rank_box import RankBox
from aucmax.risks.contract import BoundRisk, Support
from aucmax.risks.per_query import BoundPerQuery


class PairHinge(BaseEstimator):
    r"""Mean hinge over positive-negative pairs, a convex upper bound of 1 - AUC.

    .. math:: R(s) = \frac{1}{W_+ W_-} \sum_{i \in P} \sum_{j \in N}
              w_i w_j \max(0, m - s_i + s_j)

    with row weights :math:`w` (1 by default), their class totals :math:`W_\pm` and
    the margin :math:`m`. A row of weight 2 counts as two equal rows. At a kink the
    inactive side is chosen: a pair exactly `margin` apart adds nothing to the
    subgradient. So does one within rounding of it (1e-12 of the largest score), or else
    the order of the rows could decide. Costs one sort of the scores, O(n_rows) for
    spread-out scores.

    Smoothed to a `width`, each pair's hinge is replaced by its mean over an interval
    of that length around its score difference, which rounds the kink off. The share
    of each pair in the gradient then lies in [0, 1], so that it is the slope of a
    line below the hinge itself: smoothing costs accuracy, never validity.

    Parameters
    ----------
    margin : float, default=1.0
        The score difference from which a pair costs nothing.

    References
    ----------
    .. [1] T. Joachims. A support vector method for multivariate performance
       measures. ICML 2005 (the part on ROC area).

    Examples
    --------
    >>> import numpy as np
    >>> from aucmax.risks import PairHinge
    >>> scores, labels = np.array([0.75, 0.5, 0.0]), np.array([True, True, False])
    >>> PairHinge().bind(labels).value_and_gradient(scores)
    (0.375, array([-0.5, -0.5,  1. ]))
    """

    def __init__(self, margin: float = 1.0) -> None:
        self.margin = margin

    def bind(
        self,
        labels: ArrayLike,
        sample_weight: ArrayLike | None = None,
        queries: ArrayLike | None = None,
    ) -> "BoundPairHinge | BoundPerQuery":
        """Return the risk of these rows: see :meth:`Risk.bind`."""
        check_positive("margin", self.margin)
        if queries is None:
            return BoundPairHinge(self, labels, sample_weight)
        box = RankBox.of((0.0, 1.0), (0.0, 1.0))
        return BoundPerQuery(
            self, box, labels, sample_weight, queries, margin=self.margin
        )


class BoundPairHinge(BoundRisk):
    """The pair hinge of given rows."""

    risk: PairHinge
    least_value = 0.0
    can_be_smoothed = True

    def __init__(
        self,
        risk: PairHinge,
        labels: ArrayLike,
        sample_weight: ArrayLike | None,
    ) -> None:
        super().__init__(risk, labels, sample_weight)
        self.margin = self.line_margin = float(risk.margin)
        self._classes = split_classes(self.labels, self.sample_weight, rescale=True)

    def value(self, scores: FloatArray) -> float:
        """Return the risk of these scores."""
        positive, lifted, _ = self._sorted_classes(scores)
        return mean_hinge(lifted, positive)

    def value_and_gradient(self, scores: FloatArray) -> tuple[float, FloatArray]:
        """Return the risk of these scores and one subgradient, from one sort."""
        positive, lifted, slack = self._sorted_classes(scores)
        return hinge_support(
            positive, lifted, scores.size, margin=self.margin, slack=slack
        )[:2]

    def smoothed(self, scores: FloatArray, width: float) -> Support:
        """Return a line below the risk whose slope is the smoothed risk's gradient.

        Many rows are counted in cells of about ``width / 32`` instead of sorted, and
        all rows of a cell have the same share in the gradient: shares in [0, 1] are all
        that the line needs to stay below the risk. The value is then at most ``width /
        64`` above the risk, never below.
        """
        grid = HingeGrid.cover(scores, self.margin, width)
        if grid is not None:
            return grid.support(scores, self.labels, self.sample_weight, self.margin)
        return self._smoothed_by_sorting(scores, width)

    def curvature(
        self, scores: FloatArray, width: float
    ) -> Callable[[Any], FloatArray]:
        """Return the smoothed risk's Hessian L as the map V -> V^T L V."""
        positive, lifted, _ = self._sorted_classes(scores)
        return laplacian(positive, lifted, width)

    def _smoothed_by_sorting(self, scores: FloatArray, width: float) -> Support:
        positive, lifted, _ = self._sorted_classes(scores)
        return hinge_support(
            positive, lifted, scores.size, margin=self.margin, width=width
        )

    def _sorted_classes(self, scores: FloatArray) -> tuple[ClassRows, ClassRows, float]:
        """Return the classes sorted, the negatives lifted, and the slack at kinks."""
        positive, negative = (own.with_scores(scores) for own in self._classes)
        return shifted(positive.sorted(), negative.sorted(), self.margin)
