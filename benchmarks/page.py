"""The outcomes of a run as one page of the documentation."""

import os
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from benchmarks.gates import Gate

PACKAGES = "numpy scipy scikit-learn numba lightgbm xgboost-cpu torch distributed"
HEAD = """# Performance

Each row is a ratio of two times from one run: ours over that of a peer, or over the
sort or the pass over the data that the result needs at least. Ratios carry over to
other machines, seconds do not. Passes count products with the data, whatever the
machine. Each row is measured in a process of its own by `make bench`, which fails if a
limit is exceeded; `python -m benchmarks linear` measures some of them.
"""


@dataclass
class Outcome:
    """A gate, its measured value (None: a peer is not installed) and the seconds."""

    gate: Gate
    value: float | None
    remark: str
    seconds: float

    @property
    def is_met(self) -> bool | None:
        """Whether the value is within the limit; None if it was not measured."""
        return None if self.value is None else self.gate.is_met(self.value)

    @property
    def verdict(self) -> str:
        """The outcome in a word."""
        return {True: "met", False: "**missed**", None: "not measured"}[self.is_met]

    @property
    def figure(self) -> str:
        """The value with its unit."""
        return "" if self.value is None else f"{self.value:.3g} {self.gate.unit}"

    def __str__(self) -> str:
        return (
            f"{self.gate.measures:<68} {self.figure:>12} ({self.gate.limit}) "
            f"{'MISSED' if self.is_met is False else self.verdict}"
            f" {self.remark} [{self.gate.name}, {self.seconds:.0f} s]"
        )


def write_page(path: Path, outcomes: Sequence[Outcome]) -> None:
    """Write one table, the day, the machine and the versions."""
    found = []
    for name in PACKAGES.split():
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    day = datetime.now(UTC).strftime("%d %B %Y").lstrip("0")
    minutes = sum(outcome.seconds for outcome in outcomes) / 60
    lines = [
        HEAD,
        f"Measured on {day} in {minutes:.0f} minutes: {os.cpu_count()} cores, "
        f"{platform.system()}, Python {platform.python_version()}, {', '.join(found)}.",
        "",
        "| measured | figure | limit | |",
        "|---|---|---|---|",
    ]
    for outcome in outcomes:
        cells = (
            outcome.gate.measures,
            outcome.figure,
            outcome.gate.limit,
            f"{outcome.verdict} {outcome.remark}".strip(),
        )
        lines.append(f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
