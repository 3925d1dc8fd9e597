"""The page of the study: tables and pictures set into its text."""

from collections.abc import Sequence
from pathlib import Path

from benchmarks.papers import rosenfeld2014_pictures as pictures
from benchmarks.papers.records import Placeholders
from benchmarks.papers.rosenfeld2014_data import LETTERS
from benchmarks.papers.rosenfeld2014_methods import CONVERGED, OUT_OF_TIME
from benchmarks.papers.rosenfeld2014_protocol import Result
from benchmarks.papers.rosenfeld2014_summary import Study
from benchmarks.papers.rosenfeld2014_tables import all_tables, gains

NAME = "rosenfeld2014"
TEMPLATE = Path(__file__).with_name(f"{NAME}_template.md")


def write(results: Sequence[Result], folder: Path) -> str:
    """Write the page and its pictures; return the tables for a terminal."""
    images = folder / "images"
    for path in (images, folder / "studies"):
        path.mkdir(parents=True, exist_ok=True)
    study = Study(results)
    tables = {name: str(table) for name, table in all_tables(study).items()}
    if LETTERS in study.data:
        pictures.draw_letters(study, images / f"{NAME}-letters.png")
    if set(study.data) - {LETTERS}:
        pictures.draw_differences(study, images / f"{NAME}-differences.png")
    values = {**tables, **gains(study), **_counts(results)}
    page = Placeholders(TEMPLATE.read_text(encoding="utf-8")).safe_substitute(values)
    (folder / "studies" / f"{NAME}.md").write_text(page, encoding="utf-8")
    return "\n\n".join(f"{name}\n{table}" for name, table in tables.items())


def _counts(results: Sequence[Result]) -> dict[str, str]:
    """Return what the text says of all fits together."""
    ends = [end for one in results for end in one.ends]
    minutes = sum(sum(one.seconds) for one in results) / 60.0
    return {
        "minutes": f"{minutes:.0f}",
        "fits": f"{len(ends):,}",
        "unfinished": f"{len(ends) - ends.count(CONVERGED):,}",
        "late": f"{ends.count(OUT_OF_TIME):,}",
    }
