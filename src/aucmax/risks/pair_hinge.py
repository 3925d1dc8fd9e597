"""The hinge over all positive-negative pairs: the risk of SVM-AUC."""

from collections.abc import Callable

from sklearn.base import BaseEstimator

from aucmax._core.parameters import check_positive
from aucmax._core.validation import BoolArray, FloatArray
from aucmax.risks._cells import Grid
from aucmax.risks._class_rows import ClassRows
from aucmax.risks._hinge_sums import hinge_support, laplacian, mean_hinge, shifted
from aucmax.risks.base import Support

__all__ = ["PairHinge"]


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
    >>> PairHinge().value_and_subgradient(scores, labels)
    (0.375, array([-0.5, -0.5,  1. ]))
    """

    least_value = 0.0

    def __init__(self, margin: float = 1.0) -> None:
        self.margin = margin

    @property
    def line_margin(self) -> float:
        """The margin of the pairs that make up a slope."""
        return self.margin

    def value(
        self,
        scores: FloatArray,
        labels: BoolArray,
        sample_weight: FloatArray | None = None,
    ) -> float:
        """Return the risk of these scores."""
        positive, lifted, _ = self._sorted_classes(scores, labels, sample_weight)
        return mean_hinge(lifted, positive)

    def value_and_subgradient(
        self,
        scores: FloatArray,
        labels: BoolArray,
        sample_weight: FloatArray | None = None,
    ) -> tuple[float, FloatArray]:
        """Return the risk of these scores and one subgradient, from one sort."""
        positive, lifted, slack = self._sorted_classes(scores, labels, sample_weight)
        return hinge_support(
            positive, lifted, scores.size, margin=self.margin, slack=slack
        )[:2]

    def smoothed(
        self,
        scores: FloatArray,
        labels: BoolArray,
        sample_weight: FloatArray | None = None,
        *,
        width: float,
    ) -> Support:
        """Return a line below the risk whose slope is the smoothed risk's gradient.

        Many rows are counted in cells of about ``width / 32`` instead of sorted, and
        all rows of a cell share alike in the gradient: shares in [0, 1] are all that
        the line needs to stay below the risk. The value is then at most ``width / 64``
        above the risk, never below.
        """
        grid = Grid.cover(scores, self._checked_margin(), width)
        if grid is not None:
            return grid.support(scores, labels, sample_weight, self.margin)
        return self._smoothed_by_sorting(scores, labels, sample_weight, width)

    def curvature(
        self,
        scores: FloatArray,
        labels: BoolArray,
        sample_weight: FloatArray | None = None,
        *,
        width: float,
    ) -> Callable[[FloatArray], FloatArray]:
        """Return the smoothed risk's Hessian L as the map V -> V^T L V."""
        positive, lifted, _ = self._sorted_classes(scores, labels, sample_weight)
        return laplacian(positive, lifted, width)

    def _smoothed_by_sorting(
        self,
        scores: FloatArray,
        labels: BoolArray,
        sample_weight: FloatArray | None,
        width: float,
    ) -> Support:
        positive, lifted, _ = self._sorted_classes(scores, labels, sample_weight)
        return hinge_support(
            positive, lifted, scores.size, margin=self.margin, width=width
        )

    def _sorted_classes(
        self, scores: FloatArray, labels: BoolArray, sample_weight: FloatArray | None
    ) -> tuple[ClassRows, ClassRows, float]:
        """Return the classes sorted, the negatives lifted, and the slack at kinks."""
        positive, negative = ClassRows.both_rescaled(scores, labels, sample_weight)
        return shifted(positive.sorted(), negative.sorted(), self._checked_margin())

    def _checked_margin(self) -> float:
        check_positive("margin", self.margin)
        return self.margin
