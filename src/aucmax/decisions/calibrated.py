"""Probabilities of calibrated scores: knots applied, without scikit-learn.

:mod:`aucmax.decisions.calibration` learns the knots, and has the formulas.
"""

from collections.abc import Callable
from types import MethodType
from typing import Any

import numpy as np

from aucmax._core import saved_state as saved
from aucmax._core.fitting import require_fitted
from aucmax._core.parameters import check_share
from aucmax._core.validation import FloatArray

# Beyond these log-odds the logistic function gives different rows the same float64.
LOGISTIC_BETWEEN = -30.0, 10.0


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
        require_fitted(self, "calibration_")
        model: Any = self
        shift = 0.0
        if prevalence is not None:
            from scipy.special import logit

            check_share("prevalence", prevalence)
            shift = float(logit(prevalence) - logit(model.base_rate_))
        log_odds = along_knots(model.decision_function(X), model.calibration_) + shift
        chances = probabilities(log_odds)
        return np.column_stack([1.0 - chances, chances])


def are_rising(knots: object) -> bool:
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


def along_knots(scores: FloatArray, knots: Any) -> FloatArray:
    """Map scores by a rising line through knots of shape (2, n_knots)."""
    # the mean slope holds beyond the ends, so that no two scores become equal
    known, heights = knots
    if known.size == 1:
        return np.full(scores.size, heights[0])
    slope = (heights[-1] - heights[0]) / (known[-1] - known[0])
    beyond = scores - np.clip(scores, known[0], known[-1])
    return np.asarray(np.interp(scores, known, heights) + slope * beyond)


def probabilities(log_odds: FloatArray) -> FloatArray:
    r"""Turn log-odds into probabilities, which are never 0 or 1 and keep the order.

    Beyond -30 and 10 the distance to 0 or 1 falls as 1 / (1 + u), not as exp(-u).
    """
    from scipy.special import expit

    within = np.clip(log_odds, *LOGISTIC_BETWEEN)
    tail = expit(-np.abs(within)) / (1.0 + np.abs(log_odds - within))
    return np.where(log_odds > 0.0, 1.0 - tail, tail)
