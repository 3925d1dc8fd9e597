"""The figures of a benchmark of quality, printed as they are measured."""

import json
import os
from collections.abc import Callable
from pathlib import Path


def stored(name: str, measure: Callable[[], dict[str, float]]) -> dict[str, float]:
    """Return figures; if AUCMAX_RESULTS names a folder, those that are there."""
    folder = os.environ.get("AUCMAX_RESULTS")
    if not folder:
        return measure()
    path = Path(folder) / f"{name}.json"
    if not path.is_file():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(measure(), indent=1) + "\n", encoding="utf-8")
    figures: dict[str, float] = json.loads(path.read_text(encoding="utf-8"))
    return figures


class Report:
    """Prints and keeps the figures of one benchmark."""

    def __init__(self, title: str) -> None:
        self.figures: dict[str, float] = {}
        print(f"\n== {title}", flush=True)

    def add(
        self,
        name: str,
        value: float,
        unit: str = "x",
        *,
        at_most: float = float("inf"),
        at_least: float = float("-inf"),
        remark: str = "",
    ) -> None:
        """Keep and print one figure, and whether it is out of its bounds."""
        self.figures[name] = float(value)
        verdict = "" if at_least <= value <= at_most else "OUT OF BOUNDS"
        print(f"{name:<58} {value:>10.4g} {unit} {verdict} {remark}", flush=True)
