"""The pictures of the study: ranked pixels, and what edges add."""

from typing import Any

import numpy as np
from scipy.stats import rankdata

from benchmarks.papers.pictures import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PINK,
    draw_difference,
    line,
    panels,
)
from benchmarks.papers.rosenfeld2014 import methods
from benchmarks.papers.rosenfeld2014.data import LETTERS
from benchmarks.papers.rosenfeld2014.letters import PIXELS
from benchmarks.papers.rosenfeld2014.methods import FACTORED, PAIRWISE, Method
from benchmarks.papers.rosenfeld2014.results import (
    CORRECT,
    StudyResults,
    measure_of,
    test_samples,
)

HEIGHT = 20
COLORS = {
    methods.SUMS: GREY,
    PAIRWISE: BLUE,
    methods.TABLE: GREEN,
    methods.BINNED: ORANGE,
    methods.ANY_SIGN: PINK,
}


def draw_letters(study: StudyResults) -> Any:
    """Draw one test picture: ink, noise, and its pixels as two models rank them."""
    sample = test_samples(LETTERS, 0)[0]
    shown = {"original": 1.0 * sample.y, "noisy": sample.tables[PIXELS].ravel()}
    for kind in (FACTORED, PAIRWISE):
        scores = np.array(study.by_choice(LETTERS, Method(kind))[0].scores[0])
        reached = 100.0 * measure_of(LETTERS, CORRECT)(sample.y, scores)
        shown[f"{kind}: binned AUC {reached:.1f}"] = rankdata(scores)
    figure, axes = panels(2, 2, 8.0, 4.2)
    for ax, (title, values) in zip(axes.flat, shown.items(), strict=True):
        ax.imshow(values.reshape(HEIGHT, -1), cmap="Greys", interpolation="nearest")
        ax.set_title(title, fontsize="medium")
        ax.set(xticks=[], yticks=[])
        ax.spines[:].set_visible(True)
    return figure


def draw_differences(study: StudyResults) -> Any:
    """Draw what edges add to the factored model, for each kind of edges."""
    data = [name for name in study.data if name != LETTERS]
    figure, axes = panels(len(data), 1, 8.0, 2.7 * len(data))
    for ax, name in zip(axes.flat, data, strict=True):
        shown = [one for kind in COLORS for one in study.designs(name, kind)]
        places = np.arange(len(shown))[::-1]
        ax.axvline(0.0, color="black", linewidth=1)
        for place, method in zip(places, shown, strict=True):
            difference = study.difference(name, method, Method(FACTORED))
            draw_difference(ax, difference, place, **line(COLORS[method.kind], "o"))
        ax.set_yticks(places, [str(one) for one in shown], fontsize="small")
        ax.set_title(f"{name}, {difference.n:,} lists", fontsize="medium")
    axes[-1, 0].set_xlabel("AUC less that of the factored model, points")
    return figure
