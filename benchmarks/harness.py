"""What every benchmark shares: alternating timings, ratios, targets, a summary.

Machines are noisy and differ, so nothing here compares seconds across runs. The
contestants of one ratio run in turn (a, b, a, b, ...) and each keeps its best time.
The first call, which may compile, is timed apart.
"""

import platform
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass
class Timing:
    """Seconds of one contestant: its first call, and the best of the later ones."""

    first: float
    best: float


def time_in_turn(
    contestants: Mapping[str, Callable[[], object]],
    repeats: int = 5,
    warm_up: float = 0.0,
) -> dict[str, Timing]:
    """Time each contestant, taking turns, so that noise falls on all alike."""
    first = {name: timed(call)[0] for name, call in contestants.items()}
    for name, call in contestants.items():
        repeat_for(warm_up - first[name], call)
    best = dict.fromkeys(contestants, float("inf"))
    for _ in range(repeats):
        for name, call in contestants.items():
            best[name] = min(best[name], timed(call)[0])
    return {name: Timing(first[name], best[name]) for name in contestants}


def repeat_for(seconds: float, call: Callable[[], object]) -> None:
    """Call for so long that loops over few elements are compiled.

    These are left to Python until they have taken some time in all.
    """
    while seconds > 0.0:
        seconds -= timed(call)[0]


def timed(call: Callable[[], Any]) -> tuple[float, Any]:
    """Return the seconds of a call, and its result."""
    start = time.perf_counter()
    result = call()
    return time.perf_counter() - start, result


@contextmanager
def timed_methods(owner: type, *names: str) -> Iterator[list[float]]:
    """Collect the seconds of every call of these methods."""
    seconds: list[float] = []

    def watched(method: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            taken, result = timed(lambda: method(*arguments))
            seconds.append(taken)
            return result

        return call

    methods = {name: getattr(owner, name) for name in names}
    for name, method in methods.items():
        setattr(owner, name, watched(method))
    try:
        yield seconds
    finally:
        for name, method in methods.items():
            setattr(owner, name, method)


def share_outside(call: Callable[[], object], owner: type, *names: str) -> float:
    """Return the time that a call spends outside of these methods, by that within."""
    with timed_methods(owner, *names) as inside:
        whole, _ = timed(call)
    return (whole - sum(inside)) / sum(inside)


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

    @property
    def target(self) -> str:
        """The target in words; empty where there is none."""
        if self.at_most is not None:
            return f"at most {self.at_most:g}"
        return "" if self.at_least is None else f"at least {self.at_least:g}"

    def __str__(self) -> str:
        target = f"({self.target})" if self.target else ""
        verdict = {True: "met", False: "MISSED", None: ""}[self.met]
        shown = f"{self.value:.4g} {self.unit}"
        return f"{self.name:<58} {shown:>14} {target:<20} {verdict} {self.remark}"


@dataclass
class Report:
    """The figures of one benchmark, printed as they come."""

    title: str
    figures: list[Figure] = field(default_factory=list)
    remark: str = ""

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


def missed(reports: Sequence[Report]) -> list[Figure]:
    """Return the figures that miss their targets."""
    every = (figure for report in reports for figure in report.figures)
    return [figure for figure in every if figure.met is False]


def summary(reports: Sequence[Report]) -> str:
    """Say how many targets were met, and list those that were not."""
    verdicts = [figure.met for report in reports for figure in report.figures]
    n_targets = len(verdicts) - verdicts.count(None)
    lines = [f"{verdicts.count(True)} of {n_targets} targets met"]
    for report in reports:
        lines += [
            f"  MISSED {report.title}: {one.name}: {one.value:.4g} {one.unit}".rstrip()
            + f", should be {one.target}"
            for one in missed([report])
        ]
    return "\n".join(lines)
