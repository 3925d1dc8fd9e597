"""Combine models by their out-of-fold scores: one scale, non-negative weights.

Ranks among known rows mean the same for every model, but do not show its confidence,
which decides where classes are almost separated. So each row gets a logit per model,
by its rank and by its score. A combination is a weighted sum of the logits.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, logit
from scipy.stats import rankdata

from aucmax._core.validation import FloatArray, IntArray
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


# Learns the weights of models from rows and their logits, one column per model.
Combiner: TypeAlias = Callable[[HeldOutRows, FloatArray], FloatArray]


def best_single(rows: HeldOutRows, logits: FloatArray) -> FloatArray:
    """Put all weight on the model with the highest metric; the first of several."""
    values = [rows.measure(column) for column in logits.T]
    return np.asarray(np.eye(len(values))[int(np.argmax(values))])


def stacked(rows: HeldOutRows, logits: FloatArray) -> FloatArray:
    """Return the non-negative weights of a logistic regression on the logits.

    A small penalty of the squared weights makes those of nearly equal models stable.
    """
    if np.ptp(rows.target.relevant) == 0:
        return best_single(rows, logits)
    weights = _non_negative_logistic(rows, logits)
    if weights.sum() == 0.0:
        return best_single(rows, logits)
    kept = weights >= _MIN_SHARE * weights.sum()
    if not kept.all():
        weights = np.zeros(kept.size)
        weights[kept] = _non_negative_logistic(rows, logits[:, kept])
    return np.asarray(weights / weights.sum())


def _without_small(weights: FloatArray) -> FloatArray:
    weights = np.where(weights < _MIN_SHARE, 0.0, weights)
    return np.asarray(weights / weights.sum())


def _non_negative_logistic(rows: HeldOutRows, logits: FloatArray) -> FloatArray:
    n_models, is_positive = logits.shape[1], rows.target.relevant > 0
    _, fold = np.unique(rows.folds, return_inverse=True)
    n_folds = int(fold.max()) + 1
    weight = rows.target.weights
    weight = np.ones(fold.size) if weight is None else weight
    # the share of one class may round to 1
    positive, negative = weight[is_positive].sum(), weight[~is_positive].sum()
    weight = weight / weight.sum()
    sign = np.where(is_positive, 1.0, -1.0)

    def loss(parameters: FloatArray) -> tuple[float, FloatArray]:
        w, constants = parameters[:n_models], parameters[n_models:]
        margin = sign * (logits @ w + constants[fold])
        value = weight @ np.logaddexp(0.0, -margin) + _SHRINKAGE / 2.0 * (w @ w)
        gradient = -weight * sign * expit(-margin)
        by_fold = np.bincount(fold, gradient, minlength=n_folds)
        slopes = logits.T @ gradient + _SHRINKAGE * w
        return float(value), np.concatenate([slopes, by_fold])

    odds = np.log(positive) - np.log(negative)
    start = np.repeat([1.0 / n_models, odds], [n_models, n_folds])
    bounds = [(0.0, None)] * n_models + [(None, None)] * n_folds
    optimum = minimize(loss, start, jac=True, bounds=bounds, method="L-BFGS-B").x
    return np.asarray(optimum[:n_models])


def searched(rows: HeldOutRows, logits: FloatArray) -> FloatArray:
    """Return non-negative weights that maximise the metric, changed one at a time.

    The search starts from the mean of the best models. A change must gain more than a
    little, so that weights do not follow the noise of few queries.
    """
    singles = np.array([rows.measure(column) for column in logits.T])
    order = np.argsort(-singles, kind="stable")[:_MAX_MEMBERS]
    weights = np.zeros(singles.size)
    weights[order] = 1.0 / order.size
    best = rows.measure(logits @ weights)
    for step in _STEPS:
        for model in order:
            for change in (step, -step):
                changed = weights.copy()
                changed[model] = max(changed[model] + change, 0.0)
                if changed.sum() == 0.0:
                    continue
                changed /= changed.sum()
                value = rows.measure(logits @ changed)
                if value > best + _MIN_GAIN:
                    best, weights = value, changed
    return _without_small(weights)


def by_likelihood(rows: HeldOutRows, logits: FloatArray) -> FloatArray:
    """Return the non-negative weights of Cox's partial likelihood within folds.

    A penalty of the distance of the weights from their mean shrinks them to equality.
    """
    from aucmax.risks import CoxLikelihood  # which loads scikit-learn

    target = rows.target
    risk = CoxLikelihood().bind(target.survival, target.weights, rows.strata)

    def loss(weights: FloatArray) -> tuple[float, FloatArray]:
        value, gradient = risk.value_and_gradient(logits @ weights)
        centred = weights - weights.mean()
        value += _EQUALITY_PENALTY / 2.0 * float(centred @ centred)
        return value, logits.T @ gradient + _EQUALITY_PENALTY * centred

    start = np.full(logits.shape[1], 1.0 / logits.shape[1])
    bounds = [(0.0, None)] * start.size
    weights = minimize(loss, start, jac=True, bounds=bounds, method="L-BFGS-B").x
    weights = weights / weights.sum() if weights.sum() > 0.0 else start
    return _without_small(weights)


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


def combiners_of(rows: HeldOutRows) -> dict[str, Combiner]:
    """Return the combinations to choose from, the preferred one first."""
    if rows.target.is_survival:
        return _SURVIVAL_COMBINERS
    if rows.goal.is_area and not rows.target.is_graded:
        return COMBINERS
    has_units = rows.target.is_graded or rows.target.queries is not None
    return _RANKING_COMBINERS if has_units else _TOP_COMBINERS


def combine(
    rows: HeldOutRows,
    logits: FloatArray,
    blocks: Sequence[IntArray],
    *,
    is_forward: bool = False,
) -> StackedModels:
    """Choose a combination by cross-validation over blocks, and score held-out rows.

    With `is_forward` in time, only earlier blocks give the weights; the first has equal
    weights.
    """
    combiners = combiners_of(rows)

    def learn(name: str, learned: Sequence[IntArray]) -> FloatArray:
        """Return weights learned from some of the blocks."""
        numbers = np.concatenate(learned)
        return combiners[name](rows.take(numbers), logits[numbers])

    def choose(chosen: Sequence[IntArray]) -> str:
        """Return the preferred combination, unless the folds support another one.

        A paired test compares both on rows that are scored with weights of others.
        """
        preferred, *others = combiners
        if not others or logits.shape[1] == 1 or len(chosen) < 2:
            return preferred
        scores = {
            name: np.concatenate(
                [
                    logits[block] @ learn(name, [*chosen[:k], *chosen[k + 1 :]])
                    for k, block in enumerate(chosen)
                ]
            )
            for name in combiners
        }
        tested, standard = rows.take(np.concatenate(chosen)), scores[preferred]
        for name in others:
            if tested.measure(scores[name]) <= tested.measure(standard):
                continue
            # a class may have fewer than two rows in a fold
            with suppress(ValueError), ignore_few_rows():
                if tested.compare(scores[name], standard).low > 0.0:
                    return name
        return preferred

    name = choose(blocks)
    weights = combiners[name](rows, logits)
    honest = np.zeros(len(logits))
    for k, block in enumerate(blocks):
        others = [*blocks[:k], *([] if is_forward else blocks[k + 1 :])]
        honest[block] = logits[block].mean(axis=1)
        if others:
            honest[block] = logits[block] @ learn(choose(others), others)
    return StackedModels(name, weights, logits @ weights, honest)
