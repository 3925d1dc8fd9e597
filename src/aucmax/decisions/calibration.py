r"""From scores to probabilities, by an increasing function that keeps the ranking.

A calibration is a line through knots from scores to log-odds: two knots for the
sigmoid, one per block of rows for isotonic regression. It rises strictly, so that rows
of different scores have different probabilities. Other shares of positives than those
of training shift the log-odds by a constant (Bayes' rule, where the classes themselves
look as before):

.. math:: \mathrm{logit}\, p' = \mathrm{logit}\, p
          + \mathrm{logit}\, \pi' - \mathrm{logit}\, \pi
"""

from collections.abc import Callable
from types import MethodType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import expit, logit
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.utils.validation import check_is_fitted

from aucmax._core import saved_state as saved
from aucmax._core.parameters import check_choice
from aucmax._core.validation import BoolArray, FloatArray

#: What the parameter `calibrate` may be, besides None.
CALIBRATIONS = ("auto", "sigmoid", "isotonic")

# Of the rarer class, for isotonic regression, which overfits fewer rows.
_MIN_ROWS_FOR_ISOTONIC = 1000

# Beyond these log-odds the logistic function gives different rows the same float64.
LOGISTIC_BETWEEN = -30.0, 10.0

# Smallest rise of the log-odds over the training scores, if these carry no signal.
_MIN_RISE = 1e-3


class _OfCalibrated:
    """A method of calibrated models; of others the AttributeError states the reason."""

    def __init__(self, method: Callable[..., Any]) -> None:
        self._method = method

    def __get__(self, model: Any, owner: type | None = None) -> Any:
        if model is None:
            return self._method
        reason = ""
        if hasattr(model, "is_survival_"):
            reason = "it ranks by censored times; use predict_event_probability"
        elif model.calibrate is None:
            reason = 'calibrate=None; set calibrate="auto" and fit again'
        elif not hasattr(model, "calibration_") and any(
            hasattr(model, name) for name in ("classes_", "levels_")
        ):
            # scores of different queries are not on one scale
            reason = (
                "it was fitted with queries, levels or calibrate=None; fit again "
                'without these and with calibrate="auto", or use decision_function'
            )
        if reason:
            raise AttributeError(
                f"{type(model).__name__} has no {self._method.__name__}: {reason}."
            )
        return MethodType(self._method, model)


class CalibratedMixin:
    """Probabilities of models with a parameter `calibrate`."""

    _saved_state = saved.optional(
        calibration_=saved.SavedField(
            lambda knots, state: None if are_rising(knots) else "made of rising knots"
        ),
        base_rate_=saved.between(0, 1),
    )

    calibrate: str | None

    @_OfCalibrated
    def predict_proba(self, X: Any, *, prevalence: float | None = None) -> FloatArray:
        """Return the probability of both classes; only with `calibrate`.

        The ranking is that of `decision_function`. `predict` uses the threshold of the
        best balanced accuracy, not a probability of 1/2.

        Parameters
        ----------
        X : DataFrame (polars or pandas), array or sparse matrix, (n_rows, n_features)
            Raw rows.
        prevalence : float, default=None
            Share of positives where the model is used, if it differs from training.

        Returns
        -------
        ndarray of shape (n_rows, 2)
            Of the negative and the positive class.
        """
        check_is_fitted(self, "calibration_")
        model: Any = self
        shift = 0.0
        if prevalence is not None:
            _check_prevalence(prevalence)
            shift = float(logit(prevalence) - logit(model.base_rate_))
        log_odds = along_knots(model.decision_function(X), model.calibration_) + shift
        chances = _probabilities(log_odds)
        return np.column_stack([1.0 - chances, chances])


def are_rising(knots: Any) -> bool:
    """Whether knots are finite, and both scores and log-odds rise strictly."""
    return (
        isinstance(knots, np.ndarray)
        and knots.dtype == np.float64
        and knots.ndim == 2
        and knots.shape[0] == 2
        and knots.shape[1] > 0
        and bool(np.isfinite(knots).all())
        and bool((np.diff(knots) > 0.0).all())
    )


def check_calibrate(calibrate: Any) -> None:
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
    labels = labels.astype(bool)
    weight = np.ones(labels.size) if weight is None else weight
    if calibrate == "auto":
        rarer = min(np.count_nonzero(labels), np.count_nonzero(~labels))
        calibrate = "isotonic" if rarer >= _MIN_ROWS_FOR_ISOTONIC else "sigmoid"
    knots = _sigmoid(scores, labels, weight)
    if calibrate == "isotonic":
        blocks = _isotonic(scores, labels, weight)
        knots = knots if blocks.shape[1] < 2 else blocks
    base_rate = float(np.average(labels, weights=weight))
    log_odds = along_knots(scores, knots)

    def excess(shift: float) -> float:
        chances = _probabilities(log_odds + shift)
        return float(np.average(chances, weights=weight)) - base_rate

    # so far that the smallest share of weights is reached, see `_probabilities`
    knots[1] += float(brentq(excess, -1e12, 1e12, maxiter=1000))
    return {"calibration_": knots, "base_rate_": base_rate}


def along_knots(scores: FloatArray, knots: Any) -> FloatArray:
    """Map scores by a rising line through knots of shape (2, n_knots)."""
    # the mean slope holds beyond the ends, so that no two scores become equal
    known, heights = knots
    if known.size == 1:
        return np.full(scores.size, heights[0])
    slope = (heights[-1] - heights[0]) / (known[-1] - known[0])
    beyond = scores - np.clip(scores, known[0], known[-1])
    return np.asarray(np.interp(scores, known, heights) + slope * beyond)


def _sigmoid(scores: FloatArray, labels: BoolArray, weight: FloatArray) -> FloatArray:
    """Fit a logistic regression of the score, with Platt's targets.

    Of a class of n rows, a row counts as positive by (n + 1) / (n + 2) or 1 / (n + 2),
    so that classes without overlap leave finite weights.
    """
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
    fitted = IsotonicRegression().fit_transform(scores, labels, sample_weight=weight)
    shares, block = np.unique(fitted, return_inverse=True)
    mass = np.bincount(block, weight)
    middles = np.bincount(block, weight * scores) / mass
    if shares.size > 1:
        # no block is sure: as if it had one more row of each class, but still apart
        shares[0] = max(shares[0], min(1.0 / (mass[0] + 2.0), shares[1] / 2.0))
        rest = min(1.0 / (mass[-1] + 2.0), (1.0 - shares[-2]) / 2.0)
        shares[-1] = min(shares[-1], 1.0 - rest)
    return np.stack([middles, logit(shares)])


def _probabilities(log_odds: FloatArray) -> FloatArray:
    r"""Turn log-odds into probabilities, which are never 0 or 1 and keep the order.

    Beyond -30 and 10 the distance to 0 or 1 falls as 1 / (1 + u), not as exp(-u).
    """
    within = np.clip(log_odds, *LOGISTIC_BETWEEN)
    rest = expit(-np.abs(within)) / (1.0 + np.abs(log_odds - within))
    return np.where(log_odds > 0.0, 1.0 - rest, rest)


def _check_prevalence(prevalence: Any) -> None:
    try:
        is_share = 0.0 < float(prevalence) < 1.0
    except (TypeError, ValueError):
        is_share = False
    if not is_share:
        raise ValueError(f"prevalence must be above 0 and below 1, got {prevalence!r}.")
