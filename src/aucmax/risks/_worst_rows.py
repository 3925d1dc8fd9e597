"""The smallest positives and the largest negatives, up to given weights."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from aucmax._core.validation import FloatArray
from aucmax.risks._class_rows import ClassRows
from aucmax.risks._selection import highest

__all__ = ["Lowest", "half_difference_of_means"]


def half_difference_of_means(
    classes: tuple[ClassRows, ClassRows], nus: tuple[float, float], n_rows: int
) -> tuple[float, FloatArray]:
    """Return half of: mean of the largest negatives less mean of the least positives.

    The first class is the positives, and its worst rows weigh the first of `nus`. Also
    returns the subgradient: minus half of a positive's share in its mean, plus half of
    a negative's. Rows that tie at the end share in proportion to their weights.
    """
    subgradient = np.zeros(n_rows)
    thresholds = excess = 0.0
    for own, nu in zip(classes, nus, strict=True):
        keys = own.keys
        cut = highest(keys, own.weights, nu)
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
    """A class by ascending value, to answer for its lowest rows of any weight.

    Negatives have their scores negated, so that in both classes a row is the worse the
    lower it stands.
    """

    values: FloatArray
    masses: FloatArray  # masses[k] is the weight of the first k rows
    moments: FloatArray  # moments[k]: their sum of weight * (value - lowest value)

    @classmethod
    def of(cls, own: ClassRows) -> "Lowest":
        """Sort the rows of a class."""
        own = own._replace(values=-own.keys).sorted()
        masses, moments = np.zeros((2, own.size + 1))
        np.cumsum(own.explicit_weights, out=masses[1:])
        heights = own.values - own.values[0]
        np.cumsum(own.explicit_weights * heights, out=moments[1:])
        return cls(own.values, masses, moments)

    @property
    def total_weight(self) -> float:
        """Weight of all rows."""
        return float(self.masses[-1])

    def place(self, nu: FloatArray | float) -> NDArray[np.intp]:
        """Return the last row that has a share when the lowest rows weigh `nu`."""
        return np.searchsorted(self.masses[1:-1], nu)

    def threshold(self, nu: FloatArray) -> FloatArray:
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
