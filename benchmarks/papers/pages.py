"""The page of a study: tables, figures and pictures set into the text of a template."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from string import Template
from typing import Any

from benchmarks.papers.pictures import save

ABSENT = "-"  # was not run, or not printed


@dataclass(frozen=True)
class Table:
    """A table of texts."""

    head: Sequence[str]
    rows: Sequence[Sequence[str]]

    def __str__(self) -> str:
        columns = zip(self.head, *self.rows, strict=True)
        widths = [max(map(len, column)) for column in columns]
        lines = [self.head, ["-" * width for width in widths], *self.rows]
        return "\n".join(_line(line, widths) for line in lines)


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = (cell.ljust(width) for cell, width in zip(cells, widths, strict=True))
    return f"| {' | '.join(padded)} |"


def largest_bold(values: Sequence[float | None], style: str = ".4f") -> list[str]:
    """Write numbers, the largest of them bold; None was not run."""
    most = max(value for value in values if value is not None)
    texts = [ABSENT if value is None else f"{value:{style}}" for value in values]
    pairs = zip(texts, values, strict=True)
    return [f"**{text}**" if value == most else text for text, value in pairs]


@dataclass(frozen=True)
class Page:
    """What is set into the template, by the names that it has there.

    Attributes
    ----------
    tables : dict
        Tables, which are also printed.
    figures : dict
        Single figures that the text quotes.
    pictures : dict
        Calls that draw a matplotlib figure, by the end of its file's name.
    """

    tables: Mapping[str, Table]
    figures: Mapping[str, str] = field(default_factory=dict)
    pictures: Mapping[str, Callable[[], Any]] = field(default_factory=dict)

    def write(self, name: str, folder: Path) -> None:
        """Write the page and its pictures."""
        for kind in ("images", "studies"):
            (folder / kind).mkdir(parents=True, exist_ok=True)
        for end, draw in self.pictures.items():
            save(draw(), folder / "images" / f"{name}-{end}.png")
        template = Path(__file__).parent / name / "template.md"
        text = _Placeholders(template.read_text(encoding="utf-8"))
        page = text.safe_substitute({**self.tables, **self.figures})
        (folder / "studies" / f"{name}.md").write_text(page, encoding="utf-8")

    def __str__(self) -> str:
        tables = (f"{name}\n{table}" for name, table in self.tables.items())
        return "\n\n".join([*tables, *(f"{k}: {v}" for k, v in self.figures.items())])


class _Placeholders(Template):
    """Text with ``@name`` for what is computed; the dollar is for formulas."""

    delimiter = "@"
