"""One scale for the scores of all models: where a score would rank among known rows."""

from typing import Any

import numpy as np
from scipy.special import logit
from scipy.stats import rankdata

from aucmax._knots import along_knots
from aucmax._validation import FloatArray

__all__ = ["learn_scale", "rank_logits", "to_logits"]

# Points of the scale; between them it is linear.
_MOST_KNOTS = 400


def rank_logits(scores: FloatArray) -> FloatArray:
    """Logit of the share of rows below each row, itself and its ties by one half."""
    shares: FloatArray = (rankdata(scores) - 0.5) / scores.size
    return np.asarray(logit(shares))


def learn_scale(scores: FloatArray) -> FloatArray:
    """Return scores and their rank logits, at knots evenly spaced over the logits.

    Parameters
    ----------
    scores : ndarray of shape (n_rows,)
        Scores of rows that the model has not seen.

    Returns
    -------
    ndarray of shape (2, n_knots)
        Rising scores, and rising logits.
    """
    known, first = np.unique(scores, return_index=True)
    logits = rank_logits(scores)[first]
    if known.size > _MOST_KNOTS:
        wanted = np.linspace(logits[0], logits[-1], _MOST_KNOTS)
        kept = np.unique(np.searchsorted(logits, wanted))
        known, logits = known[kept], logits[kept]
    return np.stack([known, logits])


def to_logits(scores: FloatArray, scale: Any) -> FloatArray:
    """Place new scores on a scale, so that the order above all known rows is kept."""
    return along_knots(scores, scale)
