"""Ranges of the false and the true positive rate, checked and turned into ranks."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from aucmax._core.parameters import check_choice, check_range
from aucmax._core.validation import BoolArray, FloatArray

_MAX_SHORTFALL = 1e-9  # that a range may have, being rounded


class RankBox(NamedTuple):
    """The part of the pairs that counts, in shares of the class weights.

    Negatives are ranked from the highest score down, positives from the lowest up. In a
    mirrored box the classes have changed places, and the signs of all scores with
    them, which leaves every pair as it was.
    """

    skip: float  # share of the first negatives that are passed over
    negatives: float  # share at which their range ends
    positives: float  # share at which the range of the positives ends; it starts at 0
    is_mirrored: bool
    is_loose: bool

    @classmethod
    def of(
        cls,
        fpr_range: Sequence[float],
        tpr_range: Sequence[float],
        bound: str = "tight",
    ) -> "RankBox":
        """Translate the ranges, of which only one may leave out the first rows."""
        check_choice("bound", bound, ("tight", "loose"))
        is_loose = bound == "loose"
        a, b = check_range("fpr_range", fpr_range)
        c, d = check_range("tpr_range", tpr_range)
        if a > 0.0 and d < 1.0:
            raise ValueError(
                f"fpr_range={fpr_range!r} starts above 0 and tpr_range={tpr_range!r} "
                "ends below 1; the bound exists for one of the two cuts alone: start "
                "fpr_range at 0, or end tpr_range at 1."
            )
        if d < 1.0:
            return cls(1.0 - d, 1.0 - c, b, True, is_loose)
        return cls(a, b, 1.0 - c, False, is_loose)

    @property
    def is_choice_of_rows(self) -> bool:
        """Whether the risk is a mean of hinges over the first rows of each class."""
        return not (self.is_loose or self.is_mirrored or self.skip > 0.0)


def check_sizes(
    fpr_range: Sequence[float],
    tpr_range: Sequence[float],
    labels: BoolArray,
    sample_weight: FloatArray | None,
) -> None:
    """Raise if a range covers less than one row of its class."""
    counted = np.ones_like(labels) if sample_weight is None else sample_weight > 0.0
    for ends, name, rows, members in (
        (fpr_range, "fpr_range", "negatives", ~labels),
        (tpr_range, "tpr_range", "positives", labels),
    ):
        low, high = check_range(name, ends)
        n_rows = int(np.count_nonzero(members & counted))
        if (high - low) * n_rows < 1.0 - _MAX_SHORTFALL:
            digits = 10.0 ** (2 - math.floor(math.log10(1.0 / n_rows)))
            needed = math.ceil(digits / n_rows) / digits
            raise ValueError(
                f"{name}={ends!r} covers {(high - low) * n_rows:.3g} of the {n_rows} "
                f"{rows}; it must cover at least one: widen it to a length of at "
                f"least {needed:.6g}."
            )
