"""Metrics, thresholds and the calibration of a search, from its held-out rows."""

from contextlib import nullcontext
from dataclasses import replace
from math import nextafter
from typing import Any

from aucmax._core.threshold import balanced_threshold
from aucmax.decisions import operating_point
from aucmax.decisions.calibration import learn_calibration
from aucmax.decisions.event_probability import learn_baseline
from aucmax.inference import MetricInterval
from aucmax.metrics.metric_names import parse_metric
from aucmax.model_selection.goals import Goal, measures_of
from aucmax.model_selection.held_out import HeldOutRows, ignore_few_rows
from aucmax.model_selection.stacking import StackedModels

# the rule of a threshold that a metric by a rate has
_RULES = {"recall@fpr": "fpr", "recall@precision": "precision"}
_RULES |= {"precision@recall": "recall"}
_FIRST_TENTH: dict[str, Any] = {"fpr_range": (0.0, 0.1), "tpr_range": (0.0, 1.0)}


def estimate_combination(rows: HeldOutRows, ensemble: StackedModels) -> MetricInterval:
    """Return the metric of the combination on new rows, with its 95% interval.

    Weights that score a block are learned on the others, but the models of those have
    seen the labels of the block. On noise this raises the metric by about as much as
    weights that were learned on the block, too, raise it further: subtract that. The
    correction is uncertain, so the interval reaches up to its end without it.
    """
    estimated = rows.estimate(ensemble.honest_scores)
    gain = max(rows.estimate(ensemble.scores).value - estimated.value, 0.0)
    least = parse_metric(rows.goal.metric).kind.bounds[0]
    value, low = (max(x - gain, least) for x in (estimated.value, estimated.low))
    return replace(estimated, value=value, low=low)


def estimate_metrics(rows: HeldOutRows, ensemble: StackedModels) -> dict[str, float]:
    """Estimate the metric that decided, and the usual ones."""
    part = rows.goal.ranges or _FIRST_TENTH
    names = measures_of(rows.target)
    if not rows.target.is_graded:
        names = names[:2] if rows.goal.is_area else names
    names = [rows.goal.metric, *names]
    record: dict[str, float] = {}
    for name in dict.fromkeys(names):
        goal = Goal(name, **part)
        is_goal = name == rows.goal.metric
        with nullcontext() if is_goal else ignore_few_rows():  # a side figure
            result = estimate_combination(replace(rows, goal=goal), ensemble)
        ends = {"": result.value, "_low": result.low, "_high": result.high}
        record |= {name + end: float(value) for end, value in ends.items()}
    return record


def learn_decisions(
    rows: HeldOutRows,
    ensemble: StackedModels,
    calibrate: str | None,
    notices: list[str],
) -> dict[str, Any]:
    """Learn the thresholds and, for one list of all rows, the calibration."""
    target = rows.target
    labels, weight = target.relevant > 0, target.weights
    if target.is_graded:
        return {"threshold_": 0.0}
    if target.durations is not None:
        outcome = labels, target.durations, ensemble.honest_scores, weight
        has_strata = target.queries is not None
        return {"threshold_": 0.0} | ({} if has_strata else learn_baseline(*outcome))
    threshold = balanced_threshold(ensemble.scores, labels, weight)
    learned: dict[str, Any] = {"threshold_": threshold}
    if target.queries is not None:
        return learned
    scores = ensemble.honest_scores - threshold
    if rule := _alert_rule(rows.goal.metric, labels.size / rows.share):
        try:
            point = operating_point(labels, scores, sample_weight=weight, **rule)
            learned["alert_point_"] = point.to_dict()
        except ValueError as error:  # such as a precision that is never reached
            notices.append(f"no threshold for alerts is stored: {error}")
    if calibrate is not None:
        learned |= learn_calibration(calibrate, scores, labels, weight)
    return learned


def _alert_rule(metric: str, n_rows: float) -> dict[str, Any]:
    """Return the rule of the threshold that belongs to a metric, if there is one."""
    named = parse_metric(metric)
    if named.base in _RULES:
        return {_RULES[named.base]: float(next(iter(named.options.values())))}
    if named.kind.is_top and "k" in named.options:
        # a share of rows is below 1
        return {"alerts": min(named.options["k"] / n_rows, nextafter(1.0, 0.0))}
    return {}
