"""The objectives and metrics as XGBoost wants them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucmax._core.validation import FloatArray
from aucmax.trees._plugin_pairs import PairPlug
from aucmax.trees._plugin_rows import LabelledRows
from aucmax.trees.pair_objectives import DEFAULT_RANGE, OUTSIDE_WEIGHT
from aucmax.trees.plugin import Plugin

__all__ = ["xgboost"]


def xgboost(
    objective: str = "logistic",
    *,
    fpr_range: Sequence[float] = DEFAULT_RANGE,
    outside_weight: float = OUTSIDE_WEIGHT,
    n_jobs: int = 1,
) -> Plugin:
    """Make an objective and its metric for XGBoost.

    It differs from :func:`lightgbm` in where queries and weights come from: queries are
    those of the ``DMatrix`` (``qid`` or ``group``), and with queries XGBoost has one
    weight per query, by which gradients are multiplied, while the metric averages the
    queries alike.

    Parameters
    ----------
    objective, fpr_range, outside_weight, n_jobs
        As in :func:`lightgbm`.

    Returns
    -------
    Plugin
        ``objective`` and ``metric`` are the arguments ``obj`` and ``custom_metric`` of
        ``xgboost.train`` or ``xgboost.cv``; early stopping knows by the name that
        more is better. ``sklearn_objective`` and ``sklearn_metric`` are for
        ``XGBClassifier`` (two classes) and ``XGBRegressor``, with all rows as one
        query; ``XGBRanker`` takes no objective but its own.

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
    pairs = PairPlug(objective, fpr_range, outside_weight, n_jobs)
    calls = _XGBoostCalls(pairs)
    return Plugin(
        pairs.name,
        calls.objective,
        calls.metric,
        calls.sklearn_objective,
        _ScikitLearnMetric(pairs),
    )


class _XGBoostCalls:
    """XGBoost's signatures; it looks for the argument sample_weight by its name."""

    def __init__(self, pairs: PairPlug) -> None:
        self.pairs = pairs

    def objective(
        self, scores: NDArray[Any], data: Any
    ) -> tuple[FloatArray, FloatArray]:
        return self.pairs.gradient_hessian(_rows_of(data), scores)

    def metric(self, scores: NDArray[Any], data: Any) -> tuple[str, float]:
        return self.pairs.name, self.pairs.measure(_rows_of(data), scores)

    def sklearn_objective(
        self, y_true: Any, y_pred: Any, sample_weight: Any = None
    ) -> tuple[FloatArray, FloatArray]:
        return self.pairs.gradient_hessian(LabelledRows(y_true, sample_weight), y_pred)


class _ScikitLearnMetric:
    """A metric that XGBoost calls by the name that it finds on the function."""

    def __init__(self, pairs: PairPlug) -> None:
        self.pairs = pairs
        self.__name__ = pairs.name

    def __call__(self, y_true: Any, y_score: Any, sample_weight: Any = None) -> float:
        return self.pairs.measure(LabelledRows(y_true, sample_weight), y_score)


def _rows_of(data: Any) -> LabelledRows:
    labels, weights = data.get_label(), data.get_weight()
    weights = weights if weights.size else None
    ends = data.get_uint_info("group_ptr")
    if ends.size == 0:
        return LabelledRows(labels, weights)
    return LabelledRows(labels, None, np.diff(ends), weights)
