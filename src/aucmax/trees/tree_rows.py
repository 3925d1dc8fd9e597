"""Rows to grow trees on, and rows to choose the best round by."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aucmax._core.censored_times import is_survival_target, join_target, split_target
from aucmax._core.eval_set import hold_out, unpack_eval_set
from aucmax._core.features import (
    check_relevance_levels,
    check_row_count,
    check_two_labels,
    levels_with_weight,
)
from aucmax._core.validation import (
    FloatArray,
    IntArray,
    Queries,
    TooManyClassesError,
    check_qid,
    check_sample_weight,
    labels_among,
    warn_of_one_query,
)
from aucmax.exceptions import IncompatibleError, NotEnoughClassesError
from aucmax.metrics.metric_names import NamedMetric, parse_metric
from aucmax.trees.pair_objectives import PairObjective, prepare_measure
from aucmax.trees.tree_columns import TreeColumns

#: of labels and scores, with the keywords `sample_weight` and `qid` where there are any
Metric = Callable[..., float]
_NO_VALUES = np.empty(0)


@dataclass(frozen=True)
class TrainingLabels:
    """The labels that a model has seen."""

    # negative and positive class, or the levels; ascending; none of censored times
    values: NDArray[Any]
    is_levels: bool
    is_times: bool = False

    @property
    def has_classes(self) -> bool:
        """Whether there are two classes."""
        return not (self.is_levels or self.is_times)

    @classmethod
    def of(cls, estimator: Any) -> Self:
        """Return the labels of a fitted model, by its attributes."""
        if hasattr(estimator, "is_survival_"):
            return cls(_NO_VALUES, False, is_times=True)
        if hasattr(estimator, "levels_"):
            return cls(estimator.levels_, True)
        return cls(estimator.classes_, False)

    def fitted_attributes(self) -> dict[str, Any]:
        """Return the attributes that `of` reads."""
        if self.is_times:
            return {"is_survival_": True}
        return {"levels_" if self.is_levels else "classes_": self.values}

    def encode(self, estimator: Any, y: ArrayLike, name: str) -> NDArray[Any]:
        """Return labels for risks and metrics; new levels are allowed."""
        if self.is_times:
            return join_target(*split_target(y))
        if self.is_levels:
            return check_relevance_levels(estimator, y, name)
        return labels_among(self.values, y, name)

    def decode(self, labels: NDArray[Any]) -> NDArray[Any]:
        """Return labels as the user has them."""
        return self.values[labels.astype(np.intp)] if self.has_classes else labels


@dataclass(frozen=True)
class TreeRows:
    """Rows to train on, or to validate on."""

    X: Any  # the features for LightGBM
    labels: NDArray[Any]  # positive or not, or the level
    weight: FloatArray | None
    queries: Queries | None

    @property
    def qid(self) -> IntArray | None:
        """The number of each row's query."""
        return None if self.queries is None else self.queries.codes

    def part(self, rows: IntArray) -> "TreeRows":
        """Return some of the rows."""
        queries = self.queries
        return TreeRows(
            self.X[rows],
            self.labels[rows],
            None if self.weight is None else self.weight[rows],
            None if queries is None else Queries(queries.codes[rows], queries.ids),
        )


def check_rows(
    estimator: Any,
    objective: PairObjective,
    X: Any,
    y: ArrayLike,
    sample_weight: ArrayLike | None,
    qid: ArrayLike | None,
) -> tuple[TrainingLabels, TreeRows]:
    """Check the arguments of `fit` except X; leave out rows without weight."""
    if is_survival_target(y) and objective.labels != "times":
        raise IncompatibleError(
            f"objective={objective.name!r} ranks labels, but y has events and times. "
            "Use objective='concordance' or 'cox'."
        )
    check = _CHECKS[objective.labels]
    known, labels, weight = check(estimator, y, sample_weight, X.shape[0])
    queries = None if qid is None else check_qid(qid, labels.size)
    if objective.name == "ndcg":
        warn_of_one_query(qid, labels.size, "objective='ndcg'")
    rows = TreeRows(X, labels, weight, queries)
    if weight is not None and not weight.all():
        rows = rows.part(np.flatnonzero(weight))
    return known, rows


def _check_classes(
    estimator: Any, y: ArrayLike, sample_weight: ArrayLike | None, n_rows: int
) -> tuple[TrainingLabels, NDArray[Any], FloatArray | None]:
    try:
        classes, labels, weight = check_two_labels(estimator, y, sample_weight, n_rows)
    except TooManyClassesError as error:
        raise ValueError(
            f"{error} Or rank levels of relevance with objective='mauc' or 'ordinal'."
        ) from None
    return TrainingLabels(classes, False), labels, weight


def _check_levels(
    estimator: Any, y: ArrayLike, sample_weight: ArrayLike | None, n_rows: int
) -> tuple[TrainingLabels, NDArray[Any], FloatArray | None]:
    levels = check_relevance_levels(estimator, y)
    check_row_count(levels, n_rows)
    weight = check_sample_weight(sample_weight, n_rows)
    return TrainingLabels(levels_with_weight(levels, weight), True), levels, weight


