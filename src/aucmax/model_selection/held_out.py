"""Rows that models of other rows have scored: measures, intervals and tests.

:mod:`aucmax.model_selection.cross_validation` has the formulas.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucmax._core.validation import FloatArray, IntArray
from aucmax.exceptions import FewRowsWarning, NotEnoughClassesError
from aucmax.inference import (
    MetricDifference,
    MetricInterval,
    compare_metric,
    metric_interval,
)
from aucmax.inference.differences import compare_two
from aucmax.inference.influence import Influence, mean_influence, refit_factor
from aucmax.inference.metric_intervals import mean_interval
from aucmax.inference.survival import concordance_measure, pair_interval
from aucmax.metrics.concordance import target_concordance
from aucmax.metrics.metric_names import parse_metric
from aucmax.model_selection.comparison import ModelResult
from aucmax.model_selection.goals import Goal, by_query, choose_goal, measures_of
from aucmax.tables import Target
from aucmax.tables.target import has_constant_scores

_CONFIDENCE = 0.95
_N_DRAWS = 200  # of rows for a metric by resampling: each model has its interval
# metrics with an influence per row, which need no resampling
_WITHOUT_DRAWS = ("auc", "partial_auc", "gini", "average_precision")


def ignore_few_rows() -> "warnings.catch_warnings[None]":
    """Return a context without warnings of few rows, for folds that are pooled."""
    return warnings.catch_warnings(action="ignore", category=FewRowsWarning)


@dataclass(frozen=True)
class HeldOutRows:
    """Rows with the fold whose model scores them, and the metric that decides.

    Two classes are one list of all folds; queries, or the folds of levels, have a mean.
    """

    target: Target
    folds: IntArray  # only rows of one fold, and of one query or stratum, are compared
    goal: Goal
    share: float = 1.0  # of the rows of the list that the metric is meant for

    def take(self, rows: IntArray) -> "HeldOutRows":
        """Return some of the rows, a smaller share of the list."""
        share = self.share
        if self.target.queries is None:
            share *= rows.size / self.folds.size
        return HeldOutRows(self.target.take(rows), self.folds[rows], self.goal, share)

    def take_folds(self) -> list[tuple[NDArray[np.intp], "HeldOutRows"]]:
        """Return the rows of each fold."""
        parts = [np.flatnonzero(self.folds == k) for k in np.unique(self.folds)]
        return [(rows, self.take(rows)) for rows in parts]

    @property
    def unit(self) -> str:
        """The independent units of intervals and tests: rows, queries or folds."""
        if self.target.is_survival:
            return "rows"
        if self.target.queries is not None:
            return "queries"
        return "folds" if self.target.is_graded else "rows"

    @property
    def strata(self) -> IntArray:
        """The number of the fold and stratum of each row."""
        queries = self.target.queries
        if queries is None:
            return self.folds
        return np.asarray(self.folds * (queries.max() + 1) + queries)

    def measure(self, scores: FloatArray, metric: str | None = None) -> float:
        """Return the mean over queries, or over folds; of areas by pairs of rows.

        It is 1/2 where no rows can be compared.
        """
        target, metric = self.target, metric or self.goal.metric
        if target.is_survival:
            rows: Any = {"sample_weight": target.weights, "qid": self.strata}
            try:
                return target_concordance(target.survival, scores, **rows)
            except NotEnoughClassesError:
                return 0.5
        values = self.unit_values(scores, metric)
        if values.size == 0:
            return 0.5
        if self.unit != "rows" or not Goal(metric).is_area:
            return float(values.mean())
        relevant = target.relevant
        weights = np.ones(relevant.size) if target.weights is None else target.weights
        _, fold = np.unique(self.folds, return_inverse=True)
        pairs = np.bincount(fold, weights * relevant)
        pairs *= np.bincount(fold, weights * (1 - relevant))
        return float(np.average(values, weights=pairs[pairs > 0.0]))

    def unit_values(self, scores: FloatArray, metric: str) -> FloatArray:
        """Return the metric of each query, or fold, that has rows of two levels."""
        target, share = self.target, self.share
        if target.queries is None:
            target = replace(target, queries=self.folds)
            share /= np.unique(self.folds).size
        name = parse_metric(metric).of_share(share).name
        values = by_query(name, target, scores, self.goal)
        return values[~np.isnan(values)]

    def estimate(self, scores: FloatArray) -> MetricInterval:
        """Return the metric with its 95% interval; NaN if there is none."""
        factor = refit_factor(np.unique(self.folds).size)
        try:
            if self.target.is_survival:
                influence = self._influence(scores).inflate(factor)
                return pair_interval(influence, _CONFIDENCE, self._metric)
            if self.unit != "rows":
                values = self.unit_values(scores, self.goal.metric)
                bounds = parse_metric(self._metric).kind.bounds
                return mean_interval(values, _CONFIDENCE, bounds, factor)
            options = {"n_resamples": _N_DRAWS, **self._options}
            return metric_interval(self.target.labels, scores, self._metric, **options)
        except ValueError:  # a class has fewer than two rows in a fold, or groups
            ends = np.nan, np.nan, np.nan
            value = self.measure(scores)
            return MetricInterval(value, *ends, _CONFIDENCE, metric=self._metric)

    def compare(self, scores: FloatArray, baseline: FloatArray) -> MetricDifference:
        """Test on both sides whether two models have the same metric."""
        if self.target.is_survival or self.unit != "rows":
            influences = self._influence(scores), self._influence(baseline)
            return compare_two(*influences, refit_factor(np.unique(self.folds).size))
        options = {"metric": self._metric, **self._options}
        if self._metric not in _WITHOUT_DRAWS:
            options["n_resamples"] = _N_DRAWS
        models = {"scores": scores, "baseline": baseline}
        return compare_metric(self.target.labels, models, **options).differences[0]

    @property
    def _metric(self) -> str:
        """The name of the metric, of as many top rows as these rows have."""
        return parse_metric(self.goal.metric).of_share(self.share).name

    @property
    def _options(self) -> dict[str, Any]:
        """The options of an interval or a test of two classes in one list."""
        return {
            "folds": self.folds,
            "estimand": "procedure",
            "groups": self.target.groups,
            "sample_weight": self.target.weights,
            **self.goal.ranges,
        }

    def _influence(self, scores: FloatArray) -> Influence:
        """Return the mean over queries or folds, or the concordance within folds."""
        target = self.target
        if target.is_survival:
            rows = target.labels, target.durations, target.weights
            return concordance_measure(*rows, self.strata, target.groups)(scores)
        return mean_influence(self.unit_values(scores, self.goal.metric))


def summarise(
    rows: HeldOutRows,
    name: str,
    scores: FloatArray,
    seconds: Sequence[float] = (),
    is_baseline: bool = False,
) -> ModelResult:
    """Measure one model of a comparison."""
    values = tuple(measure_fold(part, scores[held]) for held, part in rows.take_folds())
    names = dict.fromkeys([rows.goal.metric, *measures_of(rows.target)])
    measures, low, high = dict.fromkeys(names, np.nan), np.nan, np.nan
    problem = None
    if n_constant := int(np.isnan(values).sum()):
        problem = f"constant scores on {n_constant} of {len(values)} folds"
    else:
        estimate = rows.estimate(scores)
        low, high = estimate.low, estimate.high
        measures = {key: rows.measure(scores, key) for key in names}
        measures[rows.goal.metric] = estimate.value
    median = float(np.median(seconds)) if seconds else np.nan
    return ModelResult(name, is_baseline, measures, low, high, median, values, problem)


def measure_fold(rows: HeldOutRows, scores: FloatArray) -> float:
    """Return the metric of one fold; NaN if the scores are constant."""
    if has_constant_scores(rows.target, scores):
        return np.nan
    return rows.measure(scores)


def summarise_scores(
    target: Target, scores: FloatArray, goal: Goal | None = None, name: str = ""
) -> ModelResult:
    """Measure one ranking of rows, as a comparison measures its folds."""
    folds = np.zeros(scores.size, dtype=np.intp)
    return summarise(
        HeldOutRows(target, folds, goal or choose_goal(target)), name, scores
    )
