"""From test folds to one estimate per model, with its interval, and to tests.

:mod:`aucmax.model_selection.cross_validation` has the formulas.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from math import nan
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from aucmax._core.validation import IntArray
from aucmax.exceptions import FewRowsWarning
from aucmax.inference import compare_auc, metric_interval
from aucmax.inference.influence import refit_factor
from aucmax.inference.intervals import TwoSidedTest, two_sided_test
from aucmax.metrics.metric_names import parse_metric
from aucmax.model_selection.comparison import ModelResult
from aucmax.model_selection.concordance_estimates import (
    concordance_test,
    estimate_concordance,
)
from aucmax.model_selection.goals import Goal, by_query, choose_goal, measure
from aucmax.tables import Target
from aucmax.tables.target import has_constant_scores

Floats = NDArray[np.float64]

CONFIDENCE = 0.95
_N_DRAWS = 200  # of rows for a metric by resampling: each model has its interval


class Estimate(NamedTuple):
    """A measure with its 95% interval, NaN where there is none."""

    value: float
    low: float
    high: float


def ignore_few_rows() -> "warnings.catch_warnings[None]":
    """Return a context without warnings of few rows, for folds that are pooled."""
    return warnings.catch_warnings(action="ignore", category=FewRowsWarning)


def mean_interval(
    values: Floats, bounds: tuple[float, float] = (0, 1), factor: float = 1.0
) -> Estimate:
    """Return the mean of values, within bounds, with its interval times a factor.

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
    margin = factor * _quantile(values.size) * error
    low, high = bounds
    return Estimate(mean, max(mean - margin, low), min(mean + margin, high))


def estimate_scores(
    target: Target, folds: IntArray, scores: Floats, goal: Goal
) -> Estimate:
    """Return the metric of held-out rows, with its 95% interval if there is one.

    Two classes are one list of all folds. Queries, or the folds of levels, have a mean.
    """
    if target.is_survival:
        return Estimate(*estimate_concordance(target, folds, scores))
    name = parse_metric(goal.metric).of_share(goal.share).name
    if target.queries is None and not target.is_graded:
        options = {"n_resamples": _N_DRAWS, **_known(target, folds, goal)}
        try:
            result = metric_interval(target.labels, scores, name, **options)
            return Estimate(result.value, result.low, result.high)
        except ValueError:  # a class has fewer than two rows in a fold, or groups
            values = unit_values(target, folds, scores, goal)
            return Estimate(float(values.mean()) if values.size else 0.5, nan, nan)
    values, factor = unit_values(target, folds, scores, goal), _refit_factor(folds)
    return mean_interval(values, parse_metric(name).kind.bounds, factor)


def compare_scores(
    target: Target, folds: IntArray, scores: Floats, baseline: Floats, goal: Goal
) -> TwoSidedTest:
    """Test on both sides whether two models have the same metric on held-out rows."""
    if target.is_survival:
        return concordance_test(target, folds, scores, baseline)
    if target.queries is not None or target.is_graded:
        one, other = (unit_values(target, folds, s, goal) for s in (scores, baseline))
        return paired_test(one, other, _refit_factor(folds))
    name = parse_metric(goal.metric).of_share(goal.share).name
    options = _known(target, folds, goal)
    if name not in ("auc", "partial_auc", "gini", "average_precision"):
        options["n_resamples"] = _N_DRAWS
    result = compare_auc(target.labels, scores, baseline, metric=name, **options)
    return TwoSidedTest(
        result.difference, result.low, result.high, result.z, result.p_value
    )


def unit_values(target: Target, folds: IntArray, scores: Floats, goal: Goal) -> Floats:
    """Return the metric of each query, or fold, that has one."""
    if target.queries is None:
        target = replace(target, queries=folds)
        goal = replace(goal, share=goal.share / np.unique(folds).size)
    values = by_query(goal.metric, target, scores, goal)
    return values[~np.isnan(values)]


def _known(target: Target, folds: IntArray, goal: Goal) -> dict[str, Any]:
    """Return the options of an interval or a test of held-out rows of two classes."""
    return {
        "folds": folds,
        "target": "procedure",
        "groups": target.groups,
        "sample_weight": target.weights,
        **goal.ranges,
    }


def _refit_factor(folds: IntArray) -> float:
    return refit_factor(np.unique(folds).size)


def paired_test(values: Floats, baseline: Floats, factor: float = 1.0) -> TwoSidedTest:
    """Test on both sides whether the mean difference of paired values is zero."""
    difference, error = _mean_and_error(values - baseline)
    error *= factor
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
    else:
        target, numbers, goal = _rows_of_folds(folds)
        scores = np.concatenate([fold.scores[name] for fold in folds])
        estimate = estimate_scores(target, numbers, scores, goal)
        if folds[0].unit == "rows" and not target.is_survival:
            weights = _weights(folds)
            measures = {key: float(weights @ value) for key, value in values.items()}
        else:
            measures = {key: float(np.nanmean(value)) for key, value in values.items()}
        measures[goal.metric] = estimate.value
    seconds = float(np.median([fold.seconds[name] for fold in folds]))
    ends = estimate.low, estimate.high
    return ModelResult(name, is_baseline, measures, *ends, seconds, of_folds, problem)


def compare_folds(
    folds: Sequence[FoldScores], name: str, baseline: str
) -> tuple[float, float, float, float]:
    """Return the difference of two models, its interval and its two-sided p-value."""
    target, numbers, goal = _rows_of_folds(folds)
    one, other = (
        np.concatenate([fold.scores[key] for fold in folds]) for key in (name, baseline)
    )
    test = compare_scores(target, numbers, one, other, goal)
    return test.difference, test.low, test.high, test.p_value


def _joined(folds: Sequence[FoldScores], name: str, key: str) -> Floats:
    return np.concatenate([fold.measures[name][key] for fold in folds])


def _rows_of_folds(folds: Sequence[FoldScores]) -> tuple[Target, IntArray, Goal]:
    """Return the target of all folds, the fold of each row, and their goal."""
    target = reduce(Target.followed_by, (fold.target for fold in folds))
    numbers = np.repeat(np.arange(len(folds)), [fold.rows.size for fold in folds])
    share = sum(fold.goal.share for fold in folds)
    return target, numbers, replace(folds[0].goal, share=min(share, 1.0))


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
