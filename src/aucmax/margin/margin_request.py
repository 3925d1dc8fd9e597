"""How many pairs, or rows of each class, may miss the margin."""

import math
from typing import NamedTuple, Self

import numpy as np

from aucmax._core.validation import BoolArray, FloatArray
from aucmax.risks.instance_margin import InstanceMargin
from aucmax.risks.pair_margin import PairMargin

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


class MarginRequest(NamedTuple):
    """The parameters of a margin, in terms of the classes."""

    sizes: ClassSizes
    epsilon: float  # the share of the pairs
    nu_pos: float | None = None  # how many positives, if given
    nu_neg: float | None = None  # how many negatives, if given
    curve_points: int = 0  # how many more points of the curve to solve

    def pair_risk(self) -> PairMargin:
        """Return the soft margin over pairs: problems (2) and (3)."""
        return PairMargin(self.nu)

    def hard_risk(self) -> PairMargin:
        """Return the smallest margin of any pair: problems (4) and (5)."""
        return PairMargin(self.sizes.lightest_pair)

    def row_risk(self) -> InstanceMargin:
        """Return the margin of the reduction to instances: problems (7) and (8)."""
        for name, given, most in (
            ("nu_pos", self.nu_pos, self.sizes.positive),
            ("nu_neg", self.nu_neg, self.sizes.negative),
        ):
            if given is not None and not 0.0 < given <= most * (1.0 + ROUNDING_OF_SUMS):
                raise ValueError(
                    f"{name} must be above 0 and at most {most:g}, the weight of its "
                    f"class, got {given!r}."
                )
        for name, nu, most in zip(
            ("nu_pos", "nu_neg"), self.nus(), self.sizes[:2], strict=True
        ):
            if nu > most * (1.0 + ROUNDING_OF_SUMS):
                raise ValueError(
                    f"{name} = {nu:g} follows from epsilon and the other nu, but its "
                    f"class weighs {most:g}. Give both nu_pos and nu_neg, or a smaller "
                    "epsilon."
                )
        return InstanceMargin(*self.nus())

    @property
    def nu(self) -> float:
        """The weight of the pairs that may miss the margin."""
        return self.epsilon * self.sizes.n_pairs

    def nus(self) -> tuple[float, float]:
        """Return nu+ and nu-: as given, or by Corollary 4 in equal shares."""
        if self.nu_pos is not None and self.nu_neg is not None:
            return float(self.nu_pos), float(self.nu_neg)
        nu = self.nu
        if self.nu_pos is not None:
            return float(self.nu_pos), nu / self.nu_pos
        if self.nu_neg is not None:
            return nu / self.nu_neg, float(self.nu_neg)
        share = float(np.sqrt(self.epsilon))
        return share * self.sizes.positive, share * self.sizes.negative


def _rounded_up(share: float) -> float:
    """Round a share up to six digits, as a message shows it."""
    digits = 5 - math.floor(math.log10(share))
    return math.ceil(share * 10.0**digits * (1.0 - ROUNDING_OF_SUMS)) / 10.0**digits
