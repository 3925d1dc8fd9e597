"""Combine models by their out-of-fold scores: one scale, non-negative weights.

Ranks among known rows mean the same for every model, but do not show its confidence,
which decides where classes are almost separated. So each row gets a logit per model,
by its rank and by its score. A combination is a weighted sum of the logits.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, logit
from scipy.stats import rankdata

from aucmax._core.validation import BoolArray, FloatArray, IntArray
from aucmax.model_selection.held_out import HeldOutRows, ignore_few_rows

# Points of the scale; between them it is linear.
_MAX_KNOTS = 400
# Standard deviation of the logits of ranks: that of the logistic distribution.
_DEVIATION_OF_LOGITS = np.pi / np.sqrt(3.0)
# Penalty of the squared weights in the mean log loss; the best of a prototype.
_SHRINKAGE = 3e-4
# Penalty of the distance of the weights from their mean, beside the mean log-likelihood
# of an event. On ten public tables a hundredth to the tenfold rank as well; a larger
# one costs more where one model is clearly better.
_EQUALITY_PENALTY = 0.1
# Models with a smaller share than this are left out of a stack.
_MIN_SHARE = 0.02
# The search for weights considers this many of the best models, changes their shares by
# these steps, and ignores gains of at most this.
_MAX_MEMBERS = 7
_STEPS = (0.25, 0.1)
_MIN_GAIN = 1e-3


def scaled(scores: FloatArray, all_scores: FloatArray) -> FloatArray:
    """Return the logits of a fold, by the mean and deviation of all folds.

    A logit is the mean of the logit of the share below, where ties count one half, and
    of the distance from the mean in units that give both the same spread.
    """
    shares: FloatArray = (rankdata(scores) - 0.5) / scores.size
    deviation = all_scores.std()
    unit = _DEVIATION_OF_LOGITS / deviation if deviation > 0.0 else 0.0
    return np.asarray((logit(shares) + unit * (scores - all_scores.mean())) / 2.0)


def learn_scale(scores: FloatArray, all_scores: FloatArray) -> FloatArray:
    """Return scores and their logits, at knots evenly spaced over the logits."""
    knots, first = np.unique(scores, return_index=True)
    logits = scaled(scores, all_scores)[first]
    if knots.size > _MAX_KNOTS:
        even = np.linspace(logits[0], logits[-1], _MAX_KNOTS)
        kept = np.unique(np.searchsorted(logits, even))
        knots, logits = knots[kept], logits[kept]
    return np.stack([knots, logits])


@dataclass(frozen=True, kw_only=True)
class LogitRows(HeldOutRows):
    """Held-out rows with their logits, one column per model, to be combined."""

    logits: FloatArray
    min_weight: float = 1.0  # share of the weight that the models kept must have

    @property
    def labels(self) -> BoolArray:
        """Which rows are positive."""
        return np.asarray(self.target.relevant > 0)

    @property
    def combiners(self) -> "dict[str, Combiner]":
        """The combinations to choose from, the preferred one first."""
        target = self.target
        if target.is_survival:
            return _SURVIVAL_COMBINERS
        if target.is_graded:
            return _RANKING_COMBINERS
        if self.goal.is_area:
            return COMBINERS
        return _TOP_COMBINERS if target.queries is None else _RANKING_COMBINERS

    def take(self, rows: IntArray) -> "LogitRows":
        """Return some of the rows."""
        fields: dict[str, Any] = vars(super().take(rows))
        kept: dict[str, Any] = {
            "logits": self.logits[rows],
            "min_weight": self.min_weight,
        }
        return LogitRows(**fields, **kept)


Combiner: TypeAlias = Callable[[LogitRows], FloatArray]


def best_single(ranked: LogitRows) -> FloatArray:
    """Put all weight on the model with the highest metric; the first of several."""
    n_models = ranked.logits.shape[1]
    values = [ranked.measure(ranked.logits[:, k]) for k in range(n_models)]
    return np.asarray(np.eye(n_models)[int(np.argmax(values))])


def stacked(ranked: LogitRows) -> FloatArray:
    """Return the non-negative weights of a logistic regression on the logits.

    A small penalty of the squared weights makes those of nearly equal models stable.
    """
    n_models = ranked.logits.shape[1]
    if ranked.labels.all() or not ranked.labels.any():
        return best_single(ranked)
    weights = _non_negative_logistic(ranked, np.arange(n_models))
    if weights.sum() == 0.0:
        return best_single(ranked)
    kept = np.flatnonzero(weights >= _MIN_SHARE * weights.sum())
    if kept.size < n_models:
        weights = _non_negative_logistic(ranked, kept)
    return _compacted(weights, ranked.min_weight)


def _compacted(weights: FloatArray, share: float) -> FloatArray:
    """Return shares of the fewest models with this share of the weight."""
    weights = weights / weights.sum()
    if share == 1.0:
        return weights
    order = np.argsort(-weights, kind="stable")
    n_kept = int(np.searchsorted(np.cumsum(weights[order]), share)) + 1
    kept = np.zeros_like(weights)
    kept[order[:n_kept]] = weights[order[:n_kept]]
    return np.asarray(kept / kept.sum())


def _non_negative_logistic(ranked: LogitRows, models: Any) -> FloatArray:
    """Return the weights of some of the models; 0 for the others."""
    Z, n_models = ranked.logits[:, models], ranked.logits.shape[1]
    _, fold = np.unique(ranked.folds, return_inverse=True)
    n_folds = int(fold.max()) + 1
    weights = ranked.target.weights
    weight = np.ones(fold.size) if weights is None else weights
    # the share of one class may round to 1
    positive, negative = weight[ranked.labels].sum(), weight[~ranked.labels].sum()
    weight = weight / weight.sum()
    sign = np.where(ranked.labels, 1.0, -1.0)

    def loss(parameters: FloatArray) -> tuple[float, FloatArray]:
        w, constants = parameters[: len(models)], parameters[len(models) :]
        margin = sign * (Z @ w + constants[fold])
        value = weight @ np.logaddexp(0.0, -margin) + _SHRINKAGE / 2.0 * (w @ w)
        gradient = -weight * sign * expit(-margin)
        by_fold = np.bincount(fold, gradient, minlength=n_folds)
        return float(value), np.concatenate([Z.T @ gradient + _SHRINKAGE * w, by_fold])

    odds = np.log(positive) - np.log(negative)
    start = np.repeat([1.0 / len(models), odds], [len(models), n_folds])
    bounds = [(0.0, None)] * len(models) + [(None, None)] * n_folds
    optimum = minimize(loss, start, jac=True, bounds=bounds, method="L-BFGS-B").x
    weights = np.zeros(n_models)
    weights[models] = optimum[: len(models)]
    return weights


def searched(ranked: LogitRows) -> FloatArray:
    """Return non-negative weights that maximise the metric, changed one at a time.

    The search starts from the mean of the best models. A change must gain more than a
    little, so that weights do not follow the noise of few queries.
    """
    n_models = ranked.logits.shape[1]
    singles = [ranked.measure(ranked.logits[:, k]) for k in range(n_models)]
    order = np.argsort(-np.array(singles), kind="stable")[:_MAX_MEMBERS]
    weights = np.zeros(n_models)
    weights[order] = 1.0 / order.size
    best = ranked.measure(ranked.logits @ weights)
    for step in _STEPS:
        for model in order:
            for change in (step, -step):
                changed = weights.copy()
                changed[model] = max(changed[model] + change, 0.0)
                if changed.sum() == 0.0:
                    continue
                changed /= changed.sum()
                value = ranked.measure(ranked.logits @ changed)
                if value > best + _MIN_GAIN:
                    best, weights = value, changed
    return _compacted(np.where(weights < _MIN_SHARE, 0.0, weights), ranked.min_weight)


def by_likelihood(ranked: LogitRows) -> FloatArray:
    """Return the non-negative weights of Cox's partial likelihood within folds.

    A penalty of the distance of the weights from their mean shrinks them to equality.
    """
    from aucmax.risks import CoxLikelihood  # which loads scikit-learn

    logits, target = ranked.logits, ranked.target
    strata = ranked.strata
    risk = CoxLikelihood().bind(target.survival, target.weights, strata)

    def loss(weights: FloatArray) -> tuple[float, FloatArray]:
        value, gradient = risk.value_and_gradient(logits @ weights)
        centred = weights - weights.mean()
        value += _EQUALITY_PENALTY / 2.0 * float(centred @ centred)
        return value, logits.T @ gradient + _EQUALITY_PENALTY * centred

    start = np.full(logits.shape[1], 1.0 / logits.shape[1])
    bounds = [(0.0, None)] * start.size
    weights = minimize(loss, start, jac=True, bounds=bounds, method="L-BFGS-B").x
    weights = weights / weights.sum() if weights.sum() > 0.0 else start
    return _compacted(np.where(weights < _MIN_SHARE, 0.0, weights), ranked.min_weight)


#: The combinations that are compared, the preferred one first.
COMBINERS: dict[str, Combiner] = {"stack": stacked, "best single model": best_single}
# of levels, and of metrics per query
_RANKING_COMBINERS: dict[str, Combiner] = {"search": searched}
# of metrics of two classes that are not areas
_TOP_COMBINERS: dict[str, Combiner] = {**COMBINERS, **_RANKING_COMBINERS}
# of censored times
_SURVIVAL_COMBINERS: dict[str, Combiner] = {"likelihood": by_likelihood}


@dataclass(frozen=True)
class StackedModels:
    """Weights of the models, and the combined scores of held-out rows."""

    combiner: str
    weights: FloatArray
    scores: FloatArray
    honest_scores: FloatArray  # by combinations chosen and learned on other blocks


def combine(
    ranked: LogitRows, blocks: Sequence[IntArray], *, is_forward: bool = False
) -> StackedModels:
    """Choose a combination by cross-validation over blocks, and score held-out rows.

    With `is_forward` in time, only earlier blocks give the weights; the first has equal
    weights.
    """
    name = _choose(ranked, blocks)
    weights = ranked.combiners[name](ranked)
    honest = np.zeros(ranked.labels.size)
    for k, block in enumerate(blocks):
        others = [*blocks[:k], *([] if is_forward else blocks[k + 1 :])]
        if not others:
            honest[block] = ranked.logits[block].mean(axis=1)
            continue
        learn = ranked.combiners[_choose(ranked, others)]
        other_rows = ranked.take(np.concatenate(others))
        honest[block] = ranked.logits[block] @ learn(other_rows)
    return StackedModels(name, weights, ranked.logits @ weights, honest)


def _choose(ranked: LogitRows, blocks: Sequence[IntArray]) -> str:
    """Return the preferred combination, unless the folds support another one.

    A paired test compares both on rows that are scored with weights of other blocks.
    """
    combiners = ranked.combiners
    preferred, *others = combiners
    if not others or ranked.logits.shape[1] == 1 or len(blocks) < 2:
        return preferred
    rows = ranked.take(np.concatenate(blocks))
    standard = _cross_fitted_scores(ranked, combiners[preferred], blocks)
    for name in others:
        scores = _cross_fitted_scores(ranked, combiners[name], blocks)
        if rows.measure(scores) <= rows.measure(standard):
            continue
        # a class may have fewer than two rows in a fold
        with suppress(ValueError), ignore_few_rows():
            if rows.compare(scores, standard).low > 0.0:
                return name
    return preferred


def _cross_fitted_scores(
    ranked: LogitRows, combiner: Combiner, blocks: Sequence[IntArray]
) -> FloatArray:
    """Score the rows of each block with weights from the others."""
    scores = []
    for k, block in enumerate(blocks):
        others = np.concatenate([*blocks[:k], *blocks[k + 1 :]])
        scores.append(ranked.logits[block] @ combiner(ranked.take(others)))
    return np.concatenate(scores)
