"""The pictures of the study: AUC against epsilon, and time against rows."""

from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.papers.suehiro2011_data import RuleData
from benchmarks.papers.suehiro2011_printed import EPSILONS, TABLE_5
from benchmarks.papers.suehiro2011_summary import RANKBOOST, SOFTRANKBOOST, Results, at
from benchmarks.papers.suehiro2011_times import Timing

# of Okabe and Ito, apart for all kinds of colour vision
BLUE, ORANGE, GREEN, PINK, GREY = "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#767676"
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


def draw_aucs(results: Results, path: Path) -> None:
    """Draw mean AUC against epsilon for each r and noise of table 1."""
    from matplotlib import pyplot

    targets, noises = (1, 8, 15), (5, 10, 15)
    figure, axes = pyplot.subplots(
        3, 3, figsize=(9.0, 7.5), sharex=True, sharey="row", layout="constrained"
    )
    for row, noise in enumerate(noises):
        for column, r in enumerate(targets):
            ax, data = axes[row, column], RuleData(r, noise)
            _draw_one(ax, data, results)
            ax.set_title(f"r = {r}, noise {noise} %", fontsize="medium")
    for ax in axes[:, 0]:
        ax.set_ylabel("test AUC")
    for ax in axes[-1]:
        ax.set_xlabel(r"$\epsilon$")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
    figure.savefig(path, dpi=130)
    pyplot.close(figure)


def _draw_one(ax: Any, data: RuleData, results: Results) -> None:
    ax.axhline(
        data.ceiling, color="black", linewidth=1, linestyle=":", label="best possible"
    )
    boosted = at(results.folds(data, RANKBOOST, "features"), 10_000.0)
    if boosted is not None:
        ax.axhline(boosted, color=GREY, linewidth=1.5, label="RankBoost, 10,000 rounds")
    for name, (color, marker, label) in AUC_LINES.items():
        folds = results.folds(data, name, "features")
        if folds:
            aucs = [at(folds, epsilon) for epsilon in EPSILONS]
            ax.plot(
                EPSILONS,
                aucs,
                color=color,
                marker=marker,
                markersize=4,
                linewidth=1.5,
                label=label,
            )
    ax.spines[["top", "right"]].set_visible(False)


def draw_times(timings: list[Timing], path: Path) -> None:
    """Draw seconds against rows, both logarithmic, with the paper's own."""
    from matplotlib import pyplot

    figure, ax = pyplot.subplots(figsize=(6.5, 4.5), layout="constrained")
    printed = np.array([(m, *seconds) for m, seconds in TABLE_5.items()])
    for column, label in ((1, "LP-Pair"), (2, "their method")):
        ax.plot(
            printed[:, 0],
            printed[:, column],
            color="black",
            linewidth=1,
            linestyle="--" if column == 1 else ":",
            marker=".",
            label=f"printed in 2011: {label}",
        )
    for name, (color, marker, label) in TIME_LINES.items():
        points = [(t.m, t.seconds) for t in timings if t.solver == name and t.seconds]
        if points:
            ax.plot(
                *zip(*points, strict=True),
                color=color,
                marker=marker,
                markersize=5,
                linewidth=1.5,
                label=label,
            )
    ax.set(xscale="log", yscale="log", xlabel="rows m", ylabel="seconds")
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(fontsize="small", frameon=False)
    figure.savefig(path, dpi=130)
    pyplot.close(figure)
