"""The objectives and metrics as LightGBM wants them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

from aucmax._core.validation import FloatArray
from aucmax.trees._plugin_pairs import PairPlug
from aucmax.trees._plugin_rows import LabelledRows
from aucmax.trees.pair_objectives import DEFAULT_RANGE, OUTSIDE_WEIGHT
from aucmax.trees.plugin import Plugin

__all__ = ["lightgbm"]


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
    calls = _LightGBMCalls(PairPlug(objective, fpr_range, outside_weight, n_jobs))
    return Plugin(
        calls.pairs.name,
        calls.objective,
        calls.metric,
        calls.sklearn_objective,
        calls.sklearn_metric,
    )


class _LightGBMCalls:
    """LightGBM's signatures; it tells those of scikit-learn by their length."""

    def __init__(self, pairs: PairPlug) -> None:
        self.pairs = pairs

    def objective(
        self, scores: NDArray[Any], data: Any
    ) -> tuple[FloatArray, FloatArray]:
        return self.pairs.gradient_hessian(_rows_of(data), scores)

    def metric(self, scores: NDArray[Any], data: Any) -> tuple[str, float, bool]:
        return self.pairs.name, self.pairs.measure(_rows_of(data), scores), True

    def sklearn_objective(
        self, y_true: Any, y_pred: Any, weight: Any, group: Any
    ) -> tuple[FloatArray, FloatArray]:
        return self.pairs.gradient_hessian(LabelledRows(y_true, weight, group), y_pred)

    def sklearn_metric(
        self, y_true: Any, y_pred: Any, weight: Any, group: Any
    ) -> tuple[str, float, bool]:
        rows = LabelledRows(y_true, weight, group)
        return self.pairs.name, self.pairs.measure(rows, y_pred), True


def _rows_of(data: Any) -> LabelledRows:
    return LabelledRows(data.get_label(), data.get_weight(), data.get_group())
