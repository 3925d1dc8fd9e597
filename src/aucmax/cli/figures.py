"""Pictures of the command line, drawn without a screen."""

from dataclasses import replace
from typing import Any

__all__ = ["draw_comparison", "draw_roc"]


def draw_roc(
    labels: Any, scores: dict[str, Any], fpr_range: tuple[float, float]
) -> Any:
    """Draw ROC curves by name and return the figure."""
    from aucmax import plots

    display = plots.roc_curve(
        labels, scores, fpr_range=_shaded(fpr_range), ax=_new_axes()
    )
    return display.figure_


def draw_comparison(comparison: Any) -> Any:
    """Draw the ROC curves of a comparison and return the figure.

    Curves are over positions, which are comparable between folds; the legend has the
    same numbers as the table.
    """
    from aucmax import plots

    fpr_range = _shaded(comparison.fpr_range)
    drawn = plots.roc_curve(comparison.labels, comparison.positions, ax=_new_axes())
    curves = [
        replace(
            curve,
            auc=result.auc,
            interval=replace(
                curve.interval, auc=result.auc, low=result.low, high=result.high
            ),
            partial_auc=result.partial_auc if fpr_range else None,
        )
        for curve, result in zip(drawn.curves, comparison.results, strict=True)
        if curve.interval is not None
    ]
    return plots.ROCCurveDisplay(curves, fpr_range=fpr_range).plot(_new_axes()).figure_


def _new_axes() -> Any:
    from matplotlib.figure import Figure

    return Figure(figsize=(5.8, 5.4), layout="constrained").subplots()


def _shaded(fpr_range: tuple[float, float]) -> tuple[float, float] | None:
    return None if fpr_range == (0.0, 1.0) else fpr_range
