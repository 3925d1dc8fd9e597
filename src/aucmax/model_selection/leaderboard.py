"""What was tried and what came of it: as a table, and in words."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from aucmax.model_selection.combiners import Ranked
from aucmax.model_selection.ensemble import Ensemble
from aucmax.model_selection.estimate import compare_scores, estimate
from aucmax.model_selection.out_of_fold import FittedCandidate

__all__ = ["ENSEMBLE", "board", "summarise"]

#: What the combination is called in a leaderboard.
ENSEMBLE = "combination"


def board(
    fitted: Sequence[FittedCandidate], ranked: Ranked, ensemble: Ensemble
) -> dict[str, list[Any]]:
    """Return the columns of the leaderboard: the combination, then models by metric."""
    columns = [ensemble.honest_scores, *ranked.logits.T]
    names = [ENSEMBLE, *(one.candidate.name for one in fitted)]
    shares = [1.0, *ensemble.weights.tolist()]
    seconds = [float(sum(one.seconds for one in fitted)), *(o.seconds for o in fitted)]
    found = [estimate(ranked, scores, ranked.part) for scores in columns]
    values = np.array([one.value for one in found])
    best = 1 + int(np.argmax(values[1:]))
    order = [0, *(1 + np.argsort(-values[1:], kind="stable")).tolist()]
    p_values = [
        None if k == best else compare_scores(ranked, columns[k], columns[best])
        for k in range(len(columns))
    ]
    return {
        "model": [names[k] for k in order],
        "metric": [float(values[k]) for k in order],
        "low": [float(found[k].low) for k in order],
        "high": [float(found[k].high) for k in order],
        "p_value": [p_values[k] for k in order],
        "weight": [shares[k] for k in order],
        "seconds": [seconds[k] for k in order],
    }


def summarise(model: Any) -> str:
    """Describe a fitted AutoRanker."""
    part = model._part_of_the_curve()
    is_whole = set(part.values()) == {(0.0, 1.0)}
    key = "auc" if is_whole else "partial_auc"
    name = "AUC" if is_whole else f"Partial AUC ({_in_words(part)})"
    value, low, high = (model.estimate_[key + end] for end in ("", "_low", "_high"))
    interval = "" if np.isnan(low) else f", 95% interval {low:.4f} to {high:.4f}"
    shares = ", ".join(f"{w:.2f} {n}" for n, w in model.weights_.items())
    names = model.board_["model"][1:]
    lines = [
        f"{model.n_rows_} rows, {model.n_positive_} of them positive; {len(names)} "
        f"models tried on {model.n_folds_} folds.",
        f"Combination ({model.combiner_}): {shares}.",
        f"{name} of new rows: {value:.4f}{interval}.",
        f"Best single model: {names[0]}, {model.board_['metric'][1]:.4f} on the folds.",
    ]
    return "\n".join([*lines, *(f"Note: {notice}." for notice in model.notices_)])


def _in_words(part: dict[str, Any]) -> str:
    names = {"fpr_range": "false", "tpr_range": "true"}
    return ", ".join(
        f"{names[key]} positive rates {low:g} to {high:g}"
        for key, (low, high) in part.items()
        if (low, high) != (0.0, 1.0)
    )