def _check_times(
    estimator: Any, y: ArrayLike, sample_weight: ArrayLike | None, n_rows: int
) -> tuple[TrainingLabels, NDArray[Any], FloatArray | None]:
    if not is_survival_target(y):
        raise IncompatibleError(
            f"objective={estimator.objective!r} needs a y with events and times, but y "
            "has labels. aucmax.metrics.survival_target(event, time) makes such a y; "
            "for two classes use objective='logistic' or 'auc'."
        )
    target = join_target(*split_target(y))
    check_row_count(target, n_rows)
    weight = check_sample_weight(sample_weight, n_rows)
    return TrainingLabels(_NO_VALUES, False, is_times=True), target, weight


_CHECKS = {"two": _check_classes, "levels": _check_levels, "times": _check_times}


@dataclass(frozen=True)
class Evaluation:
    """Rows for validation."""

    X: Any  # the features for LightGBM
    measure: Callable[[FloatArray], float]  # of the rows' scores; higher is better


def split_validation_rows(
    estimator: Any,
    objective: PairObjective,
    rows: TreeRows,
    known: TrainingLabels,
    columns: TreeColumns,
    eval_set: Any,
) -> tuple[TreeRows, Evaluation | None]:
    """Return the rows to train on, and those of `eval_set` or held out, if any."""
    metric = _check_eval_metric(estimator, objective)
    if eval_set is not None:
        held_out = _check_eval_set(estimator, rows, known, columns, eval_set)
    elif estimator.n_iter_no_change is not None:
        train, held = hold_out(
            rows.labels.size,
            _strata_of_events(rows) if known.is_times else known.decode(rows.labels),
            estimator.validation_fraction,
            estimator.random_state,
            None if known.is_times else rows.qid,  # strata are not held out as a whole
        )
        if isinstance(metric, NamedMetric) and rows.qid is None:
            metric = metric.of_share(held.size / rows.labels.size)
        rows, held_out = rows.part(train), rows.part(held)
    else:
        return rows, None
    if not isinstance(metric, NamedMetric):
        return rows, Evaluation(held_out.X, _custom(metric, known, held_out))
    try:
        labels = held_out.labels
        if known.is_times != metric.kind.uses_times:
            raise IncompatibleError(
                f"eval_metric={metric.name!r} does not measure "
                f"{'censored times' if known.is_times else 'labels'}. Use "
                f"{'concordance' if known.is_times else 'auc'!r}."
            )
        if known.is_levels and not metric.kind.uses_levels:
            labels = labels > known.values[0]
        elif metric.kind.uses_levels:
            labels = labels.astype(np.int64)
        measure = prepare_measure(
            metric, labels, held_out.qid, held_out.weight, estimator.fpr_range
        )
    except NotEnoughClassesError as error:
        raise NotEnoughClassesError(
            f"the validation rows cannot be measured: {error}"
        ) from error
    return rows, Evaluation(held_out.X, measure)


def _strata_of_events(rows: TreeRows) -> NDArray[Any]:
    """Return strata to hold rows out by: with or without an event, if both are many."""
    event: NDArray[Any] = rows.labels["event"]
    return event if min(event.sum(), (~event).sum()) > 1 else np.zeros_like(event)


def _check_eval_metric(
    estimator: Any, objective: PairObjective
) -> NamedMetric | Metric:
    """Return the metric that the parameter `eval_metric` names."""
    eval_metric = estimator.eval_metric
    if eval_metric is None:
        return objective.metric_at(estimator.truncation)
    if callable(eval_metric):
        return eval_metric  # type: ignore[no-any-return]
    return parse_metric(eval_metric, "eval_metric", "None, or a function")


def _check_eval_set(
    estimator: Any,
    rows: TreeRows,
    known: TrainingLabels,
    columns: TreeColumns,
    eval_set: Any,
) -> TreeRows:
    X, y, sample_weight, qid = unpack_eval_set(eval_set)
    X = columns.read(estimator, X)
    labels = known.encode(estimator, y, "y of eval_set")
    check_row_count(labels, X.shape[0], " of eval_set")
    weight = check_sample_weight(
        sample_weight, labels.size, "sample_weight of eval_set"
    )
    if (qid is None) != (rows.qid is None):
        raise ValueError(
            "fit and eval_set must both have a qid, or neither; with queries, eval_set "
            "is a dict with the keys 'X', 'y' and 'qid'."
        )
    queries = None if qid is None else check_qid(qid, labels.size, "qid of eval_set")
    return TreeRows(X, labels, weight, queries)


def _custom(
    metric: Metric, known: TrainingLabels, rows: TreeRows
) -> Callable[[FloatArray], float]:
    labels, options = known.decode(rows.labels), dict[str, Any]()
    if rows.weight is not None:
        options["sample_weight"] = rows.weight
    if rows.queries is not None:
        options["qid"] = _ids(rows.queries)

    def measure(scores: FloatArray) -> float:
        # a copy, since the scores change with the next round
        value = metric(labels, scores.copy(), **options)
        try:
            number = float(value)
        except (TypeError, ValueError):
            number = np.nan
        if np.isnan(number):
            raise ValueError(f"eval_metric returned {value!r} instead of a number.")
        return number

    return measure


def _ids(queries: Queries) -> NDArray[Any]:
    """Return the id of each row's query, as the user has it."""
    if isinstance(queries.ids, np.ndarray):
        return queries.ids[queries.codes]
    ids = np.empty(queries.n_queries, dtype=object)
    ids[:] = queries.ids
    return ids[queries.codes]
