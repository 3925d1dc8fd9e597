"""Rows apart from the training rows, by which the best round is chosen."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from aucmax._validation import FloatArray, check_qid
from aucmax.exceptions import NotEnoughClassesError
from aucmax.trees.data import Target, TreeColumns
from aucmax.trees.pair_objectives import METRICS, PairMetric, PairObjective

__all__ = ["Evaluation", "check_eval_metric", "check_eval_set"]

#: of labels, scores and query ids
Metric = Callable[[Any, FloatArray, Any], float]


@dataclass(frozen=True)
class Evaluation:
    """Rows for validation.

    Attributes
    ----------
    X : ndarray or sparse matrix of shape (n_rows, n_features)
        The features as LightGBM shall see them.
    measure : callable
        Takes the scores of the rows; the higher the better.
    at_start : float
        The measure where all scores are equal.
    """

    X: Any
    measure: Callable[[FloatArray], float]
    at_start: float


def check_eval_metric(
    eval_metric: Any, objective: PairObjective
) -> PairMetric | Metric:
    """Return the metric that the parameter `eval_metric` asks for, or complain."""
    if callable(eval_metric):
        return eval_metric  # type: ignore[no-any-return]
    name = objective.metric if eval_metric is None else eval_metric
    if not isinstance(name, str) or name not in METRICS:
        known = ", ".join(map(repr, METRICS))
        raise ValueError(
            f"eval_metric must be None, one of {known}, or a function of labels, "
            f"scores and query ids, got {eval_metric!r}."
        )
    metric = METRICS[name]
    if metric.labels == "two" and objective.labels == "levels":
        raise ValueError(
            f"eval_metric={name!r} is for two classes, but objective="
            f"{objective.name!r} ranks levels. Take 'multiclass_auc' or 'ordinal_auc'."
        )
    return metric


def check_eval_set(
    estimator: Any,
    eval_set: Sequence[Any],
    metric: PairMetric | Metric,
    target: Target,
    columns: TreeColumns,
    has_queries: bool,
) -> Evaluation:
    """Check rows for validation against the training rows.

    Parameters
    ----------
    estimator : LambdaMART
        Knows its columns by now.
    eval_set : tuple
        (X, y), or (X, y, qid) if there are queries.
    metric : PairMetric or callable
        What to measure.
    target : Target
        The training labels.
    columns : TreeColumns
        The training columns.
    has_queries : bool
        Whether the training rows have queries.
    """
    X, y, qid = _taken_apart(eval_set, has_queries)
    X = columns.read(estimator, X)
    labels = target.encode(y, "eval_set")
    if labels.size != X.shape[0]:
        raise ValueError(
            f"X of eval_set has {X.shape[0]} rows but y has {labels.size}; each row "
            "needs one label."
        )
    queries = None
    if has_queries:
        queries = check_qid(qid, labels.size, "qid of eval_set").codes
    measure: Callable[[FloatArray], float]
    try:
        if isinstance(metric, PairMetric):
            measure = metric.prepare(labels, queries, fpr_range=estimator.fpr_range)
        else:
            measure = _custom(metric, y, qid)
        at_start = measure(np.zeros(labels.size))
    except NotEnoughClassesError as error:
        raise NotEnoughClassesError(f"eval_set cannot be measured: {error}") from error
    return Evaluation(X, measure, at_start)


def _taken_apart(
    eval_set: Sequence[Any], has_queries: bool
) -> tuple[Any, ArrayLike, Any]:
    wanted = "(X, y, qid)" if has_queries else "(X, y)"
    if not isinstance(eval_set, tuple | list) or len(eval_set) not in (2, 3):
        raise ValueError(
            f"eval_set must be a tuple {wanted}, got {type(eval_set).__name__}."
        )
    X, y, *rest = eval_set
    qid = rest[0] if rest else None
    if has_queries and qid is None:
        raise ValueError(
            "fit has qid, so eval_set needs the queries of its rows too: (X, y, qid)."
        )
    if qid is not None and not has_queries:
        raise ValueError("eval_set has a qid, but fit has none: give both, or neither.")
    return X, y, qid


def _custom(metric: Metric, y: Any, qid: Any) -> Callable[[FloatArray], float]:
    def measure(scores: FloatArray) -> float:
        # a copy, since the scores change with the next round
        value = metric(y, scores.copy(), qid)
        try:
            number = float(value)
        except (TypeError, ValueError):
            number = np.nan
        if np.isnan(number):
            raise ValueError(f"eval_metric returned {value!r} instead of a number.")
        return number

    return measure
