"""The pictures of the study: differences, races of solvers, sparsity."""

from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.papers.narasimhan2013_methods import (
    FULL,
    LOGISTIC,
    PENALTIES,
    TIGHT,
    TUNED,
)
from benchmarks.papers.narasimhan2013_race import SOLVERS, Race
from benchmarks.papers.narasimhan2013_summary import Results, difference

# of Okabe and Ito, apart for all kinds of colour vision
BLUE, ORANGE, GREEN, PINK, GREY = "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#767676"
RACERS = {"bundle": (BLUE, "-"), "subgradient": (ORANGE, "-"), "textbook": (GREY, "--")}
PENALTY_LINES = dict(
    zip(
        PENALTIES,
        ((BLUE, "o"), (GREEN, "^"), (PINK, "v"), (ORANGE, "s"), (GREY, "D")),
        strict=True,
    )
)
LEAST_EXCESS = 1e-6
LEAST_DENSITY = 1e-4  # of a model without weights, on the logarithmic axis


def draw_differences(results: Results, path: Path) -> None:
    """Draw two methods less two others on each data set, with intervals."""
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(
        1, 2, figsize=(9.0, 6.5), sharey=True, layout="constrained"
    )
    places = np.arange(len(results.data))[::-1]
    for ax, other in zip(axes, (FULL, LOGISTIC), strict=True):
        ax.axvline(0.0, color="black", linewidth=1)
        for ours, color, marker, shift in (
            (TIGHT, BLUE, "o", 0.15),
            (TUNED, ORANGE, "s", -0.15),
        ):
            for place, data in zip(places, results.data, strict=True):
                found = difference(results, data, ours, other)
                if found is not None:
                    ax.errorbar(
                        100.0 * found.mean,
                        place + shift,
                        xerr=50.0 * (found.high - found.low),
                        color=color,
                        marker=marker,
                        markersize=4,
                        linewidth=1.5,
                        label=ours if place == 0 else None,
                    )
        ax.set_xscale("symlog", linthresh=1.0)
        ax.set_xticks([-50, -10, -1, 0, 1, 10])
        ax.set_xticklabels(["-50", "-10", "-1", "0", "+1", "+10"])
        ax.set_title(f"less {other}", fontsize="medium")
        ax.set_xlabel("partial AUC, points; linear within 1")
        ax.spines[["top", "right"]].set_visible(False)
    axes[0].set_yticks(places, results.data)
    _shared_legend(figure, axes)
    figure.savefig(path, dpi=130)
    pyplot.close(figure)


def draw_races(races: list[Race], measure: str, path: Path) -> None:
    """Draw the excess of the objective against passes or seconds, both logarithmic."""
    from matplotlib import pyplot

    sets = list(dict.fromkeys(race.data for race in races))
    problems = list(dict.fromkeys(race.problem for race in races))
    figure, grid = pyplot.subplots(
        len(sets),
        len(problems),
        figsize=(10.0, 1.2 + 2.1 * len(sets)),
        sharex="row",
        sharey=True,
        squeeze=False,
        layout="constrained",
    )
    for race in races:
        ax = grid[sets.index(race.data), problems.index(race.problem)]
        color, style = RACERS[race.solver]
        ax.plot(
            getattr(race, measure),
            np.maximum(race.excess, LEAST_EXCESS),
            color=color,
            linestyle=style,
            linewidth=1.5,
            label=SOLVERS[race.solver],
        )
        ax.set_title(f"{race.data}: {race.problem}", fontsize="medium")
        ax.set(xscale="log", yscale="log", ylim=(0.7 * LEAST_EXCESS, 100.0))
        ax.spines[["top", "right"]].set_visible(False)
    for ax in grid[-1]:
        ax.set_xlabel("passes over the data" if measure == "passes" else measure)
    for ax in grid[:, 0]:
        ax.set_ylabel("excess, relative")
    _shared_legend(figure, grid)
    figure.savefig(path, dpi=130)
    pyplot.close(figure)


def draw_sparsity(results: Results, path: Path) -> None:
    """Draw partial AUC against the share of weights in use, along the path of C."""
    from matplotlib import pyplot

    n_columns = 3
    n_rows = -(-len(results.data) // n_columns)
    figure, grid = pyplot.subplots(
        n_rows,
        n_columns,
        figsize=(9.0, 0.8 + 2.5 * n_rows),
        squeeze=False,
        layout="constrained",
    )
    for ax, data in zip(grid.flat, results.data, strict=False):
        for name in PENALTIES:
            _draw_path(ax, results, data, name)
        ax.set_title(data, fontsize="medium")
        ax.set_xscale("log")
        ax.xaxis.set_minor_formatter("")
        ax.set_xlim(min(ax.get_xlim()[0], 0.08), 1.3)
        ax.spines[["top", "right"]].set_visible(False)
    for ax in grid.flat[len(results.data) :]:
        ax.set_axis_off()
    for ax in grid[-1]:
        ax.set_xlabel("share of weights in use")
    for ax in grid[:, 0]:
        ax.set_ylabel("partial AUC, %")
    _shared_legend(figure, grid)
    figure.savefig(path, dpi=130)
    pyplot.close(figure)


def _draw_path(ax: Any, results: Results, data: str, name: str) -> None:
    found = results.splits(data, name)
    if not found:
        return
    color, marker = PENALTY_LINES[name]
    scores = 100.0 * np.mean([one.score for one in found], axis=0)
    density = np.mean([one.density for one in found], axis=0)
    shown = density >= LEAST_DENSITY
    ax.plot(density[shown], scores[shown], color=color, linewidth=1.2, alpha=0.5)
    ax.plot(
        np.mean([one.density[one.chosen] for one in found]),
        100.0 * np.mean([one.score[one.chosen] for one in found]),
        color=color,
        marker=marker,
        markersize=7,
        linestyle="none",
        label=name,
    )


def _shared_legend(figure: Any, grid: Any) -> None:
    named: dict[str, Any] = {}
    for ax in grid.flat:
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
            named.setdefault(label, handle)
    figure.legend(
        list(named.values()),
        list(named),
        loc="outside lower center",
        ncols=5,
        frameon=False,
    )
