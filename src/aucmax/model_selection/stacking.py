"""Combine models by their out-of-fold scores: one scale, non-negative weights.

Ranks among known rows mean the same for every model, but do not show its confidence,
which decides where classes are almost separated. So each row gets a logit per model:
the mean of the logit of its rank, and of its distance from the mean score in units that
give both the same spread. A combination is a weighted sum of the logits.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, Self, TypeAlias

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, logit
from scipy.stats import rankdata

from aucmax._core.validation import BoolArray, FloatArray, IntArray
from aucmax.metrics import partial_auc_score
from aucmax.model_selection.concordance_estimates import (
    concordance,
    likelihood_weights,
)
from aucmax.model_selection.fold_estimates import unit_values
from aucmax.model_selection.goals import Goal
from aucmax.tables import Target

# Points of the scale; between them it is linear.
_MAX_KNOTS = 400
# Standard deviation of the logits of ranks: that of the logistic distribution.
_SPREAD_OF_LOGITS = np.pi / np.sqrt(3.0)
# Penalty of the squared weights in the mean log loss; the best of a prototype.
_SHRINKAGE = 3e-4
# Models with a smaller share than this are left out of a stack.
_MIN_SHARE = 0.02
# The search for weights considers this many of the best models, changes their shares by
# these steps, and ignores gains of at most this.
_MAX_MEMBERS = 7
_STEPS = (0.25, 0.1)
_MIN_GAIN = 1e-3
# Another combination must be better than the stack by this many standard errors. Five
# folds are so few that a smaller number costs accuracy on real tables.
_STANDARD_ERRORS = 2.0


class Spread(NamedTuple):
    """Mean and standard deviation of a model's scores, over all folds."""

    centre: float
    width: float

    @classmethod
    def from_scores(cls, scores: FloatArray) -> Self:
        """Return the spread of some scores."""
        return cls(float(scores.mean()), float(scores.std()))

    def distances(self, scores: FloatArray) -> FloatArray:
        """Return distances from the centre, with the spread of the logits of ranks."""
        if not self.width > 0.0:
            return np.zeros(scores.size)
        return np.asarray(_SPREAD_OF_LOGITS / self.width * (scores - self.centre))


def scaled(scores: FloatArray, spread: Spread) -> FloatArray:
    """Return the mean of distance and logit of the share below; ties count one half."""
    shares: FloatArray = (rankdata(scores) - 0.5) / scores.size
    return np.asarray((logit(shares) + spread.distances(scores)) / 2.0)


def learn_scale(scores: FloatArray, spread: Spread) -> FloatArray:
    """Return scores and their logits, at knots evenly spaced over the logits."""
    known, first = np.unique(scores, return_index=True)
    logits = scaled(scores, spread)[first]
    if known.size > _MAX_KNOTS:
        wanted = np.linspace(logits[0], logits[-1], _MAX_KNOTS)
        kept = np.unique(np.searchsorted(logits, wanted))
        known, logits = known[kept], logits[kept]
    return np.stack([known, logits])


@dataclass(frozen=True)
class LogitRows:
    """Held-out rows with their logits, one column per model, to be combined."""

    logits: FloatArray
    target: Target
    folds: IntArray  # only rows of one fold, and of one query, are compared
    part: dict[str, Any]  # fpr_range and tpr_range, the part of the curve that counts
    metric: str = "partial_auc"  # by its name
    share: float = 1.0  # of the weight, which the models that stay must have
    n_rows: int = 0  # of the table, before some were taken; 0 if none were

    @cached_property
    def labels(self) -> BoolArray:
        """Which rows are positive."""
        return np.asarray(self.target.relevant > 0)

    @property
    def has_units(self) -> bool:
        """Whether the metric is a mean over queries, or over folds if not an area."""
        is_area = self.metric == "partial_auc" and not self.target.is_graded
        return self.target.queries is not None or not is_area

    @property
    def combiners(self) -> "dict[str, Combiner]":
        """The combinations to choose from, the preferred one first."""
        if self.target.is_survival:
            return _SURVIVAL_COMBINERS
        if self.metric == "partial_auc" and not self.target.is_graded:
            return COMBINERS
        is_ranking = self.target.is_graded or self.target.queries is not None
        return _RANKING_COMBINERS if is_ranking else _TOP_COMBINERS

    def take(self, rows: IntArray) -> "LogitRows":
        """Return some of the rows."""
        target, folds = self.target.take(rows), self.folds[rows]
        return replace(self, logits=self.logits[rows], target=target, folds=folds)

    @property
    def goal(self) -> Goal:
        """The metric with its part of the curve, and the share of all rows held."""
        share = self.folds.size / (self.n_rows or self.folds.size)
        return Goal(self.metric, **self.part, share=share)

    def measure(self, scores: FloatArray) -> float:
        """Return the mean over queries, or over folds by positives, or 1/2."""
        if self.target.is_survival:
            return concordance(self.target, self.folds, scores)
        if self.has_units:
            found = unit_values(self.target, self.folds, scores, self.goal)
            return float(found.mean()) if found.size else 0.5
        values, shares = [], []
        for fold in np.unique(self.folds):
            rows = np.flatnonzero(self.folds == fold)
            held = self.target.take(rows)
            if held.n_positive and held.n_negative:
                values.append(
                    partial_auc_score(
                        held.labels,
                        scores[rows],
                        sample_weight=held.weights,
                        qid=held.queries,
                        **self.part,
                    )
                )
                shares.append(held.n_positive)
        return float(np.average(values, weights=shares)) if values else 0.5


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
    return _compacted(weights / weights.sum(), ranked.share)


def _compacted(weights: FloatArray, share: float) -> FloatArray:
    """Keep the fewest models with this share of the weight."""
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
    weights = np.where(weights < _MIN_SHARE, 0.0, weights)
    return _compacted(weights / weights.sum(), ranked.share)


def by_likelihood(ranked: LogitRows) -> FloatArray:
    """Return the non-negative weights of Cox's partial likelihood, nearly equal."""
    weights = likelihood_weights(ranked.logits, ranked.target, ranked.folds)
    weights = np.where(weights < _MIN_SHARE, 0.0, weights)
    return _compacted(weights / weights.sum(), ranked.share)


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
        known = ranked.take(np.concatenate(others))
        learn = ranked.combiners[_choose(ranked, others)]
        honest[block] = ranked.logits[block] @ learn(known)
    return StackedModels(name, weights, ranked.logits @ weights, honest)


def _choose(ranked: LogitRows, blocks: Sequence[IntArray]) -> str:
    """Return the preferred combination, unless another is clearly better."""
    combiners = ranked.combiners
    preferred, *others = combiners
    if not others or ranked.logits.shape[1] == 1 or len(blocks) < 2:
        return preferred
    standard = _by_block(ranked, combiners[preferred], blocks)
    for name in others:
        gain = _by_block(ranked, combiners[name], blocks) - standard
        error = gain.std(ddof=1) / np.sqrt(gain.size)
        if gain.mean() > _STANDARD_ERRORS * error:
            return name
    return preferred


def _by_block(
    ranked: LogitRows, combiner: Combiner, blocks: Sequence[Any]
) -> FloatArray:
    """Measure each block with weights from the others."""
    values = []
    for k, block in enumerate(blocks):
        known = np.concatenate([b for j, b in enumerate(blocks) if j != k])
        held = ranked.take(block)
        values.append(held.measure(held.logits @ combiner(ranked.take(known))))
    return np.array(values)
