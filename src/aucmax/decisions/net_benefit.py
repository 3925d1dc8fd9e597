"""Decision curves: the net benefit of acting above a threshold of probability."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from aucmax._core.validation import FloatArray
from aucmax.decisions.reliability import check_probabilities
from aucmax.inference.intervals import wilson_ends
from aucmax.inference.results import Result, check_confidence


@dataclass(frozen=True, repr=False)
class NetBenefit(Result):
    """The net benefit of a model at each threshold; it prints as a sentence.

    Attributes
    ----------
    threshold : ndarray of shape (n_thresholds,)
        Probabilities above which one acts.
    alerts : ndarray of shape (n_thresholds,)
        Share of rows above each threshold.
    net_benefit, low, high : ndarray of shape (n_thresholds,)
        Net benefit per row, with its interval.
    standardised, standardised_low, standardised_high : ndarray of (n_thresholds,)
        Net benefit as a share of the largest possible, the share of positives.
    treat_all : ndarray of shape (n_thresholds,)
        Net benefit of acting on all rows; acting on none has 0.
    base_rate : float
        Share of positives.
    confidence_level : float
        Probability that each interval is meant to cover.

    See Also
    --------
    net_benefit : Returns it, with an example.
    """

    threshold: FloatArray
    alerts: FloatArray
    net_benefit: FloatArray
    low: FloatArray
    high: FloatArray
    standardised: FloatArray
    standardised_low: FloatArray
    standardised_high: FloatArray
    treat_all: FloatArray
    base_rate: float
    confidence_level: float

    def __repr__(self) -> str:
        gain = self.net_benefit - np.maximum(self.treat_all, 0.0)
        n_better = int((gain > 1e-12).sum())  # more than rounding
        text = (
            "The net benefit exceeds that of acting on all rows and on none at "
            f"{n_better or 'none'} of {gain.size} thresholds"
        )
        if not n_better:
            return f"{text}."
        best = int(np.argmax(gain))
        return (
            f"{text}, most at {self.threshold[best]:.3g}: {self.net_benefit[best]:.4f} "
            f"({100 * self.confidence_level:g}% interval {self.low[best]:.4f} to "
            f"{self.high[best]:.4f}), acting on all {self.treat_all[best]:.4f}."
        )

    def _records(self) -> Any:
        values = vars(self).items()
        return {name: one for name, one in values if isinstance(one, np.ndarray)}


def net_benefit(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    *,
    thresholds: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    pos_label: object = None,
    confidence_level: float = 0.95,
) -> NetBenefit:
    r"""Return the net benefit of acting on rows above thresholds of probability.

    Someone who acts at a probability above t considers a missed positive
    :math:`(1 - t) / t` times as bad as a false alarm. In units of true positives per
    row, acting on the rows above t therefore brings

    .. math:: \mathrm{NB}(t) = \frac{\mathrm{TP}}{m} - \frac{t}{1 - t}
              \frac{\mathrm{FP}}{m}

    with TP positives and FP negatives above t among m rows. Compare it with acting on
    all rows and on none. A row is above t if its probability is larger, as in
    :func:`operating_point`. Costs O(m log m).

    The interval combines Wilson's intervals of both shares, which are negatively
    correlated (MOVER [2]_): it is not empty where no row is above t. The standardised
    net benefit is :math:`\mathrm{TP} / p - t / (1 - t) \, \mathrm{FP} / p` with p
    positives, in which :math:`\mathrm{FP} / p` has the interval of the share
    :math:`\mathrm{FP} / (\mathrm{FP} + p)`. Intervals hold for each threshold alone.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        Labels of two classes: booleans, numbers or strings.
    y_prob : array-like of shape (n_rows,)
        Probabilities of the positive class.
    thresholds : array-like of shape (n_thresholds,), optional
        Thresholds from 0 to below 1, returned in ascending order; by default 0.01,
        0.02, ..., 0.99.
    sample_weight : array-like of shape (n_rows,), optional
        Weights of independent rows, as for :func:`aucmax.inference.auc_interval`.
    pos_label : label, default=None
        The positive class; by default, the second label in sorted order.
    confidence_level : float, default=0.95
        Probability that the interval is meant to cover.

    Returns
    -------
    NetBenefit
        Arrays with one value per threshold; ``to_frame()`` is a table.

    See Also
    --------
    reliability : Whether the probabilities are calibrated.
    aucmax.plots.DecisionCurveDisplay : A picture of it.

    References
    ----------
    .. [1] A. J. Vickers, E. B. Elkin. Decision curve analysis: a novel method for
       evaluating prediction models. Medical Decision Making 26(6), 2006.
    .. [2] G. Y. Zou, A. Donner. Construction of confidence limits about effect
       measures: a general approach. Statistics in Medicine 27(10), 2008.

    Examples
    --------
    >>> from aucmax.decisions import net_benefit
    >>> found = net_benefit([0, 0, 1, 1], [0.1, 0.6, 0.4, 0.9], thresholds=[0.2, 0.5])
    >>> found.net_benefit.round(4).tolist(), found.treat_all.round(4).tolist()
    ([0.4375, 0.0], [0.375, 0.0])
    """
    check_confidence(confidence_level)
    cuts = _check_thresholds(thresholds)
    y_prob, is_positive, weight = check_probabilities(
        y_true, y_prob, sample_weight, pos_label
    )
    order = np.argsort(-y_prob, kind="stable")
    n_above = np.searchsorted(-y_prob[order], -cuts)  # rows with a higher probability

    def above(values: FloatArray) -> FloatArray:
        """Return the sums over the rows above each threshold."""
        return np.concatenate(([0.0], np.cumsum(values[order])))[n_above]

    total, positive = float(weight.sum()), float(weight @ is_positive)
    tp_above, fp_above = above(weight * is_positive), above(weight * ~is_positive)
    # rows of equal weight with the same variance: of all, of the positives, and of
    # these together with the false alarms
    positive_squares = float(weight**2 @ is_positive)
    n_rows = total**2 / float((weight**2).sum())
    n_positive = positive**2 / positive_squares
    n_both = (fp_above + positive) ** 2 / (
        above(weight**2 * ~is_positive) + positive_squares
    )
    odds = cuts / (1.0 - cuts)
    tp, fp = tp_above / total, fp_above / total
    scale = np.sqrt((1.0 - tp) * (1.0 - fp))
    r = -np.sqrt(tp * fp) / np.where(scale > 0.0, scale, 1.0)
    tp_ends, fp_ends = (
        wilson_ends(share, n_rows, confidence_level) for share in (tp, fp)
    )
    benefit = _difference(tp, tp_ends, fp, fp_ends, odds, r)
    recall, share = tp_above / positive, fp_above / (fp_above + positive)
    recall_ends = wilson_ends(recall, n_positive, confidence_level)
    ratio_ends = [
        end / (1.0 - end) for end in wilson_ends(share, n_both, confidence_level)
    ]
    standardised = _difference(
        recall, recall_ends, fp_above / positive, ratio_ends, odds, 0.0
    )
    alerts, base_rate = (tp_above + fp_above) / total, positive / total
    treat_all = (positive - odds * (total - positive)) / total
    return NetBenefit(
        cuts, alerts, *benefit, *standardised, treat_all, base_rate, confidence_level
    )


def shown_range(
    curves: Sequence[NetBenefit],
) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return the thresholds and net benefits to draw: up to the last alert."""
    first = curves[0]
    (used,) = np.nonzero(np.max([one.alerts for one in curves], axis=0))
    last = min(int(used[-1]) + 1 if used.size else 1, first.threshold.size - 1)
    best = [one.net_benefit[: last + 1].max() for one in curves]
    top = float(max(*best, first.treat_all.max(), 0.1 * first.base_rate))
    ends = float(first.threshold[0]), float(first.threshold[last])
    return ends, (-0.15 * top, 1.12 * top)


def _difference(
    one: FloatArray, ends: Any, two: FloatArray, ends_of_two: Any, times: Any, r: Any
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return ``one - times * two`` with its interval, from those of both parts."""
    value = one - times * two
    down, up = one - ends[0], ends[1] - one
    less, more = times * (two - ends_of_two[0]), times * (ends_of_two[1] - two)
    low = value - np.sqrt(down**2 + more**2 - 2.0 * r * down * more)
    return value, low, value + np.sqrt(up**2 + less**2 - 2.0 * r * up * less)


def _check_thresholds(thresholds: ArrayLike | None) -> FloatArray:
    if thresholds is None:
        return np.arange(1, 100) / 100.0
    try:
        cuts = np.atleast_1d(np.asarray(thresholds, dtype=np.float64))
    except (TypeError, ValueError):
        cuts = np.full((1, 1), np.nan)
    if cuts.ndim != 1 or not cuts.size or not ((cuts >= 0.0) & (cuts < 1.0)).all():
        raise ValueError(
            f"thresholds must be numbers from 0 to below 1, got {thresholds!r}."
        )
    return np.sort(cuts)
