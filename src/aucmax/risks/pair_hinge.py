"""The hinge over all positive-negative pairs: the risk of SVM-AUC."""

from collections.abc import Callable

import numpy as np
from sklearn.base import BaseEstimator

from aucmax._sorting import sort_with_order
from aucmax._validation import BoolArray, FloatArray
from aucmax.risks._cells import Grid as _Grid
from aucmax.risks._sorted_classes import (
    SortedClass,
    class_rows,
    hinge_support,
    laplacian,
    mean_hinge,
    rounding_slack,
)
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

    def value(
        self,
        scores: FloatArray,
        labels: BoolArray,
        sample_weight: FloatArray | None = None,
    ) -> float:
        """Return the risk of these scores."""
        positive, lifted = self._sorted_classes(scores, labels, sample_weight)
        return mean_hinge(lifted, positive)

    def value_and_subgradient(
        self,
        scores: FloatArray,
        labels: BoolArray,
        sample_weight: FloatArray | None = None,
    ) -> tuple[float, FloatArray]:
        """Return the risk of these scores and one subgradient, from one sort."""
        support = self._by_sorting(scores, labels, sample_weight, 0.0)
        return support.value, support.subgradient

    def smoothed(
        self,
        scores: FloatArray,
        labels: BoolArray,
        sample_weight: FloatArray | None = None,
        *,
        width: float,
    ) -> Support:
        """Return a line below the risk whose slope is the smoothed risk's gradient.

        Parameters
        ----------
        scores : ndarray of shape (n_rows,)
            Scores, finite.
        labels : ndarray of bool of shape (n_rows,)
            True for positives; both classes are present.
        sample_weight : ndarray of shape (n_rows,), optional
            Nonnegative weights, with a positive total in each class.
        width : float
            Length of the interval that rounds off the kink; positive.

        Returns
        -------
        Support
            The risk (at most a few thousandths of `width` above it, never below), the
            slope, and the constant of the line.

        Notes
        -----
        Many rows are counted in cells of about ``width / 32`` instead of sorted, and
        all rows of a cell share alike in the gradient. Shares in [0, 1] are all that
        the line needs to stay below the risk.
        """
        grid = _Grid.cover(scores, self.margin, width)
        if grid is None:
            return self._by_sorting(scores, labels, sample_weight, width)
        return grid.support(scores, labels, sample_weight, self.margin)

    def _by_sorting(
        self,
        scores: FloatArray,
        labels: BoolArray,
        sample_weight: FloatArray | None,
        width: float,
    ) -> Support:
        """Return the exact risk and the line of its smoothed gradient, from sorts."""
        positive, lifted = self._sorted_classes(scores, labels, sample_weight)
        slack = 0.0
        if width == 0.0:
            slack = rounding_slack(float(np.abs(scores).max()), self.margin)
        return hinge_support(
            positive,
            lifted,
            np.empty_like(scores),
            margin=self.margin,
            width=width,
            slack=slack,
        )

    def _sorted_classes(
        self, scores: FloatArray, labels: BoolArray, sample_weight: FloatArray | None
    ) -> tuple[SortedClass, SortedClass]:
        """Sort the positives, and the negatives lifted by the margin."""
        # taking a level off changes no risk, and sums of scores keep their digits
        level = float(min(max(scores.min(), 0.0), scores.max()))
        return (
            _sorted_class(scores, labels, level, sample_weight),
            _sorted_class(scores, ~labels, level - self.margin, sample_weight),
        )

    def curvature(
        self,
        scores: FloatArray,
        labels: BoolArray,
        sample_weight: FloatArray | None = None,
        *,
        width: float,
    ) -> Callable[[FloatArray], FloatArray]:
        """Return the smoothed risk's Hessian as a quadratic form on (m, k) matrices.

        The Hessian is the Laplacian of the graph that joins the pairs within
        ``width / 2`` of the kink. The partners of a row are neighbours in sorted order,
        so their sums are differences of prefix sums: O(m k^2) for columns^T L columns.
        """
        return laplacian(
            *self._sorted_classes(scores, labels, sample_weight), width=width
        )


def _sorted_class(
    scores: FloatArray, members: BoolArray, level: float, weight: FloatArray | None
) -> SortedClass:
    rows = class_rows(members)
    values = scores[rows]
    values -= level
    order, ordered = sort_with_order(values)
    rows = rows[order]
    return SortedClass(rows, ordered, np.empty(0) if weight is None else weight[rows])
