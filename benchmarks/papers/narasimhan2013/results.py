"""From results of splits to means, paired differences and counts of wins."""

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
