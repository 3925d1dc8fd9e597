"""The pictures of the study: precision at 1 to 10, and differences in MAUC."""

from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.papers.narasimhan2013_pictures import BLUE, GREEN, GREY, ORANGE, PINK
from benchmarks.papers.welleck2015_methods import (
    LAMBDARANK,
    LINEAR,
    MAUC,
    OURS,
    SVM,
    SVM_QUERIES,
)
from benchmarks.papers.welleck2015_summary import (
    DEPTHS,
    Study,
    difference,
    precision_name,
)
from benchmarks.papers.welleck2015_tables import library

LINES: dict[str, tuple[str, str]] = {
    MAUC: (BLUE, "o"),
    SVM: (ORANGE, "s"),
    SVM_QUERIES: (PINK, "v"),
    LAMBDARANK: (GREEN, "^"),
}


def draw_precision(study: Study, path: Path) -> None:
    """Draw precision at 1 to 10 and its differences, a column for each data set."""
    from matplotlib import pyplot

    figure, grid = pyplot.subplots(
        2,
        len(study.data),
        figsize=(11.0, 5.6),
        sharex=True,
        squeeze=False,
        layout="constrained",
    )
    for (above, below), data in zip(grid.T, study.data, strict=True):
        for method, (color, marker) in LINES.items():
            values = study.figures(data, method).precision["micro"]
            style = {"color": color, "marker": marker, "markersize": 4}
            above.plot(DEPTHS, values, linewidth=1.4, label=library(method), **style)
            if method != MAUC:
                _draw_less(below, study, data, method, style)
        below.axhline(0.0, color="black", linewidth=1)
        below.set_xlabel("k")
        below.set_xticks([1, 2, 4, 6, 8, 10])
        above.set_title(data, fontsize="medium")
        for ax in (above, below):
            ax.spines[["top", "right"]].set_visible(False)
    grid[0, 0].set_ylabel("micro precision @k")
    grid[1, 0].set_ylabel(f"{MAUC} less the others,\nmacro precision, points")
    figure.legend(
        *grid[0, 0].get_legend_handles_labels(),
        loc="outside lower center",
        ncols=len(LINES),
        frameon=False,
    )
    figure.savefig(path, dpi=130)
    pyplot.close(figure)


def _draw_less(
    ax: Any, study: Study, data: str, method: str, style: dict[str, Any]
) -> None:
    ours, other = study.figures(data, MAUC), study.figures(data, method)
    found = [difference(ours, other, precision_name(k)) for k in DEPTHS]
    shift = 0.22 * (list(LINES).index(method) - 2)  # bars side by side
    ax.errorbar(
        np.array(DEPTHS) + shift,
        [100.0 * one.mean for one in found],
        yerr=[50.0 * (one.high - one.low) for one in found],
        linestyle="none",
        linewidth=1.0,
        **style,
    )


def draw_differences(study: Study, path: Path) -> None:
    """Draw LambdaMART-MAUC less each other method, with intervals over queries."""
    from matplotlib import pyplot

    others = [method for method in study.methods if method != MAUC]
    places = np.arange(len(others))[::-1]
    figure, axes = pyplot.subplots(
        1,
        len(study.data),
        figsize=(11.0, 1.2 + 0.32 * len(others)),
        sharey=True,
        squeeze=False,
        layout="constrained",
    )
    for ax, data in zip(axes[0], study.data, strict=True):
        ax.axvline(0.0, color="black", linewidth=1)
        for place, method in zip(places, others, strict=True):
            found = difference(study.figures(data, MAUC), study.figures(data, method))
            ax.errorbar(
                100.0 * found.mean,
                place,
                xerr=50.0 * (found.high - found.low),
                color=_color(method),
                marker="o",
                markersize=4,
                linewidth=1.5,
            )
        ax.set_title(f"{data}, {found.n_queries:,} queries", fontsize="medium")
        ax.set_xlabel("MAUC, points")
        ax.spines[["top", "right"]].set_visible(False)
    axes[0, 0].set_yticks(places, [f"less {library(method)}" for method in others])
    figure.savefig(path, dpi=130)
    pyplot.close(figure)


def _color(method: str) -> Any:
    if method in OURS:
        return GREY
    return ORANGE if method in LINEAR else GREEN
