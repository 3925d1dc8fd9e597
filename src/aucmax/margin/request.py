"""What the user asked for, in terms of the classes."""

from typing import NamedTuple

import numpy as np

from aucmax.margin.sizes import ClassSizes

__all__ = ["Request"]

_ROUNDING = 1e-9


class Request(NamedTuple):
    """How many pairs, or rows, may miss the margin.

    Attributes
    ----------
    sizes : ClassSizes
        Weights of the classes.
    epsilon : float
        The share of the pairs that may miss the margin.
    nu_pos, nu_neg : float or None
        The same for positives and negatives, if given.
    curve_points : int
        How many more points of the curve to solve.
    """

    sizes: ClassSizes
    epsilon: float
    nu_pos: float | None = None
    nu_neg: float | None = None
    curve_points: int = 0

    def check(self, formulation: str) -> None:
        """Raise an error if what a formulation needs does not fit the classes."""
        if formulation == "pairs":
            self.sizes.nu(self.epsilon)
        elif formulation != "hard":
            self._check_rows()

    def _check_rows(self) -> None:
        for name, given, most in (
            ("nu_pos", self.nu_pos, self.sizes.positive),
            ("nu_neg", self.nu_neg, self.sizes.negative),
        ):
            if given is not None and not 0.0 < given <= most * (1.0 + _ROUNDING):
                raise ValueError(
                    f"{name} must be above 0 and at most {most:g}, the weight of its "
                    f"class, got {given!r}."
                )
        for name, nu, most in zip(
            ("nu_pos", "nu_neg"), self.nus(), self.sizes[:2], strict=True
        ):
            if nu > most * (1.0 + _ROUNDING):
                raise ValueError(
                    f"{name} = {nu:g} follows from epsilon and the other nu, but its "
                    f"class weighs {most:g}. Give both nu_pos and nu_neg, or a smaller "
                    "epsilon."
                )

    @property
    def nu(self) -> float:
        """The weight of the pairs that may miss the margin."""
        return self.sizes.nu(self.epsilon)

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
