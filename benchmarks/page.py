"""Write the outcomes of a run as one page of the documentation."""

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

"A / B" is the time of A divided by the time of B in the same run; below 1, A is faster.
B is another library, or work that cannot be avoided (a sort, a pass over the data).
"Passes" are products with the data, "first" is a first call with an empty compiler
cache. `make bench` measures each row in a separate process and fails if a limit is
exceeded.
"""
# gates of the summary, which fits on one screen
SUMMARY = {
    "graphs.against_highs",
    "linear.against_logistic_regression",
    "linear.large_C",
    "margin.pairs_at_scale",
    "metrics.interval",
    "metrics.ndcg",
    "metrics.partial_auc",
    "tables.auto_ranker",
    "trees.logistic",
}


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
    """Write a summary, then all figures with the day, the machine and the versions."""
    versions = []
    for name in PACKAGES.split():
        try:
            versions.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    day = datetime.now(UTC).strftime("%d %B %Y").lstrip("0")
    minutes = sum(outcome.seconds for outcome in outcomes) / 60
    measured = [outcome for outcome in outcomes if outcome.value is not None]
    n_met = sum(outcome.is_met is True for outcome in measured)
    short = [outcome for outcome in outcomes if outcome.gate.name in SUMMARY]
    lines = [
        HEAD,
        "| measured | figure |",
        "|---|---|",
        *(_row(outcome.gate.measures, outcome.figure) for outcome in short),
        "",
        f"{n_met} of {len(measured)} limits are met.",
        "",
        "## All measurements",
        "",
        f"Measured on {day} in {minutes:.0f} minutes: {os.cpu_count()} cores, "
        f"{platform.system()}, Python {platform.python_version()}, "
        f"{', '.join(versions)}.",
        "",
        "| measured | figure | limit | |",
        "|---|---|---|---|",
    ]
    for outcome in outcomes:
        remark = f"{outcome.verdict} {outcome.remark}".strip()
        gate = outcome.gate
        lines.append(_row(gate.measures, outcome.figure, gate.limit, remark))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _row(*cells: str) -> str:
    """Return a row of a Markdown table."""
    return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"
