"""The page of the study: tables and pictures set into its text."""

from collections.abc import Sequence
from pathlib import Path

from benchmarks.papers import welleck2015_pictures as pictures
from benchmarks.papers.records import Placeholders
from benchmarks.papers.welleck2015_protocol import Result
from benchmarks.papers.welleck2015_summary import Study
from benchmarks.papers.welleck2015_tables import all_tables

NAME = "welleck2015"
TEMPLATE = Path(__file__).with_name(f"{NAME}_template.md")


def write(results: Sequence[Result], folder: Path) -> str:
    """Write the page and its pictures; return the tables for a terminal."""
    images = folder / "images"
    for path in (images, folder / "studies"):
        path.mkdir(parents=True, exist_ok=True)
    study = Study(results)
    tables = {name: str(table) for name, table in all_tables(study).items()}
    pictures.draw_precision(study, images / f"{NAME}-precision.png")
    pictures.draw_differences(study, images / f"{NAME}-mauc.png")
    seconds = sum(sum(one.seconds) for one in results)
    values = {**tables, "minutes": f"{seconds / 60.0:.0f}"}
    page = Placeholders(TEMPLATE.read_text(encoding="utf-8")).safe_substitute(values)
    (folder / "studies" / f"{NAME}.md").write_text(page, encoding="utf-8")
    return "\n\n".join(f"{name}\n{table}" for name, table in tables.items())
