"""The picture of the command line, drawn without a screen."""

from collections.abc import Sequence
from dataclasses import replace
from math import isnan
from typing import Any

__all__ = ["draw_curves"]


def draw_curves(
    target: Any,
    scores: dict[str, Any],
    results: Sequence[Any],
    aim: Any,
) -> Any:
    """Draw the ROC curves of models, by their names, and return the figure.

    With queries a curve is about the mean of those of the queries. The legend has the
    measures and intervals of the results, so that it says the same as the text.
    """
    from aucmax import plots

    whole = (0.0, 1.0)
    has_part = not target.is_graded and (aim.fpr_range, aim.tpr_range) != (whole, whole)
    drawn = plots.roc_curve(
        target.relevant,
        scores,
        sample_weight=target.curve_weights,
        zoom=False,
        ax=_new_axes(),
    )
    curves = [
        replace(
            curve,
            auc=result.measures["auc"],
            interval=_interval(curve, result) if aim.metric == "auc" else None,
            partial_auc=result.measures["partial_auc"] if has_part else None,
        )
        for curve, result in zip(drawn.curves, results, strict=True)
    ]
    display = plots.ROCCurveDisplay(
        curves, fpr_range=aim.fpr_range if has_part else None, title=drawn.title
    )
    return display.plot(_new_axes()).figure_


def _interval(curve: Any, result: Any) -> Any:
    """Interval of the AUC, where it is the main measure."""
    auc = result.measures["auc"]
    if isnan(result.low):
        return None
    return replace(curve.interval, auc=auc, low=result.low, high=result.high)


def _new_axes() -> Any:
    from matplotlib.figure import Figure

    return Figure(figsize=(5.8, 5.4), layout="constrained").subplots()
