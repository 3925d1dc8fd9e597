"""The tables of the study, the paper's figures beside ours.

A cell "0.9313 / 0.9207" holds the printed figure and ours; "…" is not legible in our
copy of the paper, "-" was not run or not printed.
"""

from collections.abc import Sequence
from typing import NamedTuple

from benchmarks.papers.pages import ABSENT, Table, largest_bold
from benchmarks.papers.suehiro2011.data import Data, NewsData, RuleData, load
from benchmarks.papers.suehiro2011.printed import EPSILONS, TABLE_5
from benchmarks.papers.suehiro2011.protocol import RANKBOOST, SOFTRANKBOOST
from benchmarks.papers.suehiro2011.results import (
    FoldResults,
    at,
    best,
    best_loose,
    chosen_inside,
    compare,
    not_positive,
    rows_of,
)
from benchmarks.papers.suehiro2011.times import Timing

ILLEGIBLE = "…"
PERFECT = 0.99  # an AUC that is printed as 1, or nearly
KINDS = ("features", "signed", "stumps")


def all_tables(results: FoldResults, timings: Sequence[Timing]) -> dict[str, Table]:
    """Return the tables for which there are figures, by their names in the template."""
    found: dict[str, Table] = {}
    for part in "1234":
        found[f"table_{part}"] = side_by_side(part, results)
    found["artificial"] = artificial_chosen(results)
    found["clean"] = artificial_chosen(results, "clean_auc")
    for part in "34":
        found[f"table_{part}_sizes"] = sizes(part, results)
        found[f"table_{part}_ours"] = real_chosen(part, results)
    found["perfect"] = perfect_entries(results)
    found["comparisons"] = comparison_table(results)
    found["passes"] = passes_table(timings)
    found["times"] = times_table(timings)
    return {name: table for name, table in found.items() if table.rows}


def figures(results: FoldResults) -> dict[str, str]:
    """Return single figures that the text quotes, by their names in the template."""
    every = entries(results)
    perfect = [one for one in every if one.printed >= PERFECT]
    loose = [one for one in every if one.loose >= PERFECT]
    found = {
        "n_entries": str(len(every)),
        "n_perfect": str(len(perfect)),
        "n_loose": str(len(loose)),
        "n_both": str(sum(one in loose for one in perfect)),
    }
    gains = global_against_adaptive(results)
    if gains:
        found["global_mean"] = f"{sum(gains) / len(gains):+.4f}"
        found["global_range"] = f"{min(gains):+.4f} to {max(gains):+.4f}"
    return found


def name_of(data: Data) -> list[str]:
    """Return the first cells of a row."""
    if isinstance(data, RuleData):
        limits = f"{data.ceiling:.4f} / {load(data).ceiling:.4f}"
        return [data.shares, str(data.r), f"{data.noise} %", limits]
    return [data.topic if isinstance(data, NewsData) else data.name]


def side_by_side(part: str, results: FoldResults) -> Table:
    """Lay the paper's figures and ours side by side: features, best epsilon."""
    is_artificial = part in "12"
    rounds = (500.0 if is_artificial else 1000.0, 5000.0, 10_000.0)
    first = ["p:n", "r", "noise", "best possible"] if is_artificial else ["data"]
    head = [*first, *(f"RankBoost {n:g}" for n in rounds)]
    head += ["SoftRankBoost", "LP-Pair", "their method"]
    rows = []
    for data, row in rows_of(part):
        boosted = results.of(data, RANKBOOST)
        if not boosted:
            continue
        pairs = list(zip(row.rankboost, (at(boosted, n) for n in rounds), strict=True))
        for method, figure in (
            (SOFTRANKBOOST, row.softrankboost),
            ("pairs", row.lp_pair),
            ("adaptive", row.their_method),
        ):
            found = best(results.of(data, method), EPSILONS)
            pairs.append((figure, None if found is None else found.auc))
        cells = [_both(theirs, ours) for theirs, ours in pairs]
        if part == "4":  # the paper has no such column
            cells[-2] = cells[-2].replace(ILLEGIBLE, ABSENT)
        rows.append([*name_of(data), *cells])
    return Table(head, rows)


def artificial_chosen(results: FoldResults, label: str = "auc") -> Table:
    """Show artificial data, epsilon chosen inside; RankBoost after 500 rounds.

    With the label "clean_auc", the same models against the labels before noise.
    """
    methods = (SOFTRANKBOOST, "pairs", "instances", "adaptive")
    rows, table = [], []
    for data, _ in (*rows_of("1"), *rows_of("2")):
        values = [at(results.of(data, RANKBOOST), 500.0, label)]
        values += [chosen_inside(results.of(data, name), label) for name in methods]
        if None not in values:
            rows.append([*name_of(data), *largest_bold(values)])
            table.append(values)
    if table:
        means = [sum(column) / len(column) for column in zip(*table, strict=True)]
        rows.append(["mean", "", "", "", *largest_bold(means)])
    head = ["p:n", "r", "noise", "best possible", f"{RANKBOOST} 500", *methods]
    return Table(head, rows)


def global_against_adaptive(results: FoldResults) -> list[float]:
    """Return AUC of "global" less that of "adaptive", best of three epsilons each."""
    differences = []
    for data, _ in (*rows_of("1"), *rows_of("2")):
        tops = [
            best(results.of(data, name), (0.1, 0.2, 0.3))
            for name in ("global", "adaptive")
        ]
        if tops[0] is not None and tops[1] is not None:
            differences.append(tops[0].auc - tops[1].auc)
    return differences


