"""The tables of the study, the paper's figures beside ours, and its pictures.

A cell "0.9313 / 0.9207" holds the printed figure and ours; "…" is not legible in our
copy of the paper, "-" was not run or not printed.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from aucmax.margin.margin_certificate import MarginCurve
from aucmax.plots import MarginCurveDisplay
from benchmarks.papers import pictures
from benchmarks.papers.choices import Results
from benchmarks.papers.markdown import ABSENT, Table, largest_bold
from benchmarks.papers.suehiro2011 import data as sets
from benchmarks.papers.suehiro2011 import printed
from benchmarks.papers.suehiro2011.curve import Curve
from benchmarks.papers.suehiro2011.data import Data, NewsData, RuleData, load
from benchmarks.papers.suehiro2011.printed import EPSILONS, TABLE_5, Printed
from benchmarks.papers.suehiro2011.protocol import RANKBOOST, SOFTRANKBOOST, FoldResult
from benchmarks.papers.suehiro2011.times import PROGRAM, Timing

OURS = ("pairs", "instances")  # may be chosen inside the training rows


def rows_of(part: str) -> list[tuple[Data, Printed]]:
    """Return the data of a table with what was printed for them."""
    if part == "1":
        cells = printed.TABLE_1.items()
        return [(RuleData(r, noise), row) for (r, noise), row in cells]
    if part == "2":
        cells = printed.TABLE_2.items()
        return [(RuleData(r, 5, share), row) for (share, r), row in cells]
    if part == "3":
        return [(sets.TableData(name), printed.TABLE_3[name]) for name in sets.UCI]
    return [(NewsData(topic), printed.TABLE_4[topic]) for topic in sets.TOPICS]


class FoldResults(Results[FoldResult]):
    """Results of folds, by data, method and hypotheses."""

    def select(
        self, data: Data, method: str, hypotheses: str = "features"
    ) -> list[FoldResult]:
        """Return the folds of one method; none if it was not run."""
        return self.folds(str(data), (method, hypotheses))

    def has_part(self, part: str) -> bool:
        """Return whether any data of a table were run."""
        return any(str(data) in self.data for data, _ in rows_of(part))


class Best(NamedTuple):
    """The best parameter by the test folds themselves, and its AUC."""

    parameter: float
    auc: float


def best(folds: Sequence[FoldResult], among: Sequence[float]) -> Best | None:
    """Return the parameter with the largest mean AUC on the test folds."""
    table = _table(folds, "auc", among)
    if table is None:
        return None
    place = int(np.argmax(table.mean(axis=0)))
    parameter = [value for value in folds[0].candidates if value in among][place]
    return Best(parameter, float(table[:, place].mean()))


def at(
    folds: Sequence[FoldResult], parameter: float, name: str = "auc"
) -> float | None:
    """Return the mean AUC for one parameter."""
    table = _table(folds, name, [parameter])
    return None if table is None or table.size == 0 else float(table.mean())


def chosen_inside(folds: Sequence[FoldResult], name: str = "auc") -> float | None:
    """Return the mean AUC with the parameter chosen inside the training rows."""
    if not folds or not folds[0].valid:
        return None
    return float(np.mean([getattr(fold, name)[fold.chosen] for fold in folds]))


def _table(
    folds: Sequence[FoldResult], name: str, among: Sequence[float]
) -> np.ndarray | None:
    """Return one figure for each fold and each of the parameters in `among`."""
    if not folds or not getattr(folds[0], name):
        return None
    keep = [value in among for value in folds[0].candidates]
    return np.array([getattr(fold, name) for fold in folds])[:, keep]


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


AUC_LINES = {
    "pairs": (pictures.BLUE, "o", "LP-Pair, exact"),
    "instances": (pictures.ORANGE, "s", "instances (Corollary 4)"),
    "adaptive": (pictures.GREEN, "^", "their heuristic"),
    SOFTRANKBOOST: (pictures.PINK, "v", "SoftRankBoost"),
}


def draw_aucs(results: FoldResults) -> Any:
    """Draw mean AUC against epsilon for each r and noise of table 1."""
    figure, axes = pictures.panels(3, 3, 9.0, 7.5, sharex=True, sharey="row")
    for row, noise in enumerate((5, 10, 15)):
        for column, r in enumerate((1, 8, 15)):
            ax = axes[row, column]
            _draw_one(ax, RuleData(r, noise), results)
            ax.set_title(f"r = {r}, noise {noise} %", fontsize="medium")
    for ax in axes[:, 0]:
        ax.set_ylabel("test AUC")
    for ax in axes[-1]:
        ax.set_xlabel(r"$\epsilon$")
    pictures.legend_below(figure, 3)
    return figure


def _draw_one(ax: Any, data: RuleData, results: FoldResults) -> None:
    style = {"color": "black", "linewidth": 1, "linestyle": ":"}
    ax.axhline(data.ceiling, label="best possible", **style)
    boosted = at(results.select(data, RANKBOOST), 10_000.0)
    if boosted is not None:
        ax.axhline(
            boosted,
            color=pictures.GREY,
            linewidth=1.5,
            label="RankBoost, 10,000 rounds",
        )
    for name, (color, marker, label) in AUC_LINES.items():
        folds = results.select(data, name)
        if folds:
            aucs = [at(folds, epsilon) for epsilon in EPSILONS]
            ax.plot(EPSILONS, aucs, label=label, **pictures.line(color, marker))


def draw_curve(found: Curve) -> Any:
    """Draw the curve, what is proven below it, and the way of the heuristic."""
    arrays = {
        name: np.array(values) if isinstance(values, list) else values
        for name, values in found.curve.items()
    }
    display = MarginCurveDisplay(MarginCurve(**arrays)).plot()
    display.ax_.plot(
        *np.transpose(found.steps),
        zorder=5,
        label=f"their heuristic, {len(found.steps) - 1} steps",
        **pictures.line(pictures.GREEN, "s", markersize=5),
    )
    display.ax_.legend(loc="best", fontsize="small", framealpha=0.9, edgecolor="none")
    return display.figure_
