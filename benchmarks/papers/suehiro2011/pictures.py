"""The pictures of the study: AUC against epsilon, and the curve."""

from typing import Any

import numpy as np

from aucmax.margin.margin_certificate import MarginCurve
from aucmax.plots import MarginCurveDisplay
from benchmarks.papers.pictures import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PINK,
    legend_below,
    line,
    panels,
)
from benchmarks.papers.suehiro2011.curve import Curve
from benchmarks.papers.suehiro2011.data import RuleData
from benchmarks.papers.suehiro2011.printed import EPSILONS
from benchmarks.papers.suehiro2011.protocol import RANKBOOST, SOFTRANKBOOST
from benchmarks.papers.suehiro2011.results import FoldResults, at

AUC_LINES = {
    "pairs": (BLUE, "o", "LP-Pair, exact"),
    "instances": (ORANGE, "s", "instances (Corollary 4)"),
    "adaptive": (GREEN, "^", "their heuristic"),
    SOFTRANKBOOST: (PINK, "v", "SoftRankBoost"),
}


def draw_aucs(results: FoldResults) -> Any:
    """Draw mean AUC against epsilon for each r and noise of table 1."""
    figure, axes = panels(3, 3, 9.0, 7.5, sharex=True, sharey="row")
    for row, noise in enumerate((5, 10, 15)):
        for column, r in enumerate((1, 8, 15)):
            ax = axes[row, column]
            _draw_one(ax, RuleData(r, noise), results)
            ax.set_title(f"r = {r}, noise {noise} %", fontsize="medium")
    for ax in axes[:, 0]:
        ax.set_ylabel("test AUC")
    for ax in axes[-1]:
        ax.set_xlabel(r"$\epsilon$")
    legend_below(figure, 3)
    return figure


def _draw_one(ax: Any, data: RuleData, results: FoldResults) -> None:
    style = {"color": "black", "linewidth": 1, "linestyle": ":"}
    ax.axhline(data.ceiling, label="best possible", **style)
    boosted = at(results.select(data, RANKBOOST), 10_000.0)
    if boosted is not None:
        ax.axhline(boosted, color=GREY, linewidth=1.5, label="RankBoost, 10,000 rounds")
    for name, (color, marker, label) in AUC_LINES.items():
        folds = results.select(data, name)
        if folds:
            aucs = [at(folds, epsilon) for epsilon in EPSILONS]
            ax.plot(EPSILONS, aucs, label=label, **line(color, marker))


def draw_curve(found: Curve) -> Any:
    """Draw the curve, what is proven below it, and the way of the heuristic."""
    arrays = {
        name: np.array(values) if isinstance(values, list) else values
        for name, values in found.curve.items()
    }
    display = MarginCurveDisplay(MarginCurve(**arrays)).plot()
    display.ax_.plot(
        *np.transpose(found.steps),
        zorder=5,
        label=f"their heuristic, {len(found.steps) - 1} steps",
        **line(GREEN, "s", markersize=5),
    )
    display.ax_.legend(loc="best", fontsize="small", framealpha=0.9, edgecolor="none")
    return display.figure_
