"""The tables of the study, in per cent as the slides have them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import compress

import numpy as np

from benchmarks.papers.narasimhan2013.data import load
from benchmarks.papers.narasimhan2013.methods import (
    CHOSEN,
    FROM_ZERO,
    FULL,
    LOGISTIC,
    LOOSE,
    PENALTIES,
    SAME_FOLDS,
    SIGMOID,
    TIGHT,
    TOLERANCE,
    TREES,
    TUNED,
    WIDE,
)
from benchmarks.papers.narasimhan2013.protocol import Result
from benchmarks.papers.narasimhan2013.race import SOLVERS, Race, excesses
from benchmarks.papers.narasimhan2013.results import PartialResults
from benchmarks.papers.narasimhan2013.slope import Slope
from benchmarks.papers.pages import ABSENT, Table, largest_bold

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


#: of splits; there are slopes and races, too
PARTS = ("accuracy", "bounded", "whole curve", "grids", "range", "sparsity")
ACCURACY_PAIRS = [
    (ours, other) for ours in (TIGHT, TUNED) for other in (LOOSE, FULL, LOGISTIC, TREES)
]
BOUNDED_PAIRS = [
    *((CHOSEN, other) for other in (SAME_FOLDS, LOGISTIC)),
    (SIGMOID, LOGISTIC),
]
GRIDS_PAIRS = [
    (WIDE[ours], WIDE[other]) for ours in (TIGHT, TUNED) for other in (FULL, LOGISTIC)
]
RANGE_PAIRS = [
    *((TIGHT, other) for other in (LOOSE, FROM_ZERO, FULL, LOGISTIC)),
]


def all_tables(
    results: Mapping[str, PartialResults], slopes: Sequence[Slope], raced: list[Race]
) -> dict[str, Table]:
    """Return the tables for which there are figures, by their names in the template."""
    found: dict[str, Table] = {}
    if "accuracy" in results:
        part = results["accuracy"]
        found["sizes"] = sizes(part)
        found["accuracy"] = scores(part)
        found["tight_less"] = paired(part, TIGHT)
        found["tuned_less"] = paired(part, TUNED)
        found["wins"] = wins(part, ACCURACY_PAIRS)
        found["overlap"] = overlap(part, slopes)
        found["edges"] = edges(part)
        found["printed"] = printed(part)
    for part in ("bounded", "whole curve"):
        if part in results:
            name = part.replace(" ", "_")
            found[name] = scores(results[part])
            found[f"{name}_less"] = paired(results[part], CHOSEN)
            found[f"{name}_wins"] = wins(results[part], BOUNDED_PAIRS)
    if "grids" in results:
        found["grids"] = wide_scores(results["grids"])
        found["grids_wins"] = wins(results["grids"], GRIDS_PAIRS)
    if "range" in results:
        found["range"] = scores(results["range"])
        found["range_less"] = paired(results["range"], TIGHT)
        found["range_wins"] = wins(results["range"], RANGE_PAIRS)
    if raced:
        found["races"] = races(raced)
    if "sparsity" in results:
        found["sparsity"] = sparsity(results["sparsity"])
        found["gaps"] = gaps(results["sparsity"])
    return found


def sizes(results: PartialResults) -> Table:
    """Show rows, columns and positives, and how many splits there were."""
    rows = []
    for name in results.data:
        problem = load(name)
        every = np.arange(problem.y.size)
        columns = problem.split(every, every[:1]).X.shape[1]
        p, m = int(problem.y.sum()), problem.y.size
        n_splits = len(results.folds(name, TIGHT))
        cells = (f"{number:,}" for number in (m, columns, p, m - p, n_splits))
        rows.append([name, *cells])
    return Table(["data", "rows", "columns", "positives", "negatives", "splits"], rows)


def scores(results: PartialResults) -> Table:
    """Show mean partial AUC; bold: the largest linear one, and trees if above it."""
    order = (
        *(TIGHT, TUNED, FROM_ZERO, LOOSE, FULL, SIGMOID, CHOSEN, SAME_FOLDS),
        *(LOGISTIC, TREES),
    )
    methods = [name for name in order if name in results.methods]
    table = {
        data: [results.mean(data, method) for method in methods]
        for data in results.data
    }
    whole = [means for means in table.values() if None not in means]
    if whole:
        table["mean"] = np.mean(whole, axis=0).tolist()
    rows = [[data, *_bold(methods, means)] for data, means in table.items()]
    return Table(["data", *methods], rows)


def _bold(methods: Sequence[str], means: Sequence[float | None]) -> list[str]:
    points = [None if mean is None else 100.0 * mean for mean in means]
    is_linear = [method != TREES for method in methods]
    cells = largest_bold(list(compress(points, is_linear)), ".2f")
    return cells if all(is_linear) else [*cells, largest_bold(points, ".2f")[-1]]


def wide_scores(results: PartialResults) -> Table:
    """Show mean partial AUC with nine candidates; bold: the largest."""
    methods = list(WIDE.values())
    rows = [
        [data, *_bold(methods, [results.mean(data, method) for method in methods])]
        for data in results.data
    ]
    return Table(["data", *methods], rows)


def _percent(share: float) -> str:
    return f"{100.0 * share:.2f}"


def paired(results: PartialResults, ours: str) -> Table:
    """Show one method less each other, with intervals."""
    others = [name for name in results.methods if name != ours]
    rows = []
    for data in results.data:
        found = [results.difference(data, ours, other) for other in others]
        rows.append([data, *(one.in_points(2) if one else ABSENT for one in found)])
    return Table([f"{ours} less", *others], rows)


def wins(results: PartialResults, pairs: Sequence[tuple[str, str]]) -> Table:
    """Count the data sets on which one method is ahead of another."""
    rows = []
    for ours, other in pairs:
        every = (results.difference(data, ours, other) for data in results.data)
        found = [one for one in every if one is not None]
        if not found:
            continue
        means = [one.mean for one in found]
        signs = Counter(np.sign(np.round(means, 4)))  # equal to four digits: level
        ahead = sum(one.is_ahead for one in found)
        behind = sum(one.is_behind for one in found)
        cells = [f"{signs[1]} / {signs[0]} / {signs[-1]}", f"{ahead} / {behind}"]
        rows.append([ours, other, *cells, f"{100.0 * np.mean(means):+.2f}"])
    head = ["method", "against", "higher / level / lower", "interval above / below 0"]
    return Table([*head, "mean difference"], rows)


def overlap(results: PartialResults, slopes: Sequence[Slope]) -> Table:
    """Show how far the convex risks can fall, and what follows from it."""
    falls = {slope.data: slope.falls for slope in slopes}
    rows = []
    for data in sorted(falls, key=lambda name: falls[name][0] / falls[name][-1]):
        tight, full = results.folds(data, TIGHT), results.folds(data, FULL)
        both = results.mean(data, TIGHT), results.mean(data, TUNED)
        cells = [f"{fall / falls[data][-1]:.3f}" for fall in falls[data][:-1]]
        for some in (tight, full):
            least = np.mean([np.nanmin(one.risk) for one in some])
            cells.append(f"{least:.3f}")
        constant = np.mean([not one.spread[one.chosen] for one in tight])
        cells.append(f"{100.0 * constant:.0f} %")
        cells += [ABSENT if mean is None else _percent(mean) for mean in both]
        rows.append([data, *cells, _ends(results.folds(data, TUNED))])
    head = ["data", "fall, b = 0.1", "fall, b = 0.3"]
    head += ["least risk, tight", "least risk, SVM-AUC", "all scores equal"]
    return Table([*head, TIGHT, TUNED, "ends chosen"], rows)


def _ends(found: Sequence[Result]) -> str:
    """Count how often each upper end was chosen: the end comes first in the name."""
    ends: Counter[str] = Counter()
    for one in found:
        name = one.candidates[one.chosen]
        is_wider = name.startswith("up to")
        ends[name.removeprefix("up to ").partition(",")[0] if is_wider else "0.1"] += 1
    return ", ".join(f"{end} ({number})" for end, number in sorted(ends.items()))


def edges(results: PartialResults) -> Table:
    """Count how often the first or the last of the six candidates was chosen.

    Where that is often, a wider range of C might have served the method better.
    """
    rows = []
    for method in (TIGHT, LOOSE, FULL, LOGISTIC):
        at: dict[str, Counter[str]] = {"first": Counter(), "last": Counter()}
        total = 0
        for data in results.data:
            for one in results.folds(data, method):
                total += 1
                if one.chosen == 0:
                    at["first"][data] += 1
                elif one.chosen == len(one.candidates) - 1:
                    at["last"][data] += 1
        cells = [f"{sum(found.values())} of {total}" for found in at.values()]
        most = ", ".join(f"{d} {n}" for d, n in at["first"].most_common(4))
        rows.append([method, *cells, most or ABSENT])
    head = ["method", "smallest C chosen", "largest C chosen"]
    return Table([*head, "smallest C, splits of"], rows)


def printed(results: PartialResults) -> Table:
    """Show the slides' figures beside ours, where there are any."""
    rows = []
    for name, figures in PRINTED.items():
        data = COUNTERPARTS.get(name)
        cells = []
        for method, figure in zip((TIGHT, LOOSE, FULL), figures, strict=True):
            mean = None if data is None else results.mean(data, method)
            ours = ABSENT if mean is None else _percent(mean)
            cells.append(f"{figure:.2f} / {ours}")
        rows.append([name, data or ABSENT, *cells])
    return Table(["slides", "ours", TIGHT, LOOSE, FULL], rows)


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
    head = ["data", *PENALTIES, "groups: L2", "groups: group"]
    rows = []
    for data in results.data:
        cells = []
        for name in PENALTIES:
            found = results.folds(data, name)
            if not found:
                cells.append(ABSENT)
                continue
            density = np.mean([one.density[one.chosen] for one in found])
            cells.append(
                f"{_percent(results.mean(data, name))} ({100.0 * density:.3g})"
            )
        for name in ("L2", "group"):
            found = results.folds(data, name)
            cells.append(ABSENT)
            if results.folds(data, "group"):
                used = np.mean([one.n_groups[one.chosen] for one in found])
                cells[-1] = f"{used:.1f} of {found[0].total_groups}"
        rows.append([data, *cells])
    for place, name in enumerate(("Cheminformatics", "KDD Cup 2001")):
        cells = [both[place] for both in PRINTED_SPARSE.values()]
        rows.append([f"slides: {name}", *cells, ABSENT, ABSENT, ABSENT])
    grouped = ["slides: unnamed set", "67.09", *[ABSENT] * 3, "65.67", "17", "11.3"]
    return Table(head, [*rows, grouped])


def gaps(results: PartialResults) -> Table:
    """Show how many fits missed the tolerance, and the largest gap among the chosen."""
    rows = []
    for data in results.data:
        cells = []
        for name in PENALTIES:
            found = [one for one in results.folds(data, name) if one.gap]
            every = np.array([one.gap for one in found])
            if not every.size:
                cells.append(ABSENT)
                continue
            # the last digit is rounding
            missed = int((every > 1.01 * TOLERANCE).sum())
            worst = max(one.gap[one.chosen] for one in found)
            cells.append(f"{missed} of {every.size} ({worst:.0e})")
        rows.append([data, *cells])
    return Table(["data", *PENALTIES], rows)
