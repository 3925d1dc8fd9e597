"""The tables of the study, the paper's figures beside ours.

A cell "0.9313 / 0.9207" holds the printed figure and ours; "…" is not legible in our
copy of the paper, "-" was not run or not printed.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from benchmarks.papers import suehiro2011_printed as printed
from benchmarks.papers.suehiro2011_data import (
    TOPICS,
    UCI,
    Data,
    NewsData,
    RuleData,
    TableData,
    load,
    missing,
)
from benchmarks.papers.suehiro2011_printed import EPSILONS, Printed
from benchmarks.papers.suehiro2011_summary import (
    RANKBOOST,
    SOFTRANKBOOST,
    Comparison,
    Results,
    at,
    best,
    best_loose,
    chosen_inside,
    not_positive,
)

ILLEGIBLE, ABSENT = "…", "-"
PERFECT = 0.99  # an AUC that is printed as 1, or nearly
KINDS = ("features", "signed", "stumps")


@dataclass(frozen=True)
class Table:
    """A table of texts."""

    head: Sequence[str]
    rows: Sequence[Sequence[str]]

    def _columns(self) -> Iterable[tuple[str, ...]]:
        return zip(self.head, *self.rows, strict=True)

    def __str__(self) -> str:
        widths = [max(map(len, column)) for column in self._columns()]
        lines = [self.head, ["-" * width for width in widths], *self.rows]
        return "\n".join(_line(line, widths) for line in lines)


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = (cell.ljust(width) for cell, width in zip(cells, widths, strict=True))
    return f"| {' | '.join(padded)} |"


def artificial_rows(part: str) -> list[tuple[RuleData, Printed]]:
    """Return the data of tables 1 and 2 with what was printed for them."""
    if part == "1":
        return [
            (RuleData(r, noise), row) for (r, noise), row in printed.TABLE_1.items()
        ]
    return [(RuleData(r, 5, share), row) for (share, r), row in printed.TABLE_2.items()]


def real_rows(part: str) -> list[tuple[Data, Printed]]:
    """Return the data of tables 3 and 4 with what was printed for them."""
    if part == "3":
        return [(TableData(name), printed.TABLE_3[name]) for name in UCI]
    return [(NewsData(topic), printed.TABLE_4[topic]) for topic in TOPICS]


def name_of(data: Data) -> list[str]:
    """Return the first cells of a row."""
    if isinstance(data, RuleData):
        share = f"{data.positives}:{10 - data.positives}"
        limits = f"{data.ceiling:.4f} / {load(data).ceiling:.4f}"
        return [share, str(data.r), f"{data.noise} %", limits]
    return [data.name if isinstance(data, TableData) else data.topic]


def side_by_side(part: str, results: Results) -> Table:
    """Lay the paper's figures and ours side by side: features, best epsilon."""
    is_artificial = part in "12"
    rounds = (500.0 if is_artificial else 1000.0, 5000.0, 10_000.0)
    first = ["p:n", "r", "noise", "best possible"] if is_artificial else ["data"]
    head = [*first, *(f"RankBoost {n:g}" for n in rounds)]
    head += ["SoftRankBoost", "LP-Pair", "their method"]
    rows = []
    for data, row in artificial_rows(part) if is_artificial else real_rows(part):
        boosted = results.folds(data, RANKBOOST, "features")
        if not boosted:
            continue
        pairs = list(zip(row.rankboost, (at(boosted, n) for n in rounds), strict=True))
        for method, figure in (
            (SOFTRANKBOOST, row.softrankboost),
            ("pairs", row.lp_pair),
            ("adaptive", row.their_method),
        ):
            found = best(results.folds(data, method, "features"), EPSILONS)
            pairs.append((figure, None if found is None else found.auc))
        cells = [_both(theirs, ours) for theirs, ours in pairs]
        if part == "4":  # the paper has no such column
            cells[-2] = cells[-2].replace(ILLEGIBLE, ABSENT)
        rows.append([*name_of(data), *cells])
    return Table(head, rows)


def artificial_chosen(results: dict[str, Results], label: str = "auc") -> Table:
    """Show artificial data, epsilon chosen inside; RankBoost after 500 rounds.

    With the label "clean_auc", the same models against the labels before noise.
    """
    methods = (SOFTRANKBOOST, "pairs", "instances", "adaptive")
    rows, table = [], []
    for part in ("1", "2"):
        if part not in results:
            continue
        for data, _ in artificial_rows(part):
            boosted = results[part].folds(data, RANKBOOST, "features")
            figures = [at(boosted, 500.0, label) if boosted else None]
            for name in methods:
                folds = results[part].folds(data, name, "features")
                figures.append(chosen_inside(folds, label))
            if None not in figures:
                rows.append(name_of(data))
                table.append(figures)
    head = ["p:n", "r", "noise", "best possible", f"{RANKBOOST} 500", *methods]
    cells = [
        [*row, *_largest_bold(line)] for row, line in zip(rows, table, strict=True)
    ]
    if table:
        means = [sum(column) / len(column) for column in zip(*table, strict=True)]
        cells.append(["mean", "", "", "", *_largest_bold(means)])
    return Table(head, cells)


