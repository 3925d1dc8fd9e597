"""How large the classes are, by weight, and which nu they allow."""

import math
from typing import NamedTuple, Self

import numpy as np

from aucmax._core.validation import BoolArray, FloatArray

__all__ = ["ROUNDING_OF_SUMS", "ClassSizes"]

#: relative: weights of rows or pairs that differ by less are equal but for rounding
ROUNDING_OF_SUMS = 1e-9


class ClassSizes(NamedTuple):
    """Total weights of both classes: numbers of rows if they have no weights."""

    positive: float
    negative: float
    lightest_pair: float  # the smallest weight of a pair: 1 without weights

    @classmethod
    def of(cls, labels: BoolArray, sample_weight: FloatArray | None) -> Self:
        """Weigh the classes; all weights are above 0."""
        if sample_weight is None:
            n_positive = int(np.count_nonzero(labels))
            return cls(float(n_positive), float(labels.size - n_positive), 1.0)
        positive, negative = sample_weight[labels], sample_weight[~labels]
        lightest = float(positive.min()) * float(negative.min())
        return cls(float(positive.sum()), float(negative.sum()), lightest)

    @property
    def n_pairs(self) -> float:
        """The weight of all pairs."""
        return self.positive * self.negative

    def check_epsilon(self, epsilon: float) -> None:
        """Raise an error if a share of the pairs is less than one pair."""
        nu = epsilon * self.n_pairs
        if nu < self.lightest_pair * (1.0 - ROUNDING_OF_SUMS):
            least = _rounded_up(self.lightest_pair / self.n_pairs)
            raise ValueError(
                f"epsilon={epsilon:g} is less than one of the {self.n_pairs:g} pairs "
                f"({nu:g} of a pair). The smallest epsilon that works is {least:g}; "
                "formulation='hard' gives the margin of that one pair."
            )

    def nu_pos_range(self, nu: float) -> tuple[float, float]:
        """Return the nu_pos for which neither class has to give more than it has."""
        most = self.positive
        return min(nu / self.negative, most), most


def _rounded_up(share: float) -> float:
    """Round a share up to six digits, which is what a message shows."""
    digits = 5 - math.floor(math.log10(share))
    return math.ceil(share * 10.0**digits * (1.0 - ROUNDING_OF_SUMS)) / 10.0**digits
