"""How often intervals cover: ``python -m benchmarks.quality.coverage``.

Every cell of :mod:`.cells` draws tables from a known distribution with a seed of its
own, and counts how often nominal 95 % intervals cover the true value, and how often
tests at 5 % do not reject a true hypothesis (95 % of the draws, if they are exact).
All cells are reported, whatever the outcome. The figures are stored in
``benchmarks/coverage.json``; with ``--compare`` they are compared with the stored ones
instead. The same draws are made again, so a difference is not that of other draws.
"""

import argparse
import json
import os
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from fnmatch import fnmatch
from multiprocessing import get_context
from pathlib import Path

from benchmarks.quality.coverage.cells import BY_NAME, CELLS, Figures, measure

STORED = Path(__file__).parents[2] / "coverage.json"


def chosen_cells(patterns: Sequence[str]) -> list[str]:
    """Return the cells whose names match; by default all but those by name only."""
    if not patterns:
        return [name for name in CELLS if not name.startswith(BY_NAME)]
    return [name for name in CELLS if any(fnmatch(name, f"*{p}*") for p in patterns)]


def row(name: str, one: dict[str, float]) -> str:
    """Write one line of the table; coverage below 92 % is marked."""
    share, error = 100 * one["coverage"], 100 * one["standard_error"]
    mark = "LOW" if share < 92.0 else ""
    details = f"width {one['width']:<8.4g} {one['draws']:.0f} draws {mark}"
    return f"{name:<72} {share:6.1f} % +- {error:.1f}  {details}"


def print_changes(found: Figures, stored: Figures) -> None:
    """Print each interval by the change of its coverage, worst first."""
    shared = [name for name in found if name in stored]
    change = {n: found[n]["coverage"] - stored[n]["coverage"] for n in shared}
    print("\ncoverage, change, width by that before")
    wider = {n: found[n]["width"] / max(stored[n]["width"], 1e-12) for n in shared}
    for name in sorted(shared, key=change.__getitem__):
        now = 100 * found[name]["coverage"]
        print(f"{name:<72} {now:6.1f} % {100 * change[name]:+5.1f} {wider[name]:6.3f}x")
    for name in found.keys() - stored.keys():
        print(f"{name:<72} is not in the stored file")
    lower = sum(one < -0.01 - 1e-9 for one in change.values())
    print(f"{lower} of {len(shared)} are more than one point lower")


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure cells; store their figures, or compare them with those stored."""
    parser = argparse.ArgumentParser("python -m benchmarks.quality.coverage")
    parser.add_argument("--cells", nargs="+", default=[], help="patterns of names")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--compare", action="store_true", help="do not store, compare")
    parser.add_argument("--list", action="store_true", help="print the names of cells")
    parser.add_argument("--output", type=Path, default=STORED, help="the stored file")
    options = parser.parse_args(arguments)
    names = chosen_cells(options.cells)
    if not names:
        parser.error(f"no cell matches {' '.join(options.cells)}; see --list.")
    if options.list:
        print(*names, sep="\n")
        return 0
    stored: Figures = {}
    if options.output.is_file():
        stored = json.loads(options.output.read_text(encoding="utf-8"))
    measured: Figures = {}
    os.environ["OMP_NUM_THREADS"] = "1"  # of the processes
    with ProcessPoolExecutor(options.jobs, get_context("spawn")) as processes:
        for figures in processes.map(measure, names):
            measured |= figures
            for name, one in figures.items():
                print(row(name, one), flush=True)
    if options.compare:
        print_changes(measured, stored)
        return 0
    kept = {name: one for name, one in stored.items() if name.split(":")[0] in CELLS}
    lines = [
        f"{json.dumps(k)}: {json.dumps(v)}"
        for k, v in sorted((kept | measured).items())
    ]
    options.output.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
