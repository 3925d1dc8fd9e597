"""Metrics of a comparison, each bound to its rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from aucmax._core.validation import FloatArray, check_scores
from aucmax.inference.influence import (
    AreaSample,
    FoldSample,
    Measured,
    OrdinalSample,
    QuerySample,
    check_folds,
    check_groups,
    positions_in_folds,
)
from aucmax.inference.intervals import (
    check_fold_scores,
)
from aucmax.inference.top_influence import PrecisionSample, ResampledSample, check_rows
from aucmax.metrics._steps import WHOLE_SQUARE, Box, check_two_classes
from aucmax.metrics.metric_names import NamedMetric, parse_metric
from aucmax.metrics.multiclass import check_level_rows, ordinal_auc_score
from aucmax.metrics.retrieval import mean_average_precision, ndcg_score
from aucmax.metrics.roc import partial_auc_score, roc_auc_score
from aucmax.metrics.top_of_list import average_precision_score


@dataclass(frozen=True)
class BoundMetric:
    """A metric bound to rows: the units of its sample, and the value of any scores."""

    sample: Any  # of `_samples` or `_top_samples`
    measure: Callable[[Any, str], Measured]  # of scores with a name for messages
    has_areas: bool = True  # else means over queries
    scale: tuple[float, float] = (1.0, 0.0)  # factor and shift of values up to 1
    n_folds: float = 1.0


@dataclass(frozen=True)
class ComparedRows:
    """Arguments of a comparison that describe the rows and their metric."""

    y_true: Any
    sample_weight: Any
    groups: Any
    qid: Any
    folds: Any
    box: Box
    pos_label: Any
    options: Mapping[str, Any]

    def bind(self, metric: str) -> BoundMetric:
        """Check what the metric supports, and bind it."""
        units = [k for k in ("qid", "groups", "folds") if getattr(self, k) is not None]
        ranges = ["fpr_range or tpr_range"] if self.box != WHOLE_SQUARE else []
        named = _parse(metric)
        function, supported = _METRICS.get(metric) or _supported(named)
        for name in (*units, *ranges, *self.options):
            if name not in supported:
                raise ValueError(f"{name} is not supported for metric={metric!r}.")
        needs_queries = metric in ("ndcg", "map") or supported <= {"qid", "gains"}
        if self.qid is None and needs_queries:
            raise ValueError(f"metric={metric!r} is a mean over queries; give qid.")
        if self.qid is not None and len(units) > 1:
            raise ValueError(f"{units[1]} cannot be given with {units[0]}.")
        if metric == "gini":
            return replace(self.bind("auc"), scale=(2.0, -1.0))
        if self.qid is not None:
            unit = float(len(self.y_true)) if metric.startswith("lift") else 1.0
            return self.mean_over_queries(function, unit)
        if metric == "average_precision" or named is not None:
            return self.top_of_list(named)
        return self.ordinal_auc() if metric == "ordinal_auc" else self.auc()

    def of_models(self, names: Sequence[str]) -> list[ComparedRows]:
        """Return the rows of each model, from lists with one array per model."""
        split: dict[str, Any] = {}
        n_models = len(names)
        for name in ("y_true", "sample_weight", "groups", "qid", "folds"):
            arrays = getattr(self, name)
            if isinstance(arrays, Mapping):
                by_name = {str(key): array for key, array in arrays.items()}
                if set(by_name) != set(names):
                    raise ValueError(
                        f"{name} must have the models as its keys, {names}, got "
                        f"{tuple(by_name)}."
                    )
                arrays = [by_name[key] for key in names]
            elif arrays is None:
                arrays = [None] * n_models
            if not isinstance(arrays, list | tuple) or len(arrays) != n_models:
                raise ValueError(
                    f"paired=False needs {name} as a list of {n_models} arrays, one "
                    "per model."
                )
            split[name] = arrays
        return [
            replace(self, **{name: arrays[k] for name, arrays in split.items()})
            for k in range(n_models)
        ]

    def auc(self) -> BoundMetric:
        """Return the area within the box."""
        rows = check_two_classes(self.y_true, self.sample_weight, None, self.pos_label)
        n_rows, weights = rows.is_positive.size, rows.sample_weight
        codes = check_groups(self.groups, n_rows)
        sample = AreaSample(rows.is_positive, weights, self.box, codes).check()
        if self.folds is None:
            return _of_scores(sample, n_rows)
        folded = FoldSample(sample, check_folds(self.folds, n_rows))
        check = partial(check_fold_scores, folds=folded.folds)
        return BoundMetric(
            folded,
            lambda one, name: folded.measure(check(one, name=name)),
            n_folds=folded.n_folds,
        )

    def ordinal_auc(self) -> BoundMetric:
        """Return the share of ordered pairs of levels."""
        rows = check_level_rows(self.y_true, self.sample_weight, None)
        if rows.names.size == 2:
            return self.auc()
        codes = check_groups(self.groups, rows.levels.size)
        sample = OrdinalSample(rows.levels, rows.sample_weight, codes)
        return _of_scores(sample, rows.levels.size)

    def top_of_list(self, named: NamedMetric | None) -> BoundMetric:
        """Return average precision by influence, or a metric by resampling."""
        rows = check_rows(self.y_true, self.sample_weight, self.groups, self.pos_label)
        sample: Any = PrecisionSample(rows)
        unit = 1.0
        if named is not None:
            sample = ResampledSample.of(named, rows, **self.options)
            unit = sample.unit
        n_rows, scale = rows.is_positive.size, (unit, 0.0)
        if self.folds is None:
            return replace(_of_scores(sample, n_rows), scale=scale)
        folds = check_folds(self.folds, n_rows)
        return BoundMetric(
            sample,
            lambda one, name: sample.measure(
                positions_in_folds(check_scores(one, n_rows, name), folds)
            ),
            scale=scale,
            n_folds=float(folds.max()) + 1.0,
        )

    def mean_over_queries(
        self, metric: Callable[..., Any], unit: float = 1.0
    ) -> BoundMetric:
        """Return the mean of a metric over the queries that have a value."""
        options = {"sample_weight": self.sample_weight, "qid": self.qid, **self.options}
        if self.pos_label is not None:
            options["pos_label"] = self.pos_label
        if self.box != WHOLE_SQUARE:
            options |= {"fpr_range": self.box[:2], "tpr_range": self.box[2:]}

        def values(scores: Any) -> FloatArray:
            found: FloatArray = metric(self.y_true, scores, average=None, **options)
            return found[~np.isnan(found)] / unit

        n_queries = values(np.zeros(len(self.y_true))).size
        if n_queries < 2:
            raise ValueError(
                f"qid has {n_queries} queries with a value of the metric; a variance "
                "needs at least two."
            )
        sample = QuerySample(n_queries)
        return BoundMetric(
            sample, lambda scores, _: sample.measure(values(scores)), False, (unit, 0.0)
        )


#: the metric of each query, and the options that are supported
_METRICS: dict[str, tuple[Callable[..., Any], set[str]]] = {
    "auc": (partial_auc_score, {"qid", "groups", "folds", "fpr_range or tpr_range"}),
    "partial_auc": (
        partial_auc_score,
        {"qid", "groups", "folds", "fpr_range or tpr_range"},
    ),
    "ordinal_auc": (ordinal_auc_score, {"qid", "groups"}),
    "ndcg": (ndcg_score, {"qid", "k", "gains"}),
    "map": (mean_average_precision, {"qid"}),
    "average_precision": (average_precision_score, {"qid", "groups", "folds"}),
    "gini": (roc_auc_score, {"qid", "groups", "folds"}),
}


def _parse(metric: Any) -> NamedMetric | None:
    """Return a metric that only has a name; None for one of the table above."""
    if isinstance(metric, str) and metric in _METRICS:
        return None
    return parse_metric(metric)


def _supported(named: Any) -> tuple[Callable[..., Any], set[str]]:
    """Return the metric of queries, and the options of one by resampling."""
    if named.kind.uses_levels or named.kind.takes_range:
        options = {"gains"} if named.kind.function is ndcg_score else set()
        return named.function, {"qid", *options}
    return named.function, {"qid", "groups", "folds", "n_resamples", "random_state"}


def _of_scores(sample: Any, n_rows: int) -> BoundMetric:
    return BoundMetric(
        sample, lambda scores, name: sample.measure(check_scores(scores, n_rows, name))
    )
