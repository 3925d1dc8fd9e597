"""From the scores of the test samples to the figures of the study."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial

import numpy as np
from scipy.stats import t as student

from aucmax.metrics import binned_auc_score, roc_auc_score
from benchmarks.papers.rosenfeld2014_data import APPLICATIONS, LETTERS
from benchmarks.papers.rosenfeld2014_methods import Method
from benchmarks.papers.rosenfeld2014_protocol import Result
from benchmarks.papers.rosenfeld2014_samples import Sample

CONFIDENCE = 0.95
N_BINS = 10
AUC, HALF, CORRECT = "AUC", "binned AUC", "binned AUC, bins forgiven"
#: within a bin a pair counts half, or is taken for correct as in the paper
MEASURES: dict[str, Callable[[np.ndarray, np.ndarray], float]] = {
    AUC: roc_auc_score,
    HALF: partial(binned_auc_score, bins=N_BINS, within="half"),
    CORRECT: partial(binned_auc_score, bins=N_BINS, within="correct"),
}
Chosen = dict[int, Result]  # by fold


@dataclass(frozen=True)
class Difference:
    """One method less another on the same samples, with its interval."""

    mean: float
    low: float
    high: float
    n_samples: int

    @property
    def is_clear(self) -> bool:
        """Whether 0 is outside of the interval."""
        return self.low > 0.0 or self.high < 0.0


@lru_cache(maxsize=32)
def test_samples(data: str, fold: int) -> Sequence[Sample]:
    """Return the test samples of a fold."""
    return APPLICATIONS[data].split(fold).test


class Study:
    """All results, judged when asked for."""

    def __init__(self, results: Iterable[Result]) -> None:
        self._found: dict[tuple[str, Method], Chosen] = {}
        for one in results:
            key = (one.data, one.method)
            self._found.setdefault(key, {})[one.fold] = one
        self._values: dict[tuple[str, Method, str], np.ndarray] = {}

    @property
    def data(self) -> list[str]:
        """Names of the data sets, as they came."""
        return list(dict.fromkeys(data for data, _ in self._found))

    def methods(self, data: str) -> list[Method]:
        """Return the methods that were run on all folds of these data."""
        n_folds = APPLICATIONS[data].n_folds
        found = self._found.items()
        return [m for (name, m), r in found if name == data and len(r) == n_folds]

    def designs(self, data: str, kind: str) -> list[Method]:
        """Return the methods of one kind, one for each kind of edges."""
        return [one for one in self.methods(data) if one.kind == kind]

    def folds(self, data: str, method: Method) -> list[Result]:
        """Return the results by fold; without a design, those of the design chosen.

        A design is chosen in each fold by validation, as everything else.
        """
        chosen = self._found.get((data, method))
        if chosen is None:
            variants = [
                self._found[data, one] for one in self.designs(data, method.kind)
            ]
            folds = range(APPLICATIONS[data].n_folds)
            chosen = {k: max((v[k] for v in variants), key=_validity) for k in folds}
        return [chosen[fold] for fold in sorted(chosen)]

    def values(self, data: str, method: Method, measure: str = AUC) -> np.ndarray:
        """Return a value for each test sample of all folds, computed once."""
        key = (data, method, measure)
        if key not in self._values:
            self._values[key] = np.array(
                [
                    MEASURES[measure](sample.y, np.array(scores))
                    for result in self.folds(data, method)
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

        Samples of one group, an author in several years, are not taken for
        independent: the groups' sums make the error.
        """
        apart = self.values(data, ours, measure) - self.values(data, other, measure)
        mean = float(apart.mean())
        _, group = np.unique(_groups(data), return_inverse=True)
        sums = np.bincount(group, apart - mean)
        error = np.sqrt((sums**2).sum() * sums.size / (sums.size - 1)) / apart.size
        reach = float(student.ppf((1.0 + CONFIDENCE) / 2.0, sums.size - 1) * error)
        return Difference(mean, mean - reach, mean + reach, apart.size)


def _validity(result: Result) -> float:
    return max(result.valid)


def _groups(data: str) -> np.ndarray:
    folds = range(APPLICATIONS[data].n_folds)
    samples = [one for fold in folds for one in test_samples(data, fold)]
    if data == LETTERS:  # every picture has noise of its own
        return np.arange(len(samples))
    return np.array([one.group for one in samples])
