"""From test folds to one estimate per model, with its interval, and to tests.

:mod:`aucmax.model_selection.cross_validation` has the formulas.
"""

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr, stdtrit

from aucmax.exceptions import FewRowsWarning
from aucmax.metrics import MetricDifference, MetricInterval, auc_interval, compare_auc
from aucmax.metrics._samples import Rows
from aucmax.metrics.uncertainty import (
    TwoSidedTest,
    area_interval,
    two_sided_test,
    warn_of_few_rows,
)
from aucmax.model_selection.comparison import ModelResult
from aucmax.model_selection.goals import Goal, choose_goal, measure
from aucmax.tables import Target
from aucmax.tables.target import has_constant_scores

Floats = NDArray[np.float64]

CONFIDENCE = 0.95


class Estimate(NamedTuple):
    """A measure between 0 and 1 with its 95% interval, NaN where there is none."""

    value: float
    low: float
    high: float


def pool_aucs(
    folds: Sequence[MetricInterval],
    weights: Floats,
    *,
    of_models: bool = False,
) -> Estimate:
    """Return the mean AUC by weights that sum to one, with its interval.

    With `of_models`, each fold has its own model, fitted to the other folds, and the
    interval allows for the variance that this adds.
    """
    values = np.array([fold.auc for fold in folds])
    auc = float(weights @ values)
    error = _pooled_error(folds, values, weights, of_models)
    return Estimate(auc, *area_interval(auc, error, CONFIDENCE, _pooled_rows(folds)))


def pool_differences(
    folds: Sequence[MetricDifference],
    weights: Floats,
    *,
    of_models: bool = False,
) -> TwoSidedTest:
    """Return the two-sided test of the mean paired difference; see `pool_aucs`."""
    values = np.array([fold.difference for fold in folds])
    difference = float(weights @ values)
    error = _pooled_error(folds, values, weights, of_models)
    both = np.array([(fold.auc_a, fold.auc_b) for fold in folds])
    auc_a, auc_b = (weights @ both).tolist()
    rows = _pooled_rows(folds)
    return two_sided_test(difference, error, CONFIDENCE, rows, (auc_a, auc_b))


def ignore_few_rows() -> "warnings.catch_warnings[None]":
    """Return a context without warnings of few rows, for folds that are pooled."""
    return warnings.catch_warnings(action="ignore", category=FewRowsWarning)


def fold_intervals(
    parts: Iterable[tuple[Target, Floats]], ranges: Mapping[str, Any]
) -> list[MetricInterval]:
    """Return the interval of each fold, given its target and scores."""
    with ignore_few_rows():
        return [
            auc_interval(fold.labels, scores, sample_weight=fold.weights, **ranges)
            for fold, scores in parts
        ]


def fold_differences(
    parts: Iterable[tuple[Target, Floats, Floats]], ranges: Mapping[str, Any]
) -> list[MetricDifference]:
    """Compare two models on each fold, given its target and the scores of both."""
    with ignore_few_rows():
        return [
            compare_auc(fold.labels, a, b, sample_weight=fold.weights, **ranges)
            for fold, a, b in parts
        ]


def _pooled_error(
    folds: Sequence[MetricInterval] | Sequence[MetricDifference],
    values: Floats,
    weights: Floats,
    of_models: bool,
) -> float:
    """Return the standard error of the test rows, with `of_models` also of the fits."""
    error = float(np.linalg.norm(weights * [fold.standard_error for fold in folds]))
    k = values.size
    if not of_models or k == 1 or error == 0.0:
        return error
    spread = k / (k - 1) * float(weights @ (values - weights @ values) ** 2)
    by_rows = (1.0 + 1.0 / (k - 1)) * error**2
    by_folds = (1.0 / k + 1.0 / (k - 1)) * spread
    return float(np.sqrt(max(by_rows, by_folds)))


def _pooled_rows(folds: Sequence[MetricInterval] | Sequence[MetricDifference]) -> Rows:
    rows = [fold.rows for fold in folds if fold.rows is not None]
    positive, negative = np.sum(rows, axis=0).tolist()
    warn_of_few_rows((positive, negative))
    return positive, negative


def mean_interval(values: Floats) -> Estimate:
    """Return the mean of independent values between 0 and 1 with its interval.

    If all are 0 or all are 1, the interval is the exact binomial one; a single value
    has none.
    """
    mean, error = _mean_and_error(values)
    if values.size == 1:
        return Estimate(mean, np.nan, np.nan)
    if error == 0:
        bound = ((1.0 - CONFIDENCE) / 2.0) ** (1.0 / values.size)
        ends = {1.0: (bound, 1.0), 0.0: (0.0, 1.0 - bound)}
        return Estimate(mean, *ends.get(mean, (mean, mean)))
    margin = _quantile(values.size) * error
    return Estimate(mean, max(mean - margin, 0.0), min(mean + margin, 1.0))


