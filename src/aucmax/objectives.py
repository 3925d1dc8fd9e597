"""AUC objectives and metrics for your own training code in LightGBM and XGBoost.

There is none for CatBoost: it hands an objective written in Python pieces of at most
1,000 rows (version 1.2), without their queries, so that no pairs can be formed.
"""

from collections.abc import Callable, Sequence
from copy import deepcopy
from functools import partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aucmax._core.features import check_relevance_levels
from aucmax._core.parameters import check_interval, check_range
from aucmax._core.validation import check_binary_labels
from aucmax.risks.contract import BoundTreeRisk, Derivatives
from aucmax.trees.pair_objectives import (
    DEFAULT_RANGE,
    OUTSIDE_WEIGHT,
    find_objective,
    prepare_measure,
)

__all__ = ["Plugin", "lightgbm", "xgboost"]

_MAX_KEPT = 4  # data sets: one to train on, and a few to evaluate


# labels, row weights, and the rows of each query; None for weights 1, and one query
_Rows = tuple[Any, Any, Any]
Value = TypeVar("Value")


class Plugin:
    """An objective and its metric, ready for a library's training calls.

    All four callables can be pickled and deep-copied, as searches over parameters need.
    They keep the prepared pairs of the last few data sets, so create one plug-in and
    use it throughout.

    Attributes
    ----------
    name : str
        The name of the metric in the library's output.
    objective, metric : callable
        For the library's own ``train``.
    sklearn_objective, sklearn_metric : callable
        For its scikit-learn estimators: parameters ``objective`` and ``eval_metric``.
    """

    name: str
    objective: Any
    metric: Any
    sklearn_objective: Any
    sklearn_metric: Any


class _PairPlugin(Plugin):
    """The calls of both libraries, for one objective over all pairs."""

    def __init__(
        self,
        objective: str,
        fpr_range: Sequence[float],
        outside_weight: float = OUTSIDE_WEIGHT,
        n_jobs: int = 1,
        truncation: int | None = None,
    ) -> None:
        fpr_range = check_range("fpr_range", fpr_range)
        check_interval("outside_weight", outside_weight, 1.0, zero=True)
        self._arguments = objective, fpr_range, outside_weight, n_jobs, truncation
        self._objective = find_objective(objective)
        if self._objective.labels == "times":
            raise ValueError(
                f"objective={objective!r} needs events and times, which data sets of "
                f"the library do not hold. Use aucmax.LambdaMART({objective!r})."
            )
        self._metric = self._objective.metric_at(truncation)
        self._risks: list[tuple[_Rows, BoundTreeRisk]] = []
        self._measures: list[tuple[_Rows, Callable[[ArrayLike], float]]] = []
        # XGBoost maximises metrics whose names begin with auc
        self.name = f"aucmax_{self._metric.name}"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self._arguments  # without the rows that are kept

    # LightGBM counts the arguments; XGBoost looks for `sample_weight` among their names
    def sklearn_objective(
        self, y_true: Any, y_pred: Any, sample_weight: Any = None, group: Any = None
    ) -> Derivatives:
        """Return gradient and hessian for scikit-learn estimators of the library."""
        return self._derivatives((y_true, sample_weight, group), y_pred)

    def objective(self, scores: NDArray[Any], data: Any) -> Derivatives:
        """Return gradient and hessian for the library's training functions."""
        rows, query_weights = _rows_of(data)
        gradient, hessian = self._derivatives(rows, scores)
        if query_weights is not None:
            by_row = np.repeat(query_weights, rows[2]).astype(np.float64)
            gradient *= by_row
            hessian *= by_row
        return gradient, hessian

    def metric(self, scores: NDArray[Any], data: Any) -> tuple[Any, ...]:
        """Return the name and the value of the metric."""
        return self.name, self._measure(_rows_of(data)[0], scores)

    def _derivatives(self, rows: _Rows, scores: NDArray[Any]) -> Derivatives:
        """Return both derivatives, on the scale of about one per row."""
        _reject_diverged(scores)
        risk = _kept_or_made(self._risks, rows, self._bind)
        return risk.gradient_hessian(scores, scaled=True)

    def _measure(self, rows: _Rows, scores: NDArray[Any]) -> float:
        """Return the metric; higher is better."""
        _reject_diverged(scores)
        return _kept_or_made(self._measures, rows, self._prepare)(scores)

    def _bind(self, rows: _Rows) -> BoundTreeRisk:
        risk: BoundTreeRisk = self._objective.risk(*self._arguments[1:]).bind(
            *self._checked(rows)
        )
        return risk

    def _prepare(self, rows: _Rows) -> Callable[[ArrayLike], float]:
        labels, weights, qid = self._checked(rows)
        fpr_range = self._arguments[1]
        return prepare_measure(self._metric, labels, qid, weights, fpr_range)

    def _checked(self, rows: _Rows) -> tuple[Any, Any, Any]:
        """Check labels; return labels, weights, and the query of each row."""
        labels, weights, sizes = rows
        if self._objective.labels == "two":
            check_binary_labels(labels, "label")
        else:
            check_relevance_levels(self, labels)
        qid = None if sizes is None else np.repeat(np.arange(len(sizes)), sizes)
        return labels, weights, qid


