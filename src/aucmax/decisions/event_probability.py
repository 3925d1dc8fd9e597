r"""The probability of an event by a time, from scores of rows with censored times.

Cox's model with the score as its only column, and Breslow's estimate of the cumulative
hazard :math:`H_0` of a row with score 0, give

.. math:: P(T \le t \mid s) = 1 - \exp(-H_0(t) \, e^{b s}), \qquad
          H_0(t) = \sum_{t_i \le t, \, e_i = 1}
          \frac{w_i}{\sum_{t_j \ge t_i} w_j e^{b s_j}}

Both are learned from scores of held-out rows, so that the slope b also corrects scores
that are too extreme.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from aucmax._core import saved_state as saved
from aucmax._core.validation import BoolArray, FloatArray, check_scores
from aucmax.inference.intervals import t_quantile
from aucmax.metrics.concordance import Censoring

_MAX_STEPS = 1_000  # of a stored hazard
_MAX_SLOPE = 50.0  # per standard deviation of the scores


def learn_baseline(
    event: BoolArray,
    time: FloatArray,
    scores: FloatArray,
    weight: FloatArray | None = None,
) -> dict[str, Any]:
    """Fit the slope of the scores, at least 0, and Breslow's cumulative hazard."""
    weight = np.ones(scores.size) if weight is None else weight
    times, place = np.unique(time, return_inverse=True)
    events = np.bincount(place, weight * event).astype(np.float64)
    centre, width = float(scores.mean()), float(scores.std()) or 1.0
    unit = (scores - centre) / width

    def at_risk(values: FloatArray) -> FloatArray:
        """Sum values of the rows that are observed for at least as long."""
        return np.asarray(np.cumsum(np.bincount(place, values)[::-1])[::-1])

    def slope_of_likelihood(slope: float) -> float:
        risk = weight * np.exp(slope * (unit - unit.max()))
        mean = at_risk(risk * unit) / at_risk(risk)
        return float((weight * event) @ unit - events @ mean)

    slope = 0.0
    if slope_of_likelihood(0.0) > 0.0:
        slope = _MAX_SLOPE
        if slope_of_likelihood(slope) < 0.0:
            slope = float(brentq(slope_of_likelihood, 0.0, slope))
    slope /= width
    hazard = np.cumsum(events / at_risk(weight * np.exp(slope * scores)))
    is_step = (events > 0.0) | (times == times[-1])
    steps = np.stack([times, hazard])[:, is_step]
    if steps.shape[1] > _MAX_STEPS:
        kept = np.linspace(0, steps.shape[1] - 1, _MAX_STEPS).round().astype(int)
        steps = steps[:, kept]
    return {"baseline_": steps, "hazard_slope_": slope}


def event_probability(
    baseline: FloatArray, slope: float, scores: FloatArray, horizons: ArrayLike
) -> FloatArray:
    """Return the probability of an event by each horizon, one column per horizon."""
    checked = check_scores(np.atleast_1d(horizons), None, "horizons")
    times, hazards = baseline
    if checked.size and (checked.min() < 0.0 or checked.max() > times[-1]):
        raise ValueError(
            f"horizons must be between 0 and {times[-1]:g}, the longest time of the "
            f"training rows, got {checked.min():g} to {checked.max():g}."
        )
    steps = np.concatenate([[0.0], hazards])
    hazard = steps[np.searchsorted(times, checked, side="right")]
    by_horizon = -np.expm1(-np.exp(slope * scores)[:, None] * hazard)
    return np.asarray(by_horizon[:, 0] if np.ndim(horizons) == 0 else by_horizon)


def _has_baseline(model: object) -> bool:
    if hasattr(model, "baseline_"):
        return True
    raise AttributeError(
        f"{type(model).__name__} has no predict_event_probability: that needs an "
        "AutoRanker fitted to censored times without strata (qid)."
    )


class EventProbabilityMixin:
    """Probabilities of models that were fitted to censored times."""

    _saved_state = saved.optional(
        baseline_=saved.array("f", 2, None), hazard_slope_=saved.finite
    )

    @available_if(_has_baseline)  # type: ignore[untyped-decorator]
    def predict_event_probability(self, X: object, horizons: ArrayLike) -> FloatArray:
        """Return the probability of an event by a time; only of censored times.

        Parameters
        ----------
        X : DataFrame (polars or pandas), array or sparse matrix, (n_rows, n_features)
            Raw rows.
        horizons : float or array-like of shape (n_horizons,)
            Times from 0 to the longest of the training rows.

        Returns
        -------
        ndarray of shape (n_rows,) or (n_rows, n_horizons)
            By Cox's model of the scores, with Breslow's baseline hazard.
        """
        model: Any = self
        check_is_fitted(model)
        scores = model.decision_function(X)
        return event_probability(model.baseline_, model.hazard_slope_, scores, horizons)


class SurvivalCurve(NamedTuple):
    """The share without an event after each time, with its 95% interval."""

    times: FloatArray
    share: FloatArray
    low: FloatArray
    high: FloatArray

    def at(self, time: float) -> tuple[float, float, float]:
        """Return share and interval at a time."""
        place = int(np.searchsorted(self.times, time, side="right")) - 1
        if place < 0:
            return 1.0, 1.0, 1.0
        return float(self.share[place]), float(self.low[place]), float(self.high[place])


def kaplan_meier(
    event: BoolArray, time: FloatArray, weight: FloatArray | None = None
) -> SurvivalCurve:
    """Return the Kaplan-Meier curve; intervals by Greenwood's variance of log(-log)."""
    weight = np.ones(time.size) if weight is None else weight
    curve = Censoring.from_events(event, time, weight)
    share, at_risk, events = curve.survival[1:], curve.at_risk, curve.censored
    factor = time.size / float(weight.sum())  # weights count as rows of the same total
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = events / (factor * at_risk * (at_risk - events))
        error = np.sqrt(np.cumsum(terms)) / np.abs(np.log(share))
        quantile = t_quantile(np.inf, 0.95)
        ends = share ** np.exp(quantile * np.stack([error, -error]))
    is_inside = (share > 0.0) & (share < 1.0)
    low, high = np.where(is_inside, ends, share)
    return SurvivalCurve(curve.times, share, low, high)
