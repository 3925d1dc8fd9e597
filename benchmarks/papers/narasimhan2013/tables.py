"""The tables of the study, in per cent as the slides have them, and its picture."""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import compress
from typing import Any

import numpy as np

from benchmarks.papers import pictures
from benchmarks.papers.choices import Results
from benchmarks.papers.differences import Difference, mean_difference
from benchmarks.papers.markdown import ABSENT, Table, largest_bold
from benchmarks.papers.narasimhan2013 import methods
from benchmarks.papers.narasimhan2013.data import TEST_SHARE
from benchmarks.papers.narasimhan2013.methods import Result
from benchmarks.papers.narasimhan2013.race import SOLVERS, Race, excesses


class PartialResults(Results[Result]):
    """Results of one part of the study."""

    def scores(self, data: str, method: str) -> np.ndarray:
        """Return the partial AUC of each split, the candidate chosen inside."""
        return np.array([one.score[one.chosen] for one in self.folds(data, method)])

    def mean(self, data: str, method: str) -> float | None:
        """Return the mean partial AUC over the splits."""
        scores = self.scores(data, method)
        return float(scores.mean()) if scores.size else None

    def difference(self, data: str, ours: str, other: str) -> Difference | None:
        """Return the mean paired difference over splits whose training rows overlap."""
        mine, theirs = self.scores(data, ours), self.scores(data, other)
        if mine.size < 2 or mine.size != theirs.size:
            return None
        return mean_difference(mine - theirs, overlap=TEST_SHARE / (1.0 - TEST_SHARE))


#: of the slides: tight, loose, SVM-AUC on [0, 0.1]
PRINTED = {
    "Leukemia": (30.44, 24.64, 28.83),
    "PPI": (52.95, 51.96, 39.72),
    "Cheminformatics": (65.30, 65.28, 62.78),
    "KDD Cup 2001": (69.91, 70.12, 62.23),
    "Ovarian Cancer": (91.84, 91.84, 92.17),
}
COUNTERPARTS = {"Leukemia": "leukemia", "KDD Cup 2001": "thrombin"}
#: of the slides: partial AUC and per cent of weights that are not 0
PRINTED_SPARSE = {
    "L2": ("63.25 (100)", "77.20 (100)"),
    "elastic net 0.001": ("63.11 (41.5)", "77.52 (41.6)"),
    "elastic net 0.1": ("56.93 (32.24)", "71.93 (27.6)"),
    "L1": ("53.63 (11.36)", "66.22 (10.0)"),
}
GAPS = (1e-1, 1e-2, 1e-3)


ACCURACY_PAIRS = [
    (ours, other)
    for ours in (methods.TIGHT, methods.TUNED)
    for other in (methods.LOOSE, methods.FULL, methods.LOGISTIC, methods.TREES)
]
BOUNDED_PAIRS = [
    *((methods.CHOSEN, other) for other in (methods.SAME_FOLDS, methods.LOGISTIC)),
    (methods.SIGMOID, methods.LOGISTIC),
]


def all_tables(
    results: Mapping[str, PartialResults], raced: list[Race]
) -> dict[str, Table]:
    """Return the tables for which there are results."""
    tables: dict[str, Table] = {}
    for part, pairs in (("accuracy", ACCURACY_PAIRS), ("bounded", BOUNDED_PAIRS)):
        if part in results:
            tables[part] = scores(results[part])
            tables[f"{part}, wins"] = wins(results[part], pairs)
    if "accuracy" in results:
        tables["the figures of the slides"] = printed(results["accuracy"])
    if raced:
        tables["solvers"] = races(raced)
    if "sparsity" in results:
        tables["sparsity"] = sparsity(results["sparsity"])
    return tables


def scores(results: PartialResults) -> Table:
    """Show mean partial AUC; bold: the largest linear one, and trees if above it."""
    columns = [name for name in methods.METHODS if name in results.methods]
    table = {
        data: [results.mean(data, method) for method in columns]
        for data in results.data
    }
    whole = [means for means in table.values() if None not in means]
    if whole:
        table["mean"] = np.mean(whole, axis=0).tolist()
    rows = [[data, *_bold(columns, means)] for data, means in table.items()]
    return Table(["data", *columns], rows)


def _bold(columns: Sequence[str], means: Sequence[float | None]) -> list[str]:
    points = [None if mean is None else 100.0 * mean for mean in means]
    is_linear = [method != methods.TREES for method in columns]
    cells = largest_bold(list(compress(points, is_linear)), ".2f")
    return cells if all(is_linear) else [*cells, largest_bold(points, ".2f")[-1]]


