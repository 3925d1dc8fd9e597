"""Run benchmarks: ``python -m benchmarks [metrics | linear.queries ...]``.

By default all gates of speed, each in a process of its own, so that no gate changes
the cache or the threads of another. Ends with exit code 1 if a gate was missed.
``--page docs/performance.md`` writes that page, ``--compare`` prints the ratios to
``baseline.json``, ``--baseline 3`` measures three times and stores that file.
Benchmarks of quality take long and run by name: ``quality.top_goals``; the coverage
of intervals has a command of its own, ``python -m benchmarks.quality.coverage``.
"""

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from benchmarks import baseline
from benchmarks.gates import GATES
from benchmarks.page import Outcome, write_page
from benchmarks.report import Report

HERE = Path(__file__).parent
SPEED = tuple(sorted(p.stem for p in (HERE / "speed").glob("[a-z]*.py")))
QUALITY = tuple(sorted(p.stem for p in (HERE / "quality").glob("[a-z]*.py")))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the named benchmarks, by default all gates; return 1 if one was missed."""
    parser = argparse.ArgumentParser("python -m benchmarks")
    parser.add_argument("name", nargs="*", help="a module or a gate; default all gates")
    parser.add_argument("--page", type=Path, help="write the outcomes as a page, here")
    parser.add_argument("--compare", action="store_true", help="with the baseline")
    parser.add_argument("--baseline", type=int, metavar="N", help="store N runs")
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    for module in SPEED:
        import_module(f"benchmarks.speed.{module}")
    if options.measure:
        print(json.dumps(GATES[options.measure].measure()))
        return 0
    quality = [name for name in options.name if name.startswith("quality.")]
    for name in quality:
        if name.partition(".")[2] not in QUALITY:
            parser.error(f"no benchmark {name!r}; quality has {', '.join(QUALITY)}")
        module = import_module(f"benchmarks.{name}")
        module.run(Report(module.TITLE))
    chosen = [name for name in options.name if name not in quality]
    if quality and not chosen:
        return 0
    if options.baseline:
        runs = [measured(run_gates(chosen, parser)) for _ in range(options.baseline)]
        baseline.write(baseline.summarise(runs))
        return 0
    outcomes = run_gates(chosen, parser)
    if options.compare:
        print("\nratio to the baseline (above 1 is worse)")
        rows = baseline.compare(baseline.read(), measured(outcomes), GATES)
        print("\n".join(line for _, line in rows))
    if options.page:
        write_page(options.page, outcomes)
    missed = [outcome for outcome in outcomes if outcome.is_met is False]
    n_measured = len(measured(outcomes))
    print(f"\n{n_measured - len(missed)} of {n_measured} gates met")
    return 1 if missed else 0


def measured(outcomes: Sequence[Outcome]) -> dict[str, float]:
    """Return the values of the gates that were measured."""
    return {one.gate.name: one.value for one in outcomes if one.value is not None}


def run_gates(
    chosen: Sequence[str], parser: argparse.ArgumentParser
) -> list["Outcome"]:
    """Measure the gates of these names or modules, one process each."""
    for name in chosen:
        if name not in GATES and name not in SPEED:
            parser.error(f"no benchmark {name!r}; choose from {', '.join(SPEED)}")
    outcomes = []
    for name, gate in GATES.items():
        if chosen and name not in chosen and name.partition(".")[0] not in chosen:
            continue
        start = time.monotonic()
        command = [sys.executable, "-m", "benchmarks", "--measure", name]
        ran = subprocess.run(command, capture_output=True, text=True)
        outcome = Outcome(gate, *read_value(ran), time.monotonic() - start)
        outcomes.append(outcome)
        print(outcome, flush=True)
    return outcomes


def read_value(ran: "subprocess.CompletedProcess[str]") -> tuple[float | None, str]:
    """Return the value that a process printed, or None and the reason."""
    if ran.returncode == 0:
        return float(json.loads(ran.stdout.splitlines()[-1])), ""
    last = (ran.stderr.splitlines() or ["no output"])[-1]
    if last.startswith("ModuleNotFoundError") and "aucmax" not in last:
        return None, last.partition(": ")[2]
    return float("nan"), last


if __name__ == "__main__":
    sys.exit(main())
