"""Checked rows, bound to the metric of any scores of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from aucmax._core.parameters import check_choice, check_integer, random_generator
from aucmax._core.validation import (
    FloatArray,
    IntArray,
    check_qid,
    check_scores,
    is_missing,
    reject_unreadable,
)
from aucmax.inference.influence import (
    Influence,
    area_influence,
    check_groups,
    check_query_values,
    class_sizes,
    fold_influence,
    mean_influence,
    ordinal_influence,
    precision_influence,
)
from aucmax.inference.resampling import check_score_columns, drawn_influence
from aucmax.metrics._steps import (
    WHOLE_SQUARE,
    BinaryRows,
    Box,
    RankingTask,
    box_size,
    check_two_classes,
)
from aucmax.metrics.metric_names import NamedMetric, parse_metric
from aucmax.metrics.multiclass import check_level_rows
from aucmax.metrics.roc import STANDARDS, partial_auc_score

#: What an interval from cross-validation covers.
ESTIMANDS = ("models", "procedure")

Measure = Callable[[Any, str], Influence]  # of scores, and their name in messages


@dataclass(frozen=True)
class MetricRows:
    """Arguments that describe rows, and bind them to a metric."""

    y_true: Any
    sample_weight: Any = None
    groups: Any = None
    qid: Any = None
    folds: Any = None
    box: Box = WHOLE_SQUARE
    pos_label: object = None
    options: Mapping[str, Any] = field(default_factory=dict)

    def bind(self, metric: str) -> Measure:
        """Check what the metric supports, and bind it."""
        named = parse_row_metric(metric)
        units = [k for k in ("qid", "groups", "folds") if getattr(self, k) is not None]
        ranges = ["fpr_range or tpr_range"] if self.box != WHOLE_SQUARE else []
        supported = _supported_options(named)
        for name in (*units, *ranges, *self.options):
            if name not in supported:
                raise ValueError(f"{name} is not supported for metric={metric!r}.")
        if self.qid is None and (named.kind.needs_queries or supported == {"qid"}):
            raise ValueError(f"metric={metric!r} is a mean over queries; give qid.")
        if self.qid is not None and len(units) > 1:
            raise ValueError(f"{units[1]} cannot be given with {units[0]}.")
        if self.qid is not None:
            return self._queries(named)
        if named.kind.influence == "area":
            return self.auc(named.kind.scale)
        if named.kind.influence == "ordinal":
            return self._ordinal_auc()
        return self.top_of_list(named, **self.options)

    def per_model(self, names: Sequence[str]) -> list[MetricRows]:
        """Return the rows of each model, from lists with one array per model."""
        columns: list[dict[str, Any]] = [{} for _ in names]
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
                arrays = [None] * len(names)
            if not isinstance(arrays, list | tuple) or len(arrays) != len(names):
                raise ValueError(
                    f"a comparison on different rows needs {name} as a list of "
                    f"{len(names)} arrays, one per model."
                )
            for column, array in zip(columns, arrays, strict=True):
                column[name] = array
        return [replace(self, **column) for column in columns]

    def check(self) -> tuple[BinaryRows, IntArray | None, IntArray | None]:
        """Check labels and weights, groups and folds; each class needs two rows."""
        rows = check_two_classes(self.y_true, self.sample_weight, None, self.pos_label)
        groups = check_groups(self.groups, rows.is_positive.size)
        class_sizes(rows, groups)
        if self.folds is None:
            return rows, groups, None
        return rows, groups, check_folds(self.folds, rows.is_positive.size)

    def auc(self, scale: tuple[float, float] = (1.0, 0.0)) -> Measure:
        """Bind the area within the box."""
        rows, groups, folds = self.check()

        def measure(y_score: Any, name: str = "y_score") -> Influence:
            if folds is None:
                area = area_influence(rows.task(y_score, name), groups, self.box)
            else:
                scores = check_fold_scores(y_score, folds, name)
                area = fold_influence(rows, scores, folds, groups, self.box)
            return replace(area, scale=scale)

        return measure

    def _ordinal_auc(self) -> Measure:
        """Bind the share of ordered pairs of levels."""
        rows = check_level_rows(self.y_true, self.sample_weight)
        if rows.names.size == 2:
            return self.auc()
        n_rows = rows.levels.size
        groups = check_groups(self.groups, n_rows)
        return lambda scores, name: ordinal_influence(
            check_scores(scores, n_rows, name), rows.levels, rows.sample_weight, groups
        )

    def _queries(self, named: NamedMetric) -> Measure:
        """Bind the mean over the queries that have a value."""
        options = {"sample_weight": self.sample_weight, "qid": self.qid, **self.options}
        if self.pos_label is not None:
            options["pos_label"] = self.pos_label
        metric, unit, scale = named.function, 1.0, named.kind.scale
        if named.kind.influence == "area":  # also of the box
            metric = partial_auc_score
        if self.box != WHOLE_SQUARE:
            options |= {"fpr_range": self.box[:2], "tpr_range": self.box[2:]}
        if named.base == "lift":
            unit = float(len(self.y_true))
            scale = (unit, 0.0)

        def measure(scores: object, name: str) -> Influence:
            values = metric(self.y_true, scores, average=None, **options) / unit
            return replace(mean_influence(check_query_values(values)), scale=scale)

        return measure

    def top_of_list(
        self, named: NamedMetric, n_resamples: int = 1000, random_state: object = 0
    ) -> Measure:
        """Bind a metric of one list: by influence, or each draw of rows is a unit."""
        rows, groups, folds = self.check()
        n_folds, unit = 1.0 if folds is None else float(folds.max()) + 1.0, 1.0
        check_integer("n_resamples", n_resamples, 2)
        # all rankings are compared on the same draws
        seed = int(random_generator(random_state).integers(2**62))
        if named.base == "lift":  # at most one over the share of positives
            weights = rows.sample_weight
            unit = 1.0 / float(np.average(rows.is_positive, weights=weights))

        def measure(y_score: object, name: str = "y_score") -> Influence:
            scores = check_list(y_score, rows, folds, name)
            if named.kind.influence == "precision":
                task = RankingTask(scores, rows.is_positive, rows.sample_weight)
                influence = precision_influence(task, groups)
            else:
                draws = groups, unit, n_resamples, seed
                influence = drawn_influence(named.function, rows, scores, *draws)
            return replace(influence, n_folds=n_folds)

        return measure


def drop_missing(na: str, *columns: Any) -> tuple[list[Any], str | None]:
    """Return columns without the rows where one is missing, and a note of how many.

    With ``na="raise"`` nothing is dropped: the checks of each column name the rows.
    """
    check_choice("na", na, ("raise", "drop"))
    if na == "raise":
        return list(columns), None
    arrays = [None if one is None else np.asarray(one) for one in columns]
    sizes = {one.shape[:1] for one in arrays if one is not None}
    if len(sizes) > 1 or sizes == {()}:  # which is an error later
        return list(columns), None
    is_complete = np.ones(sizes.pop(), dtype=bool)
    for array in arrays:
        if array is not None and array.dtype.kind in "fO":
            missing = np.frompyfunc(is_missing, 1, 1)(array).astype(bool)
            is_complete &= ~missing.reshape(is_complete.size, -1).any(axis=1)
    kept = [None if one is None else one[is_complete] for one in arrays]
    n_dropped = int(np.count_nonzero(~is_complete))
    rows = f"{n_dropped:,} of {is_complete.size:,} rows"
    return kept, f"{rows} with missing values are left out" if n_dropped else None


def parse_row_metric(metric: str) -> NamedMetric:
    """Read the name of a metric of labels and scores."""
    named = parse_metric(metric)
    if named.kind.uses_times:
        raise ValueError(
            f"metric={metric!r} needs events and times; use concordance_interval or "
            "compare_concordance."
        )
    return named


def _supported_options(named: NamedMetric) -> set[str]:
    """Return the units and options that a comparison by a metric takes."""
    kind = named.kind
    if kind.influence == "ordinal":
        return {"qid", "groups"}
    if named.base == "ndcg":
        return {"qid", "gains"} if named.options else {"qid", "gains", "k"}
    if kind.uses_levels or kind.needs_queries:
        return {"qid"}
    if kind.influence is None:
        return {"qid", "groups", "folds", "n_resamples", "random_state"}
    has_ranges = kind.influence == "area" and kind.scale == (1.0, 0.0)
    ranges = {"fpr_range or tpr_range"} if has_ranges else set()
    return {"qid", "groups", "folds", *ranges}


def check_estimand(estimand: str, folds: object) -> None:
    """Check what an interval or a test is about."""
    check_choice("estimand", estimand, ESTIMANDS)
    if estimand == "procedure" and folds is None:
        raise ValueError(
            "estimand='procedure' needs folds, of cross-validation of the same rows."
        )


def area_scale(box: Box, standardize: str) -> tuple[float, float]:
    """Return factor and shift that bring a mean over a box to another scale."""
    check_choice("standardize", standardize, STANDARDS)
    rescale = STANDARDS[standardize](box)
    shift = rescale(0.0)
    return rescale(box_size(box)) - shift, shift


def check_folds(folds: object, n_rows: int) -> IntArray:
    """Return the number of each row's fold, one column per repetition."""
    reject_unreadable(folds, "folds")
    columns = np.asarray(folds)
    if columns.ndim not in (1, 2) or columns.shape[0] != n_rows:
        raise ValueError(
            f"folds must have one row per label, {n_rows}, and a column per "
            f"repetition, got shape {columns.shape}."
        )
    columns = columns.reshape(n_rows, -1)
    codes = [check_qid(column, n_rows, "folds").codes for column in columns.T]
    return np.column_stack(codes)