class _LightGBMPlugin(_PairPlugin):
    """LightGBM's metrics also return whether higher is better."""

    def metric(self, scores: NDArray[Any], data: Any) -> tuple[Any, ...]:
        return *super().metric(scores, data), True

    def sklearn_metric(
        self, y_true: Any, y_pred: Any, weight: Any, group: Any
    ) -> tuple[str, float, bool]:
        return self.name, self._measure((y_true, weight, group), y_pred), True


class _XGBoostPlugin(_PairPlugin):
    """XGBoost's metric for scikit-learn returns a number, and has the metric's name."""

    @property
    def sklearn_metric(self) -> Any:
        metric = partial(self._measure_labels)
        vars(metric)["__name__"] = self.name
        return metric

    def _measure_labels(
        self, y_true: Any, y_score: Any, sample_weight: Any = None
    ) -> float:
        return self._measure((y_true, sample_weight, None), y_score)


def lightgbm(
    objective: str = "logistic",
    *,
    fpr_range: Sequence[float] = DEFAULT_RANGE,
    outside_weight: float = OUTSIDE_WEIGHT,
    n_jobs: int = 1,
    truncation: int | None = None,
) -> Plugin:
    """Make an objective and its metric for LightGBM.

    All pairs of a query count, without sampling, at the cost of a sort per round. The
    queries are the groups of the data set; without groups all rows are one query.
    Weights act within a query, and all queries count the same. Gradients are those of
    :class:`aucmax.LambdaMART`, which grows the same trees.

    Parameters
    ----------
    objective : {"logistic", "auc", "pauc", "mauc", "ordinal", "ndcg"}
        As in :class:`aucmax.LambdaMART`; "logistic" by default. The first three take
        two distinct labels, the others levels: whole numbers from 0.
    fpr_range : pair of float, default=(0.0, 0.1)
        Range of the false positive rate, for "pauc" only.
    outside_weight : float, default=0.3
        Relative weight of a negative beyond three times the range, for "pauc" only.
    n_jobs : int, default=1
        Number of threads for gradients; the result does not depend on it.
    truncation : int, default=None
        Number of top ranks that count, for "ndcg" only.

    Returns
    -------
    Plugin
        ``objective`` goes into the parameters of ``lightgbm.train`` or
        ``lightgbm.cv``, ``metric`` is their ``feval``. ``sklearn_objective`` and
        ``sklearn_metric`` are for ``LGBMRanker`` (with ``group``), ``LGBMClassifier``
        (two classes) and ``LGBMRegressor``. Scores are raw, not probabilities: only
        their order matters.

    Examples
    --------
    >>> import lightgbm as lgb
    >>> import numpy as np
    >>> from aucmax import objectives
    >>> X = np.random.default_rng(0).normal(size=(500, 3))
    >>> y = X[:, 0] > 1
    >>> plugin = objectives.lightgbm("pauc", fpr_range=(0, 0.1))
    >>> params = {"objective": plugin.objective, "verbose": -1}
    >>> data = lgb.Dataset(X, y)
    >>> booster = lgb.train(params, data, num_boost_round=5, feval=plugin.metric)
    >>> booster.num_trees()
    5
    """
    return _LightGBMPlugin(objective, fpr_range, outside_weight, n_jobs, truncation)


