"""Calibration of probabilities: errors, and a diagram of groups of rows."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.metrics import brier_score_loss, log_loss

from aucmax._core.docstrings import documented
from aucmax._core.parameters import check_integer
from aucmax._core.plain import PlainRecord
from aucmax._core.validation import FloatArray, IntArray
from aucmax.decisions.intervals import wilson_interval
from aucmax.metrics._steps import check_task
from aucmax.metrics.results import check_confidence


@dataclass(frozen=True)
class Reliability(PlainRecord):
    """Predicted probabilities compared with observed outcomes.

    Attributes
    ----------
    log_loss, brier_score : float
        Mean negative logarithm of the probability of the observed outcome, and mean
        squared error; 0 is perfect.
    mean_probability, base_rate : float
        Mean probability of the positive class, and its share.
    probability : ndarray of shape (n_groups,)
        Mean probability of each group of rows, ascending.
    share : ndarray of shape (n_groups,)
        Share of positives in each group.
    low, high : ndarray of shape (n_groups,)
        Ends of Wilson's interval of that share.
    n_rows : ndarray of shape (n_groups,)
        Rows in each group.
    confidence : float
        Probability that each interval is meant to cover.
    """

    log_loss: float
    brier_score: float
    mean_probability: float
    base_rate: float
    probability: FloatArray
    share: FloatArray
    low: FloatArray
    high: FloatArray
    n_rows: Any
    confidence: float


@documented
def reliability(
    y_true: ArrayLike,
    probabilities: ArrayLike,
    *,
    n_groups: int = 10,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
    confidence: float = 0.95,
) -> Reliability:
    """Compare predicted probabilities with observed outcomes.

    Rows are sorted by probability and divided into groups of about equal size or
    weight; rows of equal probability are in one group.

    Parameters
    ----------
    probabilities : array-like of shape (n_rows,)
        Probabilities of the positive class.
    n_groups : int, default=10
        Maximum number of groups.

    Returns
    -------
    Reliability
        Errors, and the groups.

    Examples
    --------
    >>> from aucmax.decisions import reliability
    >>> found = reliability([0, 1, 0, 1], [0.1, 0.2, 0.7, 0.9], n_groups=2)
    >>> round(found.brier_score, 4), found.share.tolist()
    (0.2875, [0.5, 0.5])
    """
    check_confidence(confidence)
    check_integer("n_groups", n_groups)
    task = check_task(
        y_true, probabilities, sample_weight, pos_label=pos_label, name="probabilities"
    )
    chances, happened = task.scores, task.is_positive
    if chances.min() < 0.0 or chances.max() > 1.0:
        row = int(np.argmax((chances < 0.0) | (chances > 1.0)))
        raise ValueError(
            f"probabilities must lie between 0 and 1, but row {row} is "
            f"{chances[row]:g}; calibrate scores to get probabilities."
        )
    weight = np.ones(chances.size)
    if task.sample_weight is not None:
        counts = task.sample_weight > 0.0
        chances, happened = chances[counts], happened[counts]
        weight = task.sample_weight[counts]
    groups = _groups(chances, weight, n_groups)
    mass = np.bincount(groups, weight)
    share = np.bincount(groups, weight * happened) / mass
    n_effective = mass**2 / np.bincount(groups, weight**2)
    found = zip(share.tolist(), n_effective.tolist(), strict=True)
    ends = [wilson_interval(one, n, confidence=confidence) for one, n in found]
    low, high = np.array(ends).T
    return Reliability(
        log_loss=float(log_loss(happened, chances, sample_weight=weight)),
        brier_score=float(brier_score_loss(happened, chances, sample_weight=weight)),
        mean_probability=float(np.average(chances, weights=weight)),
        base_rate=float(np.average(happened, weights=weight)),
        probability=np.bincount(groups, weight * chances) / mass,
        share=share,
        low=low,
        high=high,
        n_rows=np.bincount(groups),
        confidence=confidence,
    )


def _groups(chances: FloatArray, weight: FloatArray, n_groups: int) -> IntArray:
    """Return the numbers of groups of neighbouring probabilities, of one weight."""
    _, ties = np.unique(chances, return_inverse=True)
    mass = np.bincount(ties, weight)
    # rows of equal probability go where the middle of their weight is
    middle = (np.cumsum(mass) - 0.5 * mass) / mass.sum()
    group = np.minimum((middle * n_groups).astype(np.int64), n_groups - 1)
    return np.asarray(np.unique(group[ties], return_inverse=True)[1], dtype=np.int64)
