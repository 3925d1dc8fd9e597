"""One method less another on the same test parts, with an interval."""

from dataclasses import dataclass

import numpy as np
from scipy.stats import t as student

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Difference:
    """A mean of paired differences, and its interval.

    Attributes
    ----------
    n : int
        How many differences there were.
    """

    mean: float
    low: float
    high: float
    n: int

    @property
    def reach(self) -> float:
        """Half the width of the interval."""
        return (self.high - self.low) / 2.0

    @property
    def is_ahead(self) -> bool:
        """Whether the whole interval is above 0."""
        return self.low > 0.0

    @property
    def is_behind(self) -> bool:
        """Whether the whole interval is below 0."""
        return self.high < 0.0

    def in_points(self, digits: int) -> str:
        """Write it in points of 0.01, bold where 0 is outside of the interval."""
        mean, low, high = (
            f"{100.0 * value:+.{digits}f}" for value in (self.mean, self.low, self.high)
        )
        text = f"{mean} [{low}, {high}]"
        return f"**{text}**" if self.is_ahead or self.is_behind else text


def mean_difference(
    apart: np.ndarray, groups: np.ndarray | None = None, overlap: float = 0.0
) -> Difference:
    """Return the mean of paired differences with an interval of Student's t.

    Differences of one group are not taken for independent: the groups' sums make the
    error. Where training parts overlap, Nadeau and Bengio (2003) add the ratio of test
    to training rows, `overlap`, to 1 / n.
    """
    mean = float(apart.mean())
    if groups is None:
        groups = np.arange(apart.size)
    _, group = np.unique(groups, return_inverse=True)
    sums = np.bincount(group, apart - mean)
    variance = (sums**2).sum() * sums.size / (sums.size - 1) / apart.size**2
    error = np.sqrt(variance * (1.0 + overlap * apart.size))
    reach = float(student.ppf((1.0 + CONFIDENCE) / 2.0, sums.size - 1) * error)
    return Difference(mean, mean - reach, mean + reach, apart.size)


def average(found: list[Difference]) -> Difference:
    """Return the mean of independent differences, which count alike."""
    mean = float(np.mean([one.mean for one in found]))
    reach = float(np.hypot.reduce([one.reach for one in found])) / len(found)
    return Difference(mean, mean - reach, mean + reach, sum(one.n for one in found))