def xgboost(
    objective: str = "logistic",
    *,
    fpr_range: Sequence[float] = DEFAULT_RANGE,
    outside_weight: float = OUTSIDE_WEIGHT,
    n_jobs: int = 1,
    truncation: int | None = None,
) -> Plugin:
    """Make an objective and its metric for XGBoost.

    It differs from :func:`lightgbm` in the source of queries and weights: queries are
    those of the ``DMatrix`` (``qid`` or ``group``), and with queries XGBoost has one
    weight per query, which multiplies the gradients; the metric is the plain mean over
    queries.

    Parameters
    ----------
    objective, fpr_range, outside_weight, n_jobs, truncation
        As in :func:`lightgbm`.

    Returns
    -------
    Plugin
        ``objective`` and ``metric`` are the arguments ``obj`` and ``custom_metric`` of
        ``xgboost.train`` or ``xgboost.cv``; early stopping infers from the name that
        higher is better. ``sklearn_objective`` and ``sklearn_metric`` are for
        ``XGBClassifier`` (two classes) and ``XGBRegressor``, with all rows as one
        query; ``XGBRanker`` supports its own objectives only.

    Examples
    --------
    >>> import numpy as np
    >>> import xgboost as xgb
    >>> from aucmax import objectives
    >>> X = np.random.default_rng(0).normal(size=(500, 3))
    >>> data = xgb.DMatrix(X, X[:, 0] > 1, qid=np.repeat(np.arange(5), 100))
    >>> plugin = objectives.xgboost("auc")
    >>> booster = xgb.train(
    ...     {"max_depth": 3},
    ...     data,
    ...     num_boost_round=5,
    ...     obj=plugin.objective,
    ...     custom_metric=plugin.metric,
    ... )
    >>> booster.num_boosted_rounds()
    5
    """
    return _XGBoostPlugin(objective, fpr_range, outside_weight, n_jobs, truncation)


def _rows_of(data: Any) -> tuple[_Rows, NDArray[Any] | None]:
    """Read a Dataset of LightGBM, or a DMatrix of XGBoost and its query weights."""
    labels, weights = data.get_label(), data.get_weight()
    if not hasattr(data, "get_uint_info"):
        return (labels, weights, data.get_group()), None
    weights = weights if weights.size else None
    ends = data.get_uint_info("group_ptr")
    if ends.size == 0:
        return (labels, weights, None), None
    return (labels, None, np.diff(ends)), weights


def _kept_or_made(
    kept: list[tuple[_Rows, Value]], rows: _Rows, make: Callable[[_Rows], Value]
) -> Value:
    """Return what was made of these rows, kept for the last few data sets.

    They are recognised by their values: libraries copy arrays at each call, and users
    may change labels. A comparison costs little of binding them.
    """
    for known, value in kept:
        if all(map(_is_equal, known, rows)):
            return value
    rows = deepcopy(rows)
    value = make(rows)
    kept[:] = [(rows, value), *kept[: _MAX_KEPT - 1]]
    return value


def _is_equal(one: Any, other: Any) -> bool:
    if one is None or other is None:
        return one is other
    return np.array_equal(one, other)


def _reject_diverged(scores: NDArray[Any]) -> None:
    is_finite = np.isfinite(scores)
    if is_finite.all():
        return
    row = int(np.argmin(is_finite))
    raise ValueError(
        f"{scores.size - np.count_nonzero(is_finite)} of {scores.size} scores are not "
        f"finite, the first in row {row}: {scores.flat[row]}. Training has diverged: "
        "lower the learning rate, or increase the minimum number of rows per leaf or "
        "the L2 penalty. In the first round, check the initial scores."
    )
