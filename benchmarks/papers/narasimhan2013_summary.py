"""From results of splits to means, paired differences and counts of wins."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import t as student

from benchmarks.papers.narasimhan2013_data import TEST_SHARE
from benchmarks.papers.narasimhan2013_protocol import Result

LEVEL = 0.95


class Results:
    """Results of splits, by data and method."""

    def __init__(self, results: Iterable[Result]) -> None:
        self._groups: dict[tuple[str, str], list[Result]] = {}
        for one in results:
            self._groups.setdefault((one.data, one.method), []).append(one)

    @property
    def data(self) -> list[str]:
        """Names of the data sets, as they came."""
        return list(dict.fromkeys(data for data, _ in self._groups))

    @property
    def methods(self) -> list[str]:
        """Names of the methods, as they came."""
        return list(dict.fromkeys(method for _, method in self._groups))

    def splits(self, data: str, method: str) -> list[Result]:
        """Return the splits of one method; none if it was not run."""
        return self._groups.get((data, method), [])

    def scores(self, data: str, method: str) -> np.ndarray:
        """Return the partial AUC of each split, the candidate chosen inside."""
        found = self.splits(data, method)
        return np.array([one.score[one.chosen] for one in found])

    def mean(self, data: str, method: str) -> float | None:
        """Return the mean partial AUC over the splits."""
        scores = self.scores(data, method)
        return float(scores.mean()) if scores.size else None


@dataclass(frozen=True)
class Difference:
    """One method less another on the same splits, with its interval."""

    data: str
    mean: float
    low: float
    high: float

    @property
    def is_ahead(self) -> bool:
        """Whether the whole interval is above 0."""
        return self.low > 0.0

    @property
    def is_behind(self) -> bool:
        """Whether the whole interval is below 0."""
        return self.high < 0.0


def difference(results: Results, data: str, ours: str, other: str) -> Difference | None:
    """Return the mean paired difference with a corrected interval of Student's t.

    Training parts of repeated splits overlap, so that the splits are not independent.
    Nadeau and Bengio (2003) add the ratio of test to training rows to 1 / splits.
    """
    mine, theirs = results.scores(data, ours), results.scores(data, other)
    if mine.size < 2 or mine.size != theirs.size:
        return None
    apart = mine - theirs
    factor = 1.0 / apart.size + TEST_SHARE / (1.0 - TEST_SHARE)
    error = float(np.sqrt(factor * apart.var(ddof=1)))
    reach = float(student.ppf((1.0 + LEVEL) / 2.0, apart.size - 1)) * error
    mean = float(apart.mean())
    return Difference(data, mean, mean - reach, mean + reach)


def differences(results: Results, ours: str, other: str) -> list[Difference]:
    """Return the differences on all data sets that both methods were run on."""
    found = (difference(results, data, ours, other) for data in results.data)
    return [one for one in found if one is not None]


@dataclass(frozen=True)
class Count:
    """On how many data sets one method is ahead of another.

    Attributes
    ----------
    higher, level, lower : int
        By the mean; level means equal to four digits.
    ahead, behind : int
        Of them, with an interval that does not cover 0.
    mean : float
        The difference, over all data sets.
    """

    higher: int
    level: int
    lower: int
    ahead: int
    behind: int
    mean: float


def count(found: Sequence[Difference]) -> Count:
    """Count the data sets by the sign of the difference."""
    means = [round(one.mean, 4) for one in found]
    return Count(
        sum(mean > 0.0 for mean in means),
        sum(mean == 0.0 for mean in means),
        sum(mean < 0.0 for mean in means),
        sum(one.is_ahead for one in found),
        sum(one.is_behind for one in found),
        float(np.mean([one.mean for one in found])),
    )


def least_risk(found: Sequence[Result]) -> float:
    """Return the smallest convex risk of the training rows on the path, as a mean."""
    return float(np.mean([np.nanmin(one.risk) for one in found]))


def constant_share(found: Sequence[Result]) -> float:
    """Return the share of splits whose chosen model gives all rows one score."""
    return float(np.mean([not one.spread[one.chosen] for one in found]))
