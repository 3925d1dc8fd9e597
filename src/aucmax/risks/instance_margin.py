"""The smallest positives against the largest negatives: margins over instances."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from aucmax._sorting import sort_with_order
from aucmax._validation import BoolArray, FloatArray

__all__ = ["InstanceMargin", "InstanceMargins"]

_ROUNDING = 1e-9  # by which a sum of weights may miss the caller's


class InstanceMargin(BaseEstimator):
    r"""Half of: mean of the largest negatives less mean of the smallest positives.

    .. math:: R(s) = \frac{1}{2} \Big( \frac{1}{\nu_-} \sum_{\text{largest}} w_j s_j
              - \frac{1}{\nu_+} \sum_{\text{smallest}} w_i s_i \Big)

    over the negatives of largest score that weigh :math:`\nu_-` together, and the
    positives of smallest score that weigh :math:`\nu_+`: minus a margin between them.
    A row of weight 2 counts as two equal rows; without weights all weigh 1. Where the
    last row counts in part, rows that tie with it share in proportion to their weights,
    so that the order of the rows does not matter.

    At most the risk :class:`PairMargin` with :math:`\nu = \nu_+ \nu_-`, of which it is
    the reduction to instances. Convex, positively homogeneous, and unmoved by a
    constant added to every score. Costs two selections, O(n_rows); two sorts with
    weights.

    Parameters
    ----------
    nu_pos : float
        Weight of the positives that count, above 0, at most that of all positives.
    nu_neg : float
        Weight of the negatives that count, above 0, at most that of all negatives.

    References
    ----------
    .. [1] D. Suehiro, K. Hatano, E. Takimoto. Approximate reduction from AUC
       maximization to 1-norm soft margin optimization. ALT 2011, problems (7), (8).

    Examples
    --------
    >>> import numpy as np
    >>> from aucmax.risks import InstanceMargin
    >>> scores = np.array([2.0, 0.0, 0.0, -1.0])
    >>> labels = np.array([True, True, False, False])
    >>> InstanceMargin(nu_pos=2, nu_neg=1).value_and_subgradient(scores, labels)
    (-0.5, array([-0.25, -0.25,  0.5 ,  0.  ]))
    """

    def __init__(self, nu_pos: float, nu_neg: float) -> None:
        self.nu_pos = nu_pos
        self.nu_neg = nu_neg

    def value(
        self,
        scores: FloatArray,
        labels: BoolArray,
        sample_weight: FloatArray | None = None,
    ) -> float:
        """Return the risk of these scores."""
        return self.value_and_subgradient(scores, labels, sample_weight)[0]

    def value_and_subgradient(
        self,
        scores: FloatArray,
        labels: BoolArray,
        sample_weight: FloatArray | None = None,
    ) -> tuple[float, FloatArray]:
        """Return the risk of these scores and one subgradient, from one selection.

        The subgradient of a positive row is minus half its share in the mean, that of a
        negative row plus half, so each class adds up to one half.
        """
        classes = ClassRows.both(scores, labels, sample_weight)
        lowest = []
        for rows, nu, name in zip(
            classes, (self.nu_pos, self.nu_neg), ("positive", "negative"), strict=True
        ):
            weight = _checked_nu(nu, rows.total_weight, name)
            lowest.append((weight, rows.threshold(weight)))
        return risk_at(classes, lowest, scores.size)


class InstanceMargins:
    r"""Means of the smallest positives and largest negatives, for many sizes at once.

    Sorts each class once, O(n_rows log n_rows); every question is then answered in
    O(log n_rows) a size. Sizes are weights, above 0 and at most that of the class, and
    may be fractional, as in :class:`InstanceMargin`.

    Parameters
    ----------
    scores : ndarray of shape (n_rows,)
        Scores, finite.
    labels : ndarray of bool of shape (n_rows,)
        True for positives; both classes are present.
    sample_weight : ndarray of shape (n_rows,), optional
        Nonnegative weights, with a positive total in each class.

    Examples
    --------
    >>> import numpy as np
    >>> from aucmax.risks import InstanceMargins
    >>> scores = np.array([2.0, 0.0, 1.0, -1.0])
    >>> margins = InstanceMargins(scores, np.array([True, True, False, False]))
    >>> margins.mean_smallest_positive([0.5, 1.0, 2.0])
    array([0., 0., 1.])
    >>> margins.largest_negative_threshold([1.0, 1.5])
    array([ 1., -1.])
    """

    def __init__(
        self,
        scores: FloatArray,
        labels: BoolArray,
        sample_weight: FloatArray | None = None,
    ) -> None:
        positive, negative = ClassRows.both(scores, labels, sample_weight)
        self._positive, self._negative = positive.ascending(), negative.ascending()

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


class Lowest(NamedTuple):
    """A class by ascending value, to answer for its lowest rows of any weight."""

    values: FloatArray
    masses: FloatArray  # masses[k] is the weight of the first k rows,
    moments: FloatArray  # moments[k] the sum of their weight * (value - lowest value)

    def place(self, nu: FloatArray | float) -> NDArray[np.intp]:
        """Return the last row that has a share when the lowest rows weigh `nu`."""
        return np.searchsorted(self.masses[1:-1], nu)

    def threshold(self, nu: FloatArray | float) -> FloatArray:
        """Return the value of that row."""
        return self.values[self.place(nu)]

    def mean(self, nu: FloatArray) -> FloatArray:
        """Return the mean of the lowest rows that weigh `nu`."""
        last, lowest = self.place(nu), self.values[0]
        part = (nu - self.masses[last]) * (self.values[last] - lowest)
        means: FloatArray = lowest + (self.moments[last] + part) / nu
        return means

    def height(self, k: int) -> float:
        """Return how far row k stands above the lowest."""
        return float(self.values[k] - self.values[0])

    def shortfall(self, k: int) -> float:
        """Return the sum of weight * (value of row k - value) over the rows before."""
        return float(self.masses[k] * self.height(k) - self.moments[k])


class ClassRows(NamedTuple):
    """The rows of one class, in any order; negatives with their scores negated.

    So positives and negatives alike are the worse the lower they stand.
    """

    rows: NDArray[np.intp]
    values: FloatArray
    weights: FloatArray | None  # None for ones

    @classmethod
    def both(
        cls, scores: FloatArray, labels: BoolArray, sample_weight: FloatArray | None
    ) -> tuple["ClassRows", "ClassRows"]:
        """Return the positives and the negatives, without rows that weigh nothing."""
        classes = []
        for members, sign in ((labels, 1.0), (~labels, -1.0)):
            if sample_weight is not None:
                members = members & (sample_weight > 0.0)
            rows = np.flatnonzero(members)
            weights = None if sample_weight is None else sample_weight[rows]
            classes.append(cls(rows, sign * scores[rows], weights))
        return classes[0], classes[1]

    @property
    def total_weight(self) -> float:
        """Weight of all rows."""
        return float(self.rows.size if self.weights is None else self.weights.sum())

    def ascending(self) -> Lowest:
        """Sort the rows."""
        order, values = sort_with_order(self.values)
        weights = np.ones(values.size) if self.weights is None else self.weights[order]
        masses, moments = np.zeros((2, values.size + 1))
        np.cumsum(weights, out=masses[1:])
        np.cumsum(weights * (values - values[0]), out=moments[1:])
        return Lowest(values, masses, moments)

    def threshold(self, nu: float) -> float:
        """Return the largest value with a share when the lowest rows weigh `nu`."""
        if self.weights is None:
            last = math.ceil(nu) - 1
            return float(np.partition(self.values, last)[last])
        return float(self.ascending().threshold(nu))

    def shares(self, nu: float, threshold: float) -> FloatArray:
        """Return each row's share in the mean of the lowest rows that weigh `nu`.

        Rows at the threshold have equal parts of their weights counted.
        """
        below, tied = self.values < threshold, self.values == threshold
        if self.weights is None:
            weight_below, weight_tied = np.count_nonzero(below), np.count_nonzero(tied)
        else:
            weight_below, weight_tied = (
                self.weights[below].sum(),
                self.weights[tied].sum(),
            )
        part = min(max((nu - weight_below) / weight_tied, 0.0), 1.0)
        shares = below / nu
        shares += tied * (part / nu)
        if self.weights is not None:
            shares *= self.weights
        return shares


def risk_at(
    classes: tuple[ClassRows, ClassRows],
    lowest: list[tuple[float, float]],
    n_rows: int,
) -> tuple[float, FloatArray]:
    """Return risk and subgradient from the weight and threshold of each class."""
    subgradient = np.zeros(n_rows)
    mean = shortfall = 0.0
    for rows, (nu, threshold), sign in zip(classes, lowest, (-0.5, 0.5), strict=True):
        shares = rows.shares(nu, threshold)
        subgradient[rows.rows] = sign * shares
        # seen from the thresholds, so that a level of all scores costs no digits
        shares *= threshold - rows.values
        mean += threshold
        shortfall += float(shares.sum())
    return 0.5 * (shortfall - mean), subgradient


def _checked_nu(nu: float, total: float, name: str) -> float:
    """Return nu, or the weight of the class where rounding puts nu above it."""
    if not 0.0 < nu <= total * (1.0 + _ROUNDING):
        raise ValueError(
            f"nu_{name[:3]}, the weight of the {name}s that count, must be above 0 and "
            f"at most that of all {name}s, {total:.12g}, got {nu!r}."
        )
    return min(nu, total)


def _checked_nus(nus: ArrayLike, lowest: Lowest, name: str) -> FloatArray:
    array = np.asarray(nus, dtype=np.float64)
    total = float(lowest.masses[-1])
    for nu in (array.min(initial=total), array.max(initial=total)):
        _checked_nu(float(nu), total, name)
    return np.minimum(array, total)
