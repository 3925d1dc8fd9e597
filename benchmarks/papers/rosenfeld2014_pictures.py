"""The pictures of the study: ranked pixels, and what edges add."""

from pathlib import Path

import numpy as np
from scipy.stats import rankdata

from benchmarks.papers.narasimhan2013_pictures import BLUE, GREEN, GREY, ORANGE, PINK
from benchmarks.papers.rosenfeld2014_data import LETTERS
from benchmarks.papers.rosenfeld2014_letters import PIXELS
from benchmarks.papers.rosenfeld2014_methods import (
    ANY_SIGN,
    BINNED,
    FACTORED,
    PAIRWISE,
    SUMS,
    TABLE,
    Method,
)
from benchmarks.papers.rosenfeld2014_summary import (
    CORRECT,
    MEASURES,
    Study,
    test_samples,
)

HEIGHT = 20
COLORS = {SUMS: GREY, PAIRWISE: BLUE, TABLE: GREEN, BINNED: ORANGE, ANY_SIGN: PINK}


def draw_letters(study: Study, path: Path) -> None:
    """Draw one test picture: ink, noise, and its pixels as two models rank them."""
    from matplotlib import pyplot

    sample = test_samples(LETTERS, 0)[0]
    panels = {
        "original": 1.0 * sample.y,
        "noisy": sample.tables[PIXELS].ravel(),
    }
    for kind in (FACTORED, PAIRWISE):
        scores = np.array(study.folds(LETTERS, Method(kind))[0].scores[0])
        reached = 100.0 * MEASURES[CORRECT](sample.y, scores)
        panels[f"{kind}: binned AUC {reached:.1f}"] = rankdata(scores)
    figure, axes = pyplot.subplots(2, 2, figsize=(8.0, 4.2), layout="constrained")
    for ax, (title, values) in zip(axes.flat, panels.items(), strict=True):
        ax.imshow(values.reshape(HEIGHT, -1), cmap="Greys", interpolation="nearest")
        ax.set_title(title, fontsize="medium")
        ax.set_xticks([])
        ax.set_yticks([])
    figure.savefig(path, dpi=130)
    pyplot.close(figure)


def draw_differences(study: Study, path: Path) -> None:
    """Draw what edges add to the factored model, for each kind of edges."""
    from matplotlib import pyplot

    data = [name for name in study.data if name != LETTERS]
    figure, axes = pyplot.subplots(
        len(data),
        1,
        figsize=(8.0, 2.7 * len(data)),
        squeeze=False,
        layout="constrained",
    )
    for ax, name in zip(axes.flat, data, strict=True):
        methods = [one for kind in COLORS for one in study.designs(name, kind)]
        places = np.arange(len(methods))[::-1]
        ax.axvline(0.0, color="black", linewidth=1)
        for place, method in zip(places, methods, strict=True):
            found = study.difference(name, method, Method(FACTORED))
            ax.errorbar(
                100.0 * found.mean,
                place,
                xerr=50.0 * (found.high - found.low),
                color=COLORS[method.kind],
                marker="o",
                markersize=4,
                linewidth=1.5,
            )
        ax.set_yticks(places, [str(one) for one in methods], fontsize="small")
        ax.set_title(f"{name}, {found.n_samples:,} lists", fontsize="medium")
        ax.spines[["top", "right"]].set_visible(False)
    axes[-1, 0].set_xlabel("AUC less that of the factored model, points")
    figure.savefig(path, dpi=130)
    pyplot.close(figure)
