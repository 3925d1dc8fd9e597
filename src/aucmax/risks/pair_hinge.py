"""The hinge over all positive-negative pairs: the risk of SVM-AUC."""

from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from aucmax._core.parameters import check_positive
from aucmax.risks.bound_hinge import BoundHinge, RankBox

_ALL = RankBox.from_ranges((0.0, 1.0), (0.0, 1.0))


class PairHinge(BaseEstimator):
    r"""Mean hinge over positive-negative pairs, a convex upper bound of 1 - AUC.

    .. math:: R(s) = \frac{1}{W_+ W_-} \sum_{i \in P} \sum_{j \in N}
              w_i w_j \max(0, m - s_i + s_j)

    with row weights :math:`w` (1 by default), their class totals :math:`W_\pm` and
    the margin :math:`m`. A row of weight 2 counts as two equal rows. At a kink the
    inactive side is chosen: a pair exactly `margin` apart adds nothing to the
    subgradient, nor does one within rounding of it (1e-12 of the largest score), so the
    order of the rows does not matter. Costs one sort of the scores, O(n_rows) for
    spread-out scores.

    Smoothed to a `width`, each pair's hinge is replaced by its mean over an interval
    of that length around its score difference, which rounds the kink off. The share
    of each pair in the gradient then lies in [0, 1], so it is the slope of a line
    below the hinge itself: smoothing costs accuracy, never validity.

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
    ) -> BoundHinge:
        """Return the risk of these rows: see :meth:`Risk.bind`."""
        check_positive("margin", self.margin)
        return BoundHinge(
            self, _ALL, labels, sample_weight, queries, margin=self.margin
        )
