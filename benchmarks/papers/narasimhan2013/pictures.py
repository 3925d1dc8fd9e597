"""The pictures of the study: differences, races of solvers, sparsity."""

from typing import Any

import numpy as np

from benchmarks.papers.narasimhan2013.methods import (
    FULL,
    LOGISTIC,
    PENALTIES,
    TIGHT,
    TUNED,
)
from benchmarks.papers.narasimhan2013.race import SOLVERS, Race, excesses
from benchmarks.papers.narasimhan2013.results import PartialResults
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

RACERS = {"bundle": (BLUE, "-"), "subgradient": (ORANGE, "-"), "textbook": (GREY, "--")}
PENALTY_STYLES = ((BLUE, "o"), (GREEN, "^"), (PINK, "v"), (ORANGE, "s"), (GREY, "D"))
LEAST_EXCESS = 1e-6
LEAST_DENSITY = 1e-4  # of a model without weights, on the logarithmic axis


def draw_differences(results: PartialResults) -> Any:
    """Draw two methods less two others on each data set, with intervals."""
    figure, axes = panels(1, 2, 9.0, 6.5, sharey=True)
    places = np.arange(len(results.data))[::-1]
    for ax, other in zip(axes[0], (FULL, LOGISTIC), strict=True):
        ax.axvline(0.0, color="black", linewidth=1)
        for ours, shift, style in (
            (TIGHT, 0.15, line(BLUE, "o")),
            (TUNED, -0.15, line(ORANGE, "s")),
        ):
            for place, data in zip(places, results.data, strict=True):
                found = results.difference(data, ours, other)
                if found is not None:
                    label = ours if place == 0 else None
                    draw_difference(ax, found, place + shift, label=label, **style)
        ax.set_xscale("symlog", linthresh=1.0)
        ax.set_xticks([-50, -10, -1, 0, 1, 10])
        ax.set_xticklabels(["-50", "-10", "-1", "0", "+1", "+10"])
        ax.set_title(f"less {other}", fontsize="medium")
        ax.set_xlabel("partial AUC, points; linear within 1")
    axes[0, 0].set_yticks(places, results.data)
    legend_below(figure, 5)
    return figure


def draw_races(races: list[Race], measure: str) -> Any:
    """Draw the excess of the objective against passes or seconds, both logarithmic."""
    sets = list(dict.fromkeys(race.data for race in races))
    problems = list(dict.fromkeys(race.problem for race in races))
    height = 1.2 + 2.1 * len(sets)
    shared = {"sharex": "row", "sharey": True}
    figure, grid = panels(len(sets), len(problems), 10.0, height, **shared)
    for race, excess in zip(races, excesses(races), strict=True):
        ax = grid[sets.index(race.data), problems.index(race.problem)]
        color, style = RACERS[race.solver]
        ax.plot(
            getattr(race, measure),
            np.maximum(excess, LEAST_EXCESS),
            color=color,
            linestyle=style,
            linewidth=1.5,
            label=SOLVERS[race.solver],
        )
        ax.set_title(f"{race.data}: {race.problem}", fontsize="medium")
        ax.set(xscale="log", yscale="log", ylim=(0.7 * LEAST_EXCESS, 100.0))
    for ax in grid[-1]:
        ax.set_xlabel("passes over the data" if measure == "passes" else measure)
    for ax in grid[:, 0]:
        ax.set_ylabel("excess, relative")
    legend_below(figure, 5)
    return figure


def draw_sparsity(results: PartialResults) -> Any:
    """Draw partial AUC against the share of weights in use, along the path of C."""
    n_columns = 3
    n_rows = -(-len(results.data) // n_columns)
    figure, grid = panels(n_rows, n_columns, 9.0, 0.8 + 2.5 * n_rows)
    for ax, data in zip(grid.flat, results.data, strict=False):
        for name, style in zip(PENALTIES, PENALTY_STYLES, strict=True):
            if results.folds(data, name):
                _draw_path(ax, results, data, name, *style)
        ax.set_title(data, fontsize="medium")
        ax.set_xscale("log")
        ax.xaxis.set_minor_formatter("")
        ax.set_xlim(min(ax.get_xlim()[0], 0.08), 1.3)
    for ax in grid.flat[len(results.data) :]:
        ax.set_axis_off()
    for ax in grid[-1]:
        ax.set_xlabel("share of weights in use")
    for ax in grid[:, 0]:
        ax.set_ylabel("partial AUC, %")
    legend_below(figure, 5)
    return figure


def _draw_path(
    ax: Any, results: PartialResults, data: str, name: str, color: str, marker: str
) -> None:
    found = results.folds(data, name)
    scores = 100.0 * np.mean([one.score for one in found], axis=0)
    density = np.mean([one.density for one in found], axis=0)
    shown = density >= LEAST_DENSITY
    ax.plot(density[shown], scores[shown], color=color, linewidth=1.2, alpha=0.5)
    ax.plot(
        np.mean([one.density[one.chosen] for one in found]),
        100.0 * np.mean(results.scores(data, name)),
        linestyle="none",
        label=name,
        **line(color, marker, markersize=7),
    )
