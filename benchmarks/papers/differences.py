"""One method less another on the same test parts, with an interval."""

from typing import NamedTuple

import numpy as np
from scipy.stats import t as student

CONFIDENCE = 0.95


class Difference(NamedTuple):
    """A mean of paired differences, half its interval, and how many there are."""

    mean: float
    reach: float
    n: int

    @property
    def is_ahead(self) -> bool:
        """Whether the whole interval is above 0."""
        return self.mean > self.reach

    @property
    def is_behind(self) -> bool:
        """Whether the whole interval is below 0."""
        return self.mean < -self.reach

    def in_points(self, digits: int) -> str:
        """Write it in points of 0.01, bold where 0 is outside of the interval."""
        ends = self.mean, self.mean - self.reach, self.mean + self.reach
        mean, low, high = (f"{100.0 * value:+.{digits}f}" for value in ends)
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
    return Difference(mean, reach, apart.size)


def average(differences: list[Difference]) -> Difference:
    """Return the mean of independent differences, which count alike."""
    mean = float(np.mean([one.mean for one in differences]))
    reach = float(np.hypot.reduce([one.reach for one in differences])) / len(
        differences
    )
    return Difference(mean, reach, sum(one.n for one in differences))
