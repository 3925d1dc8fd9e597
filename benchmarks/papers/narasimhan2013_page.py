"""The page of the study: tables and pictures set into its text."""

from dataclasses import dataclass, field
from pathlib import Path
from string import Template
from typing import Any

from benchmarks.papers import narasimhan2013_pictures as pictures
from benchmarks.papers import narasimhan2013_tables as tables
from benchmarks.papers.narasimhan2013_methods import (
    FROM_ZERO,
    FULL,
    LOGISTIC,
    LOOSE,
    REFINED,
    TIGHT,
    TREES,
    TUNED,
    WIDE,
)
from benchmarks.papers.narasimhan2013_protocol import Result
from benchmarks.papers.narasimhan2013_race import Race
from benchmarks.papers.narasimhan2013_slope import Slope
from benchmarks.papers.narasimhan2013_summary import Results
from benchmarks.papers.suehiro2011_tables import Table


class _Placeholders(Template):
    delimiter = "@"  # the dollar is for formulas


NAME = "narasimhan2013"
TEMPLATE = Path(__file__).with_name(f"{NAME}_template.md")
ACCURACY_PAIRS = [
    (ours, other) for ours in (TIGHT, TUNED) for other in (LOOSE, FULL, LOGISTIC, TREES)
]
GRIDS_PAIRS = [
    (WIDE[ours], WIDE[other]) for ours in (TIGHT, TUNED) for other in (FULL, LOGISTIC)
]
RANGE_PAIRS = [
    *((TIGHT, other) for other in (LOOSE, FROM_ZERO, FULL, LOGISTIC)),
    *((REFINED, other) for other in (TIGHT, FROM_ZERO, FULL, LOGISTIC)),
]


@dataclass
class Study:
    """All figures of one run, by part."""

    accuracy: list[Result] = field(default_factory=list)
    grids: list[Result] = field(default_factory=list)
    range: list[Result] = field(default_factory=list)
    sparsity: list[Result] = field(default_factory=list)
    races: list[Race] = field(default_factory=list)
    slopes: list[Slope] = field(default_factory=list)
    minutes: float = 0.0

    def as_dict(self) -> dict[str, Any]:
        """Return what is written to JSON."""
        saved: dict[str, Any] = {
            part: [one.as_dict() for one in getattr(self, part)]
            for part in _SPLIT_PARTS
        }
        for part in ("races", "slopes"):
            saved[part] = [vars(one) for one in getattr(self, part)]
        return {**saved, "minutes": self.minutes}

    @classmethod
    def from_dict(cls, saved: dict[str, Any]) -> "Study":
        """Read what `as_dict` has returned."""
        parts = {
            part: [Result.from_dict(one) for one in saved[part]]
            for part in _SPLIT_PARTS
        }
        return cls(
            **parts,
            races=[Race(**one) for one in saved["races"]],
            slopes=[Slope(**one) for one in saved["slopes"]],
            minutes=saved["minutes"],
        )


_SPLIT_PARTS = ("accuracy", "grids", "range", "sparsity")


def all_tables(study: Study) -> dict[str, Table]:
    """Return the tables for which there are figures, by their names in the template."""
    found: dict[str, Table] = {}
    if study.accuracy:
        results = Results(study.accuracy)
        found["sizes"] = tables.sizes(results)
        found["accuracy"] = tables.scores(results)
        found["tight_less"] = tables.paired(results, TIGHT)
        found["tuned_less"] = tables.paired(results, TUNED)
        found["wins"] = tables.wins(results, ACCURACY_PAIRS)
        found["overlap"] = tables.overlap(results, study.slopes)
        found["edges"] = tables.edges(results)
        found["printed"] = tables.printed(results)
    if study.grids:
        results = Results(study.grids)
        found["grids"] = tables.wide_scores(results)
        found["grids_wins"] = tables.wins(results, GRIDS_PAIRS)
    if study.range:
        results = Results(study.range)
        found["range"] = tables.scores(results)
        found["range_less"] = tables.paired(results, TIGHT)
        found["range_wins"] = tables.wins(results, RANGE_PAIRS)
    if study.races:
        found["races"] = tables.races(study.races)
    if study.sparsity:
        results = Results(study.sparsity)
        found["sparsity"] = tables.sparsity(results)
        found["gaps"] = tables.gaps(results)
    return found


def as_text(study: Study) -> str:
    """Write all tables for a terminal."""
    parts = [f"{name}\n{table}" for name, table in all_tables(study).items()]
    return "\n\n".join(parts)


def write(study: Study, folder: Path) -> None:
    """Write the page and its pictures."""
    images = folder / "images"
    for path in (images, folder / "studies"):
        path.mkdir(parents=True, exist_ok=True)
    if study.accuracy:
        results = Results(study.accuracy)
        pictures.draw_differences(results, images / f"{NAME}-accuracy.png")
    if study.races:
        for measure in ("passes", "seconds"):
            path = images / f"{NAME}-{measure}.png"
            pictures.draw_races(study.races, measure, path)
    if study.sparsity:
        results = Results(study.sparsity)
        pictures.draw_sparsity(results, images / f"{NAME}-sparsity.png")
    values = {name: str(table) for name, table in all_tables(study).items()}
    values["minutes"] = f"{study.minutes:.0f}"
    page = _Placeholders(TEMPLATE.read_text(encoding="utf-8")).safe_substitute(values)
    (folder / "studies" / f"{NAME}.md").write_text(page, encoding="utf-8")
