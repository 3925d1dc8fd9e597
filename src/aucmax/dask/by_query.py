"""Metrics of queries, each of which is within one partition."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucmax._core import validation
from aucmax._core.validation import BoolArray, FloatArray
from aucmax.dask.cluster import Cluster
from aucmax.dask.partitions import naming_partition
from aucmax.dask.ranking import Classes, PartitionRows, Rankings, check_parts
from aucmax.dask.tasks import Key, Tasks
from aucmax.exceptions import NotEnoughClassesError
from aucmax.metrics._steps import RankingTask, check_queries
from aucmax.metrics.multiclass import LevelRows, first_counted_level
from aucmax.metrics.retrieval import (
    average_precisions,
    normalized_gains,
    precisions,
)

Columns = dict[str, Any]
Values = tuple[FloatArray, ...]  # one per query, in the order of ids, NaN if undefined


def areas_of_queries(
    columns: Columns, pos_label: Any, box: Sequence[float]
) -> FloatArray:
    """Return the area under the ROC curve of each query."""
    rankings = Rankings(columns, ["y_score"], pos_label)
    tasks, classes = rankings.tasks, rankings.classes
    return _of_queries(tasks, rankings.rows, _areas, classes, box=box)[0]


def values_of_queries(
    columns: Columns, metric: str, pos_label: Any = None, **options: Any
) -> Values:
    """Return one of the `_METRICS` of each query."""
    measure, agree = _METRICS[metric]
    tasks = Tasks()
    rows = check_parts(tasks, columns, ["y_score"])
    needed = []
    if agree is not None:
        labels = [tasks.add(_distinct_labels, one) for one in rows]
        needed = [tasks.add(agree, labels, pos_label=pos_label)]
    return _of_queries(tasks, rows, measure, *needed, **options)


def _areas(rows: PartitionRows, classes: Classes, box: Sequence[float]) -> Values:
    queries = check_queries(rows.qid, rows.labels.size)
    is_positive = classes.is_positive(rows)
    task = RankingTask(rows.scores["y_score"], is_positive, rows.weight, queries)
    return task.areas_by_query(box)


def _reference_aucs(rows: PartitionRows, names: NDArray[Any], classes: str) -> Values:
    first = first_counted_level(names, classes)
    level_rows = _level_rows(rows, names)
    return (level_rows.class_reference_aucs(rows.scores["y_score"], first),)


def _ordered_pairs(rows: PartitionRows, names: NDArray[Any]) -> Values:
    return (_level_rows(rows, names).ordered_pair_shares(rows.scores["y_score"]),)


def _level_rows(rows: PartitionRows, names: NDArray[Any]) -> LevelRows:
    levels = np.searchsorted(names, rows.labels)
    weight = None if rows.weight is None else rows.weight / rows.weight.max()
    return LevelRows(names, levels, weight, check_queries(rows.qid, levels.size))


def _average_precisions(rows: PartitionRows, positive: Any) -> Values:
    relevant = _is_relevant(rows, positive)
    scores = rows.scores["y_score"]
    return average_precisions(relevant, scores, rows.weight, rows.qid)


def _precisions(rows: PartitionRows, positive: Any, k: int) -> Values:
    relevant = _is_relevant(rows, positive)
    return precisions(relevant, rows.scores["y_score"], rows.weight, rows.qid, k)


def _gains(rows: PartitionRows, k: int | None, gains: str) -> Values:
    scores = rows.scores["y_score"]
    return normalized_gains(rows.labels, scores, rows.weight, rows.qid, k, gains)


def _is_relevant(rows: PartitionRows, positive: Any) -> BoolArray:
    if positive is None:
        return validation.check_relevance(rows.labels)
    return np.asarray(rows.labels == positive, dtype=bool)


def _distinct_labels(rows: PartitionRows) -> NDArray[Any]:
    if rows.labels.size == 0:
        return rows.labels
    with naming_partition(rows.number):
        try:
            return validation.check_levels(rows.labels)[0]
        except NotEnoughClassesError:
            return rows.labels[:1]


def _agree_on_levels(found: Sequence[NDArray[Any]], pos_label: Any) -> NDArray[Any]:
    seen = [labels for labels in found if labels.size]
    return validation.check_levels(np.concatenate(seen) if seen else np.zeros(0))[0]


def _agree_on_relevance(found: Sequence[NDArray[Any]], pos_label: Any) -> Any:
    """Return the label of the relevant rows, None if labels above 0 are relevant."""
    seen = [labels for labels in found if labels.size]
    labels = np.concatenate(seen) if seen else np.zeros(0)
    validation.check_relevance(labels, pos_label=pos_label)  # or an error
    if pos_label is None and isinstance(labels[0], str | bytes):
        return validation.check_binary_labels(labels)[0][1]
    return pos_label


def _of_queries(
    tasks: Tasks,
    rows: Sequence[Key],
    measure: Callable[..., Values],
    *needed: Key,
    **options: Any,
) -> Values:
    """Return the values of all queries, partition by partition."""
    found = Cluster().compute(
        tasks,
        [
            tasks.add(_of_partition, one, *needed, measure=measure, options=options)
            for one in rows
        ],
    )
    found = [(number, ids, values) for number, ids, values in found if len(ids)]
    _check_whole({number: ids for number, ids, _ in found})
    columns = zip(*(values for *_, values in found), strict=True)
    return tuple(np.concatenate(column) for column in columns)


def _of_partition(
    rows: PartitionRows,
    *needed: Any,
    measure: Callable[..., Values],
    options: dict[str, Any],
) -> tuple[int, Any, Values]:
    if rows.labels.size == 0:
        return rows.number, [], ()
    with naming_partition(rows.number):
        ids = validation.check_qid(np.asarray(rows.qid), rows.labels.size).ids
        return rows.number, ids, measure(rows, *needed, **options)


def _check_whole(ids_of_parts: dict[int, Any]) -> None:
    """Reject a query with rows in two partitions."""
    partitions: dict[Any, int] = {}
    for number, ids in ids_of_parts.items():
        for one in ids.tolist() if isinstance(ids, np.ndarray) else ids:
            first = partitions.setdefault(one, number)
            if first != number:
                raise ValueError(
                    f"query {one!r} has rows in partitions {first} and {number}; all "
                    "rows of a query must be in one. Shuffle the frame by query, "
                    "frame.shuffle(on='qid'), or write one file per group of queries."
                )


#: the metric of the queries of a part, and what all parts must agree on first
_METRICS: dict[str, tuple[Callable[..., Values], Callable[..., Any] | None]] = {
    "class_reference_auc": (_reference_aucs, _agree_on_levels),
    "ordered_pairs": (_ordered_pairs, _agree_on_levels),
    "average_precision": (_average_precisions, _agree_on_relevance),
    "precision": (_precisions, _agree_on_relevance),
    "gain": (_gains, None),
}
