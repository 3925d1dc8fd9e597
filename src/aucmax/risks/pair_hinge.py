"""The hinge over all positive-negative pairs: the risk of SVM-AUC."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from aucmax._sorting import RowNumbers, row_number_type, sort_with_order
from aucmax._validation import BoolArray, FloatArray
from aucmax.risks import _kernels
from aucmax.risks.base import Support

__all__ = ["PairHinge"]

_CELLS_PER_WIDTH = 32.0
_ROUNDING = 1e-12


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
    >>> scores, labels = np.array([2.0, 0.5, 0.0]), np.array([True, True, False])
    >>> PairHinge().value_and_subgradient(scores, labels)
    (0.25, array([ 0. , -0.5,  0.5]))
    """

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
        return _mean_hinge(lifted, positive)

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
        pairs = positive.total_weight * lifted.total_weight
        subgradient = np.empty_like(scores)
        shares = 0.0
        slack = 0.0
        if width == 0.0:
            slack = _ROUNDING * max(float(np.abs(scores).max()), self.margin)
        for own, other, side in ((positive, lifted, -1), (lifted, positive, 1)):
            sums = np.empty_like(own.values)
            _kernels.ramp_sums(
                own.values, other.values, other.weights, width / 2.0, slack, side, sums
            )
            if own.weights.size:
                sums *= own.weights
            shares = float(sums.sum()) / pairs
            sums *= side / pairs
            subgradient[own.rows] = sums
        value = _mean_hinge(lifted, positive)
        return Support(value, subgradient, self.margin * shares)

    def _sorted_classes(
        self, scores: FloatArray, labels: BoolArray, sample_weight: FloatArray | None
    ) -> tuple["_SortedClass", "_SortedClass"]:
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
        positive, lifted = self._sorted_classes(scores, labels, sample_weight)
        scale = 1.0 / (positive.total_weight * lifted.total_weight * width)
        first, last = _partners(positive, lifted, width / 2.0)
        degrees = np.concatenate(
            [
                _partner_weights(positive, lifted, width / 2.0),
                _partner_weights(lifted, positive, width / 2.0),
            ]
        )
        rows = np.concatenate([positive.rows, lifted.rows])
        n_positive = positive.rows.size
        mass_positive, mass_lifted = positive.explicit_weights, lifted.explicit_weights

        def form(columns: FloatArray) -> FloatArray:
            ordered = columns[rows]
            partners = _prefix_sums(mass_lifted[:, None] * ordered[n_positive:])
            pulled = (scale * degrees)[:, None] * ordered
            # both halves of the symmetric cross term at once; made symmetric below
            crossed = partners[last]
            crossed -= partners[first]
            crossed *= (2.0 * scale * mass_positive)[:, None]
            pulled[:n_positive] -= crossed
            hessian: FloatArray = ordered.T @ pulled
            return (hessian + hessian.T) / 2.0

        return form


class _Grid(NamedTuple):
    """Cells over the range of the scores; the margin is a whole number of them."""

    low: float
    scale: float  # cells per unit of score
    n_cells: int
    lift: int  # the margin, in cells
    reach: int  # half the smoothing width, in cells

    @classmethod
    def cover(cls, scores: FloatArray, margin: float, width: float) -> "_Grid | None":
        """Lay a grid fine enough for the width, or None if sorting is cheaper."""
        low, high = float(scores.min()), float(scores.max())
        lift = int(np.ceil(_CELLS_PER_WIDTH * margin / width))
        scale = lift / margin
        if not (high - low) * scale < scores.size / 2 or lift > scores.size:
            return None
        n_cells = int((high - low) * scale) + 1
        return cls(low, scale, n_cells, lift, max(1, round(width * scale / 2.0)))

    def support(
        self,
        scores: FloatArray,
        labels: BoolArray,
        sample_weight: FloatArray | None,
        margin: float,
    ) -> Support:
        """Evaluate the smoothed risk cell by cell."""
        weights = np.empty(0) if sample_weight is None else sample_weight
        masses, moments, shares = np.zeros((3, 2, self.n_cells))
        place = self.low, self.scale
        _kernels.cell_masses(scores, labels, weights, *place, masses, moments)
        _kernels.cell_shares(masses, self.lift, self.reach, shares)
        pairs = masses[0].sum() * masses[1].sum()
        met = float((masses[0] * shares[0]).sum()) / pairs
        total = _kernels.cell_hinge_bound(masses, moments, self.lift)
        subgradient = np.empty_like(scores)
        shares /= pairs
        _kernels.cell_subgradient(scores, labels, weights, *place, shares, subgradient)
        return Support(float(total) / self.scale / pairs, subgradient, margin * met)


class _SortedClass(NamedTuple):
    """The rows of one class by ascending score: where they stand, score, weight."""

    rows: RowNumbers
    values: FloatArray
    weights: FloatArray  # empty for ones

    @property
    def total_weight(self) -> float:
        return float(self.weights.sum()) if self.weights.size else float(self.rows.size)

    @property
    def explicit_weights(self) -> FloatArray:
        return self.weights if self.weights.size else np.ones(self.rows.size)


def _sorted_class(
    scores: FloatArray, members: BoolArray, level: float, weight: FloatArray | None
) -> _SortedClass:
    rows = np.flatnonzero(members).astype(row_number_type(scores.size))
    values = scores[rows]
    values -= level
    order, ordered = sort_with_order(values)
    rows = rows[order]
    return _SortedClass(rows, ordered, np.empty(0) if weight is None else weight[rows])


def _mean_hinge(lifted: _SortedClass, positive: _SortedClass) -> float:
    total = _kernels.hinge_total(
        lifted.values, lifted.weights, positive.values, positive.weights
    )
    return float(total / (lifted.total_weight * positive.total_weight))


def _partners(
    own: _SortedClass, other: _SortedClass, half: float
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Find, for each row, the run of the other class in the window."""
    first = np.searchsorted(other.values, own.values - half)
    return first, np.searchsorted(other.values, own.values + half)


def _partner_weights(own: _SortedClass, other: _SortedClass, half: float) -> FloatArray:
    """Return each row's weight times that of its partners."""
    first, last = _partners(own, other, half)
    masses = _prefix_sums(other.explicit_weights)
    return own.explicit_weights * (masses[last] - masses[first])


def _prefix_sums(rows: FloatArray) -> FloatArray:
    sums = np.zeros((rows.shape[0] + 1, *rows.shape[1:]))
    np.cumsum(rows, axis=0, out=sums[1:])
    return sums
