"""Calibration of probabilities: errors, and a diagram of groups of rows."""

from dataclasses import dataclass
from math import nan
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, logit

from aucmax._core.parameters import check_integer
from aucmax._core.validation import BoolArray, FloatArray, IntArray
from aucmax.inference.intervals import t_quantile, wilson_ends
from aucmax.inference.results import Result, check_confidence
from aucmax.metrics._steps import check_task

_MAX_NEWTON_STEPS = 100
_MIN_STEP = 1e-10


@dataclass(frozen=True, repr=False)
class Reliability(Result):
    """Predicted probabilities compared with observed outcomes.

    Attributes
    ----------
    log_loss, brier_score : float
        Mean negative logarithm of the probability of the observed outcome, and mean
        squared error; 0 is perfect.
    mean_probability, base_rate : float
        Mean probability of the positive class, and its share.
    slope, intercept : float
        Logistic regression of the outcomes on the log-odds of the probabilities: 1 and
        0 if they are calibrated. A slope below 1 means that they are too extreme. NaN
        if one class has the higher probabilities throughout.
    in_the_large : float
        The intercept with a slope of 1: above 0 if probabilities are too low in the
        mean.
    slope_interval, intercept_interval, in_the_large_interval : pair of float
        Their intervals, by the influence of rows (Huber's sandwich).
    n_certain : int
        Rows with a probability of 0 or 1, which these regressions leave out.
    probability : ndarray of shape (n_bins,)
        Mean probability of each group of rows, ascending.
    share : ndarray of shape (n_bins,)
        Share of positives in each group.
    low, high : ndarray of shape (n_bins,)
        Ends of Wilson's interval of that share.
    n_rows : ndarray of shape (n_bins,)
        Rows in each group.
    confidence_level : float
        Probability that each interval is meant to cover.

    See Also
    --------
    reliability : Returns it, with an example.
    """

    log_loss: float
    brier_score: float
    mean_probability: float
    base_rate: float
    slope: float
    intercept: float
    in_the_large: float
    slope_interval: tuple[float, float]
    intercept_interval: tuple[float, float]
    in_the_large_interval: tuple[float, float]
    n_certain: int
    probability: FloatArray
    share: FloatArray
    low: FloatArray
    high: FloatArray
    n_rows: Any
    confidence_level: float

    def __repr__(self) -> str:
        percent = f"{100 * self.confidence_level:g}%"
        lines = [
            f"Brier score {self.brier_score:.4f}, log loss {self.log_loss:.4f}",
            f"mean probability {self.mean_probability:.2%}, {self.base_rate:.2%} are "
            "positive",
        ]
        for name, ideal in (("slope", 1), ("intercept", 0), ("in_the_large", 0)):
            value, (low, high) = getattr(self, name), getattr(self, f"{name}_interval")
            ends = f"{percent} interval {low:.3f} to {high:.3f}"
            title = name.replace("in_the", "calibration in the").replace("_", " ")
            lines.append(f"{title} {value:.3f} ({ends}), ideal {ideal}")
        return "\n".join(lines)

    def _records(self) -> Any:
        names = ("probability", "share", "low", "high", "n_rows")
        return {name: getattr(self, name) for name in names}


def reliability(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    *,
    n_bins: int = 10,
    sample_weight: ArrayLike | None = None,
    pos_label: object = None,
    confidence_level: float = 0.95,
) -> Reliability:
    """Compare predicted probabilities with observed outcomes.

    Rows are sorted by probability and divided into groups of about equal size or
    weight; rows of equal probability are in one group. Slope and intercept are those of
    ``val.prob`` of the R package rms.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        Labels of two classes: booleans, numbers or strings.
    y_prob : array-like of shape (n_rows,)
        Probabilities of the positive class.
    n_bins : int, default=10
        Maximum number of groups.
    sample_weight : array-like of shape (n_rows,), default=None
        Nonnegative row weights; the weight of a pair is the product of its rows'.
    pos_label : label, default=None
        The positive class; by default, the second label in sorted order.
    confidence_level : float, default=0.95
        Probability that the interval is meant to cover.

    Returns
    -------
    Reliability
        Errors, and the groups; ``to_frame()`` has one row per group.

    See Also
    --------
    net_benefit : What acting on the probabilities brings.
    aucmax.plots.CalibrationDisplay : A picture of it.

    Examples
    --------
    >>> from aucmax.decisions import reliability
    >>> found = reliability([0, 1, 0, 1], [0.1, 0.2, 0.7, 0.9], n_bins=2)
    >>> round(found.brier_score, 4), found.share.tolist()
    (0.2875, [0.5, 0.5])
    """
    check_confidence(confidence_level)
    check_integer("n_bins", n_bins)
    chances, happened, weight = check_probabilities(
        y_true, y_prob, sample_weight, pos_label
    )
    from sklearn.metrics import brier_score_loss, log_loss

    groups = _groups(chances, weight, n_bins)
    mass = np.bincount(groups, weight)
    share = np.bincount(groups, weight * happened) / mass
    n_effective = mass**2 / np.bincount(groups, weight**2)
    low, high = wilson_ends(share, n_effective, confidence_level)
    return Reliability(
        log_loss=float(log_loss(happened, chances, sample_weight=weight)),
        brier_score=float(brier_score_loss(happened, chances, sample_weight=weight)),
        mean_probability=float(np.average(chances, weights=weight)),
        base_rate=float(np.average(happened, weights=weight)),
        **_recalibrate(chances, happened, weight, confidence_level),
        probability=np.bincount(groups, weight * chances) / mass,
        share=share,
        low=low,
        high=high,
        n_rows=np.bincount(groups),
        confidence_level=confidence_level,
    )