def paired_test(values: Floats, baseline: Floats) -> TwoSidedTest:
    """Test on both sides whether the mean difference of paired values is zero."""
    difference, error = _mean_and_error(values - baseline)
    if error == 0:
        rows, areas = (values.size,) * 2, (values.mean(), baseline.mean())
        return two_sided_test(difference, 0.0, CONFIDENCE, rows, areas)
    t = difference / error
    margin = _quantile(values.size) * error
    return TwoSidedTest(
        difference,
        max(difference - margin, -1.0),
        min(difference + margin, 1.0),
        t,
        float(2.0 * stdtr(values.size - 1, -abs(t))),
    )


def _mean_and_error(values: Floats) -> tuple[float, float]:
    if np.ptp(values) == 0:
        return float(values[0]), 0.0
    return float(values.mean()), float(values.std(ddof=1) / np.sqrt(values.size))


def _quantile(n_values: int) -> float:
    return float(stdtrit(n_values - 1, (1.0 + CONFIDENCE) / 2.0))


@dataclass(frozen=True)
class FoldScores:
    """One test fold: its row numbers, and the scores and measures of each model."""

    rows: NDArray[np.intp]
    target: Target
    goal: Goal
    scores: dict[str, Floats] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    measures: dict[str, dict[str, Floats]] = field(default_factory=dict)

    def add(self, name: str, scores: Floats, seconds: float) -> None:
        """Store and measure the scores of a model."""
        self.scores[name] = scores
        self.seconds[name] = seconds
        self.measures[name] = measure(self.target, scores, self.goal)

    def main(self, name: str) -> float:
        """Mean of the main measure over the queries; NaN if the scores are constant."""
        if has_constant_scores(self.target, self.scores[name]):
            return np.nan
        return float(np.nanmean(self.measures[name][self.goal.metric]))

    @property
    def unit(self) -> str:
        """The independent units of intervals and tests: rows, queries or folds."""
        if self.target.queries is not None:
            return "queries"
        return "folds" if self.target.is_graded else "rows"


def summarise_folds(
    folds: Sequence[FoldScores], name: str, is_baseline: bool = False
) -> ModelResult:
    """Measure a model over all folds."""
    of_folds = tuple(fold.main(name) for fold in folds)
    values = {key: _joined(folds, name, key) for key in folds[0].measures[name]}
    measures, estimate = dict.fromkeys(values, np.nan), Estimate(*[np.nan] * 3)
    problem = None
    if n_constant := int(np.isnan(of_folds).sum()):
        problem = f"constant scores on {n_constant} of {len(folds)} folds"
    elif folds[0].unit == "rows":
        weights = _weights(folds)
        areas = fold_intervals(
            ((fold.target, fold.scores[name]) for fold in folds), folds[0].goal.ranges
        )
        measures = {key: float(weights @ value) for key, value in values.items()}
        estimate = pool_aucs(areas, weights, of_models=True)
    else:
        measures = {key: float(np.nanmean(value)) for key, value in values.items()}
        main = values[folds[0].goal.metric]
        estimate = mean_interval(main[~np.isnan(main)])
    seconds = float(np.median([fold.seconds[name] for fold in folds]))
    ends = estimate.low, estimate.high
    return ModelResult(name, is_baseline, measures, *ends, seconds, of_folds, problem)


def compare_folds(
    folds: Sequence[FoldScores], name: str, baseline: str
) -> TwoSidedTest:
    """Test a model against another, on both sides."""
    if folds[0].unit == "rows":
        differences = fold_differences(
            ((f.target, f.scores[name], f.scores[baseline]) for f in folds),
            folds[0].goal.ranges,
        )
        return pool_differences(differences, _weights(folds), of_models=True)
    values, others = (
        _joined(folds, one, folds[0].goal.metric) for one in (name, baseline)
    )
    is_known = ~np.isnan(values)
    return paired_test(values[is_known], others[is_known])


def _joined(folds: Sequence[FoldScores], name: str, key: str) -> Floats:
    return np.concatenate([fold.measures[name][key] for fold in folds])


def _weights(folds: Sequence[FoldScores]) -> Floats:
    """Return the share of the pairs, by weight, in each fold."""
    classes = [
        np.bincount(fold.target.relevant, fold.target.weights, minlength=2)
        for fold in folds
    ]
    pairs = np.array(classes, dtype=np.float64).prod(axis=1)
    return np.asarray(pairs / pairs.sum())


def summarise_scores(
    target: Target, scores: Floats, goal: Goal | None = None, name: str = ""
) -> ModelResult:
    """Measure one ranking of rows, as a comparison measures its folds."""
    fold = FoldScores(np.arange(scores.size), target, goal or choose_goal(target))
    fold.add(name, scores, seconds=np.nan)
    return summarise_folds([fold], name)
