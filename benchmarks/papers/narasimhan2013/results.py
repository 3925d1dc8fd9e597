"""From results of splits to means, paired differences and counts of wins."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.papers.choices import Results
from benchmarks.papers.differences import Difference, mean_difference
from benchmarks.papers.narasimhan2013.data import TEST_SHARE
from benchmarks.papers.narasimhan2013.protocol import Result


class PartialResults(Results[Result]):
    """Results of one part of the study."""

    def scores(self, data: str, method: str) -> np.ndarray:
        """Return the partial AUC of each split, the candidate chosen inside."""
        return np.array([one.score[one.chosen] for one in self.folds(data, method)])

    def mean(self, data: str, method: str) -> float | None:
        """Return the mean partial AUC over the splits."""
        scores = self.scores(data, method)
        return float(scores.mean()) if scores.size else None

    def difference(self, data: str, ours: str, other: str) -> Difference | None:
        """Return the mean paired difference over splits whose training rows overlap."""
        mine, theirs = self.scores(data, ours), self.scores(data, other)
        if mine.size < 2 or mine.size != theirs.size:
            return None
        return mean_difference(mine - theirs, overlap=TEST_SHARE / (1.0 - TEST_SHARE))


@dataclass(frozen=True)
class Count:
    """On how many data sets one method is ahead of another.

    Attributes
    ----------
    higher, equal, lower : int
        By the mean; equal to four digits.
    ahead, behind : int
        Of them, with an interval that does not cover 0.
    mean : float
        The difference, over all data sets.
    """

    higher: int
    equal: int
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