def check_probabilities(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    sample_weight: ArrayLike | None,
    pos_label: object,
) -> tuple[FloatArray, BoolArray, FloatArray]:
    """Return probabilities, outcomes and weights of the rows that have a weight."""
    task = check_task(y_true, y_prob, sample_weight, pos_label=pos_label, name="y_prob")
    chances, happened = task.scores, task.is_positive
    if chances.min() < 0.0 or chances.max() > 1.0:
        row = int(np.argmax((chances < 0.0) | (chances > 1.0)))
        raise ValueError(
            f"y_prob must lie between 0 and 1, but row {row} is "
            f"{chances[row]:g}; calibrate scores to get probabilities."
        )
    if task.sample_weight is None:
        return chances, happened, np.ones(chances.size)
    counts = task.sample_weight > 0.0
    return chances[counts], happened[counts], task.sample_weight[counts]


def _recalibrate(
    chances: FloatArray,
    happened: BoolArray,
    weight: FloatArray,
    confidence_level: float,
) -> dict[str, Any]:
    """Regress outcomes on log-odds: an intercept alone, then also a slope."""
    is_open = (chances > 0.0) & (chances < 1.0)
    x, y, w = logit(chances[is_open]), happened[is_open], weight[is_open]
    fits = [(nan, nan)] * 3
    constant = np.ones(x.size)
    if has_both := 0 < y.sum() < y.size:
        fits[:1] = _fit_logistic(constant[:, None], y, w, x)
    # if one class lies above the other, the slope is infinite
    if has_both and x[y].min() < x[~y].max() and x[y].max() > x[~y].min():
        fits[1:] = _fit_logistic(np.column_stack([constant, x]), y, w, 0.0)
    t = t_quantile(x.size - 2.0, confidence_level)
    results: dict[str, Any] = {"n_certain": int((~is_open).sum())}
    names = ("in_the_large", "intercept", "slope")
    for name, (value, error) in zip(names, fits, strict=True):
        results[name] = value
        results[f"{name}_interval"] = value - t * error, value + t * error
    return results


def _fit_logistic(
    columns: FloatArray, y: BoolArray, weight: FloatArray, offset: Any
) -> list[tuple[float, float]]:
    """Return coefficients by Newton's method, with errors by the influence of rows."""

    def loss(beta: FloatArray) -> float:
        scores = offset + columns @ beta
        return float(weight @ (np.logaddexp(0.0, scores) - y * scores))

    beta = np.zeros(columns.shape[1])
    for _ in range(_MAX_NEWTON_STEPS):
        chances = expit(offset + columns @ beta)
        slopes = columns * (weight * (y - chances))[:, None]
        hessian = columns.T @ (columns * (weight * chances * (1.0 - chances))[:, None])
        inverse = np.linalg.pinv(hessian, hermitian=True)
        step = inverse @ slopes.sum(axis=0)
        while loss(beta + step) > loss(beta) and np.abs(step).max() > _MIN_STEP:
            step /= 2.0
        beta = beta + step
        if np.abs(step).max() <= _MIN_STEP * (1.0 + np.abs(beta).max()):
            break
    errors = np.sqrt(((slopes @ inverse) ** 2).sum(axis=0))
    return list(zip(beta.tolist(), errors.tolist(), strict=True))


def _groups(chances: FloatArray, weight: FloatArray, n_bins: int) -> IntArray:
    """Return the numbers of groups of neighbouring probabilities, of one weight."""
    _, ties = np.unique(chances, return_inverse=True)
    mass = np.bincount(ties, weight)
    # rows of equal probability go where the middle of their weight is
    middle = (np.cumsum(mass) - 0.5 * mass) / mass.sum()
    group = np.minimum((middle * n_bins).astype(np.int64), n_bins - 1)
    return np.asarray(np.unique(group[ties], return_inverse=True)[1], dtype=np.int64)