def global_against_adaptive(results: dict[str, Results]) -> list[float]:
    """Return AUC of "global" less that of "adaptive", best of three epsilons each."""
    differences = []
    for part in ("1", "2"):
        if part not in results:
            continue
        for data, _ in artificial_rows(part):
            tops = [
                best(results[part].folds(data, name, "features"), (0.1, 0.2, 0.3))
                for name in ("global", "adaptive")
            ]
            if tops[0] is not None and tops[1] is not None:
                differences.append(tops[0].auc - tops[1].auc)
    return differences


def real_chosen(part: str, results: Results) -> Table:
    """Show real data with every parameter chosen inside the training rows."""
    methods = (RANKBOOST, SOFTRANKBOOST, "pairs", "instances")
    rows = []
    for data, _ in real_rows(part):
        if isinstance(data, NewsData):
            data = NewsData(data.topic, is_modapte=True)
        for kind in KINDS:
            figures = [
                chosen_inside(results.folds(data, name, kind)) for name in methods
            ]
            if any(figure is not None for figure in figures):
                rows.append([*name_of(data), kind, *_largest_bold(figures)])
    return Table(["data", "hypotheses", *methods], rows)


def sizes(part: str) -> Table:
    """Show rows, columns and positives of real data."""
    rows = []
    for data, _ in real_rows(part):
        if missing(data):
            continue
        problem = load(data)
        everything = range(problem.y.size)
        X = problem.split(list(everything), [0])[0]
        p = int(problem.y.sum())
        rows.append(
            [*name_of(data), *(f"{n:,}" for n in (*X.shape, p, X.shape[0] - p))]
        )
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


def entries(results: dict[str, Results]) -> list[Entry]:
    """Return the legible entries of tables 1 to 3 for which there are results."""
    found = []
    for part in "123":
        rows = artificial_rows(part) if part in "12" else real_rows(part)
        for data, row in rows if part in results else []:
            for method, figure in (
                ("pairs", row.lp_pair),
                ("adaptive", row.their_method),
            ):
                folds = results[part].folds(data, method, "features")
                top, loose = best(folds, EPSILONS), best_loose(folds, EPSILONS)
                if figure is not None and top is not None and loose is not None:
                    few = not_positive(folds, EPSILONS)
                    found.append(Entry(part, data, method, figure, top.auc, loose, few))
    return found


def perfect_entries(found: Iterable[Entry]) -> Table:
    """Show the entries that are printed as 0.99 or more, and what would print them."""
    head = ["entry", "printed", "best possible", "AUC here", "loose count here"]
    head.append("margin not above 0 at epsilon")
    names = {"pairs": "LP-Pair", "adaptive": "their method"}
    rows = [
        [
            f"table {one.part}, {_short(one.data)}, {names[one.method]}",
            f"{one.printed:.4f}",
            f"{one.data.ceiling:.4f}" if isinstance(one.data, RuleData) else ABSENT,
            f"{one.auc:.4f}",
            f"{one.loose:.4f}",
            ", ".join(f"{epsilon:g}" for epsilon in one.without_margin) or "none",
        ]
        for one in found
        if one.printed >= PERFECT
    ]
    return Table(head, rows)


def comparison_table(comparisons: Iterable[Comparison]) -> Table:
    """Show differences from both kinds of boosting, with intervals."""
    head = ["data", "hypotheses", "ours", "chosen", "other", "its AUC"]
    head += ["difference, 95 %", "folds won"]
    rows = []
    for one in comparisons:
        names = sorted(set(one.formulations), key=one.formulations.count, reverse=True)
        rows.append(
            [
                str(one.data.get("name") or one.data.get("topic")),
                one.hypotheses,
                f"{one.ours:.4f}",
                ", ".join(f"{name} {one.formulations.count(name)}" for name in names),
                one.method,
                f"{one.theirs:.4f}",
                f"{one.ours - one.theirs:+.4f} [{one.low:+.4f}, {one.high:+.4f}]",
                f"{one.won:g} of {len(one.formulations)}",
            ]
        )
    return Table(head, rows)


def _short(data: Data) -> str:
    if isinstance(data, RuleData):
        share = f"{data.positives}:{10 - data.positives}"
        return f"{share}, r = {data.r}, noise {data.noise} %"
    return name_of(data)[0]


def _both(theirs: float | None, ours: float | None) -> str:
    left = ILLEGIBLE if theirs is None else f"{theirs:.4f}"
    return f"{left} / {_figure(ours)}"


def _figure(value: float | None) -> str:
    return ABSENT if value is None else f"{value:.4f}"


def _largest_bold(figures: Sequence[float | None]) -> list[str]:
    most = max(figure for figure in figures if figure is not None)
    return [
        f"**{figure:.4f}**" if figure == most else _figure(figure) for figure in figures
    ]
