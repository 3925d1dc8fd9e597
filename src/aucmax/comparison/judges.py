"""Two ways to sum up the folds of a comparison: by rows, or by queries."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from aucmax.comparison.measures import mean_interval, measure, paired_test
from aucmax.comparison.pooling import pool_aucs, pool_differences
from aucmax.metrics import auc_interval, compare_auc, partial_auc_score
from aucmax.metrics.uncertainty import TwoSidedTest
from aucmax.tables.target import Target

__all__ = ["ByQueries", "ByRows", "Fold", "Summary", "choose_judge"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Fold:
    """One test fold: its rows, and what each model made of them."""

    rows: NDArray[np.intp]
    target: Target
    scores: dict[str, Floats]
    seconds: dict[str, float]

    @property
    def sizes(self) -> tuple[int, int]:
        """Numbers of positive and of negative rows."""
        return self.target.n_positive, self.target.n_negative


class Summary(NamedTuple):
    """The measures of a model, the first with its interval and its folds."""

    measures: dict[str, float]
    low: float
    high: float
    folds: tuple[float, ...]


class ByRows:
    """Two classes in one ranking: DeLong's variance of each fold, pooled."""

    unit = "rows"

    def __init__(self, folds: Sequence[Fold], fpr_range: tuple[float, float]) -> None:
        self.folds = folds
        self.fpr_range = fpr_range
        pairs = np.array([float(p) * n for p, n in (fold.sizes for fold in folds)])
        self.weights = np.asarray(pairs / pairs.sum())
        self.n_disjoint_pairs = sum(min(fold.sizes) for fold in folds)

    def summarise(self, name: str) -> Summary:
        """Measure a model."""
        aucs = [auc_interval(f.target.labels, f.scores[name]) for f in self.folds]
        pooled = pool_aucs(aucs, self.weights, self.n_disjoint_pairs)
        partial = [
            partial_auc_score(
                fold.target.labels, fold.scores[name], fpr_range=self.fpr_range
            )
            for fold in self.folds
        ]
        measures = {"auc": pooled.auc, "partial_auc": float(self.weights @ partial)}
        folds = tuple(fold.auc for fold in aucs)
        return Summary(measures, pooled.low, pooled.high, folds)

    def test(self, name: str, baseline: str) -> TwoSidedTest:
        """Compare a model with another."""
        differences = [
            compare_auc(fold.target.labels, fold.scores[name], fold.scores[baseline])
            for fold in self.folds
        ]
        return pool_differences(differences, self.weights, self.n_disjoint_pairs)


class ByQueries:
    """One value a query: means, and Student's t over the queries.

    Without queries, which happens with more than two levels, each fold is one.
    """

    def __init__(self, folds: Sequence[Fold], fpr_range: tuple[float, float]) -> None:
        self.unit = "folds" if folds[0].target.queries is None else "queries"
        self.values = {
            name: [measure(f.target, f.scores[name], fpr_range) for f in folds]
            for name in folds[0].scores
        }

    def summarise(self, name: str) -> Summary:
        """Measure a model."""
        parts = self.values[name]
        main = next(iter(parts[0]))
        interval = mean_interval(self._joined(name, main))
        others = {
            measured: float(np.nanmean(self._joined(name, measured)))
            for measured in parts[0]
        }
        folds = tuple(float(part[main].mean()) for part in parts)
        measures = {**others, main: interval.mean}
        return Summary(measures, interval.low, interval.high, folds)

    def test(self, name: str, baseline: str) -> TwoSidedTest:
        """Compare a model with another."""
        main = next(iter(self.values[name][0]))
        return paired_test(self._joined(name, main), self._joined(baseline, main))

    def _joined(self, name: str, measured: str) -> Floats:
        return np.concatenate([part[measured] for part in self.values[name]])


def choose_judge(
    folds: Sequence[Fold], fpr_range: tuple[float, float]
) -> ByRows | ByQueries:
    """Return what fits the target."""
    target = folds[0].target
    is_plain = target.queries is None and not target.is_graded
    return (ByRows if is_plain else ByQueries)(folds, fpr_range)
