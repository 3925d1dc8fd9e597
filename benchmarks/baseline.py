"""The stored figures of all gates, and how the present code compares with them.

``baseline.json`` has per gate the median of several runs, and their spread: the largest
over the smallest. It is measured on an idle machine; ratios carry over to another one.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median

from benchmarks.gates import Gate

PATH = Path(__file__).with_name("baseline.json")
Figures = dict[str, dict[str, float]]


def summarise(runs: Sequence[Mapping[str, float]]) -> Figures:
    """Return the median and the spread of each gate over runs."""
    figures = {}
    for name in runs[0]:
        values = [run[name] for run in runs]
        low, high = min(values), max(values)
        figures[name] = {"median": round(median(values), 5)}
        figures[name]["spread"] = round(high / low, 3) if low > 0.0 else 1.0
    return figures


def compare(
    figures: Figures, values: Mapping[str, float], gates: Mapping[str, Gate]
) -> list[tuple[float, str]]:
    """Return each gate's ratio to the baseline and a line about it, worst first.

    Above 1 is worse: a gate with a least value counts by the inverse ratio.
    """
    rows = []
    for name, value in values.items():
        if name not in figures:
            rows.append((float("inf"), f"     new  {value:>10.4g}  {name}"))
            continue
        old = figures[name]
        change = value / old["median"] if old["median"] else 1.0
        if gates[name].at_least is not None:
            change = 1.0 / change
        line = f"{change:>8.2f}  {old['median']:>10.4g} -> {value:<10.4g}  {name}"
        rows.append((change, f"{line} (spread {old['spread']:.2f})"))
    return sorted(rows, reverse=True)


def read(path: Path = PATH) -> Figures:
    """Return the stored figures."""
    figures: Figures = json.loads(path.read_text(encoding="utf-8"))
    return figures


def write(figures: Figures, path: Path = PATH) -> None:
    """Store figures; gates that were not measured keep their former ones."""
    kept = read(path) if path.exists() else {}
    text = json.dumps(dict(sorted({**kept, **figures}.items())), indent=1)
    path.write_text(text + "\n", encoding="utf-8")
