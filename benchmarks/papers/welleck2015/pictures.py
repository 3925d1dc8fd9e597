"""The picture of the study: precision at 1 to 10."""

from typing import Any

import numpy as np

from benchmarks.papers.pictures import (
    BLUE,
    GREEN,
    ORANGE,
    PINK,
    legend_below,
    line,
    panels,
)
from benchmarks.papers.welleck2015.methods import (
    LAMBDARANK,
    MAUC,
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
                differences = [
                    study.difference(data, method, precision_name(k)) for k in DEPTHS
                ]
                below.errorbar(
                    np.array(DEPTHS) + 0.22 * (place - 2),  # bars side by side
                    [100.0 * one.mean for one in differences],
                    yerr=[100.0 * one.reach for one in differences],
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
