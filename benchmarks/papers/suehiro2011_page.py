"""The page of the study: tables and pictures set into its text."""

from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import Any

from benchmarks.papers import suehiro2011_tables as tables
from benchmarks.papers.suehiro2011_curve import CurveSummary
from benchmarks.papers.suehiro2011_pictures import draw_aucs, draw_times
from benchmarks.papers.suehiro2011_printed import TABLE_5
from benchmarks.papers.suehiro2011_protocol import FoldResult
from benchmarks.papers.suehiro2011_summary import Comparison, Results
from benchmarks.papers.suehiro2011_tables import ABSENT, Table
from benchmarks.papers.suehiro2011_times import Timing


class _Placeholders(Template):
    delimiter = "@"  # the dollar is for formulas


TEMPLATE = Path(__file__).with_name("suehiro2011_template.md")


@dataclass
class Study:
    """All figures of one run."""

    folds: dict[str, list[FoldResult]]
    comparisons: list[Comparison]
    timings: list[Timing]
    curve: CurveSummary | None
    minutes: float

    def as_dict(self) -> dict[str, Any]:
        """Return what is written to JSON."""
        return {
            "folds": {
                part: [fold.as_dict() for fold in folds]
                for part, folds in self.folds.items()
            },
            "comparisons": [vars(one) for one in self.comparisons],
            "timings": [vars(one) for one in self.timings],
            "curve": None if self.curve is None else vars(self.curve),
            "minutes": self.minutes,
        }

    @classmethod
    def from_dict(cls, saved: dict[str, Any]) -> "Study":
        """Read what `as_dict` has returned."""
        return cls(
            {
                part: [FoldResult(**fold) for fold in folds]
                for part, folds in saved["folds"].items()
            },
            [Comparison(**one) for one in saved["comparisons"]],
            [Timing(**one) for one in saved["timings"]],
            saved["curve"] and CurveSummary(**saved["curve"]),
            saved["minutes"],
        )

    def results(self) -> dict[str, Results]:
        """Return the results of each table."""
        return {part: Results(folds) for part, folds in self.folds.items()}


def all_tables(study: Study) -> dict[str, Table]:
    """Return the tables for which there are figures, by their names in the template."""
    results = study.results()
    found: dict[str, Table] = {}
    for part in ("1", "2"):
        if part in results:
            found[f"table_{part}"] = tables.side_by_side(part, results[part])
    found["artificial"] = tables.artificial_chosen(results)
    found["clean"] = tables.artificial_chosen(results, "clean_auc")
    for part in ("3", "4"):
        if part in results:
            found[f"table_{part}_sizes"] = tables.sizes(part)
            found[f"table_{part}"] = tables.side_by_side(part, results[part])
            found[f"table_{part}_ours"] = tables.real_chosen(part, results[part])
    if results.keys() >= {"1", "2", "3"}:
        found["perfect"] = tables.perfect_entries(tables.entries(results))
    if study.comparisons:
        found["comparisons"] = tables.comparison_table(study.comparisons)
    if study.timings:
        found["passes"] = passes_table(study.timings)
        found["times"] = times_table(study.timings)
    return {name: table for name, table in found.items() if table.rows}


def figures(study: Study) -> dict[str, str]:
    """Return single figures that the text quotes, by their names in the template."""
    results = study.results()
    found: dict[str, str] = {"minutes": f"{study.minutes:.0f}"}
    entries = tables.entries(results)
    perfect = [one for one in entries if one.printed >= tables.PERFECT]
    loose = [one for one in entries if one.loose >= tables.PERFECT]
    found["n_entries"] = str(len(entries))
    found["n_perfect"] = str(len(perfect))
    found["n_loose"] = str(len(loose))
    found["n_both"] = str(sum(one in loose for one in perfect))
    gains = tables.global_against_adaptive(results)
    if gains:
        found["global_mean"] = f"{sum(gains) / len(gains):+.4f}"
        found["global_range"] = f"{min(gains):+.4f} to {max(gains):+.4f}"
    if study.curve is not None:
        curve = study.curve
        for name in ("corollary", "adaptive", "lowest"):
            nu_pos, margin = getattr(curve, name)
            found |= {f"{name}_nu": f"{nu_pos:.3g}", f"{name}_margin": f"{margin:.4f}"}
        found |= {"n_sets": str(curve.n_sets), "n_missed": str(curve.n_missed)}
        found["curve_gap"] = f"{curve.gap:.1e}"
    return found


def passes_table(timings: list[Timing]) -> Table:
    """Show passes, which do not depend on the machine, and the certified gap."""
    names = ("pairs", "instances", "adaptive", "global")
    rows = []
    for m in dict.fromkeys(timing.m for timing in timings):
        mine = {timing.solver: timing for timing in timings if timing.m == m}
        cells = []
        for name in names:
            one = mine.get(name)
            cells.append(f"{one.passes:g} ({one.gap:.0e})" if one else ABSENT)
        rows.append([f"{m:,}", *cells])
    return Table(["m", *(f"{name}: passes (gap)" for name in names)], rows)


def times_table(timings: list[Timing]) -> Table:
    """Show times as multiples of the exact problem's by the bundle, in one run."""
    programs = list(
        dict.fromkeys(t.solver for t in timings if t.solver.startswith("HiGHS"))
    )
    names = [*programs, "instances", "adaptive", "global"]
    head = ["m", "LP-Pair / their method, printed", "pairs", *names]
    rows = []
    for m in dict.fromkeys(timing.m for timing in timings):
        mine = {timing.solver: timing for timing in timings if timing.m == m}
        unit = mine["pairs"].seconds
        assert unit is not None
        ratio = ABSENT
        if m in TABLE_5:
            slow, fast = TABLE_5[m]
            ratio = f"{slow:g} s / {fast:g} s = {slow / fast:.3g}"
        cells = [_multiple(mine.get(name), unit) for name in names]
        rows.append([f"{m:,}", ratio, f"1 (= {unit:.3g} s)", *cells])
    return Table(head, rows)


def _multiple(timing: Timing | None, unit: float) -> str:
    if timing is None:
        return ABSENT
    if timing.seconds is None:
        return timing.note
    return f"{timing.seconds / unit:.3g}"


def as_text(study: Study) -> str:
    """Write all tables for a terminal."""
    parts = [f"{name}\n{table}" for name, table in all_tables(study).items()]
    parts.append(str(figures(study)))
    return "\n\n".join(parts)


def write(study: Study, folder: Path) -> None:
    """Write the page and its pictures."""
    (folder / "images").mkdir(parents=True, exist_ok=True)
    (folder / "studies").mkdir(parents=True, exist_ok=True)
    if study.timings:
        draw_times(study.timings, folder / "images" / "suehiro2011-times.png")
    if "1" in study.folds:
        draw_aucs(Results(study.folds["1"]), folder / "images" / "suehiro2011-auc.png")
    values = {name: str(table) for name, table in all_tables(study).items()}
    values |= figures(study)
    page = _Placeholders(TEMPLATE.read_text(encoding="utf-8")).safe_substitute(values)
    (folder / "studies" / "suehiro2011.md").write_text(page, encoding="utf-8")
