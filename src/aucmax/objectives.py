"""AUC objectives and metrics for your own training code in LightGBM and XGBoost.

There is none for CatBoost: it hands an objective written in Python pieces of at most
1,000 rows (version 1.2), without their queries, so that no pairs can be formed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aucmax._core.features import check_relevance_levels
from aucmax._core.parameters import check_interval, check_range
from aucmax._core.validation import FloatArray, IntArray, check_binary_labels
from aucmax.risks.contract import BoundTreeRisk
from aucmax.trees.pair_objectives import (
    DEFAULT_RANGE,
    OUTSIDE_WEIGHT,
    find_objective,
    prepare_measure,
)

__all__ = ["Plugin", "lightgbm", "xgboost"]

_MAX_KEPT = 4  # data sets: one to train on, and a few to evaluate


class LabelledRows(NamedTuple):
    """Labels, weights and queries of a data set."""

    labels: NDArray[Any]  # classes or levels
    weights: NDArray[Any] | None = None  # of the rows
    sizes: NDArray[Any] | None = None  # rows of each query; None for one query
    query_weights: NDArray[Any] | None = None

    @property
    def qid(self) -> IntArray | None:
        """The query of each row."""
        if self.sizes is None:
            return None
        return np.repeat(np.arange(self.sizes.size), self.sizes)

    def is_equal(self, other: LabelledRows) -> bool:
        """Return whether all values are the same, in a pass over each array."""
        return all(
            np.array_equal(mine, its)
            if mine is not None and its is not None
            else mine is its
            for mine, its in zip(self, other, strict=True)
        )


class _BoundRows:
    """A data set, with its pairs and its metric once they are needed."""

    def __init__(self, plugin: _PairPlugin, rows: LabelledRows) -> None:
        self._plugin = plugin
        self.rows = deepcopy(rows)
        if plugin._objective.labels == "two":
            check_binary_labels(rows.labels, "label")
        else:
            check_relevance_levels(plugin, rows.labels)

    @cached_property
    def pairs(self) -> BoundTreeRisk:
        """The risk of the rows."""
        risk = self._plugin._objective.risk(*self._plugin._arguments[1:])
        bound: BoundTreeRisk = risk.bind(
            self.rows.labels, self.rows.weights, self.rows.qid
        )
        return bound

    @cached_property
    def measure(self) -> Callable[[ArrayLike], float]:
        """The metric of scores of the rows."""
        rows, plugin = self.rows, self._plugin
        return prepare_measure(
            plugin._metric, rows.labels, rows.qid, rows.weights, plugin._arguments[1]
        )


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
        self._kept: list[_BoundRows] = []
        # XGBoost maximises metrics whose names begin with auc
        self.name = f"aucmax_{self._metric.name}"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self._arguments  # without the rows that are kept

    # LightGBM counts the arguments; XGBoost looks for `sample_weight` among their names
    def sklearn_objective(
        self, y_true: Any, y_pred: Any, sample_weight: Any = None, group: Any = None
    ) -> tuple[FloatArray, FloatArray]:
        """Return gradient and hessian for scikit-learn estimators of the library."""
        return self._derivatives(LabelledRows(y_true, sample_weight, group), y_pred)

    def objective(
        self, scores: NDArray[Any], data: Any
    ) -> tuple[FloatArray, FloatArray]:
        """Return gradient and hessian for the library's training functions."""
        return self._derivatives(_rows_of(data), scores)

    def metric(self, scores: NDArray[Any], data: Any) -> tuple[Any, ...]:
        """Return the name and the value of the metric."""
        return self.name, self._measure(_rows_of(data), scores)

    def _derivatives(
        self, rows: LabelledRows, scores: NDArray[Any]
    ) -> tuple[FloatArray, FloatArray]:
        """Return both derivatives, on the scale of about one per row."""
        _reject_diverged(scores)
        gradient, hessian = self._bound(rows).pairs.gradient_hessian(
            scores, scaled=True
        )
        if rows.sizes is not None and rows.query_weights is not None:
            by_row = np.repeat(rows.query_weights, rows.sizes).astype(np.float64)
            gradient *= by_row
            hessian *= by_row
        return gradient, hessian

    def _measure(self, rows: LabelledRows, scores: NDArray[Any]) -> float:
        """Return the metric; higher is better."""
        _reject_diverged(scores)
        return self._bound(rows).measure(scores)

    def _bound(self, rows: LabelledRows) -> _BoundRows:
        """Return the bound rows, kept for the last few data sets.

        They are recognised by their values: libraries copy arrays at each call, and
        users may change labels. A comparison costs little of binding them.
        """
        for known in self._kept:
            if known.rows.is_equal(rows):
                return known
        bound = _BoundRows(self, rows)
        self._kept = [bound, *self._kept[: _MAX_KEPT - 1]]
        return bound


class _LightGBMPlugin(_PairPlugin):
    """LightGBM's metrics also return whether higher is better."""

    def metric(self, scores: NDArray[Any], data: Any) -> tuple[Any, ...]:
        return *super().metric(scores, data), True

    def sklearn_metric(
        self, y_true: Any, y_pred: Any, weight: Any, group: Any
    ) -> tuple[str, float, bool]:
        rows = LabelledRows(y_true, weight, group)
        return self.name, self._measure(rows, y_pred), True


class _XGBoostPlugin(_PairPlugin):
    """XGBoost's metric for scikit-learn returns a number, and has the metric's name."""

    @property
    def sklearn_metric(self) -> Any:
        return _NamedMetric(self)


class _NamedMetric:
    """A metric that XGBoost calls by the name of the function."""

    def __init__(self, plugin: _PairPlugin) -> None:
        self.plugin = plugin
        self.__name__ = plugin.name

    def __call__(self, y_true: Any, y_score: Any, sample_weight: Any = None) -> float:
        return self.plugin._measure(LabelledRows(y_true, sample_weight), y_score)


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


def _rows_of(data: Any) -> LabelledRows:
    """Read the rows of a Dataset of LightGBM, or of a DMatrix of XGBoost."""
    labels, weights = data.get_label(), data.get_weight()
    if not hasattr(data, "get_uint_info"):
        return LabelledRows(labels, weights, data.get_group())
    weights = weights if weights.size else None
    ends = data.get_uint_info("group_ptr")
    if ends.size == 0:
        return LabelledRows(labels, weights)
    return LabelledRows(labels, None, np.diff(ends), weights)


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
