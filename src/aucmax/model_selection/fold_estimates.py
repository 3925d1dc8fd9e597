"""From test folds to one estimate per model, with its interval, and to tests.

:mod:`aucmax.model_selection.cross_validation` has the formulas.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from aucmax.exceptions import FewRowsWarning
from aucmax.metrics import compare_auc, cv_auc_interval, metric_interval
from aucmax.metrics.metric_names import parse_metric
from aucmax.metrics.uncertainty import TwoSidedTest, two_sided_test
from aucmax.model_selection.comparison import ModelResult
from aucmax.model_selection.concordance_estimates import (
    concordance_test,
    estimate_concordance,
)
from aucmax.model_selection.goals import Goal, choose_goal, measure
from aucmax.tables import Target
from aucmax.tables.target import has_constant_scores

Floats = NDArray[np.float64]

CONFIDENCE = 0.95
_MIN_FOLDS = 3


class Estimate(NamedTuple):
    """A measure with its 95% interval, NaN where there is none."""

    value: float
    low: float
    high: float


def ignore_few_rows() -> "warnings.catch_warnings[None]":
    """Return a context without warnings of few rows, for folds that are pooled."""
    return warnings.catch_warnings(action="ignore", category=FewRowsWarning)


def mean_interval(values: Floats, bounds: tuple[float, float] = (0, 1)) -> Estimate:
    """Return the mean of independent values, within bounds, with its interval.

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
    low, high = bounds
    return Estimate(mean, max(mean - margin, low), min(mean + margin, high))


def estimate_metric(
    values: Floats, metric: str, target: Target, scores: Floats
) -> Estimate:
    """Return the mean of a metric over queries or folds, with its interval.

    Too few folds for Student's t have the interval of all their rows together.
    """
    has_units = target.queries is not None or target.is_graded
    if values.size < _MIN_FOLDS and not has_units:
        weights = target.weights
        found = metric_interval(target.relevant, scores, metric, sample_weight=weights)
        return Estimate(float(values.mean()), found.low, found.high)
    return mean_interval(values, parse_metric(metric).kind.bounds)


def paired_test(values: Floats, baseline: Floats) -> TwoSidedTest:
    """Test on both sides whether the mean difference of paired values is zero."""
    difference, error = _mean_and_error(values - baseline)
    areas = () if error else (values.mean(), baseline.mean())
    return two_sided_test(difference, error, CONFIDENCE, (values.size,) * 2, areas)


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
        if self.target.is_survival:
            return "rows"
        if self.target.queries is not None:
            return "queries"
        is_area = self.goal.is_area and not self.target.is_graded
        return "rows" if is_area else "folds"


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
    elif folds[0].target.is_survival:
        target, numbers = _survival_rows(folds)
        scores = np.concatenate([fold.scores[name] for fold in folds])
        estimate = Estimate(*estimate_concordance(target, numbers, scores))
        measures = {"concordance": estimate.value}
    elif folds[0].unit == "rows":
        weights = _weights(folds)
        labels, known = _rows_of_folds(folds)
        scores = np.concatenate([fold.scores[name] for fold in folds])
        found = cv_auc_interval(labels, scores, **known)
        estimate = Estimate(found.value, found.low, found.high)
        measures = {key: float(weights @ value) for key, value in values.items()}
    else:
        measures = {key: float(np.nanmean(value)) for key, value in values.items()}
        metric = folds[0].goal.metric
        scores = np.concatenate([fold.scores[name] for fold in folds])
        rows = reduce(Target.followed_by, (fold.target for fold in folds))
        main = values[metric][~np.isnan(values[metric])]
        estimate = estimate_metric(main, metric, rows, scores)
    seconds = float(np.median([fold.seconds[name] for fold in folds]))
    ends = estimate.low, estimate.high
    return ModelResult(name, is_baseline, measures, *ends, seconds, of_folds, problem)


def compare_folds(
    folds: Sequence[FoldScores], name: str, baseline: str
) -> TwoSidedTest:
    """Test a model against another, on both sides."""
    if folds[0].target.is_survival:
        parts = [[fold.scores[one] for fold in folds] for one in (name, baseline)]
        return concordance_test(*_survival_rows(folds), *map(np.concatenate, parts))
    if folds[0].unit == "rows":
        labels, known = _rows_of_folds(folds)
        both = (
            np.concatenate([fold.scores[one] for fold in folds])
            for one in (name, baseline)
        )
        found = compare_auc(labels, *both, **known)
        return TwoSidedTest(
            found.difference, found.low, found.high, found.z, found.p_value
        )
    values, others = (
        _joined(folds, one, folds[0].goal.metric) for one in (name, baseline)
    )
    is_known = ~np.isnan(values)
    return paired_test(values[is_known], others[is_known])


def _joined(folds: Sequence[FoldScores], name: str, key: str) -> Floats:
    return np.concatenate([fold.measures[name][key] for fold in folds])


def _survival_rows(folds: Sequence[FoldScores]) -> tuple[Target, NDArray[np.intp]]:
    """Return the target of all folds, and the fold of each row."""
    target = reduce(Target.followed_by, (fold.target for fold in folds))
    return target, np.repeat(np.arange(len(folds)), [fold.rows.size for fold in folds])


def _rows_of_folds(folds: Sequence[FoldScores]) -> tuple[Any, dict[str, Any]]:
    """Return the labels of all folds, and what describes their rows."""
    targets = [fold.target for fold in folds]
    weights = [target.weights for target in targets if target.weights is not None]
    known = {
        "folds": np.repeat(np.arange(len(folds)), [fold.rows.size for fold in folds]),
        "sample_weight": np.concatenate(weights) if weights else None,
        "target": "procedure",
        **folds[0].goal.ranges,
    }
    return np.concatenate([target.labels for target in targets]), known


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
