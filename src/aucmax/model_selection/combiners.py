r"""From the out-of-fold scores of several models to one ranking: non-negative weights.

Every model gives each row a logit, see :mod:`aucmax.model_selection.rank_scale`; a
combination is a weighted sum of these. Weights are non-negative and sum to one, so
that it can be read: half of this model, a third of that one.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

from aucmax._core.validation import BoolArray, FloatArray, IntArray
from aucmax.metrics import partial_auc_score

__all__ = ["COMBINERS", "Combiner", "Ranked", "best_single", "stacked"]

# Weight of the squared weights in the mean log loss; the prototype's best.
_SHRINKAGE = 3e-4
# Models with a smaller share than this are left out of a stack.
_LEAST_SHARE = 0.02


@dataclass(frozen=True)
class Ranked:
    """Rows with their logits by each model, to be combined.

    Attributes
    ----------
    logits : ndarray of shape (n_rows, n_models)
        What each model gives each row; see :mod:`aucmax.model_selection.rank_scale`.
    labels : ndarray of bool of shape (n_rows,)
        Which rows are positive.
    folds : ndarray of int64 of shape (n_rows,)
        Fold of each row: only rows of one fold are compared.
    weight : ndarray of shape (n_rows,), or None
        Row weights.
    queries : ndarray of int64 of shape (n_rows,), or None
        Query of each row: only rows of one query are compared.
    part : dict
        `fpr_range` and `tpr_range`, the part of the curve that counts.
    """

    logits: FloatArray
    labels: BoolArray
    folds: IntArray
    weight: FloatArray | None
    queries: IntArray | None
    part: dict[str, Any]

    def take(self, rows: Any) -> "Ranked":
        """Return some of the rows."""
        return Ranked(
            self.logits[rows],
            self.labels[rows],
            self.folds[rows],
            None if self.weight is None else self.weight[rows],
            None if self.queries is None else self.queries[rows],
            self.part,
        )

    def measure(self, scores: FloatArray) -> float:
        """Mean of the metric over the folds, each by its share of the positives.

        1/2 if no fold has both classes.
        """
        values, shares = [], []
        for fold in np.unique(self.folds):
            rows = self.folds == fold
            labels = self.labels[rows]
            if labels.all() or not labels.any():
                continue
            values.append(
                partial_auc_score(
                    labels,
                    scores[rows],
                    sample_weight=None if self.weight is None else self.weight[rows],
                    qid=None if self.queries is None else self.queries[rows],
                    **self.part,
                )
            )
            shares.append(np.count_nonzero(labels))
        return float(np.average(values, weights=shares)) if values else 0.5


Combiner: TypeAlias = Callable[[Ranked], FloatArray]


def best_single(ranked: Ranked) -> FloatArray:
    """Put all weight on the model with the highest metric; the first of several."""
    n_models = ranked.logits.shape[1]
    values = [ranked.measure(ranked.logits[:, k]) for k in range(n_models)]
    return np.asarray(np.eye(n_models)[int(np.argmax(values))])


def stacked(ranked: Ranked) -> FloatArray:
    """Weights of a logistic regression on the logits, none of them negative.

    One constant per fold; a small price on the squared weights keeps models that are
    nearly the same from trading places. Shares below a fiftieth are left out, and the
    others fitted again.
    """
    n_models = ranked.logits.shape[1]
    if ranked.labels.all() or not ranked.labels.any():
        return best_single(ranked)
    weights = _non_negative_logistic(ranked, np.arange(n_models))
    if weights.sum() == 0.0:
        return best_single(ranked)
    kept = np.flatnonzero(weights >= _LEAST_SHARE * weights.sum())
    if kept.size < n_models:
        weights = _non_negative_logistic(ranked, kept)
    return np.asarray(weights / weights.sum())


def _non_negative_logistic(ranked: Ranked, models: Any) -> FloatArray:
    """Return the weights of some of the models; 0 for the others."""
    Z, n_models = ranked.logits[:, models], ranked.logits.shape[1]
    _, fold = np.unique(ranked.folds, return_inverse=True)
    n_folds = int(fold.max()) + 1
    weight = np.ones(fold.size) if ranked.weight is None else ranked.weight
    # the share of one class may round to 1
    positive, negative = weight[ranked.labels].sum(), weight[~ranked.labels].sum()
    weight = weight / weight.sum()
    sign = np.where(ranked.labels, 1.0, -1.0)

    def loss(parameters: FloatArray) -> tuple[float, FloatArray]:
        w, constants = parameters[: len(models)], parameters[len(models) :]
        margin = sign * (Z @ w + constants[fold])
        value = weight @ np.logaddexp(0.0, -margin) + _SHRINKAGE / 2.0 * (w @ w)
        slope = -weight * sign * expit(-margin)
        by_fold = np.bincount(fold, slope, minlength=n_folds)
        return float(value), np.concatenate([Z.T @ slope + _SHRINKAGE * w, by_fold])

    start = np.concatenate(
        [
            np.full(len(models), 1.0 / len(models)),
            np.full(n_folds, np.log(positive) - np.log(negative)),
        ]
    )
    bounds = [(0.0, None)] * len(models) + [(None, None)] * n_folds
    found = minimize(loss, start, jac=True, bounds=bounds, method="L-BFGS-B")
    weights = np.zeros(n_models)
    weights[models] = found.x[: len(models)]
    return weights


#: The combinations that are compared, the preferred one first.
COMBINERS: dict[str, Combiner] = {
    "stack": stacked,
    "best single model": best_single,
}
