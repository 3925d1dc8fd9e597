"""Rows to grow trees on, and rows to choose the best round by."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aucmax._core.censored_times import is_survival_target, join_target, split_target
from aucmax._core.eval_set import LabelledRows, check_eval_set, hold_out
from aucmax._core.features import (
    check_relevance_levels,
    check_row_count,
    check_two_labels,
    levels_with_weight,
)
from aucmax._core.validation import (
    FloatArray,
    IntArray,
    TooManyClassesError,
    check_qid,
    check_sample_weight,
    labels_among,
    warn_of_one_query,
)
from aucmax.exceptions import IncompatibleError, NotEnoughClassesError
from aucmax.metrics.metric_names import NamedMetric, parse_metric
from aucmax.trees.pair_objectives import PairObjective, prepare_measure
from aucmax.trees.tree_columns import read_rows

#: the labels of a fitted model by the name of its attribute: ``classes_``, ``levels_``
#: (both ascending) or ``is_survival_``
Target = Mapping[str, Any]
#: the metric of the scores of some rows; higher is better
Measure = Callable[[FloatArray], float]


def check_rows(
    estimator: Any,
    objective: PairObjective,
    X: Any,
    y: ArrayLike,
    sample_weight: ArrayLike | None,
    qid: ArrayLike | None,
) -> tuple[Target, LabelledRows]:
    """Check the arguments of `fit` except X; leave out rows without weight."""
    has_times = is_survival_target(y)
    if has_times and objective.labels != "times":
        raise IncompatibleError(
            f"objective={objective.name!r} ranks labels, but y has events and times. "
            "Use objective='concordance' or 'cox'."
        )
    if objective.labels == "times" and not has_times:
        raise IncompatibleError(
            f"objective={objective.name!r} needs a y with events and times, but y has "
            "labels. aucmax.metrics.survival_target(event, time) makes such a y; for "
            "two classes use objective='logistic' or 'auc'."
        )
    target: Target = {"is_survival_": True} if has_times else {}
    if objective.labels == "two":
        try:
            classes, labels, weight = check_two_labels(
                estimator, y, sample_weight, X.shape[0]
            )
        except TooManyClassesError as error:
            raise ValueError(
                f"{error} Or rank levels of relevance with objective='mauc' or "
                "'ordinal'."
            ) from None
        target = {"classes_": classes}
    else:
        labels = read_labels(estimator, target, y, "y")
        check_row_count(labels, X.shape[0])
        weight = check_sample_weight(sample_weight, labels.size)
        target = target or {"levels_": levels_with_weight(labels, weight)}
    queries = None if qid is None else check_qid(qid, labels.size)
    if objective.name == "ndcg":
        warn_of_one_query(qid, labels.size, "objective='ndcg'")
    rows = LabelledRows(X, labels, weight, queries)
    if weight is not None and not weight.all():
        rows = rows.part(np.flatnonzero(weight))
    return target, rows


def read_labels(estimator: Any, target: Target, y: Any, name: str) -> NDArray[Any]:
    """Return labels for risks and metrics; new levels are allowed."""
    if "is_survival_" in target:
        return join_target(*split_target(y))
    if "classes_" in target:
        return labels_among(target["classes_"], y, name)
    return check_relevance_levels(estimator, y, name)


def split_validation_rows(
    estimator: Any,
    objective: PairObjective,
    rows: LabelledRows,
    target: Target,
    columns: Mapping[str, Any],
    eval_set: Any,
) -> tuple[LabelledRows, LabelledRows | None, Measure | None]:
    """Return the rows to train on, those of `eval_set` or held out, and a metric."""
    metric = estimator.eval_metric
    if metric is None:
        metric = objective.metric_at(estimator.truncation)
    elif not callable(metric):
        metric = parse_metric(metric, "eval_metric", "None, or a function")
    if eval_set is not None:
        validation = check_eval_set(
            eval_set,
            partial(read_rows, estimator, columns),
            partial(read_labels, estimator, target),
        )
        if (validation.queries is None) != (rows.queries is None):
            raise ValueError(
                "fit and eval_set must both have a qid, or neither; with queries, "
                "eval_set is a dict with the keys 'X', 'y' and 'qid'."
            )
    elif estimator.n_iter_no_change is not None:
        train, held = _hold_out(estimator, target, rows)
        if isinstance(metric, NamedMetric) and rows.queries is None:
            metric = metric.of_share(held.size / rows.labels.size)
        rows, validation = rows.part(train), rows.part(held)
    else:
        return rows, None, None
    if not isinstance(metric, NamedMetric):
        return rows, validation, _custom_measure(metric, target, validation)
    try:
        measure = _named_measure(metric, target, validation, estimator.fpr_range)
    except NotEnoughClassesError as error:
        raise NotEnoughClassesError(
            f"the validation rows cannot be measured: {error}"
        ) from error
    return rows, validation, measure


def _hold_out(
    estimator: Any, target: Target, rows: LabelledRows
) -> tuple[IntArray, IntArray]:
    """Return the training and the held-out rows."""
    strata, codes = _as_given(target, rows.labels), rows.codes
    if "is_survival_" in target:  # strata are not held out in whole queries
        strata, codes = rows.labels["event"], None
        if min(strata.sum(), (~strata).sum()) < 2:
            strata = np.zeros_like(strata)
    fraction, random_state = estimator.validation_fraction, estimator.random_state
    return hold_out(strata, fraction, random_state, codes)


def _named_measure(
    metric: NamedMetric, target: Target, rows: LabelledRows, fpr_range: Any
) -> Measure:
    labels, has_times = rows.labels, "is_survival_" in target
    if has_times != metric.kind.uses_times:
        raise IncompatibleError(
            f"eval_metric={metric.name!r} does not measure "
            f"{'censored times' if has_times else 'labels'}. Use "
            f"{'concordance' if has_times else 'auc'!r}."
        )
    if metric.kind.uses_levels:
        labels = labels.astype(np.int64)
    elif "levels_" in target:
        labels = labels > target["levels_"][0]
    return prepare_measure(metric, labels, rows.codes, rows.weight, fpr_range)


def _custom_measure(
    metric: Callable[..., Any], target: Target, rows: LabelledRows
) -> Measure:
    labels, options = _as_given(target, rows.labels), dict[str, Any]()
    if rows.weight is not None:
        options["sample_weight"] = rows.weight
    if rows.queries is not None:
        options["qid"] = rows.queries.ids[rows.queries.codes]

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


def _as_given(target: Target, labels: NDArray[Any]) -> NDArray[Any]:
    """Return labels as the user has them."""
    classes = target.get("classes_")
    return labels if classes is None else classes[labels.astype(np.intp)]
