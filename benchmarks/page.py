"""The figures of one run as a page of the documentation."""

import os
import platform
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from benchmarks.harness import Figure, Report

PACKAGES = (
    "aucmax",
    "numpy",
    "scipy",
    "scikit-learn",
    "numba",
    "lightgbm",
    "xgboost",
    "xgboost-cpu",
    "torch",
    "torchmetrics",
    "distributed",
    "ranx",
)
HEAD = """# Performance

What the benchmarks have measured, against what others take for the same, or against
what a step must cost at least. The contestants of a ratio run in turn, in one process,
and each keeps its best time: ratios carry over to other machines far better than
seconds do. A target that this run did not reach is marked as missed.

`python -m benchmarks --page docs/performance.md` writes this page;
`python -m benchmarks metrics` runs one of them.
"""


def write_page(path: Path, reports: Sequence[Report], seconds: float) -> None:
    """Write one table with all figures, the machine and the versions."""
    path.write_text(page(reports, seconds), encoding="utf-8")


def page(reports: Sequence[Report], seconds: float) -> str:
    """Return the page as Markdown."""
    lines = [HEAD, f"{machine(seconds)}\n", f"{versions()}\n"]
    lines += ["| measured | figure | target | |", "|---|---|---|---|"]
    for report in reports:
        lines.append(f"| **{_cell(report.title)}** | | | {_cell(report.remark)} |")
        lines += [_row(figure) for figure in report.figures]
    return "\n".join(lines) + "\n"


def machine(seconds: float) -> str:
    """Say when, how long, on which processor, and how busy it was with other work."""
    day = datetime.now(UTC).strftime("%d %B %Y").lstrip("0")
    load = f", load {os.getloadavg()[0]:.1f} at the end" if os.name == "posix" else ""
    return (
        f"One run of {seconds / 60:.0f} minutes on {day}: {_processor()}, "
        f"{os.cpu_count()} cores{load}, "
        f"{platform.system()}, Python {platform.python_version()}."
    )


def versions() -> str:
    """Say which packages took part."""
    found = []
    for name in PACKAGES:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    return f"Versions: {', '.join(found)}."


def _processor() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        text = ""
    names = [line for line in text.splitlines() if line.startswith("model name")]
    if not names:
        return platform.processor() or platform.machine()
    return names[0].partition(":")[2].strip()


def _row(figure: Figure) -> str:
    verdict = {True: "met", False: "**missed**", None: ""}[figure.met]
    cells = (
        _cell(figure.name),
        f"{figure.value:.3g} {figure.unit}".strip(),
        f"{figure.target} {verdict}".strip(),
        _cell(figure.remark),
    )
    return f"| {' | '.join(cells)} |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
