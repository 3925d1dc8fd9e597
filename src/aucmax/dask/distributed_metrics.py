"""The metrics of :mod:`aucmax.metrics` for rows in parts: equal results."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import Any

from aucmax._core.parameters import check_choice
from aucmax._core.validation import FloatArray
from aucmax.dask.by_query import areas_of_queries, values_of_queries
from aucmax.dask.ranking import PartitionRows, Rankings, RarerClassGrid, StepMasses
from aucmax.inference import intervals
from aucmax.inference.influence import in_box
from aucmax.inference.metric_rows import area_name
from aucmax.inference.results import (
    MetricDifference,
    MetricInterval,
    check_confidence,
)
from aucmax.metrics import retrieval
from aucmax.metrics._steps import (
    WHOLE_SQUARE,
    Box,
    QueryValues,
    box_size,
    check_box,
    mean_over_queries,
)
from aucmax.metrics.multiclass import NEEDED
from aucmax.metrics.retrieval import GAIN, RELEVANT
from aucmax.metrics.roc import STANDARDS
from aucmax.metrics.top_sets import check_k

__all__ = [
    "auc_interval",
    "compare_auc",
    "mean_average_precision",
    "multiclass_auc_score",
    "ndcg_score",
    "ordinal_auc_score",
    "partial_auc_score",
    "precision_at_k",
    "roc_auc_score",
]


def roc_auc_score(y_true: Any, y_score: Any, **options: Any) -> float:
    """See :func:`aucmax.metrics.roc_auc_score`."""
    return partial_auc_score(y_true, y_score, **options)


def partial_auc_score(
    y_true: Any,
    y_score: Any,
    *,
    fpr_range: Sequence[float] = (0.0, 1.0),
    tpr_range: Sequence[float] = (0.0, 1.0),
    pos_label: Any = None,
    standardize: str = "mean",
    **columns: Any,
) -> float:
    """See :func:`aucmax.metrics.partial_auc_score`."""
    box = check_box(fpr_range, tpr_range)
    check_choice("standardize", standardize, STANDARDS)
    rescale = STANDARDS[standardize](box)
    rows = _columns(y_true, y_score, **columns)
    if rows["qid"] is not None:
        return rescale(mean_over_queries(areas_of_queries(rows, pos_label, box)))
    rankings = Rankings(rows, ["y_score"], pos_label)
    if box == WHOLE_SQUARE:
        return rescale(rankings.auc("y_score"))
    steps = rankings.steps("y_score", rankings.grid("y_score"))
    area: float = rankings.compute(rankings.tasks.add(StepMasses.area, steps, box=box))
    return rescale(area)


def auc_interval(
    y_true: Any,
    y_score: Any,
    *,
    fpr_range: Sequence[float] = (0.0, 1.0),
    tpr_range: Sequence[float] = (0.0, 1.0),
    confidence: float = 0.95,
    sample_weight: Any = None,
    pos_label: Any = None,
    **others: Any,
) -> MetricInterval:
    """See :func:`aucmax.inference.auc_interval`."""
    _reject_other_options(others)
    check_confidence(confidence)
    box = check_box(fpr_range, tpr_range)
    rankings = Rankings(
        _columns(y_true, y_score, sample_weight), ["y_score"], pos_label
    )
    steps = rankings.steps("y_score", rankings.grid("y_score"))
    auc, error, rows = rankings.compute(
        rankings.tasks.add(
            _area_and_error, steps, box=box, is_weighted=sample_weight is not None
        )
    )
    intervals.warn_of_few_rows(rows)
    ends = intervals.area_interval(auc, error, confidence, rows)
    return MetricInterval(auc, *ends, error, confidence, rows, area_name(box))


def _reject_other_options(options: dict[str, Any]) -> None:
    """Reject options of metrics that rows in parts do not have."""
    if options:
        raise ValueError(
            f"{', '.join(options)} is not supported for Dask collections; call "
            "compute() on them first."
        )


def compare_auc(
    y_true: Any,
    y_score_a: Any,
    y_score_b: Any,
    *,
    fpr_range: Sequence[float] = (0.0, 1.0),
    tpr_range: Sequence[float] = (0.0, 1.0),
    confidence: float = 0.95,
    sample_weight: Any = None,
    pos_label: Any = None,
    **others: Any,
) -> MetricDifference:
    """See :func:`aucmax.inference.compare_auc`; two models."""
    _reject_other_options(others)
    check_confidence(confidence)
    box = check_box(fpr_range, tpr_range)
    scores = {"y_score_a": y_score_a, "y_score_b": y_score_b}
    columns = {"y_true": y_true, **scores, "sample_weight": sample_weight}
    rankings = Rankings(columns, list(scores), pos_label)
    tasks = rankings.tasks
    grids = [rankings.grid(name) for name in scores]
    steps = [rankings.steps(one, grid) for one, grid in zip(scores, grids, strict=True)]
    moved = [
        tasks.add(_Moved, grid, both, name=name, box=box)
        for name, grid, both in zip(scores, grids, steps, strict=True)
    ]
    squares = [tasks.add(_squares_of_differences, one, moved) for one in rankings.rows]
    is_weighted = sample_weight is not None
    auc_a, auc_b, error, n_rows = rankings.compute(
        tasks.add(
            _areas_and_error, steps, moved, squares, box=box, is_weighted=is_weighted
        )
    )
    intervals.warn_of_few_rows(n_rows)
    areas = auc_a, auc_b
    test = intervals.two_sided_test(auc_a - auc_b, error, confidence, n_rows, areas)
    return MetricDifference(
        auc_a, auc_b, *test, error, confidence, n_rows, area_name(box)
    )


def multiclass_auc_score(
    y_true: Any, y_score: Any, *, classes: str = "positive", **columns: Any
) -> float:
    """See :func:`aucmax.metrics.multiclass_auc_score`; needs `qid`."""
    check_choice("classes", classes, ("positive", "all"))
    rows = _columns_of_queries(y_true, y_score, **columns)
    (values,) = values_of_queries(rows, "class_reference_auc", classes=classes)
    return mean_over_queries(values, NEEDED)


def ordinal_auc_score(y_true: Any, y_score: Any, **columns: Any) -> float:
    """See :func:`aucmax.metrics.ordinal_auc_score`; needs `qid`."""
    rows = _columns_of_queries(y_true, y_score, **columns)
    (values,) = values_of_queries(rows, "ordered_pairs")
    return mean_over_queries(values, NEEDED)


def precision_at_k(
    y_true: Any,
    y_score: Any,
    *,
    k: int,
    pos_label: Any = None,
    average: str = "macro",
    **columns: Any,
) -> float:
    """See :func:`aucmax.metrics.precision_at_k`; needs `qid`."""
    k = check_k(k)
    check_choice("average", average, ("macro", "micro"))
    rows = _columns_of_queries(y_true, y_score, **columns)
    found = QueryValues(*values_of_queries(rows, "precision", pos_label, k=k))
    return float(found.average(average))


def mean_average_precision(
    y_true: Any,
    y_score: Any,
    *,
    pos_label: Any = None,
    empty: str = "skip",
    **columns: Any,
) -> float:
    """See :func:`aucmax.metrics.mean_average_precision`; needs `qid`."""
    retrieval.check_empty(empty)
    rows = _columns_of_queries(y_true, y_score, **columns)
    found = QueryValues(*values_of_queries(rows, "average_precision", pos_label))
    return float(retrieval.mean_with_empty(found, empty, RELEVANT))


def ndcg_score(
    y_true: Any,
    y_score: Any,
    *,
    k: int | None = None,
    gains: str = "exponential",
    empty: str = "skip",
    **columns: Any,
) -> float:
    """See :func:`aucmax.metrics.ndcg_score`; needs `qid`."""
    retrieval.check_empty(empty)
    k = None if k is None else check_k(k)
    rows = _columns_of_queries(y_true, y_score, **columns)
    found = QueryValues(*values_of_queries(rows, "gain", k=k, gains=gains))
    return float(retrieval.mean_with_empty(found, empty, GAIN))


def _columns(
    y_true: Any,
    y_score: Any,
    sample_weight: Any = None,
    qid: Any = None,
    average: str | None = "macro",
) -> dict[str, Any]:
    """Return the columns by name; other names of columns are a TypeError."""
    if average != "macro":
        raise ValueError(
            f"average={average!r} is not supported for Dask collections; use 'macro', "
            "or compute() the columns first."
        )
    return {
        "y_true": y_true,
        "y_score": y_score,
        "sample_weight": sample_weight,
        "qid": qid,
    }


def _columns_of_queries(*columns: Any, **others: Any) -> dict[str, Any]:
    rows = _columns(*columns, **others)
    if rows["qid"] is None:
        raise ValueError(
            "on Dask collections this metric is a mean over queries, each within one "
            "partition: pass qid, or compute() the columns first."
        )
    return rows


def _area(steps: StepMasses, box: Box, mean_of_positives: float) -> float:
    if box == WHOLE_SQUARE:
        return mean_of_positives
    return min(steps.area(box) / box_size(box), 1.0)


def _rows_in_box(steps: StepMasses, box: Box, is_weighted: bool) -> tuple[float, float]:
    positive, negative = (
        masses.total**2 / float(masses.square.sum())
        for masses in (steps.positive, steps.negative)
    )
    if min(positive, negative) <= 1.0 + 1e-12:
        name = "positive" if positive <= negative else "negative"
        raise ValueError(
            "DeLong's variance needs at least two rows of each class, but there is "
            f"one {name} row{' with all the weight' * is_weighted}. Use more rows."
        )
    return in_box((positive, negative), box)


def _area_and_error(
    steps: StepMasses, box: Box, is_weighted: bool
) -> tuple[float, float, tuple[float, float]]:
    rows = _rows_in_box(steps, box, is_weighted)
    of_positives, of_negatives = steps.influences(box)
    mean, variance = steps.positive.mean_and_variance(of_positives)
    variance += steps.negative.mean_and_variance(of_negatives)[1]
    return _area(steps, box, mean), sqrt(variance), rows


class _Moved:
    """The influence of rows on the area of one score: by step, and its mean."""

    def __init__(
        self, grid: RarerClassGrid, steps: StepMasses, name: str, box: Box
    ) -> None:
        of_positives, of_negatives = steps.influences(box)
        self.grid = grid
        self.name = name
        self.influence = {True: of_positives, False: of_negatives}
        self.mean = {
            True: steps.positive.mean_and_variance(of_positives)[0],
            False: steps.negative.mean_and_variance(of_negatives)[0],
        }

    def row_values(self, rows: PartitionRows, is_positive: bool) -> FloatArray:
        """Return the influence of each row of a class less its mean."""
        rarer = is_positive == self.grid.classes.rarer_is_positive
        places = self.grid.places(rows, self.name, rarer)
        influence: FloatArray = self.influence[is_positive][places]
        return influence - self.mean[is_positive]


def _squares_of_differences(
    rows: PartitionRows, moved: Sequence[_Moved]
) -> dict[bool, float]:
    """Return, by class, the sum of squared differences of the weighted influences."""
    a, b = moved
    classes = a.grid.classes
    found = {}
    for is_positive in (True, False):
        difference = a.row_values(rows, is_positive) - b.row_values(rows, is_positive)
        weights = classes.weights(rows, is_positive == classes.rarer_is_positive)
        if weights is not None:
            difference *= weights
        found[is_positive] = float(difference @ difference)
    return found


def _areas_and_error(
    steps: Sequence[StepMasses],
    moved: Sequence[_Moved],
    squares: Sequence[dict[bool, float]],
    box: Box,
    is_weighted: bool,
) -> tuple[float, float, float, tuple[float, float]]:
    first, second = (
        _area(one, box, by.mean[True]) for one, by in zip(steps, moved, strict=True)
    )
    variance = sum(
        masses.variance_about(sum(one[is_positive] for one in squares))
        for is_positive, masses in (
            (True, steps[0].positive),
            (False, steps[0].negative),
        )
    )
    return first, second, sqrt(variance), _rows_in_box(steps[0], box, is_weighted)
