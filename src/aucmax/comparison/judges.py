"""From the test folds of a comparison to one estimate per model, and to tests.

Two classes in one ranking go by rows: DeLong's variance of each fold, pooled. With
queries there is one value per query: means, and Student's t over the queries. So it is
with more than two levels, where each fold is a query if there are none.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from aucmax.comparison.measures import measure
from aucmax.comparison.pooling import (
    mean_interval,
    paired_test,
    pool_aucs,
    pool_differences,
)
from aucmax.metrics import auc_interval, compare_auc
from aucmax.metrics.uncertainty import TwoSidedTest
from aucmax.tables import Target

__all__ = ["Fold", "Summary", "compare_folds", "summarise_folds", "summarise_scores"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Fold:
    """One test fold, its rows by their numbers, and what each model made of it."""

    rows: NDArray[np.intp]
    target: Target
    fpr_range: tuple[float, float]
    scores: dict[str, Floats] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    measures: dict[str, dict[str, Floats]] = field(default_factory=dict)

    def add(self, name: str, scores: Floats, seconds: float = 0.0) -> None:
        """Take the scores of a model, and measure them."""
        self.scores[name] = scores
        self.seconds[name] = seconds
        self.measures[name] = measure(self.target, scores, self.fpr_range)

    def main(self, name: str) -> tuple[str, float]:
        """Return the name of the main measure, and its mean over the queries."""
        measured, values = next(iter(self.measures[name].items()))
        return measured, float(values.mean())

    @property
    def unit(self) -> str:
        """What intervals and tests take for independent: rows, queries or folds."""
        if self.target.queries is not None:
            return "queries"
        return "folds" if self.target.is_graded else "rows"


class Summary(NamedTuple):
    """The measures of a model, the first with its interval and its folds.

    Attributes
    ----------
    measures : dict of str to float
        The main measure first.
    low, high : float
        95% interval of the main measure; NaN if there is none.
    folds : tuple of float
        The main measure on each fold.
    """

    measures: dict[str, float]
    low: float
    high: float
    folds: tuple[float, ...]


def summarise_folds(folds: Sequence[Fold], name: str) -> Summary:
    """Measure a model over all folds."""
    values = {key: _joined(folds, name, key) for key in folds[0].measures[name]}
    if folds[0].unit == "rows":
        weights, n_pairs = _weights(folds)
        aucs = [auc_interval(f.target.labels, f.scores[name]) for f in folds]
        measures = {key: float(weights @ value) for key, value in values.items()}
        estimate = pool_aucs(aucs, weights, n_pairs)
    else:
        measures = {key: float(np.nanmean(value)) for key, value in values.items()}
        estimate = mean_interval(next(iter(values.values())))
    of_folds = tuple(fold.main(name)[1] for fold in folds)
    return Summary(measures, estimate.low, estimate.high, of_folds)


def compare_folds(folds: Sequence[Fold], name: str, baseline: str) -> TwoSidedTest:
    """Test a model against another, on both sides."""
    if folds[0].unit == "rows":
        differences = [
            compare_auc(fold.target.labels, fold.scores[name], fold.scores[baseline])
            for fold in folds
        ]
        return pool_differences(differences, *_weights(folds))
    main, _ = folds[0].main(name)
    return paired_test(_joined(folds, name, main), _joined(folds, baseline, main))


def _joined(folds: Sequence[Fold], name: str, key: str) -> Floats:
    return np.concatenate([fold.measures[name][key] for fold in folds])


def _weights(folds: Sequence[Fold]) -> tuple[Floats, int]:
    """Share of the pairs in each fold, and the number of disjoint pairs in all."""
    sizes = np.array([(f.target.n_positive, f.target.n_negative) for f in folds], float)
    pairs = sizes.prod(axis=1)
    return pairs / pairs.sum(), int(sizes.min(axis=1).sum())


def summarise_scores(
    target: Target, scores: Floats, fpr_range: tuple[float, float] = (0.0, 0.1)
) -> Summary:
    """Measure one ranking of rows, as a comparison measures its folds.

    Parameters
    ----------
    target : Target
        What is ranked.
    scores : ndarray of shape (rows,)
        Higher scores rank higher.
    fpr_range : tuple of float, default=(0, 0.1)
        Range of the partial AUC.

    Returns
    -------
    Summary
    """
    fold = Fold(np.arange(scores.size), target, fpr_range)
    fold.add("", scores)
    return summarise_folds([fold], "")
