"""Run a study: ``python -m benchmarks.papers NAME``.

Computes what has no record yet, prints the tables, and writes ``docs/studies/NAME.md``
with its pictures. ``--only`` names some parts, ``--quick`` takes a small part of the
study; then, or if data are missing, the page is written only where ``--page`` says.
Data sets are looked for in the folder named by ``AUCMAX_DATA``. The text of the page is
in ``NAME/template.md``: after a run that differs, check its sentences against the new
figures.
"""

import argparse
from importlib import import_module
from pathlib import Path

from benchmarks.papers.tasks import run, with_data

NAMES = (
    "suehiro2011",
    "narasimhan2013",
    "rosenfeld2014",
    "welleck2015",
    "tables",
    "deep",
)
DOCS = Path(__file__).parents[2] / "docs"
RESULTS = Path(__file__).parents[1] / "results"


def main() -> None:
    """Run from the shell."""
    parser = argparse.ArgumentParser("python -m benchmarks.papers")
    parser.add_argument("name", choices=NAMES, help="the study")
    parser.add_argument("--only", nargs="+", metavar="PART", help="some of its parts")
    parser.add_argument("--quick", action="store_true", help="a small part of it")
    parser.add_argument("--jobs", type=int, default=1, help="processes (default 1)")
    parser.add_argument(
        "--records",
        type=Path,
        help="folder of the records (default benchmarks/results)",
    )
    parser.add_argument("--page", type=Path, help="folder of the page (default docs)")
    options = parser.parse_args()
    study = import_module(f"benchmarks.papers.{options.name}.study")
    tasks = study.quick_tasks() if options.quick else study.tasks()
    parts = list(dict.fromkeys(task.part for task in tasks))
    unknown = [part for part in options.only or () if part not in parts]
    if unknown:
        parser.error(f"{options.name} has no part {unknown[0]!r}; choose from {parts}")
    wanted = [task for task in tasks if task.part in (options.only or parts)]
    found = with_data(wanted)
    # the same names, but smaller problems: they need a folder of their own
    folder = options.name + ("-quick" if options.quick else "")
    records = run(found, options.records or RESULTS / folder, options.jobs)
    page = study.page(records)
    print(f"\n{page}")
    is_whole = not options.quick and len(found) == len(tasks)
    if options.page or is_whole:
        page.write(options.name, options.page or DOCS)


if __name__ == "__main__":
    main()
