"""What every benchmark shares: alternating timings, ratios, targets, JSON.

Machines are noisy and differ, so nothing here compares seconds across runs. The
contestants of one ratio run in turn (a, b, a, b, ...) and each keeps its best time.
The first call, which may compile, is timed apart.
"""

import argparse
import json
import platform
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path


@dataclass
class Timing:
    """Seconds of one contestant: its first call, and the best of the later ones."""

    first: float
    best: float


def time_in_turn(
    contestants: Mapping[str, Callable[[], object]], repeats: int = 5
) -> dict[str, Timing]:
    """Time each contestant, taking turns, so that noise falls on all alike."""
    first = {name: _seconds(call) for name, call in contestants.items()}
    best = dict.fromkeys(contestants, float("inf"))
    for _ in range(repeats):
        for name, call in contestants.items():
            best[name] = min(best[name], _seconds(call))
    return {name: Timing(first[name], best[name]) for name in contestants}


def _seconds(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


@dataclass
class Figure:
    """One measured number, and the target it is held to, if any."""

    name: str
    value: float
    unit: str
    at_most: float | None = None
    at_least: float | None = None
    remark: str = ""

    @property
    def met(self) -> bool | None:
        """Whether the target is met; None where there is none."""
        if self.at_most is not None:
            return self.value <= self.at_most
        if self.at_least is not None:
            return self.value >= self.at_least
        return None

    def __str__(self) -> str:
        target = ""
        if self.at_most is not None:
            target = f"(at most {self.at_most:g})"
        elif self.at_least is not None:
            target = f"(at least {self.at_least:g})"
        verdict = {True: "met", False: "MISSED", None: ""}[self.met]
        shown = f"{self.value:.4g} {self.unit}"
        return f"{self.name:<58} {shown:>14} {target:<20} {verdict} {self.remark}"


@dataclass
class Report:
    """The figures of one benchmark, printed as they come."""

    title: str
    figures: list[Figure] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Print the title."""
        print(f"\n== {self.title}", flush=True)

    def add(
        self,
        name: str,
        value: float,
        unit: str = "x",
        *,
        at_most: float | None = None,
        at_least: float | None = None,
        remark: str = "",
    ) -> None:
        """Record and print one figure."""
        figure = Figure(name, float(value), unit, at_most, at_least, remark)
        self.figures.append(figure)
        print(figure, flush=True)

    def as_dict(self) -> dict[str, object]:
        """Return what is written to JSON."""
        rows = [{**asdict(figure), "met": figure.met} for figure in self.figures]
        return {
            "title": self.title,
            "python": platform.python_version(),
            "figures": rows,
        }


def main(title: str, run: Callable[[Report], None]) -> None:
    """Run one benchmark file from the shell: ``python -m benchmarks.NAME``."""
    parser = argparse.ArgumentParser(description=title)
    parser.add_argument("--json", type=Path, help="also write the figures here")
    options = parser.parse_args()
    report = Report(title)
    run(report)
    if options.json:
        options.json.write_text(json.dumps(report.as_dict(), indent=2) + "\n")
