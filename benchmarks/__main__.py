"""Run benchmarks: ``python -m benchmarks`` (some: ``... metrics structured.growth``).

Ends with the targets that were missed, and with exit code 1 if there are any.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from benchmarks.harness import Report, missed, summary

NOT_BENCHMARKS = {"__init__", "__main__", "harness"}


def names() -> list[str]:
    """Return the benchmarks of this folder."""
    found = sorted(path.stem for path in Path(__file__).parent.glob("*.py"))
    return [name for name in found if name not in NOT_BENCHMARKS]


def run(name: str) -> Report:
    """Run a benchmark, or one function of it: ``structured.growth``."""
    module_name, _, function = name.partition(".")
    module = import_module(f"benchmarks.{module_name}")
    report = Report(module.TITLE)
    getattr(module, function or "run")(report)
    return report


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the named benchmarks, or all; return 1 if a target was missed, else 0."""
    parser = argparse.ArgumentParser("python -m benchmarks")
    known = ", ".join(names())
    parser.add_argument("name", nargs="*", help=f"default all: {known}")
    parser.add_argument("--json", type=Path, help="also write the figures here")
    options = parser.parse_args(arguments)
    for name in options.name:
        if name.partition(".")[0] not in names():
            parser.error(f"there is no benchmark {name!r}; choose from {known}")
    reports = [run(name) for name in options.name or names()]
    if options.json:
        text = json.dumps([report.as_dict() for report in reports], indent=2)
        options.json.write_text(f"{text}\n", encoding="utf-8")
    print(f"\n{summary(reports)}")
    return 1 if missed(reports) else 0


if __name__ == "__main__":
    sys.exit(main())
