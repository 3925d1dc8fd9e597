"""The picture of the command line, drawn without a screen."""

from dataclasses import replace
from pathlib import Path
from typing import Any


def save_curves(path: Path, comparison: Any, *, overwrite: bool) -> None:
    """Draw the ROC curves of a comparison, and write the picture.

    With queries a curve is about the mean of those of the queries. The order is that of
    the report, and the legend has the areas of the table.
    """
    from matplotlib.figure import Figure

    from aucmax import plots
    from aucmax._core.atomic import atomic_output

    target, goal = comparison.target, comparison.goal
    results = sorted(comparison.ranked, key=lambda result: -result.main)
    positions = {result.name: comparison.positions[result.name] for result in results}
    weight, ax = target.curve_weights, Figure().subplots()
    drawn = plots.ROCCurveDisplay.from_predictions(
        target.relevant, positions, sample_weight=weight, ax=ax
    )
    is_part = (goal.fpr_range, goal.tpr_range) != ((0.0, 1.0), (0.0, 1.0))
    has_part = is_part and not target.is_graded
    curves = [
        replace(
            curve,
            auc=result.measures["auc"],
            interval=None,
            partial_auc=result.measures["partial_auc"] if has_part else None,
        )
        for curve, result in zip(drawn.curves, results, strict=True)
    ]
    shaded = goal.fpr_range if has_part else None
    display = plots.ROCCurveDisplay(curves, fpr_range=shaded, title=drawn.title)
    figure = Figure(figsize=(5.8, 5.4), layout="constrained")
    display.plot(figure.subplots())
    with atomic_output(path, overwrite=overwrite) as file:
        figure.savefig(file, format="png", dpi=150, bbox_inches="tight")
