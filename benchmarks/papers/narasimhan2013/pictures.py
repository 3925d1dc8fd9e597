"""The picture of the study: races of solvers."""

from typing import Any

import numpy as np

from benchmarks.papers.narasimhan2013.race import SOLVERS, Race, excesses
from benchmarks.papers.pictures import (
    BLUE,
    GREY,
    ORANGE,
    legend_below,
    panels,
)

RACERS = {"bundle": (BLUE, "-"), "subgradient": (ORANGE, "-"), "textbook": (GREY, "--")}
MIN_EXCESS = 1e-6


def draw_races(races: list[Race]) -> Any:
    """Draw the excess of the objective against passes, both logarithmic."""
    sets = list(dict.fromkeys(race.data for race in races))
    problems = list(dict.fromkeys(race.problem for race in races))
    height = 1.2 + 2.1 * len(sets)
    shared = {"sharex": "row", "sharey": True}
    figure, grid = panels(len(sets), len(problems), 10.0, height, **shared)
    for race, excess in zip(races, excesses(races), strict=True):
        ax = grid[sets.index(race.data), problems.index(race.problem)]
        color, style = RACERS[race.solver]
        ax.plot(
            race.passes,
            np.maximum(excess, MIN_EXCESS),
            color=color,
            linestyle=style,
            linewidth=1.5,
            label=SOLVERS[race.solver],
        )
        ax.set_title(f"{race.data}: {race.problem}", fontsize="medium")
        ax.set(xscale="log", yscale="log", ylim=(0.7 * MIN_EXCESS, 100.0))
    for ax in grid[-1]:
        ax.set_xlabel("passes over the data")
    for ax in grid[:, 0]:
        ax.set_ylabel("excess, relative")
    legend_below(figure, 5)
    return figure
