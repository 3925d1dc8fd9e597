"""Rows under a margin risk, and the weight of the pairs or rows that count."""

from abc import abstractmethod
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from aucmax._core.validation import BoolArray, FloatArray
from aucmax.exceptions import IncompatibleError
from aucmax.risks._pairs.class_rows import ClassRows, split_classes, weighted_top
from aucmax.risks.contract import BoundRisk, Risk

# In units of the total weight: a caller may add up weights in another order, so sums of
# weights may differ by this much.
MAX_EXCESS = 1e-9


class MarginRisk(BaseEstimator):
    """A margin risk, which compares all rows with each other."""

    _bound: ClassVar[type["BoundMargin"]]  # the class of the bound risk

    def bind(
        self,
        labels: ArrayLike,
        sample_weight: ArrayLike | None = None,
        queries: ArrayLike | None = None,
    ) -> Any:
        """Return the risk of these rows: see :meth:`Risk.bind`; takes no queries."""
        if queries is not None:
            raise IncompatibleError(
                f"{type(self).__name__} compares all rows with each other and does not "
                "support queries; PairHinge, PartialHinge, PairLogistic and "
                "PairSigmoid do."
            )
        return self._bound(self, labels, sample_weight)


class BoundMargin(BoundRisk):
    """A margin risk of given rows: convex, and a multiple of the scores' scale."""

    is_convex, least_value = True, -np.inf

    def __init__(
        self, risk: Risk, labels: ArrayLike, sample_weight: ArrayLike | None
    ) -> None:
        super().__init__(risk, labels, sample_weight)
        self._classes = split_classes(self.labels, self.sample_weight)
        self._prepare()

    @abstractmethod
    def _prepare(self) -> None:
        """Check the parameters against the weights of the classes."""


def checked_nu(name: str, nu: float, counted: str, total: float) -> float:
    """Return nu, or the total weight if rounding puts nu above it; else raise."""
    if not 0.0 < nu <= total * (1.0 + MAX_EXCESS):
        raise ValueError(
            f"{name}, the weight of the {counted} that count, must be above 0 and at "
            f"most that of all {counted}, {total:.12g}, got {nu!r}; for a share of "
            f"them, use the share times the weight of all {counted}."
        )
    return min(nu, total)


def half_difference_of_means(
    classes: tuple[ClassRows, ClassRows], nus: tuple[float, float], n_rows: int
) -> tuple[float, FloatArray]:
    """Return half of: mean of the largest negatives less that of least positives."""
    # also returns the subgradient: minus or plus half of a row's share in its mean, in
    # which rows that tie at the end share in proportion to their weights
    subgradient = np.zeros(n_rows)
    thresholds = excess = 0.0
    for own, nu in zip(classes, nus, strict=True):
        keys = own.keys
        cut = weighted_top(keys, own.weights, nu)
        shares = cut.shares(keys)
        shares /= nu
        if own.weights is not None:
            shares *= own.weights
        subgradient[own.rows] = 0.5 * own.side * shares
        # seen from the thresholds, so that a constant in all scores costs no digits
        shares *= keys - cut.threshold
        thresholds += cut.threshold
        excess += float(shares.sum())
    return 0.5 * (excess + thresholds), subgradient


class Lowest(NamedTuple):
    """A class by ascending value, for means over its lowest rows, O(log n) each."""

    # scores of negatives are negated, so lower rows are worse in both classes
    values: FloatArray
    cumulative_weights: (
        FloatArray  # cumulative_weights[k] is the weight of the first k rows
    )
    moments: FloatArray  # moments[k]: their sum of weight * (value - lowest value)

    @classmethod
    def from_class(cls, rows: ClassRows) -> "Lowest":
        """Sort the rows of a class."""
        rows = rows._replace(values=-rows.keys).sorted()
        cumulative_weights, moments = np.zeros((2, rows.size + 1))
        np.cumsum(rows.explicit_weights, out=cumulative_weights[1:])
        heights = rows.values - rows.values[0]
        np.cumsum(rows.explicit_weights * heights, out=moments[1:])
        return cls(rows.values, cumulative_weights, moments)

    @classmethod
    def from_scores(
        cls,
        scores: FloatArray,
        labels: BoolArray,
        sample_weight: FloatArray | None = None,
    ) -> "tuple[Lowest, Lowest]":
        """Sort the positives and the negatives."""
        classes = split_classes(labels, sample_weight)
        positive, negative = (
            cls.from_class(rows.with_scores(scores)) for rows in classes
        )
        return positive, negative

    def place(self, nu: FloatArray | float) -> NDArray[np.intp]:
        """Return the last row that has a share when the lowest rows weigh `nu`."""
        return np.searchsorted(self.cumulative_weights[1:-1], nu)

    def threshold(self, nu: FloatArray | float) -> FloatArray:
        """Return the value of that row."""
        return self.values[self.place(nu)]

    def mean(self, nu: FloatArray | float) -> FloatArray:
        """Return the mean of the lowest rows that weigh `nu`, or of all."""
        nu = np.minimum(nu, self.cumulative_weights[-1])
        last, lowest = self.place(nu), self.values[0]
        part = (nu - self.cumulative_weights[last]) * (self.values[last] - lowest)
        means: FloatArray = lowest + (self.moments[last] + part) / nu
        return means

    def height(self, k: int) -> float:
        """Return the value of row k above the lowest."""
        return float(self.values[k] - self.values[0])

    def shortfall(self, k: int) -> float:
        """Return the sum of weight * (value of row k - value) over the rows before."""
        return float(self.cumulative_weights[k] * self.height(k) - self.moments[k])
