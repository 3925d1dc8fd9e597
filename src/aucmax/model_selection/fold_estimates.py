"""From test folds to one estimate per model, with its interval, and to tests.

:mod:`aucmax.model_selection.cross_validation` has the formulas.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucmax._core.validation import IntArray
from aucmax.exceptions import FewRowsWarning, NotEnoughClassesError
from aucmax.inference import (
    MetricDifference,
    MetricInterval,
    compare_auc,
    metric_interval,
)
from aucmax.inference.differences import compare_two
from aucmax.inference.influence import Influence, mean_influence, refit_factor
from aucmax.inference.metric_intervals import mean_interval
from aucmax.inference.survival import concordance_measure, pair_interval
from aucmax.metrics.concordance import target_concordance
from aucmax.metrics.metric_names import parse_metric
from aucmax.model_selection.comparison import ModelResult
from aucmax.model_selection.goals import Goal, by_query, choose_goal, measure
from aucmax.tables import Target
from aucmax.tables.target import has_constant_scores

Floats = NDArray[np.float64]

CONFIDENCE = 0.95
_N_DRAWS = 200  # of rows for a metric by resampling: each model has its interval


def ignore_few_rows() -> "warnings.catch_warnings[None]":
    """Return a context without warnings of few rows, for folds that are pooled."""
    return warnings.catch_warnings(action="ignore", category=FewRowsWarning)


def estimate_scores(
    target: Target, folds: IntArray, scores: Floats, goal: Goal
) -> MetricInterval:
    """Return the metric of held-out rows, with its 95% interval; NaN if there is none.

    Two classes are one list of all folds. Queries, or the folds of levels, have a mean.
    """
    factor = refit_factor(np.unique(folds).size)
    name = parse_metric(goal.metric).of_share(goal.share).name
    try:
        if target.is_survival:
            found = _measure_units(target, folds, scores, goal)
            return pair_interval(found.inflate(factor), CONFIDENCE, name)
        if _has_units(target):
            values = unit_values(target, folds, scores, goal)
            bounds = parse_metric(name).kind.bounds
            return mean_interval(values, CONFIDENCE, bounds, factor)
        options = {"n_resamples": _N_DRAWS, **_known(target, folds, goal)}
        return metric_interval(target.labels, scores, name, **options)
    except ValueError:  # a class has fewer than two rows in a fold, or groups
        value = 0.5
        if target.is_survival:
            value = concordance(target, folds, scores)
        elif (values := unit_values(target, folds, scores, goal)).size:
            value = float(values.mean())
        return MetricInterval(value, np.nan, np.nan, np.nan, CONFIDENCE, metric=name)


def compare_scores(
    target: Target, folds: IntArray, scores: Floats, baseline: Floats, goal: Goal
) -> MetricDifference:
    """Test on both sides whether two models have the same metric on held-out rows."""
    if target.is_survival or _has_units(target):
        one, other = (
            _measure_units(target, folds, column, goal) for column in (scores, baseline)
        )
        return compare_two(one, other, refit_factor(np.unique(folds).size))
    name = parse_metric(goal.metric).of_share(goal.share).name
    options = _known(target, folds, goal)
    if name not in ("auc", "partial_auc", "gini", "average_precision"):
        options["n_resamples"] = _N_DRAWS
    return compare_auc(target.labels, scores, baseline, metric=name, **options)


def _has_units(target: Target) -> bool:
    """Return whether the metric is a mean over queries, or folds."""
    return target.queries is not None or target.is_graded


def _measure_units(
    target: Target, folds: IntArray, scores: Floats, goal: Goal
) -> Influence:
    """Return the mean over queries or folds, or the concordance within folds."""
    if not target.is_survival:
        return mean_influence(unit_values(target, folds, scores, goal))
    strata = strata_of(target, folds)
    rows = target.labels, target.durations, target.weights, strata, target.groups
    return concordance_measure(*rows)(scores)


def strata_of(target: Target, folds: IntArray) -> IntArray:
    """Return the number of the fold and stratum of each row."""
    if target.queries is None:
        return folds
    return np.asarray(folds * (target.queries.max() + 1) + target.queries)


def concordance(target: Target, folds: IntArray, scores: Floats) -> float:
    """Return Harrell's C within folds; 1/2 if no rows are comparable."""
    known = {"sample_weight": target.weights, "qid": strata_of(target, folds)}
    try:
        return target_concordance(target.survival, scores, **known)
    except NotEnoughClassesError:
        return 0.5


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
        "estimand": "procedure",
        "groups": target.groups,
        "sample_weight": target.weights,
        **goal.ranges,
    }


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
    values = {
        key: np.concatenate([fold.measures[name][key] for fold in folds])
        for key in folds[0].measures[name]
    }
    measures, ends = dict.fromkeys(values, np.nan), (np.nan, np.nan)
    problem = None
    if n_constant := int(np.isnan(of_folds).sum()):
        problem = f"constant scores on {n_constant} of {len(folds)} folds"
    else:
        target, numbers, goal = _rows_of_folds(folds)
        scores = np.concatenate([fold.scores[name] for fold in folds])
        estimate = estimate_scores(target, numbers, scores, goal)
        ends = estimate.low, estimate.high
        if folds[0].unit == "rows" and not target.is_survival:
            weights = _weights(folds)
            measures = {key: float(weights @ value) for key, value in values.items()}
        else:
            measures = {key: float(np.nanmean(value)) for key, value in values.items()}
        measures[goal.metric] = estimate.value
    seconds = float(np.median([fold.seconds[name] for fold in folds]))
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
