"""Run a study: ``python -m benchmarks.papers NAME``.

Computes what has no record yet, prints the tables, and draws the pictures of
``docs/studies/NAME.md``, whose text quotes both: after a run that differs, change it.
``--only`` names some parts, ``--quick`` takes a small part of the study; then, or if
data are missing, pictures are drawn only where ``--pictures`` says. Data sets are
looked for in the folder named by ``AUCMAX_DATA``.
"""

import argparse
from importlib import import_module
from pathlib import Path

from benchmarks.papers.pictures import save
from benchmarks.papers.tasks import run, with_data

PAPERS = ("suehiro2011", "narasimhan2013", "rosenfeld2014", "welleck2015")
NAMES = (*PAPERS, "tables", "deep")
IMAGES = Path(__file__).parents[2] / "docs" / "images"
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
    parser.add_argument(
        "--pictures", type=Path, help="folder of the pictures (default docs/images)"
    )
    options = parser.parse_args()
    study = import_module(f"benchmarks.papers.{options.name}.study")
    tasks = study.quick_tasks() if options.quick else study.tasks()
    parts = list(dict.fromkeys(task.part for task in tasks))
    unknown = [part for part in options.only or () if part not in parts]
    if unknown:
        parser.error(f"{options.name} has no part {unknown[0]!r}; choose from {parts}")
    wanted = [task for task in tasks if task.part in (options.only or parts)]
    runnable = with_data(wanted)
    # the same names, but smaller problems: they need a folder of their own
    folder = options.name + ("-quick" if options.quick else "")
    records = run(runnable, options.records or RESULTS / folder, options.jobs)
    for name, table in study.tables(records).items():
        print(f"\n{name}\n{table}")
    is_whole = not options.quick and len(runnable) == len(tasks)
    if hasattr(study, "pictures") and (options.pictures or is_whole):
        for end, draw in study.pictures(records).items():
            save(draw(), (options.pictures or IMAGES) / f"{options.name}-{end}.png")


if __name__ == "__main__":
    main()
