"""Thresholds of a ranking: true positives, misses and false alarms there."""

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from aucmax._core.parameters import check_interval, check_number
from aucmax._core.threshold import balanced_threshold, halfway
from aucmax._core.validation import FloatArray, IntArray
from aucmax.inference.influence import check_groups, share_interval
from aucmax.inference.intervals import EXTRA_FOR_THE_BEST
from aucmax.inference.results import Result, check_confidence
from aucmax.metrics._steps import RankingTask, check_task

# Sums in another order must not choose another threshold.
_MAX_ROUNDING = 1e-12


@dataclass(frozen=True, repr=False)
class OperatingPoint(Result):
    """A threshold and its outcome: rows with scores above it are alerts.

    Prints as a sentence. Counts are of the given rows; with weights, they are sums of
    weights. Intervals are those of the expected outcome of this fixed threshold on an
    equally large new sample.

    Attributes
    ----------
    threshold : float
        Scores above it are alerts.
    rule : str
        The rule that chose the threshold, in words.
    alerts : int or float
        Rows above the threshold.
    tp, fn : int or float
        True positives and false negatives: positive rows above the threshold, and not.
    fp, tn : int or float
        False positives and true negatives: negative rows above the threshold, and not.
    recall, fpr, precision : float
        The recall (sensitivity, true positive rate), the false positive rate (1 -
        specificity) and the precision (positive predictive value), which is NaN without
        alerts.
    cost : float or None
        Cost of all errors, if costs chose the threshold.
    confidence_level : float
        Probability that each interval is meant to cover.
    intervals : dict of str to pair of float
        Low and high end for each of the counts and rates, by its name.

    See Also
    --------
    operating_point : Returns it, with an example.
    """

    threshold: float
    rule: str
    alerts: float
    tp: float
    fn: float
    fp: float
    tn: float
    recall: float
    fpr: float
    precision: float
    cost: float | None
    confidence_level: float
    intervals: dict[str, tuple[float, float]]

    def _records(self) -> list[dict[str, Any]]:
        record = {k: v for k, v in vars(self).items() if k != "intervals"}
        for name, (low, high) in self.intervals.items():
            record |= {f"{name}_low": low, f"{name}_high": high}
        return [record]

    def __repr__(self) -> str:
        n_positive = self.tp + self.fn
        n_rows = n_positive + self.fp + self.tn
        if self.alerts == 0:
            return (
                f"None of {_count(n_rows)} rows scores above {self.threshold:.6g}: all "
                f"{_count(n_positive)} positives are missed."
            )
        tp_ends, fp_ends = (
            "{:.0f} to {:.0f}".format(*self.intervals[name]) for name in ("tp", "fp")
        )
        return (
            f"Reviewing {_count(self.alerts)} of {_count(n_rows)} rows finds "
            f"{_count(self.tp)} of {_count(n_positive)} positives ({tp_ends}) and "
            f"misses {_count(self.fn)}, with {_count(self.fp)} false alarms "
            f"({fp_ends}): sensitivity {self.recall:.1%}, specificity "
            f"{1 - self.fpr:.1%}, precision {self.precision:.1%}; intervals for this "
            "fixed threshold."
        )


