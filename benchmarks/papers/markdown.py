"""Tables of strings, written as Markdown."""

from collections.abc import Sequence
from dataclasses import dataclass

ABSENT = "-"  # was not run, or not printed


@dataclass(frozen=True)
class Table:
    """A table of strings."""

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
    cells = [ABSENT if value is None else f"{value:{style}}" for value in values]
    pairs = zip(cells, values, strict=True)
    return [f"**{text}**" if value == most else text for text, value in pairs]
