"""Run every benchmark: ``python -m benchmarks`` (or some: ``... metrics readers``)."""

import importlib
import sys
from pathlib import Path

from benchmarks.harness import Report

NOT_BENCHMARKS = {"__init__", "__main__", "harness"}


def main() -> None:
    """Run the named benchmarks, or all of this folder, and count what was missed."""
    found = sorted(path.stem for path in Path(__file__).parent.glob("*.py"))
    names = sys.argv[1:] or [name for name in found if name not in NOT_BENCHMARKS]
    missed = 0
    for name in names:
        module = importlib.import_module(f"benchmarks.{name}")
        report = Report(module.TITLE)
        module.run(report)
        missed += sum(figure.met is False for figure in report.figures)
    print(f"\n{missed} targets missed" if missed else "\nevery target met")


if __name__ == "__main__":
    main()
