"""The tables of the study, in per cent as the slides have them."""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from benchmarks.papers.narasimhan2013_data import load, missing
from benchmarks.papers.narasimhan2013_methods import (
    FROM_ZERO,
    FULL,
    LOGISTIC,
    LOOSE,
    PENALTIES,
    REFINED,
    TIGHT,
    TOLERANCE,
    TREES,
    TUNED,
    WIDE,
)
from benchmarks.papers.narasimhan2013_protocol import Result
from benchmarks.papers.narasimhan2013_race import SOLVERS, Race
from benchmarks.papers.narasimhan2013_slope import Slope
from benchmarks.papers.narasimhan2013_summary import (
    Difference,
    Results,
    constant_share,
    count,
    difference,
    differences,
    least_risk,
)
from benchmarks.papers.suehiro2011_tables import ABSENT, Table

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


def sizes(results: Results) -> Table:
    """Show rows, columns and positives, and how many splits there were."""
    rows = []
    for name in results.data:
        if missing(name):
            continue
        problem = load(name)
        every = np.arange(problem.y.size)
        columns = problem.split(every, every[:1]).X.shape[1]
        p, m = int(problem.y.sum()), problem.y.size
        n_splits = len(results.splits(name, TIGHT))
        cells = (f"{number:,}" for number in (m, columns, p, m - p, n_splits))
        rows.append([name, *cells])
    return Table(["data", "rows", "columns", "positives", "negatives", "splits"], rows)


def scores(results: Results) -> Table:
    """Show mean partial AUC; bold: the largest linear one, and trees if above it."""
    methods = [
        name for name in (TIGHT, TUNED, REFINED, FROM_ZERO) if _ran(results, name)
    ]
    methods += [name for name in (LOOSE, FULL, LOGISTIC, TREES) if _ran(results, name)]
    rows, table = [], []
    for data in results.data:
        means = [results.mean(data, method) for method in methods]
        rows.append([data, *_bold(methods, means)])
        if None not in means:
            table.append(means)
    if table:
        means = [float(np.mean(column)) for column in zip(*table, strict=True)]
        rows.append(["mean", *_bold(methods, means)])
    return Table(["data", *methods], rows)


def wide_scores(results: Results) -> Table:
    """Show mean partial AUC with nine candidates; bold: the largest."""
    methods = list(WIDE.values())
    rows = [
        [data, *_bold(methods, [results.mean(data, method) for method in methods])]
        for data in results.data
    ]
    return Table(["data", *methods], rows)


def _ran(results: Results, method: str) -> bool:
    return method in results.methods


def _bold(methods: Sequence[str], means: Sequence[float | None]) -> list[str]:
    linear = [
        mean
        for method, mean in zip(methods, means, strict=True)
        if mean is not None and method != TREES
    ]
    most = max(linear)
    return [
        ABSENT if mean is None else _emphasised(mean, mean == most or mean > most)
        for mean in means
    ]


def _emphasised(share: float, is_best: bool) -> str:
    return f"**{_percent(share)}**" if is_best else _percent(share)


def _percent(share: float) -> str:
    return f"{100.0 * share:.2f}"


def paired(results: Results, ours: str) -> Table:
    """Show one method less each other, with intervals."""
    others = [name for name in results.methods if name != ours]
    rows = []
    for data in results.data:
        found = [difference(results, data, ours, other) for other in others]
        rows.append([data, *map(_interval, found)])
    return Table([f"{ours} less", *others], rows)


def _interval(found: Difference | None) -> str:
    if found is None:
        return ABSENT
    mean, low, high = (100.0 * value for value in (found.mean, found.low, found.high))
    text = f"{mean:+.2f} [{low:+.2f}, {high:+.2f}]"
    return f"**{text}**" if found.is_ahead or found.is_behind else text


def wins(results: Results, pairs: Sequence[tuple[str, str]]) -> Table:
    """Count the data sets on which one method is ahead of another."""
    rows = []
    for ours, other in pairs:
        found = differences(results, ours, other)
        if not found:
            continue
        total = count(found)
        rows.append(
            [
                ours,
                other,
                f"{total.higher} / {total.level} / {total.lower}",
                f"{total.ahead} / {total.behind}",
                f"{100.0 * total.mean:+.2f}",
            ]
        )
    head = ["method", "against", "higher / level / lower", "interval above / below 0"]
    return Table([*head, "mean difference"], rows)


def overlap(results: Results, slopes: Sequence[Slope]) -> Table:
    """Show how far the convex risks can fall, and what follows from it."""
    falls = {slope.data: slope.falls for slope in slopes}
    rows = []
    for data in sorted(falls, key=lambda name: falls[name][0] / falls[name][-1]):
        tight, full = results.splits(data, TIGHT), results.splits(data, FULL)
        both = results.mean(data, TIGHT), results.mean(data, TUNED)
        cells = [f"{fall / falls[data][-1]:.3f}" for fall in falls[data][:-1]]
        cells += [f"{least_risk(tight):.3f}", f"{least_risk(full):.3f}"]
        cells.append(f"{100.0 * constant_share(tight):.0f} %")
        cells += [ABSENT if mean is None else _percent(mean) for mean in both]
        rows.append([data, *cells, _ends(results.splits(data, TUNED))])
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


def edges(results: Results) -> Table:
    """Count how often the first or the last of the six candidates was chosen.

    Where that is often, a wider range of C might have served the method better.
    """
    rows = []
    for method in (TIGHT, LOOSE, FULL, LOGISTIC):
        at: dict[str, Counter[str]] = {"first": Counter(), "last": Counter()}
        total = 0
        for data in results.data:
            for one in results.splits(data, method):
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


def printed(results: Results) -> Table:
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
    for one in found:
        cells = []
        for gap in GAPS:
            first = one.first_below(gap)
            cells.append(
                ABSENT if first is None else f"{first[0]:.0f} ({first[1]:.2g})"
            )
        density = f"{100.0 * one.density:.3g} %"
        rows.append([one.data, one.problem, density, SOLVERS[one.solver], *cells])
    return Table(head, rows)


def sparsity(results: Results) -> Table:
    """Show partial AUC, the share of weights that are not 0, and groups in use."""
    head = ["data", *PENALTIES, "groups: L2", "groups: group"]
    rows = []
    for data in results.data:
        cells = []
        for name in PENALTIES:
            found = results.splits(data, name)
            if not found:
                cells.append(ABSENT)
                continue
            score = np.mean([one.score[one.chosen] for one in found])
            density = np.mean([one.density[one.chosen] for one in found])
            cells.append(f"{_percent(float(score))} ({100.0 * density:.3g})")
        for name in ("L2", "group"):
            found = results.splits(data, name)
            cells.append(ABSENT)
            if results.splits(data, "group"):
                used = np.mean([one.n_groups[one.chosen] for one in found])
                cells[-1] = f"{used:.1f} of {found[0].total_groups}"
        rows.append([data, *cells])
    for place, name in enumerate(("Cheminformatics", "KDD Cup 2001")):
        cells = [both[place] for both in PRINTED_SPARSE.values()]
        rows.append([f"slides: {name}", *cells, ABSENT, ABSENT, ABSENT])
    grouped = ["slides: unnamed set", "67.09", *[ABSENT] * 3, "65.67", "17", "11.3"]
    return Table(head, [*rows, grouped])


def gaps(results: Results) -> Table:
    """Show how many fits missed the tolerance, and the largest gap among the chosen."""
    rows = []
    for data in results.data:
        cells = []
        for name in PENALTIES:
            found = [one for one in results.splits(data, name) if one.gap]
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
