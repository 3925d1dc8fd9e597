"""Choose how the models are combined, and estimate honestly what comes of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from aucmax._core.validation import FloatArray, IntArray
from aucmax.model_selection.combiners import COMBINERS, Combiner, Ranked

__all__ = ["Ensemble", "combine"]

# Another combination must be better than the stack by so many standard errors. Five
# folds tell so little that a smaller number costs accuracy on real tables.
_STANDARD_ERRORS = 2.0


@dataclass(frozen=True)
class Ensemble:
    """Weights of the models, and scores by weights that have not seen the row.

    Attributes
    ----------
    combiner : str
        Name of the combination that was chosen.
    weights : ndarray of shape (n_models,)
        Non-negative, with sum one.
    scores : ndarray of shape (n_rows,)
        Combined scores of the rows kept aside.
    honest_scores : ndarray of shape (n_rows,)
        The same, where the combination that scores a block was chosen and its weights
        learned on the other blocks.
    """

    combiner: str
    weights: FloatArray
    scores: FloatArray
    honest_scores: FloatArray


def combine(
    ranked: Ranked, blocks: Sequence[IntArray], *, is_forward: bool = False
) -> Ensemble:
    """Choose a combination by cross-validation over blocks, and score rows honestly.

    Blocks that go forward in time are scored by weights of earlier blocks alone; the
    first has equal weights.
    """
    name = _choose(ranked, blocks)
    weights = COMBINERS[name](ranked)
    honest = np.zeros(ranked.labels.size)
    for k, block in enumerate(blocks):
        others = [*blocks[:k], *([] if is_forward else blocks[k + 1 :])]
        if not others:
            honest[block] = ranked.logits[block].mean(axis=1)
            continue
        known = ranked.take(np.concatenate(others))
        honest[block] = ranked.logits[block] @ COMBINERS[_choose(ranked, others)](known)
    return Ensemble(name, weights, ranked.logits @ weights, honest)


def _choose(ranked: Ranked, blocks: Sequence[IntArray]) -> str:
    """Return the preferred combination, unless another is clearly better."""
    preferred, *others = COMBINERS
    if ranked.logits.shape[1] == 1 or len(blocks) < 2:
        return preferred
    standard = _by_block(ranked, COMBINERS[preferred], blocks)
    for name in others:
        gain = _by_block(ranked, COMBINERS[name], blocks) - standard
        error = gain.std(ddof=1) / np.sqrt(gain.size)
        if gain.mean() > _STANDARD_ERRORS * error:
            return name
    return preferred


def _by_block(ranked: Ranked, combiner: Combiner, blocks: Sequence[Any]) -> FloatArray:
    """Measure each block with weights from the others."""
    values = []
    for k, block in enumerate(blocks):
        known = np.concatenate([b for j, b in enumerate(blocks) if j != k])
        held = ranked.take(block)
        values.append(held.measure(held.logits @ combiner(ranked.take(known))))
    return np.array(values)
