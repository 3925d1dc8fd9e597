r"""Samples for metrics of the top of a list: by influence, or by resampling rows.

Average precision with weights :math:`w_i`, of the thresholds t from the highest:
:math:`g_t` is the weight of positives at t, :math:`F_t` and :math:`N_t` are those of
positives and of all rows at or above t, and P is the weight of all positives. Its
derivatives by the weight of a positive and of a negative row at the threshold s are

.. math:: \frac{1}{P} \Big[ \frac{F_s}{N_s} - \mathrm{AP}
          + \sum_{t \le s} g_t \Big(\frac{1}{N_t} - \frac{F_t}{N_t^2}\Big) \Big] ,
          \qquad -\frac{1}{P} \sum_{t \le s} \frac{g_t F_t}{N_t^2} .

The share of positives is that of the sample, so that it varies with the rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf, sqrt
from typing import Any, Self

import numpy as np

from aucmax._core.parameters import check_integer, random_generator
from aucmax._core.sorting import sort_with_order
from aucmax._core.validation import FloatArray
from aucmax.inference.influence import (
    AreaSample,
    Measured,
    Rows,
    check_groups,
    class_effects,
)
from aucmax.inference.resampling import draw_units, evaluate_draws
from aucmax.metrics._steps import RankingTask, check_two_classes, tie_starts
from aucmax.metrics.metric_names import NamedMetric


def precision_influence(task: RankingTask) -> tuple[float, FloatArray]:
    """Return average precision, and its derivative by the share of each row."""
    order, ranked = sort_with_order(-task.scores)
    starts = tie_starts(ranked, np.array([0, ranked.size]))
    weights = np.ones(ranked.size)
    if task.sample_weight is not None:
        weights = task.sample_weight[order] / task.sample_weight.mean()
    is_positive = task.is_positive[order]
    gained = np.add.reduceat(weights * is_positive, starts)
    found = np.cumsum(gained)
    above = np.cumsum(np.add.reduceat(weights, starts))
    above[above == 0.0] = inf  # rows of weight 0 at the top
    precision = found / above
    value = float(gained @ precision / found[-1])
    pull = _sum_from_below(gained * precision / above)  # of a row above these
    lift = precision - value + _sum_from_below(gained / above) - pull
    steps = np.repeat(np.arange(starts.size), np.diff(starts, append=ranked.size))
    influence = np.empty(ranked.size)
    influence[order] = np.where(is_positive, lift[steps], -pull[steps])
    return value, influence * (ranked.size / found[-1])


def _sum_from_below(values: FloatArray) -> FloatArray:
    return np.cumsum(values[::-1])[::-1]


@dataclass(frozen=True)
class _TwoClassSample:
    """Rows of two classes as one sample: the share of positives varies, too."""

    rows: AreaSample

    @property
    def parts(self) -> list[tuple[slice, float]]:
        """All units."""
        return [(slice(None), self.sizes(inf)[1])]

    def sizes(self, design_effect: float) -> tuple[Rows, float]:
        """Return the rows of both classes, at least as many as groups, and degrees."""
        return self.rows.sizes(design_effect)


class PrecisionSample(_TwoClassSample):
    """Rows for average precision, by influence."""

    def measure(self, scores: Any) -> Measured:
        """Return average precision with its effects."""
        rows = self.rows
        task = RankingTask(scores, rows.is_positive, rows.sample_weight)
        value, influence = precision_influence(task)
        weights = rows.sample_weight
        weights = np.ones(scores.size) if weights is None else weights
        classes = [np.flatnonzero(own) for own in (rows.is_positive, ~rows.is_positive)]
        effects = class_effects(
            influence, weights / weights.sum(), classes, rows.groups
        )
        return Measured.of(value, *effects)


@dataclass(frozen=True)
class ResampledSample(_TwoClassSample):
    """Rows for any metric of two classes: each draw of rows is a unit."""

    metric: Callable[..., float]
    unit: float  # that the metric is divided by, so that it is at most 1
    n_resamples: int
    seed: int  # equal for all rankings, so that they are compared on the same draws

    @classmethod
    def of(
        cls,
        named: NamedMetric,
        rows: AreaSample,
        n_resamples: int = 1000,
        random_state: Any = 0,
    ) -> Self:
        """Bind a metric to rows."""
        check_integer("n_resamples", n_resamples, 2)
        seed = int(random_generator(random_state).integers(2**62))
        unit = 1.0
        if named.base == "lift":  # one over the share of positives
            unit = 1.0 / float(np.average(rows.is_positive, weights=rows.sample_weight))
        return cls(rows, named.function, unit, n_resamples, seed)

    def value(self, scores: Any) -> float:
        """Return the metric of all rows."""
        return float(self.metric(**self._arrays(scores))) / self.unit

    def draws(self, scores: Any) -> FloatArray:
        """Return the metric of drawn rows, or groups of rows."""
        rng = np.random.default_rng(self.seed)
        strata = np.zeros(scores.size, dtype=np.int64)
        units = draw_units(strata, self.rows.groups, rng)
        arrays = self._arrays(scores)
        return evaluate_draws(self.metric, arrays, units, self.n_resamples) / self.unit

    def measure(self, scores: Any) -> Measured:
        """Return the metric, with the deviations of the draws as its effects."""
        draws = self.draws(scores)
        effects = (draws - draws.mean()) / sqrt(draws.size - 1.0)
        effect = 1.0 if self.rows.groups is None else inf
        return Measured(self.value(scores), effects, effect)

    def _arrays(self, scores: Any) -> dict[str, Any]:
        arrays = {"y_true": self.rows.is_positive, "y_score": scores}
        if self.rows.sample_weight is not None:
            arrays["sample_weight"] = self.rows.sample_weight
        return arrays


def check_rows(y_true: Any, sample_weight: Any, groups: Any, label: Any) -> AreaSample:
    """Check labels, weights and groups; each class needs two rows, or groups."""
    rows = check_two_classes(y_true, sample_weight, None, label)
    codes = check_groups(groups, rows.is_positive.size)
    sample = AreaSample(rows.is_positive, rows.sample_weight, groups=codes)
    return sample.check()
