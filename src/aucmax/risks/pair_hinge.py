"""The hinge over all positive-negative pairs: the risk of SVM-AUC."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from aucmax._sorting import sort_with_order
from aucmax._validation import BoolArray, FloatArray
from aucmax.risks import _kernels
from aucmax.risks.base import Support

__all__ = ["PairHinge"]


class PairHinge(BaseEstimator):
    r"""Mean hinge over positive-negative pairs, a convex upper bound of 1 - AUC.

    .. math:: R(s) = \frac{1}{W_+ W_-} \sum_{i \in P} \sum_{j \in N}
              w_i w_j \max(0, m - s_i + s_j)

    with row weights :math:`w` (1 by default), their class totals :math:`W_\pm` and
    the margin :math:`m`. A row of weight 2 counts as two equal rows. At a kink the
    inactive side is chosen: a pair exactly `margin` apart adds nothing to the
    subgradient. Costs one sort of the scores, O(n_rows) for spread-out scores.

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
    >>> scores, labels = np.array([2.0, 0.5, 0.0]), np.array([True, True, False])
    >>> PairHinge().value_and_subgradient(scores, labels)
    (0.25, array([ 0. , -0.5,  0.5]))
    """

    def __init__(self, margin: float = 1.0) -> None:
        self.margin = margin

    def value_and_subgradient(
        self,
        scores: FloatArray,
        labels: BoolArray,
        sample_weight: FloatArray | None = None,
    ) -> tuple[float, FloatArray]:
        """Return the risk of these scores and one subgradient, from one sort."""
        support = self.smoothed(scores, labels, sample_weight, width=0.0)
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
            Length of the interval that rounds off the kink; 0 for the risk itself.

        Returns
        -------
        Support
            The exact risk, the slope, and the constant of the line.
        """
        # taking it off changes no risk, and sums of scores keep their digits
        level = _nearest_to_zero(scores)
        positive = _sorted_class(scores, labels, level, sample_weight)
        lifted = _sorted_class(scores, ~labels, level - self.margin, sample_weight)
        pairs = positive.weights.sum() * lifted.weights.sum()
        half = width / 2.0

        beaten = np.empty_like(lifted.values)
        _kernels.ramp_sums(
            lifted.values, positive.values, positive.weights, half, beaten
        )
        subgradient = np.empty_like(scores)
        subgradient[lifted.rows] = lifted.weights * beaten / pairs

        above = np.empty_like(positive.values)
        _kernels.ramp_sums(
            -positive.values[::-1],
            -lifted.values[::-1],
            lifted.weights[::-1].copy(),
            half,
            above,
        )
        subgradient[positive.rows] = -positive.weights * above[::-1] / pairs

        total = _kernels.hinge_total(
            lifted.values, lifted.weights, positive.values, positive.weights
        )
        shares = float(np.einsum("i,i->", lifted.weights, beaten)) / pairs
        return Support(float(total) / pairs, subgradient, self.margin * shares)

    def curvature(
        self,
        scores: FloatArray,
        labels: BoolArray,
        sample_weight: FloatArray | None = None,
        *,
        width: float,
    ) -> Callable[[FloatArray], FloatArray]:
        """Return the product of the smoothed risk's Hessian with (m, k) matrices.

        The Hessian is the Laplacian of the graph that joins the pairs within
        ``width / 2`` of the kink. The partners of a row are neighbours in sorted order,
        so a product is a difference of prefix sums: O(m k), after one sort.
        """
        level = _nearest_to_zero(scores)
        positive = _sorted_class(scores, labels, level, sample_weight)
        lifted = _sorted_class(scores, ~labels, level - self.margin, sample_weight)
        scale = 1.0 / (positive.weights.sum() * lifted.weights.sum() * width)
        sides = [
            (own.rows, other.rows, *_partners(own, other, width / 2.0))
            for own, other in ((positive, lifted), (lifted, positive))
        ]
        mass = np.empty((scores.size, 1))
        mass[positive.rows, 0] = positive.weights
        mass[lifted.rows, 0] = lifted.weights

        def product(columns: FloatArray) -> FloatArray:
            weighted = mass * columns
            result = np.empty_like(columns)
            for own, other, first, last, degree in sides:
                pulled = _prefix_sums(weighted[other])
                result[own] = degree * columns[own] - (pulled[last] - pulled[first])
            result *= scale * mass
            return result

        return product


class _SortedClass(NamedTuple):
    """The rows of one class by ascending score: where they stand, score, weight."""

    rows: NDArray[np.int64]
    values: FloatArray
    weights: FloatArray


def _sorted_class(
    scores: FloatArray, members: BoolArray, level: float, weight: FloatArray | None
) -> _SortedClass:
    rows = np.flatnonzero(members)
    order, ordered = sort_with_order(scores[rows] - level)
    rows = rows[order]
    weights = np.ones(rows.size) if weight is None else weight[rows]
    return _SortedClass(rows, ordered, weights)


def _nearest_to_zero(scores: FloatArray) -> float:
    """Return the point of the scores' range that is nearest to 0."""
    return float(min(max(scores.min(), 0.0), scores.max()))


def _partners(
    own: _SortedClass, other: _SortedClass, half: float
) -> tuple[NDArray[np.int64], NDArray[np.int64], FloatArray]:
    """Find, for each row, the run of the other class in the window, and its weight."""
    first = np.searchsorted(other.values, own.values - half)
    last = np.searchsorted(other.values, own.values + half)
    mass = _prefix_sums(other.weights[:, None])
    return first, last, mass[last] - mass[first]


def _prefix_sums(rows: FloatArray) -> FloatArray:
    sums = np.zeros((rows.shape[0] + 1, rows.shape[1]))
    np.cumsum(rows, axis=0, out=sums[1:])
    return sums
