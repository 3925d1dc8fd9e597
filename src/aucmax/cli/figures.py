"""Pictures of the command line, drawn without a screen."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

__all__ = ["draw_comparison", "draw_evaluation"]


def draw_evaluation(target: Any, scores: Any, record: dict[str, Any]) -> Any:
    """Draw the ROC curve of a model and return the figure.

    With queries it is about the mean of their curves, over the positions of rows in
    their query; the legend has the numbers of the record.
    """
    from aucmax.comparison.positions import positions

    if target.queries is not None:
        scores = positions(target, scores)
    numbers = [(record["auc"], record.get("auc_interval"), record.get("partial_auc"))]
    name = record["model"] or "model"
    return _draw(target, {name: scores}, numbers, record["fpr_range"])


def draw_comparison(comparison: Any) -> Any:
    """Draw the ROC curves of a comparison and return the figure.

    Curves are over positions, which are comparable between folds and queries; the
    legend has the same numbers as the table.
    """
    has_interval = comparison.metric == "auc"
    numbers = [
        (
            result.auc,
            (result.low, result.high) if has_interval else None,
            result.measures.get("partial_auc"),
        )
        for result in comparison.results
    ]
    positions, fpr_range = comparison.positions, comparison.fpr_range
    return _draw(comparison.target, positions, numbers, fpr_range)


def _draw(
    target: Any,
    scores: dict[str, Any],
    numbers: Sequence[tuple[float, Sequence[float] | None, float | None]],
    fpr_range: Sequence[float],
) -> Any:
    """Draw curves; the legend has these AUCs, their intervals and partial AUCs."""
    from aucmax import plots
    from aucmax.comparison.positions import query_weights

    shaded = None if tuple(fpr_range) == (0.0, 1.0) or target.is_graded else fpr_range
    drawn = plots.roc_curve(
        target.relevant, scores, sample_weight=query_weights(target), ax=_new_axes()
    )
    curves = [
        replace(
            curve,
            auc=auc,
            interval=_interval(curve, auc, ends),
            partial_auc=partial_auc if shaded else None,
        )
        for curve, (auc, ends, partial_auc) in zip(drawn.curves, numbers, strict=True)
    ]
    return plots.ROCCurveDisplay(curves, fpr_range=shaded).plot(_new_axes()).figure_


def _interval(curve: Any, auc: float, ends: Sequence[float] | None) -> Any:
    if ends is None:
        return None
    return replace(curve.interval, auc=auc, low=ends[0], high=ends[1])


def _new_axes() -> Any:
    from matplotlib.figure import Figure

    return Figure(figsize=(5.8, 5.4), layout="constrained").subplots()
