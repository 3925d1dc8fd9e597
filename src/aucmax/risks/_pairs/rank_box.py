"""Ranges of the false and the true positive rate, checked and turned into ranks."""

from collections.abc import Sequence
from typing import NamedTuple

from aucmax._core.parameters import check_choice, check_range


class RankBox(NamedTuple):
    """The part of the pairs that counts, in shares of the class weights."""

    # Negatives rank from the highest score down, positives from the lowest up. A
    # mirrored box swaps the classes and the signs of all scores, which changes no pair.
    skip: float  # share of the first negatives that do not count
    negatives: float  # share at which their range ends
    positives: float  # share at which the range of the positives ends; it starts at 0
    is_mirrored: bool
    is_loose: bool

    @classmethod
    def from_ranges(
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
                "ends below 1; the bound supports one of the two: start fpr_range at "
                "0, or end tpr_range at 1."
            )
        if d < 1.0:
            return cls(1.0 - d, 1.0 - c, b, True, is_loose)
        return cls(a, b, 1.0 - c, False, is_loose)

    @property
    def is_choice_of_rows(self) -> bool:
        """Whether the risk is a mean of hinges over the first rows of each class."""
        return not (self.is_loose or self.is_mirrored or self.skip > 0.0)
