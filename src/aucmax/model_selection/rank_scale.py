r"""One scale for the scores of all models: half by rank, half by distance.

Where a score ranks among known rows means the same for every model, whatever its
scores are. But ranks tell nothing of how sure a model is, and where classes are almost
told apart that is what decides. So a row gets the mean of two numbers: the logit of its
rank, and its distance from the mean score, in units that give both the same spread.
Labels have no part in it.
"""

from typing import Any, NamedTuple, Self

import numpy as np
from scipy.special import logit
from scipy.stats import rankdata

from aucmax._core.validation import FloatArray
from aucmax.decisions.calibration import along_knots

__all__ = ["Spread", "learn_scale", "scaled", "to_logits"]

# Points of the scale; between them it is linear.
_MOST_KNOTS = 400
# Standard deviation of the logits of ranks: that of the logistic distribution.
_SPREAD_OF_LOGITS = np.pi / np.sqrt(3.0)


class Spread(NamedTuple):
    """Mean and standard deviation of a model's scores, over all folds."""

    centre: float
    width: float

    @classmethod
    def of(cls, scores: FloatArray) -> Self:
        """Measure them."""
        return cls(float(scores.mean()), float(scores.std()))

    def distances(self, scores: FloatArray) -> FloatArray:
        """Distances from the centre, spread as the logits of ranks are."""
        if not self.width > 0.0:
            return np.zeros(scores.size)
        return np.asarray(_SPREAD_OF_LOGITS / self.width * (scores - self.centre))


def scaled(scores: FloatArray, spread: Spread) -> FloatArray:
    """Mean of the distance and of the logit of the share of rows below each row.

    Of itself and of its ties, one half is below.
    """
    shares: FloatArray = (rankdata(scores) - 0.5) / scores.size
    return np.asarray((logit(shares) + spread.distances(scores)) / 2.0)


def learn_scale(scores: FloatArray, spread: Spread) -> FloatArray:
    """Return scores and their logits, at knots evenly spaced over the logits.

    Parameters
    ----------
    scores : ndarray of shape (n_rows,)
        Scores of rows that the model has not seen.
    spread : Spread
        Of the model's scores.

    Returns
    -------
    ndarray of shape (2, n_knots)
        Rising scores, and rising logits.
    """
    known, first = np.unique(scores, return_index=True)
    logits = scaled(scores, spread)[first]
    if known.size > _MOST_KNOTS:
        wanted = np.linspace(logits[0], logits[-1], _MOST_KNOTS)
        kept = np.unique(np.searchsorted(logits, wanted))
        known, logits = known[kept], logits[kept]
    return np.stack([known, logits])


def to_logits(scores: FloatArray, scale: Any) -> FloatArray:
    """Place new scores on a scale, so that the order above all known rows is kept."""
    return along_knots(scores, scale)
