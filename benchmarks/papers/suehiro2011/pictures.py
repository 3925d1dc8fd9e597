"""The pictures of the study: AUC against epsilon, time against rows, the curve."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from aucmax.margin.margin_certificate import MarginCurve
from aucmax.plots import margin_curve
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
from benchmarks.papers.suehiro2011.printed import EPSILONS, TABLE_5
from benchmarks.papers.suehiro2011.protocol import RANKBOOST, SOFTRANKBOOST
from benchmarks.papers.suehiro2011.results import FoldResults, at
from benchmarks.papers.suehiro2011.times import Timing

AUC_LINES = {
    "pairs": (BLUE, "o", "LP-Pair, exact"),
    "instances": (ORANGE, "s", "instances (Corollary 4)"),
    "adaptive": (GREEN, "^", "their heuristic"),
    SOFTRANKBOOST: (PINK, "v", "SoftRankBoost"),
}
TIME_LINES = {
    "HiGHS, pairs as printed": (GREY, "x", "LP-Pair as printed, HiGHS"),
    "HiGHS, pairs, best form": (GREY, "+", "LP-Pair, sparse dual, HiGHS"),
    "HiGHS, instances": (PINK, "v", "instances, HiGHS"),
    "pairs": (BLUE, "o", "LP-Pair, bundle"),
    "instances": (ORANGE, "s", "instances, bundle"),
    "adaptive": (GREEN, "^", "their heuristic, bundle"),
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
    boosted = at(results.of(data, RANKBOOST), 10_000.0)
    if boosted is not None:
        ax.axhline(boosted, color=GREY, linewidth=1.5, label="RankBoost, 10,000 rounds")
    for name, (color, marker, label) in AUC_LINES.items():
        folds = results.of(data, name)
        if folds:
            aucs = [at(folds, epsilon) for epsilon in EPSILONS]
            ax.plot(EPSILONS, aucs, label=label, **line(color, marker))


def draw_times(timings: Sequence[Timing]) -> Any:
    """Draw seconds against rows, both logarithmic, with the paper's own."""
    figure, axes = panels(1, 1, 6.5, 4.5)
    ax = axes[0, 0]
    printed = np.array([(m, *seconds) for m, seconds in TABLE_5.items()])
    for column, style, name in ((1, "--", "LP-Pair"), (2, ":", "their method")):
        ax.plot(
            printed[:, 0],
            printed[:, column],
            color="black",
            linewidth=1,
            linestyle=style,
            marker=".",
            label=f"printed in 2011: {name}",
        )
    for name, (color, marker, label) in TIME_LINES.items():
        points = [(t.m, t.seconds) for t in timings if t.solver == name and t.seconds]
        if points:
            style = line(color, marker, markersize=5)
            ax.plot(*zip(*points, strict=True), label=label, **style)
    ax.set(xscale="log", yscale="log", xlabel="rows m", ylabel="seconds")
    ax.legend(fontsize="small", frameon=False)
    return figure


def draw_curve(found: Curve) -> Any:
    """Draw the curve, what is proven below it, and the way of the heuristic."""
    arrays = {
        name: np.array(values) if isinstance(values, list) else values
        for name, values in found.curve.items()
    }
    display = margin_curve(MarginCurve(**arrays))
    display.ax_.plot(
        *np.transpose(found.steps),
        zorder=5,
        label=f"their heuristic, {len(found.steps) - 1} steps",
        **line(GREEN, "s", markersize=5),
    )
    display.ax_.legend(loc="best", fontsize="small", framealpha=0.9, edgecolor="none")
    return display.figure_
