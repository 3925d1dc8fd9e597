"""From the scores of the test samples to the figures of the study."""

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache, partial

import numpy as np

from aucmax.metrics import auc_at_k_score, binned_auc_score, roc_auc_score
from benchmarks.papers.choices import Results
from benchmarks.papers.differences import Difference, mean_difference
from benchmarks.papers.rosenfeld2014.data import APPLICATIONS
from benchmarks.papers.rosenfeld2014.methods import Method
from benchmarks.papers.rosenfeld2014.protocol import Result
from benchmarks.papers.rosenfeld2014.samples import Sample

AUC, AT_K = "AUC", "AUC@k"
#: within a bin a pair counts half, or is taken for correct as in the paper
HALF, CORRECT = "binned AUC", "binned AUC, bins forgiven"


def measure_of(data: str, name: str) -> Callable[[np.ndarray, np.ndarray], float]:
    """Return a measure, with the bins or the k of these data."""
    application = APPLICATIONS[data]
    return {
        AUC: roc_auc_score,
        HALF: partial(binned_auc_score, bins=application.bins, within="half"),
        CORRECT: partial(binned_auc_score, bins=application.bins, within="correct"),
        AT_K: partial(auc_at_k_score, k=application.k),
    }[name]


@lru_cache(maxsize=32)
def test_samples(data: str, fold: int) -> Sequence[Sample]:
    """Return the test samples of a fold."""
    return APPLICATIONS[data].split(fold).test


class StudyResults(Results[Result]):
    """All results, judged when asked for."""

    def __init__(self, results: Iterable[Result]) -> None:
        super().__init__(results)
        self._values: dict[tuple[str, Method, str], np.ndarray] = {}

    def complete(self, data: str) -> list[Method]:
        """Return the methods that were run on all folds of these data."""
        n_folds = APPLICATIONS[data].n_folds
        items = self._by_variant.items()
        return [m for (name, m), r in items if name == data and len(r) == n_folds]

    def designs(self, data: str, kind: str) -> list[Method]:
        """Return the methods of one kind, one for each kind of edges."""
        return [one for one in self.complete(data) if one.kind == kind]

    def by_choice(self, data: str, method: Method) -> list[Result]:
        """Return the results by fold; without a design, those of the design chosen.

        A design is chosen in each fold by validation, as everything else.
        """
        variants = [method]
        if not self.folds(data, method):
            variants = self.designs(data, method.kind)
        by_fold = zip(*(self.folds(data, one) for one in variants), strict=True)
        return [max(some, key=lambda one: max(one.valid)) for some in by_fold]

    def values(self, data: str, method: Method, measure: str = AUC) -> np.ndarray:
        """Return a value for each test sample of all folds, computed once."""
        key = (data, method, measure)
        if key not in self._values:
            judge = measure_of(data, measure)
            self._values[key] = np.array(
                [
                    judge(sample.y, np.array(scores))
                    for result in self.by_choice(data, method)
                    for sample, scores in zip(
                        test_samples(data, result.fold), result.scores, strict=True
                    )
                ]
            )
        return self._values[key]

    def by_fold(self, data: str, method: Method) -> list[float]:
        """Return the mean AUC of each fold."""
        folds = range(APPLICATIONS[data].n_folds)
        sizes = [len(test_samples(data, fold)) for fold in folds]
        parts = np.split(self.values(data, method), np.cumsum(sizes)[:-1])
        return [float(part.mean()) for part in parts]

    def difference(
        self, data: str, ours: Method, other: Method, measure: str = AUC
    ) -> Difference:
        """Return the mean paired difference over samples.

        An author in several years is one group of samples.
        """
        apart = self.values(data, ours, measure) - self.values(data, other, measure)
        folds = range(APPLICATIONS[data].n_folds)
        groups = [one.group for fold in folds for one in test_samples(data, fold)]
        return mean_difference(apart, np.array(groups))