def operating_point(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    recall: float | None = None,
    sensitivity: float | None = None,
    fpr: float | None = None,
    specificity: float | None = None,
    precision: float | None = None,
    alerts: float | None = None,
    costs: tuple[float, float] | None = None,
    threshold: float | None = None,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    pos_label: object = None,
    confidence_level: float = 0.95,
) -> OperatingPoint:
    r"""Choose a threshold by one rule, and count its outcome.

    Use rows that the model was not fitted to. The rules:

    - `recall` or `sensitivity`: the fewest alerts with at least this recall
      (sensitivity, true positive rate);
    - `fpr`: the most alerts with at most this false positive rate; or `specificity`:
      with at least this specificity, one minus the rate;
    - `precision`: the most alerts with at least this precision (positive predictive
      value);
    - `alerts`: the most alerts, but at most this number; below 1, this share of all
      rows;
    - `costs` of a missed positive and of a false alarm: the lowest cost of all errors;
      of equal costs the fewest alerts;
    - `threshold`: this threshold, perhaps chosen on other rows;
    - none of them: the best balanced accuracy (largest Youden index), as `predict`
      does; no alerts if the scores are worse than chance at every threshold.

    Rows of equal score are all above the threshold or none is. Thresholds lie halfway
    between two scores; the one with all rows as alerts is just below the lowest score,
    and the one without alerts is the highest score.

    Intervals are Wilson's [1]_, of the threshold as it is: on new rows its false positive rate will be another one. The recall *at a rate*, whose
    threshold is estimated, has the wider interval of ``metric_interval(y_true, y_score,
    "recall@fpr=0.1")``. They are of the recall, over the positives;
    of the false positive rate, over the negatives; of the precision, over the alerts;
    and of the share of alerts, over all rows. The best balanced accuracy and the least
    cost look better where they were chosen, so that their lower ends of recall and
    precision have z + 0.5 in place of z. One sort.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        Labels of two classes: booleans, numbers or strings.
    y_score : array-like of shape (n_rows,)
        Finite scores, high for positive or relevant rows; compared as float64.
    recall, sensitivity, fpr, specificity, precision : float, default=None
        A share from 0 to 1.
    alerts : float, default=None
        Number of rows that can be reviewed, or with weights their sum; below 1, the
        share of rows.
    costs : pair of float, default=None
        Cost of a missed positive and of a false alarm; one of them may be 0.
    threshold : float, default=None
        A threshold to use unchanged; no row needs to reach it.
    sample_weight : array-like of shape (n_rows,), default=None
        Nonnegative row weights; the weight of a pair is the product of its rows'.
    groups : array-like of shape (n_rows,), default=None
        The group (cluster) of each row. Intervals then count as many rows as would give
        the same variance of the share if they were independent: at least the groups, at
        most the rows.
    pos_label : label, default=None
        The positive class; by default, the second label in sorted order.
    confidence_level : float, default=0.95
        Probability that the interval is meant to cover.

    Returns
    -------
    OperatingPoint
        The threshold, counts, rates and intervals.

    Raises
    ------
    ValueError
        More than one rule; a precision that no threshold reaches; fewer alerts than
        rows with the highest score; costs that are both 0.

    See Also
    --------
    aucmax.inference.metric_interval : The recall at a rate, of an estimated threshold.
    net_benefit : The outcome at all thresholds of probability.

    References
    ----------
    .. [1] E. B. Wilson. Probable inference, the law of succession, and statistical
       inference. Journal of the American Statistical Association 22, 1927.

    Examples
    --------
    >>> from aucmax.decisions import operating_point
    >>> y = [0, 0, 0, 0, 0, 0, 1, 0, 1, 1]
    >>> point = operating_point(y, range(10), alerts=2)
    >>> print(point)
    Reviewing 2 of 10 rows finds 2 of 3 positives (1 to 3) and misses 1, with 0 false alarms (0 to 2): sensitivity 66.7%, specificity 100.0%, precision 100.0%; intervals for this fixed threshold.
    >>> operating_point(y, range(10), recall=1.0).threshold
    5.5
    """  # noqa: E501
    check_confidence(confidence_level)
    name, value = _one_rule(
        recall=recall,
        sensitivity=sensitivity,
        fpr=fpr,
        specificity=specificity,
        precision=precision,
        alerts=alerts,
        costs=costs,
        threshold=threshold,
    )
    task = check_task(y_true, y_score, sample_weight, pos_label=pos_label)
    codes = check_groups(groups, task.scores.size)
    chosen = _choose(task, name, value)
    is_best = name in ("balanced", "costs")
    outcome = _outcome(task, codes, chosen, confidence_level, is_best)
    cost = None
    if name == "costs":
        cost = value[0] * outcome["fn"] + value[1] * outcome["fp"]
    return OperatingPoint(
        threshold=chosen,
        rule=_WORDS[name].format(*np.ravel(value)),
        cost=cost,
        confidence_level=confidence_level,
        **outcome,
    )


def _one_rule(**rules: Any) -> tuple[str, Any]:
    chosen = {name: value for name, value in rules.items() if value is not None}
    if len(chosen) > 1:
        raise ValueError(
            f"only one rule can choose a threshold, got {' and '.join(chosen)}; leave "
            "out all but one."
        )
    if not chosen:
        return "balanced", None
    ((name, value),) = chosen.items()
    if name == "costs":
        return name, _check_costs(value)
    if name == "threshold":
        check_number(name, value, -inf, inf)
        return name, value
    if name == "alerts":
        check_interval(name, value, inf)
        return "alert_rate" if value < 1 else name, value
    check_interval(name, value, 1.0, zero=True)
    if name == "specificity":
        return "fpr", 1.0 - value
    return name.replace("sensitivity", "recall"), value


def _check_costs(costs: Any) -> tuple[float, float]:
    """Return the costs of a missed positive and of a false alarm."""
    if np.shape(costs) != (2,):
        raise ValueError(
            "costs must be a pair, of a missed positive and of a false alarm, got "
            f"{costs!r}."
        )
    for cost in costs:
        check_number("costs", cost, 0.0, inf)
    if not any(costs):
        raise ValueError(
            "costs are both 0, so all thresholds are equally good; give at least one "
            "of them a positive cost."
        )
    missed, alarm = costs
    return missed, alarm


def _choose(task: RankingTask, rule: str, value: Any) -> float:
    """Return the threshold of a rule, halfway between two scores."""
    if rule == "threshold":
        return float(value)
    if rule == "balanced":
        return balanced_threshold(task.scores, task.is_positive, task.sample_weight)
    scores, tp, fp = task.steps().counts_above()
    n_above = _RULES[rule](tp, fp, value)  # distinct scores
    if n_above == 0:
        return float(scores[0])
    if n_above == scores.size:
        return float(np.nextafter(scores[-1], -np.inf))
    return halfway(scores[n_above], scores[n_above - 1])


