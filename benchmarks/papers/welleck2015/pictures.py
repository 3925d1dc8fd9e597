"""The pictures of the study: precision at 1 to 10, and differences in MAUC."""

from typing import Any

import numpy as np

from benchmarks.papers.pictures import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PINK,
    draw_difference,
    legend_below,
    line,
    panels,
)
from benchmarks.papers.welleck2015.methods import (
    LAMBDARANK,
    LINEAR,
    MAUC,
    OURS,
    SVM,
    SVM_QUERIES,
    library,
)
from benchmarks.papers.welleck2015.results import DEPTHS, StudyResults, precision_name

LINES: dict[str, tuple[str, str]] = {
    MAUC: (BLUE, "o"),
    SVM: (ORANGE, "s"),
    SVM_QUERIES: (PINK, "v"),
    LAMBDARANK: (GREEN, "^"),
}


def draw_precision(study: StudyResults) -> Any:
    """Draw precision at 1 to 10 and its differences, a column for each data set."""
    figure, grid = panels(2, len(study.data), 11.0, 5.6, sharex=True)
    for (above, below), data in zip(grid.T, study.data, strict=True):
        for place, (method, style) in enumerate(LINES.items()):
            values = study.figures(data, method).precision["micro"]
            label = library(method)
            above.plot(DEPTHS, values, label=label, **line(*style, linewidth=1.4))
            if method != MAUC:
                found = [
                    study.difference(data, method, precision_name(k)) for k in DEPTHS
                ]
                below.errorbar(
                    np.array(DEPTHS) + 0.22 * (place - 2),  # bars side by side
                    [100.0 * one.mean for one in found],
                    yerr=[100.0 * one.reach for one in found],
                    linestyle="none",
                    **line(*style, linewidth=1.0),
                )
        below.axhline(0.0, color="black", linewidth=1)
        below.set_xlabel("k")
        below.set_xticks([1, 2, 4, 6, 8, 10])
        above.set_title(data, fontsize="medium")
    grid[0, 0].set_ylabel("micro precision @k")
    grid[1, 0].set_ylabel(f"{MAUC} less the others,\nmacro precision, points")
    legend_below(figure, len(LINES))
    return figure


def draw_differences(study: StudyResults) -> Any:
    """Draw LambdaMART-MAUC less each other method, with intervals over queries."""
    others = [method for method in study.complete if method != MAUC]
    places = np.arange(len(others))[::-1]
    height = 1.2 + 0.32 * len(others)
    figure, axes = panels(1, len(study.data), 11.0, height, sharey=True)
    for ax, data in zip(axes[0], study.data, strict=True):
        ax.axvline(0.0, color="black", linewidth=1)
        for place, method in zip(places, others, strict=True):
            color = ORANGE if method in LINEAR else GREEN
            style = line(GREY if method in OURS else color, "o")
            found = study.difference(data, method)
            draw_difference(ax, found, place, **style)
        ax.set_title(f"{data}, {found.n:,} queries", fontsize="medium")
        ax.set_xlabel("MAUC, points")
    axes[0, 0].set_yticks(places, [f"less {library(method)}" for method in others])
    return figure
