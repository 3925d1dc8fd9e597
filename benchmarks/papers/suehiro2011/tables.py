"""The tables of the study, the paper's figures beside ours.

A cell "0.9313 / 0.9207" holds the printed figure and ours; "…" is not legible in our
copy of the paper, "-" was not run or not printed.
"""

from collections.abc import Sequence

from benchmarks.papers.markdown import ABSENT, Table, largest_bold
from benchmarks.papers.suehiro2011.data import Data, NewsData, RuleData, load
from benchmarks.papers.suehiro2011.printed import EPSILONS, TABLE_5
from benchmarks.papers.suehiro2011.protocol import RANKBOOST, SOFTRANKBOOST
from benchmarks.papers.suehiro2011.results import (
    FoldResults,
    at,
    best,
    chosen_inside,
    rows_of,
)
from benchmarks.papers.suehiro2011.times import PROGRAM, Timing

ILLEGIBLE = "…"
KINDS = ("features", "signed", "stumps")


def all_tables(results: FoldResults, timings: Sequence[Timing]) -> dict[str, Table]:
    """Return the tables for which there are results."""
    tables = {f"table {part}": side_by_side(part, results) for part in "1234"}
    for part in "34":
        tables[f"table {part}, chosen inside"] = real_chosen(part, results)
    tables["table 5, passes"] = passes_table(timings)
    tables["table 5, seconds"] = times_table(timings)
    return {name: table for name, table in tables.items() if table.rows}


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
        boosted = results.select(data, RANKBOOST)
        if not boosted:
            continue
        pairs = list(zip(row.rankboost, (at(boosted, n) for n in rounds), strict=True))
        for method, figure in (
            (SOFTRANKBOOST, row.softrankboost),
            ("pairs", row.lp_pair),
            ("adaptive", row.their_method),
        ):
            chosen = best(results.select(data, method), EPSILONS)
            pairs.append((figure, None if chosen is None else chosen.auc))
        cells = [_both(theirs, ours) for theirs, ours in pairs]
        if part == "4":  # the paper has no such column
            cells[-2] = cells[-2].replace(ILLEGIBLE, ABSENT)
        rows.append([*name_of(data), *cells])
    return Table(head, rows)


def real_chosen(part: str, results: FoldResults) -> Table:
    """Show real data with every parameter chosen inside the training rows."""
    methods = (RANKBOOST, SOFTRANKBOOST, "pairs", "instances")
    rows = []
    for data, _ in rows_of(part):
        if isinstance(data, NewsData):
            data = NewsData(data.topic, is_modapte=True)
        for kind in KINDS:
            values = [
                chosen_inside(results.select(data, name, kind)) for name in methods
            ]
            if any(value is not None for value in values):
                rows.append([*name_of(data), kind, *largest_bold(values)])
    return Table(["data", "hypotheses", *methods], rows)


def _by_size(timings: Sequence[Timing]) -> dict[int, dict[str, Timing]]:
    by_size: dict[int, dict[str, Timing]] = {}
    for one in timings:
        by_size.setdefault(one.m, {})[one.solver] = one
    return by_size


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
    names = [PROGRAM, "instances", "adaptive", "global"]
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