def check_fold_scores(
    y_score: object, folds: IntArray, name: str = "y_score"
) -> FloatArray:
    """Check scores of cross-validation: one column, or one per repetition."""
    scores = check_score_columns(y_score, folds.shape[0], name)
    if scores.ndim == 2 and scores.shape[1] not in (1, folds.shape[1]):
        raise ValueError(
            f"{name} has {scores.shape[1]} columns and folds has {folds.shape[1]}; "
            "both need one column per repetition."
        )
    return scores


def check_list(
    y_score: Any, rows: BinaryRows, folds: IntArray | None, name: str = "y_score"
) -> FloatArray:
    """Return checked scores; of folds, the positions in them."""
    scores = check_scores(y_score, rows.is_positive.size, name)
    return scores if folds is None else positions_in_folds(scores, folds)


def positions_in_folds(scores: FloatArray, folds: IntArray) -> FloatArray:
    """Return the share of the rows of its fold that each row outranks; ties half.

    Models of different folds rank on one scale then, for metrics of one list of rows.
    """
    if folds.shape[1] > 1:
        raise ValueError(
            f"folds has {folds.shape[1]} columns; only areas have a mean over "
            "repetitions. Give the folds of one repetition."
        )
    from scipy.stats import rankdata  # which takes half a second to load

    positions = np.empty(scores.size)
    for fold in range(int(folds.max()) + 1):
        members = folds[:, 0] == fold
        ranks = rankdata(scores[members])
        positions[members] = (ranks - 0.5) / ranks.size
    return positions
