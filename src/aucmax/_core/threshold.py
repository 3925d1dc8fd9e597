"""The threshold that cuts a ranking into two classes."""

import numpy as np

from aucmax._core.sorting import sort_with_order
from aucmax._core.validation import BoolArray, FloatArray

# Gains that differ by no more are equal: the order of sums must not choose a threshold.
_MAX_GAIN_ROUNDING = 1e-12


def balanced_threshold(
    scores: FloatArray, labels: BoolArray, sample_weight: FloatArray | None = None
) -> float:
    """Return the threshold of the largest TPR - FPR: scores above it are positive."""
    # halfway between two scores; the highest score if no cut is above the diagonal
    order, rising = sort_with_order(scores)
    order, falling = order[::-1], rising[::-1]
    if sample_weight is None:
        n_positive = np.count_nonzero(labels)
        gain = np.where(labels, 1.0 / n_positive, -1.0 / (labels.size - n_positive))
    else:
        kept = sample_weight[order] > 0.0
        order, falling = order[kept], falling[kept]
        totals = sample_weight[labels].sum(), -sample_weight[~labels].sum()
        gain = sample_weight / np.where(labels, *totals)
    # TPR - FPR with the first k + 1 rows predicted positive
    youden = np.cumsum(gain[order])
    # equal scores cannot be separated
    ends = np.flatnonzero(falling[:-1] > falling[1:])
    # no row positive gains 0, as do all rows; argmax takes the highest of equal cuts
    gains = np.concatenate(([0.0], youden[ends]))
    best = int(np.argmax(gains >= gains.max() - _MAX_GAIN_ROUNDING))
    if best == 0:
        return float(falling[0])
    return halfway(falling[ends[best - 1] + 1], falling[ends[best - 1]])


def halfway(low: float, high: float) -> float:
    """Return a threshold that `high` is above and `low` is not."""
    middle = high / 2.0 + low / 2.0
    # two neighbouring floats have no number between them
    return float(middle if middle < high else low)
