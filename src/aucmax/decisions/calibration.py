r"""From scores to probabilities, by an increasing function that keeps the ranking.

A calibration is a line through knots from scores to log-odds: two knots for the
sigmoid, one per block of rows for isotonic regression. It rises strictly, so that rows
of different scores have different probabilities. Other shares of positives than those
of training shift the log-odds by a constant (Bayes' rule, where the classes themselves
look as before):

.. math:: \mathrm{logit}\, p' = \mathrm{logit}\, p
          + \mathrm{logit}\, \pi' - \mathrm{logit}\, \pi
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucmax._core.parameters import check_choice
from aucmax._core.validation import BoolArray, FloatArray
from aucmax.decisions.calibrated import along_knots, probabilities

#: What the parameter `calibrate` may be, besides None.
CALIBRATIONS = ("auto", "sigmoid", "isotonic")

# Of the rarer class, for isotonic regression, which overfits fewer rows.
_MIN_ROWS_FOR_ISOTONIC = 1000

# Smallest rise of the log-odds over the training scores, if these carry no signal.
_MIN_RISE = 1e-3


def check_calibrate(calibrate: object) -> None:
    """Reject an unknown calibration."""
    if calibrate is not None:
        check_choice("calibrate", calibrate, CALIBRATIONS)


def learn_calibration(
    calibrate: str,
    scores: FloatArray,
    labels: NDArray[Any],
    weight: FloatArray | None = None,
) -> dict[str, Any]:
    """Fit knots to held-out scores; the mean probability is the share of positives."""
    from scipy.optimize import brentq

    labels = labels.astype(bool)
    weight = np.ones(labels.size) if weight is None else weight
    if calibrate == "auto":
        rarer = min(np.count_nonzero(labels), np.count_nonzero(~labels))
        calibrate = "isotonic" if rarer >= _MIN_ROWS_FOR_ISOTONIC else "sigmoid"
    knots = _isotonic(scores, labels, weight) if calibrate == "isotonic" else None
    if knots is None or knots.shape[1] < 2:
        knots = _sigmoid(scores, labels, weight)
    base_rate = float(np.average(labels, weights=weight))
    log_odds = along_knots(scores, knots)

    def excess(shift: float) -> float:
        chances = probabilities(log_odds + shift)
        return float(np.average(chances, weights=weight)) - base_rate

    # so far that the smallest share of weights is reached, see `probabilities`
    knots[1] += float(brentq(excess, -1e12, 1e12, maxiter=1000))
    return {"calibration_": knots, "base_rate_": base_rate}


def _sigmoid(scores: FloatArray, labels: BoolArray, weight: FloatArray) -> FloatArray:
    """Fit a logistic regression of the score, with Platt's targets.

    Of a class of n rows, a row counts as positive by (n + 1) / (n + 2) or 1 / (n + 2),
    so that classes without overlap leave finite weights.
    """
    from sklearn.linear_model import LogisticRegression

    low, high = float(scores.min()), float(scores.max())
    width = high - low or 1.0
    unit = ((scores - low) / width)[:, None]
    sizes = np.where(labels, labels.sum(), (~labels).sum())
    doubt = 1.0 / (sizes + 2.0)
    model = LogisticRegression(C=1e6, max_iter=1000).fit(
        np.concatenate([unit, unit]),
        np.concatenate([labels, ~labels]),
        np.concatenate([weight * (1.0 - doubt), weight * doubt]),
    )
    rise, start = max(float(model.coef_[0, 0]), _MIN_RISE), model.intercept_[0]
    return np.array([[low, low + width], [start, start + rise]])


def _isotonic(scores: FloatArray, labels: BoolArray, weight: FloatArray) -> FloatArray:
    """Join the middles of isotonic regression's blocks, which alone would make ties."""
    from scipy.special import logit
    from sklearn.isotonic import IsotonicRegression

    fitted = IsotonicRegression().fit_transform(scores, labels, sample_weight=weight)
    shares, block = np.unique(fitted, return_inverse=True)
    mass = np.bincount(block, weight)
    middles = np.bincount(block, weight * scores) / mass
    if shares.size > 1:
        # no block is sure: as if it had one more row of each class, but still apart
        shares[0] = max(shares[0], min(1.0 / (mass[0] + 2.0), shares[1] / 2.0))
        gap = min(1.0 / (mass[-1] + 2.0), (1.0 - shares[-2]) / 2.0)
        shares[-1] = min(shares[-1], 1.0 - gap)
    return np.stack([middles, logit(shares)])
