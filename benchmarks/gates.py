"""A gate: one measured ratio and its limit. What all benchmarks of speed share.

Machines differ and are noisy, so no gate compares seconds across runs. The contestants
of a ratio take turns (a, b, a, b, ...) and each keeps its best time.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

GATES: dict[str, "Gate"] = {}


@dataclass(frozen=True)
class Gate:
    """One ratio, the call that measures it, and its limit."""

    name: str
    measures: str
    measure: Callable[[], float]
    at_most: float | None
    at_least: float | None
    unit: str

    @property
    def limit(self) -> str:
        """The limit in words."""
        if self.at_most is not None:
            return f"at most {self.at_most:g}"
        return f"at least {self.at_least:g}"

    def is_met(self, value: float) -> bool:
        """Return whether a value is within the limit; not a number never is."""
        if self.at_most is not None:
            return value <= self.at_most
        return value >= self.at_least


def gate(
    measures: str,
    *,
    at_most: float | None = None,
    at_least: float | None = None,
    unit: str = "x",
) -> Callable[[Callable[[], float]], Callable[[], float]]:
    """Register a function as a gate under ``module.function``."""
    if (at_most is None) == (at_least is None):
        raise ValueError("a gate has either at_most or at_least.")

    def register(measure: Callable[[], float]) -> Callable[[], float]:
        name = f"{measure.__module__.rpartition('.')[2]}.{measure.__name__}"
        GATES[name] = Gate(name, measures, measure, at_most, at_least, unit)
        return measure

    return register


def best_seconds(
    contestants: Mapping[str, Callable[[], object]], repeats: int = 5
) -> dict[str, float]:
    """Call the contestants in turn; return the best seconds of each after a warm-up."""
    for call in contestants.values():
        call()
    best = dict.fromkeys(contestants, float("inf"))
    for _ in range(repeats):
        for name, call in contestants.items():
            best[name] = min(best[name], seconds(call))
    return best


def ratio(
    ours: Callable[[], object], theirs: Callable[[], object], repeats: int = 5
) -> float:
    """Return our best time over theirs."""
    best = best_seconds({"ours": ours, "theirs": theirs}, repeats)
    return best["ours"] / best["theirs"]


def merge_sort(keys: np.ndarray) -> np.ndarray:
    """Return the order of the keys by a merge sort, which uses no vector instructions.

    NumPy's default sort is up to eight times as fast where the processor has AVX-512.
    """
    return np.argsort(keys, kind="stable")


def seconds(call: Callable[[], object]) -> float:
    """Return the seconds of a call."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start
