"""The picture of the command line, drawn without a screen."""

from collections.abc import Sequence
from dataclasses import replace
from math import isnan
from pathlib import Path
from typing import Any


def save_curves(
    path: Path,
    target: Any,
    scores: dict[str, Any],
    results: Sequence[Any],
    goal: Any,
    *,
    overwrite: bool,
) -> None:
    """Draw the ROC curves of models, by their names, and write the picture.

    With queries a curve is about the mean of those of the queries. The legend has the
    measures and intervals of the results, the same as in the text.
    """
    from aucmax import plots
    from aucmax.persistence import atomic_output

    whole = (0.0, 1.0)
    has_part = not target.is_graded and (goal.fpr_range, goal.tpr_range) != (
        whole,
        whole,
    )
    drawn = plots.ROCCurveDisplay.from_predictions(
        target.relevant,
        scores,
        sample_weight=target.curve_weights,
        ax=_new_axes(),
    )
    curves = [
        replace(
            curve,
            auc=result.measures["auc"],
            interval=_interval(curve, result) if goal.metric == "auc" else None,
            partial_auc=result.measures["partial_auc"] if has_part else None,
        )
        for curve, result in zip(drawn.curves, results, strict=True)
    ]
    display = plots.ROCCurveDisplay(
        curves, fpr_range=goal.fpr_range if has_part else None, title=drawn.title
    )
    figure = display.plot(_new_axes()).figure_
    with atomic_output(path, overwrite=overwrite) as file:
        kind = path.suffix.lstrip(".").lower()
        figure.savefig(file, format=kind, dpi=150, bbox_inches="tight")


def _interval(curve: Any, result: Any) -> Any:
    """Return the interval of the AUC, where it is the main measure."""
    if isnan(result.low):
        return None
    auc = result.measures["auc"]
    return replace(curve.interval, value=auc, low=result.low, high=result.high)


def _new_axes() -> Any:
    from matplotlib.figure import Figure

    return Figure(figsize=(5.8, 5.4), layout="constrained").subplots()