def real_chosen(part: str, results: FoldResults) -> Table:
    """Show real data with every parameter chosen inside the training rows."""
    methods = (RANKBOOST, SOFTRANKBOOST, "pairs", "instances")
    rows = []
    for data, _ in rows_of(part):
        if isinstance(data, NewsData):
            data = NewsData(data.topic, is_modapte=True)
        for kind in KINDS:
            values = [chosen_inside(results.of(data, name, kind)) for name in methods]
            if any(value is not None for value in values):
                rows.append([*name_of(data), kind, *largest_bold(values)])
    return Table(["data", "hypotheses", *methods], rows)


def sizes(part: str, results: FoldResults) -> Table:
    """Show rows, columns and positives of real data."""
    rows = []
    for data, _ in rows_of(part):
        if str(data) in results.data:
            problem = load(data)
            X, _ = problem.split(list(range(problem.y.size)), [0])
            p = int(problem.y.sum())
            cells = (f"{n:,}" for n in (*X.shape, p, X.shape[0] - p))
            rows.append([*name_of(data), *cells])
    return Table(["data", "rows", "columns", "positives", "negatives"], rows)


class Entry(NamedTuple):
    """A printed AUC of LP-Pair or of their method, and what we find for it."""

    part: str
    data: Data
    method: str
    printed: float
    auc: float
    loose: float
    without_margin: list[float]


def entries(results: FoldResults) -> list[Entry]:
    """Return the legible entries of tables 1 to 3 for which there are results."""
    found = []
    for part in "123":
        for data, row in rows_of(part):
            for method, figure in (
                ("pairs", row.lp_pair),
                ("adaptive", row.their_method),
            ):
                folds = results.of(data, method)
                top, loose = best(folds, EPSILONS), best_loose(folds, EPSILONS)
                if figure is not None and top is not None and loose is not None:
                    few = not_positive(folds, EPSILONS)
                    found.append(Entry(part, data, method, figure, top.auc, loose, few))
    return found


def perfect_entries(results: FoldResults) -> Table:
    """Show the entries that are printed as 0.99 or more, and what would print them."""
    head = ["entry", "printed", "best possible", "AUC here", "loose count here"]
    head.append("margin not above 0 at epsilon")
    names = {"pairs": "LP-Pair", "adaptive": "their method"}
    rows = [
        [
            f"table {one.part}, {one.data}, {names[one.method]}",
            f"{one.printed:.4f}",
            f"{one.data.ceiling:.4f}" if isinstance(one.data, RuleData) else ABSENT,
            f"{one.auc:.4f}",
            f"{one.loose:.4f}",
            ", ".join(f"{epsilon:g}" for epsilon in one.without_margin) or "none",
        ]
        for one in entries(results)
        if one.printed >= PERFECT
    ]
    return Table(head, rows)


def comparison_table(results: FoldResults) -> Table:
    """Show differences from both kinds of boosting, with intervals, on ModApte."""
    rows = []
    for data, _ in rows_of("4"):
        modapte = NewsData(data.topic, is_modapte=True)
        for kind in KINDS:
            for method in (RANKBOOST, SOFTRANKBOOST):
                found = compare(results, modapte, method, kind)
                if found is not None:
                    ours, test = found
                    less = f"{test.difference:+.4f} [{test.low:+.4f}, {test.high:+.4f}]"
                    cells = [f"{test.auc_a:.4f}", ours, method, f"{test.auc_b:.4f}"]
                    rows.append([data.topic, kind, *cells, less])
    head = ["data", "hypotheses", "ours", "chosen", "other", "its AUC"]
    return Table([*head, "difference, 95 %"], rows)


def _by_size(timings: Sequence[Timing]) -> dict[int, dict[str, Timing]]:
    found: dict[int, dict[str, Timing]] = {}
    for one in timings:
        found.setdefault(one.m, {})[one.solver] = one
    return found


def passes_table(timings: Sequence[Timing]) -> Table:
    """Show passes, which do not depend on the machine, and the certified gap."""
    names = ("pairs", "instances", "adaptive", "global")
    rows = []
    for m, mine in _by_size(timings).items():
        cells = [ABSENT] * len(names)
        for place, name in enumerate(names):
            if name in mine:
                cells[place] = f"{mine[name].passes:g} ({mine[name].gap:.0e})"
        rows.append([f"{m:,}", *cells])
    return Table(["m", *(f"{name}: passes (gap)" for name in names)], rows)


def times_table(timings: Sequence[Timing]) -> Table:
    """Show times as multiples of the exact problem's by the bundle, in one run."""
    solvers = dict.fromkeys(one.solver for one in timings)
    programs = [name for name in solvers if name.startswith("HiGHS")]
    names = [*programs, "instances", "adaptive", "global"]
    rows = []
    for m, mine in _by_size(timings).items():
        unit = mine["pairs"].seconds
        ratio = ABSENT
        if m in TABLE_5:
            slow, fast = TABLE_5[m]
            ratio = f"{slow:g} s / {fast:g} s = {slow / fast:.3g}"
        cells = [ABSENT] * len(names)
        for place, name in enumerate(names):
            if name in mine:
                seconds, note = mine[name].seconds, mine[name].note
                cells[place] = note if seconds is None else f"{seconds / unit:.3g}"
        rows.append([f"{m:,}", ratio, f"1 (= {unit:.3g} s)", *cells])
    return Table(["m", "LP-Pair / their method, printed", "pairs", *names], rows)


def _both(theirs: float | None, ours: float | None) -> str:
    left = ILLEGIBLE if theirs is None else f"{theirs:.4f}"
    return f"{left} / {ABSENT if ours is None else f'{ours:.4f}'}"
