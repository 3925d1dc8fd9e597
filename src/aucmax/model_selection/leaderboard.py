"""The leaderboard of AutoRanker: a metric over folds, with its interval and tests."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from aucmax._core.validation import FloatArray
from aucmax.inference import MetricInterval
from aucmax.metrics.metric_names import metric_title
from aucmax.model_selection.auto_search import FittedCandidate
from aucmax.model_selection.estimates import estimate_combination
from aucmax.model_selection.goals import Goal
from aucmax.model_selection.held_out import HeldOutRows
from aucmax.model_selection.stacking import StackedModels


def _p_value(rows: HeldOutRows, scores: FloatArray, baseline: FloatArray) -> float:
    """Return the p-value of a paired test of equal metrics; NaN if there is none."""
    try:
        return float(rows.compare(scores, baseline).p_value)
    except ValueError:  # a class has fewer than two rows in a fold
        return np.nan


def board(
    fitted: Sequence[FittedCandidate],
    estimates: Sequence[MetricInterval],
    rows: HeldOutRows,
    logits: FloatArray,
    ensemble: StackedModels,
) -> dict[str, list[Any]]:
    """Return the columns of the leaderboard: the combination, then models by metric."""
    scores = [ensemble.honest_scores, *logits.T]
    estimates = [estimate_combination(rows, ensemble), *estimates]
    values = np.array([one.value for one in estimates])
    best = 1 + int(np.argmax(values[1:]))
    columns: dict[str, list[Any]] = {
        "model": ["combination", *(one.name for one in fitted)],
        "metric": [float(one.value) for one in estimates],
        "low": [float(one.low) for one in estimates],
        "high": [float(one.high) for one in estimates],
        "p_value": [
            None if k == best else _p_value(rows, column, scores[best])
            for k, column in enumerate(scores)
        ],
        "weight": [1.0, *ensemble.weights.tolist()],
        "seconds": [float(sum(one.seconds for one in fitted))]
        + [one.seconds for one in fitted],
    }
    order = [0, *(1 + np.argsort(-values[1:], kind="stable"))]
    return {name: [column[k] for k in order] for name, column in columns.items()}


def summarise(model: Any) -> str:
    """Return sentences on a fitted AutoRanker."""
    key = getattr(model, "metric_", "auc")
    name = metric_title(key)
    if key == "partial_auc":
        part = Goal(key, **model._part_of_the_curve()).part_in_words
        name = f"Partial AUC ({part})"
    value, low, high = (model.estimate_[key + end] for end in ("", "_low", "_high"))
    interval = "" if np.isnan(low) else f", 95% interval {low:.4f} to {high:.4f}"
    names = model.board_["model"][1:]
    shares = ", ".join(f"{w:.2f} {n}" for n, w in model.weights_.items())
    chosen = f"Combination: {shares}."
    if len(model.weights_) == 1:
        reason = "no combination was better" if len(names) > 1 else "no other was tried"
        chosen = f"Selected: {next(iter(model.weights_))} ({reason})."
    kind = "relevant" if hasattr(model, "levels_") else "positive"
    kind = "with an event" if hasattr(model, "is_survival_") else kind
    lines = [
        f"{model.n_rows_} rows, {model.n_positive_} of them {kind}; {len(names)} "
        f"model{'s' * (len(names) > 1)} tried on {model.n_folds_} folds.",
        chosen,
        f"{name} on new rows: {value:.4f}{interval}.",
        f"Best single model: {names[0]}, {model.board_['metric'][1]:.4f} on the folds.",
    ]
    return "\n".join([*lines, *(f"Note: {notice}." for notice in model.notices_)])
