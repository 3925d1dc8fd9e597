"""What the user asked for, in terms of the classes."""

from typing import NamedTuple

import numpy as np

from aucmax.margin.sizes import ROUNDING_OF_SUMS, ClassSizes
from aucmax.risks import InstanceMargin, PairMargin

__all__ = ["Request"]


class Request(NamedTuple):
    """How many pairs, or rows, may miss the margin."""

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

    @property
    def product(self) -> float:
        """The product of nu+ and nu-."""
        nu_pos, nu_neg = self.nus()
        return nu_pos * nu_neg

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
