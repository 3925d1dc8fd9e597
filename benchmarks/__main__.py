"""Run benchmarks: ``python -m benchmarks`` (some: ``... metrics structured.growth``).

Those of speed are run by default. What rankings, intervals and probabilities are worth
takes hours, and is measured by name: ``python -m benchmarks quality.decisions``.

Ends with the targets that were missed, and with exit code 1 if there are any. With
``--page docs/performance.md`` all figures become that page; ``--seconds 40`` ends each
benchmark after so long, and keeps the figures that it has by then.
"""

import argparse
import json
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path

from benchmarks.harness import Report, missed, summary
from benchmarks.page import write_page

HERE = Path(__file__).parent
NOT_BENCHMARKS = {"__init__", "__main__", "harness", "page"}


def names(folder: str = "") -> list[str]:
    """Return the benchmarks of speed, or those of a folder here."""
    prefix = f"{folder}." if folder else ""
    found = sorted(path.stem for path in (HERE / folder).glob("*.py"))
    return [f"{prefix}{name}" for name in found if name not in NOT_BENCHMARKS]


def known() -> list[str]:
    """Return all benchmarks."""
    return [*names(), *names("quality")]


def parts_of(name: str) -> tuple[str, str]:
    """Split a name into a benchmark and one of its functions, ``run`` if none."""
    if name in known():
        return name, "run"
    module, _, function = name.rpartition(".")
    return module, function


def run(name: str, seconds: float | None = None) -> Report:
    """Run a benchmark, or one function of it: ``structured.growth``."""
    module_name, function = parts_of(name)
    module = import_module(f"benchmarks.{module_name}")
    report = Report(module.TITLE)
    try:
        with at_most(seconds):
            getattr(module, function)(report)
    except TimeoutError:
        report.remark = f"ended after {seconds:g} s"
    except ImportError as error:
        if error.name is None or error.name.startswith(("aucmax", "benchmarks")):
            raise
        report.remark = f"left out: {error.name} is not installed"
    if report.remark:
        print(report.remark, flush=True)
    return report


@contextmanager
def at_most(seconds: float | None) -> Iterator[None]:
    """Raise TimeoutError in what is being done, once the time is over."""
    if seconds is None:
        yield
        return

    def end(*_: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the named benchmarks, or those of speed; return 1 if a target was missed."""
    parser = argparse.ArgumentParser("python -m benchmarks")
    every = ", ".join(known())
    parser.add_argument("name", nargs="*", help=f"of {every}; default those of speed")
    parser.add_argument("--json", type=Path, help="also write the figures here")
    parser.add_argument("--page", type=Path, help="also write them as a page, here")
    parser.add_argument("--seconds", type=float, help="for each benchmark, at most")
    options = parser.parse_args(arguments)
    for name in options.name:
        if parts_of(name)[0] not in known():
            parser.error(f"there is no benchmark {name!r}; choose from {every}")
    reports: list[Report] = []
    start = time.monotonic()
    for name in options.name or names():
        reports.append(run(name, options.seconds))
        if options.page:  # what is there already outlives a run that breaks off
            write_page(options.page, reports, time.monotonic() - start)
    if options.json:
        text = json.dumps([report.as_dict() for report in reports], indent=2)
        options.json.write_text(f"{text}\n", encoding="utf-8")
    print(f"\n{summary(reports)}")
    return 1 if missed(reports) else 0


if __name__ == "__main__":
    sys.exit(main())