def _outcome(
    task: RankingTask,
    groups: IntArray | None,
    threshold: float,
    confidence_level: float,
    is_best: bool,
) -> dict[str, Any]:
    """Count what is above the threshold; intervals of the best of many are wider."""
    positive, is_alert = task.is_positive, task.scores > threshold
    extra = EXTRA_FOR_THE_BEST if is_best else 0.0
    rates, intervals = {}, {}
    for name, rows, counted, z in (
        ("recall", positive, is_alert, extra),
        ("fpr", ~positive, is_alert, 0.0),
        ("precision", is_alert, positive, extra),
        ("alert_rate", np.ones_like(positive), is_alert, 0.0),
    ):
        share, _, *ends = share_interval(
            rows, counted, confidence_level, task.sample_weight, groups, z
        )
        rates[name], intervals[name] = share, (ends[0], ends[1])
    weights = np.ones(1, int) if task.sample_weight is None else task.sample_weight
    counts = {}
    for name, count, rows, rate in (
        ("alerts", is_alert, np.ones_like(positive), "alert_rate"),
        ("tp", positive & is_alert, positive, "recall"),
        ("fn", positive & ~is_alert, positive, "recall"),
        ("fp", ~positive & is_alert, ~positive, "fpr"),
        ("tn", ~positive & ~is_alert, ~positive, "fpr"),
    ):
        counts[name] = (weights * count).sum().item()
        total = float((weights * rows).sum())
        low, high = intervals[rate]
        if name in ("fn", "tn"):
            low, high = 1.0 - high, 1.0 - low
        intervals[name] = low * total, high * total
    del intervals["alert_rate"], rates["alert_rate"]
    return {**counts, **rates, "intervals": intervals}


def _by_recall(tp: FloatArray, fp: FloatArray, recall: float) -> int:
    return int(np.searchsorted(tp, recall * tp[-1] * (1.0 - _MAX_ROUNDING)))


def _by_fpr(tp: FloatArray, fp: FloatArray, fpr: float) -> int:
    allowed = fpr * fp[-1] * (1.0 + _MAX_ROUNDING)
    return int(np.searchsorted(fp, allowed, side="right")) - 1


def _by_precision(tp: FloatArray, fp: FloatArray, precision: float) -> int:
    alerts = tp[1:] + fp[1:]
    shares = tp[1:] / alerts
    (enough,) = np.nonzero(shares >= precision - _MAX_ROUNDING)
    if enough.size == 0:
        best = int(np.argmax(shares))
        raise ValueError(
            f"no threshold has a precision of {precision:g}: the highest is "
            f"{shares[best]:.4g}, with {_count(alerts[best])} alerts; lower the "
            "precision."
        )
    return int(enough[-1]) + 1


def _by_alerts(tp: FloatArray, fp: FloatArray, alerts: float) -> int:
    above = tp + fp
    if alerts > above[-1] * (1.0 + _MAX_ROUNDING):
        raise ValueError(
            f"alerts={alerts:g}, but there are only {_count(above[-1])} rows."
        )
    allowed = alerts * (1.0 + _MAX_ROUNDING)
    n_above = int(np.searchsorted(above, allowed, side="right")) - 1
    if n_above == 0:
        raise ValueError(
            f"no threshold gives at most {alerts:g} alerts: {_count(above[1])} rows "
            "share the highest score. Allow as many alerts, or break the ties."
        )
    return n_above


def _by_alert_rate(tp: FloatArray, fp: FloatArray, rate: float) -> int:
    return _by_alerts(tp, fp, rate * (tp[-1] + fp[-1]))


def _by_costs(tp: FloatArray, fp: FloatArray, costs: tuple[float, float]) -> int:
    total = costs[0] * (tp[-1] - tp) + costs[1] * fp
    return int(np.argmax(total <= total.min() + _MAX_ROUNDING * total.max()))


# each returns the number of distinct scores above the threshold
_RULES: dict[str, Callable[[FloatArray, FloatArray, Any], int]] = {
    "recall": _by_recall,
    "fpr": _by_fpr,
    "precision": _by_precision,
    "alerts": _by_alerts,
    "alert_rate": _by_alert_rate,
    "costs": _by_costs,
}
_WORDS = {
    "recall": "recall of at least {:g}",
    "fpr": "false positive rate of at most {:g}",
    "precision": "precision of at least {:g}",
    "alerts": "at most {:g} alerts",
    "alert_rate": "alerts for at most {:.3%} of the rows",
    "costs": "lowest cost, {:g} for a missed positive and {:g} for a false alarm",
    "threshold": "threshold {:g}",
    "balanced": "best balanced accuracy",
}


def _count(number: float) -> str:
    """Write a count, or a sum of weights."""
    return f"{number:,.0f}" if float(number).is_integer() else f"{number:,.2f}"
