"""From the test folds of a comparison to one estimate per model, and to tests.

Two classes in one ranking go by rows: the variances of each fold, pooled, DeLong's for
the AUC and that of its influence function for a part of it, widened for the fits. With
queries there is one value per query: means, and Student's t over the queries. So it is
with more than two levels, where each fold is a query if there are none.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from aucmax.metrics import auc_interval, compare_auc
from aucmax.metrics.uncertainty import TwoSidedTest
from aucmax.model_selection.aim import Aim, choose_aim
from aucmax.model_selection.measures import measure
from aucmax.model_selection.pooling import (
    ignore_few_rows,
    mean_interval,
    paired_test,
    pool_aucs,
    pool_differences,
)
from aucmax.tables import Target, has_constant_scores

__all__ = ["Fold", "Summary", "compare_folds", "summarise_folds", "summarise_scores"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Fold:
    """One test fold, its rows by their numbers, and what each model made of it."""

    rows: NDArray[np.intp]
    target: Target
    aim: Aim
    scores: dict[str, Floats] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    measures: dict[str, dict[str, Floats]] = field(default_factory=dict)

    def add(self, name: str, scores: Floats, seconds: float = 0.0) -> None:
        """Take the scores of a model, and measure them."""
        self.scores[name] = scores
        self.seconds[name] = seconds
        self.measures[name] = measure(self.target, scores, self.aim)

    def is_constant(self, name: str) -> bool:
        """Whether the scores of a model rank nothing."""
        return has_constant_scores(self.target, self.scores[name])

    def main(self, name: str) -> float:
        """Mean of the main measure over the queries; NaN if the scores are constant."""
        if self.is_constant(name):
            return np.nan
        return float(np.nanmean(self.measures[name][self.aim.metric]))

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
        The main measure first. All are NaN if the scores are constant on a fold: then
        they rank nothing, and no number says so well.
    low, high : float
        95% interval of the main measure; NaN if there is none.
    folds : tuple of float
        The main measure on each fold; NaN where the scores are constant.
    """

    measures: dict[str, float]
    low: float
    high: float
    folds: tuple[float, ...]

    @property
    def n_constant(self) -> int:
        """Number of folds on which the scores are constant."""
        return int(np.isnan(self.folds).sum())


def summarise_folds(folds: Sequence[Fold], name: str) -> Summary:
    """Measure a model over all folds."""
    of_folds = tuple(fold.main(name) for fold in folds)
    values = {key: _joined(folds, name, key) for key in folds[0].measures[name]}
    if np.isnan(of_folds).any():
        return Summary(dict.fromkeys(values, np.nan), np.nan, np.nan, of_folds)
    if folds[0].unit == "rows":
        weights = _weights(folds)
        with ignore_few_rows():
            areas = [
                auc_interval(
                    f.target.labels,
                    f.scores[name],
                    sample_weight=f.target.weights,
                    **f.aim.ranges,
                )
                for f in folds
            ]
        measures = {key: float(weights @ value) for key, value in values.items()}
        estimate = pool_aucs(areas, weights, of_models=True)
    else:
        measures = {key: float(np.nanmean(value)) for key, value in values.items()}
        main = values[folds[0].aim.metric]
        estimate = mean_interval(main[~np.isnan(main)])
    return Summary(measures, estimate.low, estimate.high, of_folds)


def compare_folds(folds: Sequence[Fold], name: str, baseline: str) -> TwoSidedTest:
    """Test a model against another, on both sides."""
    if folds[0].unit == "rows":
        with ignore_few_rows():
            differences = [
                compare_auc(
                    f.target.labels,
                    f.scores[name],
                    f.scores[baseline],
                    sample_weight=f.target.weights,
                    **f.aim.ranges,
                )
                for f in folds
            ]
        return pool_differences(differences, _weights(folds), of_models=True)
    values, others = (
        _joined(folds, one, folds[0].aim.metric) for one in (name, baseline)
    )
    is_known = ~np.isnan(values)
    return paired_test(values[is_known], others[is_known])


def _joined(folds: Sequence[Fold], name: str, key: str) -> Floats:
    return np.concatenate([fold.measures[name][key] for fold in folds])


def _weights(folds: Sequence[Fold]) -> Floats:
    """Share of the pairs in each fold."""
    pairs = np.array([_class_weights(fold.target).prod() for fold in folds])
    return np.asarray(pairs / pairs.sum())


def _class_weights(target: Target) -> Floats:
    """Sum of the weights of the negative and the positive rows."""
    return np.bincount(target.relevant, target.weights, minlength=2).astype(float)


def summarise_scores(target: Target, scores: Floats, aim: Aim | None = None) -> Summary:
    """Measure one ranking of rows, as a comparison measures its folds.

    Parameters
    ----------
    target : Target
        What is ranked.
    scores : ndarray of shape (rows,)
        Higher scores rank higher.
    aim : Aim, optional
        What comes first and has the interval; by default the AUC, or the MAUC of more
        than two levels. :func:`aucmax.model_selection.choose_aim` makes others.

    Returns
    -------
    Summary
    """
    fold = Fold(np.arange(scores.size), target, aim or choose_aim(target))
    fold.add("", scores)
    return summarise_folds([fold], "")