def _percent(share: float) -> str:
    return f"{100.0 * share:.2f}"


def wins(results: PartialResults, pairs: Sequence[tuple[str, str]]) -> Table:
    """Count the data sets on which one method is ahead of another."""
    rows = []
    for ours, other in pairs:
        every = (results.difference(data, ours, other) for data in results.data)
        differences = [one for one in every if one is not None]
        if not differences:
            continue
        means = [one.mean for one in differences]
        signs = Counter(np.sign(np.round(means, 4)))  # equal to four digits: level
        ahead = sum(one.is_ahead for one in differences)
        behind = sum(one.is_behind for one in differences)
        cells = [f"{signs[1]} / {signs[0]} / {signs[-1]}", f"{ahead} / {behind}"]
        rows.append([ours, other, *cells, f"{100.0 * np.mean(means):+.2f}"])
    head = ["method", "against", "higher / level / lower", "interval above / below 0"]
    return Table([*head, "mean difference"], rows)


def printed(results: PartialResults) -> Table:
    """Show the slides' figures beside ours, where there are any."""
    rows = []
    for name, figures in PRINTED.items():
        data = COUNTERPARTS.get(name)
        cells = []
        for method, figure in zip(
            (methods.TIGHT, methods.LOOSE, methods.FULL), figures, strict=True
        ):
            mean = None if data is None else results.mean(data, method)
            ours = ABSENT if mean is None else _percent(mean)
            cells.append(f"{figure:.2f} / {ours}")
        rows.append([name, data or ABSENT, *cells])
    return Table(["slides", "ours", methods.TIGHT, methods.LOOSE, methods.FULL], rows)


def races(found: Sequence[Race]) -> Table:
    """Show passes and seconds until the objective is near the optimum."""
    head = ["data", "problem", "weights used", "solver"]
    head += [f"excess {gap:g}: passes (s)" for gap in GAPS]
    rows = []
    for one, excess in zip(found, excesses(found), strict=True):
        cells = []
        for gap in GAPS:
            below = np.flatnonzero(excess <= gap)
            cells.append(ABSENT)
            if below.size:
                first = below[0]
                cells[-1] = f"{one.passes[first]:.0f} ({one.seconds[first]:.2g})"
        density = f"{100.0 * one.density:.3g} %"
        rows.append([one.data, one.problem, density, SOLVERS[one.solver], *cells])
    return Table(head, rows)


def sparsity(results: PartialResults) -> Table:
    """Show partial AUC, the share of weights that are not 0, and groups in use."""
    head = ["data", *methods.PENALTIES, "groups: L2", "groups: group"]
    rows = []
    for data in results.data:
        cells = []
        for name in methods.PENALTIES:
            folds = results.folds(data, name)
            if not folds:
                cells.append(ABSENT)
                continue
            density = np.mean([one.density[one.chosen] for one in folds])
            cells.append(
                f"{_percent(results.mean(data, name))} ({100.0 * density:.3g})"
            )
        for name in ("L2", "group"):
            folds = results.folds(data, name)
            cells.append(ABSENT)
            if results.folds(data, "group"):
                used = np.mean([one.n_groups[one.chosen] for one in folds])
                cells[-1] = f"{used:.1f} of {folds[0].total_groups}"
        rows.append([data, *cells])
    for place, name in enumerate(("Cheminformatics", "KDD Cup 2001")):
        cells = [both[place] for both in PRINTED_SPARSE.values()]
        rows.append([f"slides: {name}", *cells, ABSENT, ABSENT, ABSENT])
    grouped = ["slides: unnamed set", "67.09", *[ABSENT] * 3, "65.67", "17", "11.3"]
    return Table(head, [*rows, grouped])


RACERS = {
    "bundle": (pictures.BLUE, "-"),
    "subgradient": (pictures.ORANGE, "-"),
    "textbook": (pictures.GREY, "--"),
}
MIN_EXCESS = 1e-6


def draw_races(races: list[Race]) -> Any:
    """Draw the excess of the objective against passes, both logarithmic."""
    sets = list(dict.fromkeys(race.data for race in races))
    problems = list(dict.fromkeys(race.problem for race in races))
    height = 1.2 + 2.1 * len(sets)
    shared = {"sharex": "row", "sharey": True}
    figure, grid = pictures.panels(len(sets), len(problems), 10.0, height, **shared)
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
    pictures.legend_below(figure, 5)
    return figure
