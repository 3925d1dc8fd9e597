"""The objectives and metrics as LightGBM and XGBoost call them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucmax._core.validation import FloatArray
from aucmax.trees._plugin_pairs import LabelledRows, PairPlug
from aucmax.trees.pair_objectives import DEFAULT_RANGE, OUTSIDE_WEIGHT


@dataclass(frozen=True)
class Plugin:
    """An objective and its metric, ready for a library's training calls.

    All four can be pickled and deep-copied, as searches over parameters need. They keep
    what they have counted of the last few data sets, so make one plug-in and use it
    throughout.

    Attributes
    ----------
    name : str
        What the metric is called in the library's output.
    objective, metric : callable
        For the library's own ``train``.
    sklearn_objective, sklearn_metric : callable
        For its scikit-learn estimators: parameter ``objective``, and ``eval_metric``.
    """

    name: str
    objective: Callable[..., Any]
    metric: Callable[..., Any]
    sklearn_objective: Callable[..., Any]
    sklearn_metric: Callable[..., Any]


def lightgbm(
    objective: str = "logistic",
    *,
    fpr_range: Sequence[float] = DEFAULT_RANGE,
    outside_weight: float = OUTSIDE_WEIGHT,
    n_jobs: int = 1,
) -> Plugin:
    """Make an objective and its metric for LightGBM.

    All pairs of a query count, none is sampled, at the price of a sort per round. The
    queries are the groups of the data set; without groups all rows are one query.
    Weights act within a query, and queries count alike. Gradients are those of
    :class:`aucmax.LambdaMART`, which grows the same trees.

    Parameters
    ----------
    objective : {"logistic", "auc", "pauc", "mauc", "ordinal"}, default="logistic"
        As in :class:`aucmax.LambdaMART`. The first three take labels of two values,
        the others levels: whole numbers from 0.
    fpr_range : pair of float, default=(0.0, 0.1)
        Range of the false positive rate, for "pauc" alone.
    outside_weight : float, default=0.3
        What a negative beyond three times the range weighs, for "pauc" alone.
    n_jobs : int, default=1
        Number of threads for gradients; the result does not depend on it.

    Returns
    -------
    Plugin
        ``objective`` goes into the parameters of ``lightgbm.train`` or
        ``lightgbm.cv``, ``metric`` is their ``feval``. ``sklearn_objective`` and
        ``sklearn_metric`` are for ``LGBMRanker`` (with ``group``), ``LGBMClassifier``
        (two classes) and ``LGBMRegressor``. Scores mean their order alone: they are
        raw, not probabilities.

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
    return _plugin(_LightGBMCalls(objective, fpr_range, outside_weight, n_jobs))


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
    return _plugin(_XGBoostCalls(objective, fpr_range, outside_weight, n_jobs))


class _LibraryCalls:
    """One objective over all pairs, by the signatures that both libraries call.

    LightGBM counts the arguments of `sklearn_objective`; XGBoost looks for
    `sample_weight` among their names.
    """

    sklearn_metric: Any

    def __init__(self, *arguments: Any) -> None:
        self.pairs = PairPlug(*arguments)

    def objective(
        self, scores: NDArray[Any], data: Any
    ) -> tuple[FloatArray, FloatArray]:
        return self.pairs.gradient_hessian(_rows_of(data), scores)

    def metric(self, scores: NDArray[Any], data: Any) -> tuple[Any, ...]:
        return self.pairs.name, self.pairs.measure(_rows_of(data), scores)

    def sklearn_objective(
        self, y_true: Any, y_pred: Any, sample_weight: Any = None, group: Any = None
    ) -> tuple[FloatArray, FloatArray]:
        rows = LabelledRows(y_true, sample_weight, group)
        return self.pairs.gradient_hessian(rows, y_pred)


class _LightGBMCalls(_LibraryCalls):
    """LightGBM's metrics also return whether more is better."""

    def metric(self, scores: NDArray[Any], data: Any) -> tuple[Any, ...]:
        return *super().metric(scores, data), True

    def sklearn_metric(
        self, y_true: Any, y_pred: Any, weight: Any, group: Any
    ) -> tuple[str, float, bool]:
        rows = LabelledRows(y_true, weight, group)
        return self.pairs.name, self.pairs.measure(rows, y_pred), True


class _XGBoostCalls(_LibraryCalls):
    """XGBoost's metric of scikit-learn is a number, named after the function."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.sklearn_metric = _NamedMetric(self.pairs)


class _NamedMetric:
    """A metric that XGBoost calls by the name that it finds on the function."""

    def __init__(self, pairs: PairPlug) -> None:
        self.pairs = pairs
        self.__name__ = pairs.name

    def __call__(self, y_true: Any, y_score: Any, sample_weight: Any = None) -> float:
        return self.pairs.measure(LabelledRows(y_true, sample_weight), y_score)


def _plugin(calls: _LibraryCalls) -> Plugin:
    return Plugin(
        calls.pairs.name,
        calls.objective,
        calls.metric,
        calls.sklearn_objective,
        calls.sklearn_metric,
    )


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
