"""The experiments of Narasimhan and Agarwal (KDD 2013), on data that we have.

``python -m benchmarks.papers.narasimhan2013`` compares SVMpAUC-tight with SVMpAUC,
SVM-AUC, logistic regression and LightGBM on the partial AUC, races cutting planes
against the projected subgradient, weighs sparsity against accuracy, prints the tables,
and writes ``docs/studies/narasimhan2013.md`` with its pictures: about 40 minutes on
two cores. ``--quick`` shows a part of each in about a minute, ``--only solvers`` runs
some parts; both write only where ``--output`` says. Data sets are looked for in
``AUCMAX_DATA``; those that are not there are left out. The text of the page is in
``narasimhan2013_template.md``: after a run that differs, check its sentences against
the new figures.
"""

import argparse
import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory

from threadpoolctl import threadpool_limits

from benchmarks.papers import narasimhan2013_page as page
from benchmarks.papers.narasimhan2013_data import (
    ALL_DATA,
    FOLDER,
    MANY_CLASSES,
    TABLES,
    TOPICS,
    missing,
)
from benchmarks.papers.narasimhan2013_methods import (
    FROM_ZERO,
    FULL,
    LOGISTIC,
    LOOSE,
    PENALTIES,
    REFINED,
    TIGHT,
    TREES,
    TUNED,
    WIDE,
)
from benchmarks.papers.narasimhan2013_protocol import Plan, run_plans
from benchmarks.papers.narasimhan2013_race import SETS, run_races
from benchmarks.papers.narasimhan2013_slope import run_slopes

PARTS = ("accuracy", "grids", "range", "solvers", "sparsity")
DOCS = Path(__file__).parents[2] / "docs"
EARLY, LATER = (0.0, 0.1), (0.05, 0.2)
N_SPLITS = 10
FEWER_SPLITS = {"thrombin": 5, "a9a": 5, **dict.fromkeys(TOPICS, 4)}
RANGE_DATA = (
    "bace",
    "ionosphere",
    "spambase",
    "sick",
    "sick-euthyroid",
    "mammography",
    "satimage",
    "vehicle",
)
UNGROUPED = ("thrombin", "bace", "leukemia", "trade")
GROUPED = ("sick", "hypothyroid", "kr-vs-kp")
#: no weights have a tight risk on [0, 0.1] below 1: the full AUC is trained there
GROUPED_FULL = ("satimage", "a9a")
RACE_SECONDS = 15.0
QUICK_DATA = ("sick", "vehicle", "spambase")


def accuracy_plans() -> list[Plan]:
    """Plan the main comparison on [0, 0.1]."""
    methods = (TIGHT, TUNED, LOOSE, FULL, LOGISTIC, TREES)
    return [
        Plan(data, methods, FEWER_SPLITS.get(data, N_SPLITS), EARLY)
        for data in ALL_DATA
    ]


def grids_plans() -> list[Plan]:
    """Plan the main comparison with wider grids, where it does not take long."""
    data = [name for name in (*TABLES, *MANY_CLASSES) if name != "leukemia"]
    return [Plan(name, tuple(WIDE.values()), N_SPLITS, EARLY) for name in data]


def range_plans() -> list[Plan]:
    """Plan the comparison on a range that does not begin at 0."""
    methods = (TIGHT, REFINED, FROM_ZERO, LOOSE, FULL, LOGISTIC)
    return [Plan(data, methods, 5, LATER) for data in RANGE_DATA]


def sparsity_plans() -> list[Plan]:
    """Plan the comparison of penalties."""
    every = tuple(PENALTIES)
    single = tuple(name for name in every if name != "group")
    return [
        *(Plan(data, single, 2, EARLY) for data in UNGROUPED[:1]),
        *(Plan(data, single, 3, EARLY) for data in UNGROUPED[1:]),
        *(Plan(data, every, 3, EARLY) for data in GROUPED),
        *(Plan(data, every, 3, EARLY, (0.0, 1.0)) for data in GROUPED_FULL),
    ]


PLANS: dict[str, Callable[[], list[Plan]]] = {
    "accuracy": accuracy_plans,
    "grids": grids_plans,
    "range": range_plans,
    "sparsity": sparsity_plans,
}


def plans_of(part: str, quick: bool) -> list[Plan]:
    """Return the plans of a part whose data are there, and say what is not."""
    plans = []
    for plan in PLANS[part]():
        path = missing(plan.data)
        if path is not None:
            _tell_missing(plan.data, path)
        elif not quick:
            plans.append(plan)
        elif plan.data in QUICK_DATA[:2]:
            plans.append(replace(plan, n_splits=2))
    return plans


def _tell_missing(data: str, path: Path) -> None:
    print(
        f"{data}: {path} is not there, so these data are left out. Name the folder of "
        f"the data sets in AUCMAX_DATA (now {FOLDER})."
    )


@contextmanager
def processes(n_jobs: int) -> Iterator[Executor]:
    """Start processes that compute on one thread each."""
    os.environ["OMP_NUM_THREADS"] = "1"  # the processes inherit it
    # a fork would copy the locks of the reader's threads, but not the threads
    context = get_context("spawn")
    with ProcessPoolExecutor(n_jobs, context, initializer=_be_one_thread) as pool:
        yield pool


def _be_one_thread() -> None:
    threadpool_limits(1)


def run(
    parts: Sequence[str], quick: bool, n_jobs: int, save: Callable[[page.Study], None]
) -> page.Study:
    """Run the parts, printing as they come; `save` is called after each."""
    start = time.perf_counter()
    study = page.Study()
    with processes(n_jobs) as pool:
        for part in parts:
            print(f"\n== {part}", flush=True)
            if part == "solvers":
                sets = tuple(data for data in SETS if missing(data) is None)
                if quick:
                    sets = tuple(data for data in sets if data in QUICK_DATA)
                seconds = 2.0 if quick else RACE_SECONDS
                study.races = run_races(sets, seconds, pool, show)
            else:
                plans = plans_of(part, quick)
                setattr(study, part, run_plans(plans, pool, show))
                if part == "accuracy":
                    sets = tuple(plan.data for plan in plans)
                    study.slopes = run_slopes(sets, pool, show)
            study.minutes = (time.perf_counter() - start) / 60.0
            save(study)
    return study


def show(line: str) -> None:
    print(line, flush=True)


def main() -> None:
    """Run from the shell."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a part of each table")
    parser.add_argument(
        "--only", nargs="+", choices=PARTS, metavar="PART", help=", ".join(PARTS)
    )
    parser.add_argument("--jobs", type=int, default=2, help="processes (default 2)")
    parser.add_argument("--json", type=Path, help="also write all figures here")
    parser.add_argument("--from-json", type=Path, help="run nothing: draw from these")
    parser.add_argument("--output", type=Path, help="folder of the page (default docs)")
    options = parser.parse_args()

    def save(study: page.Study) -> None:
        if options.json:
            options.json.write_text(json.dumps(study.as_dict()) + "\n")

    is_whole = not options.quick and not options.only
    with TemporaryDirectory() as temporary:
        folder = options.output or (DOCS if is_whole else Path(temporary))
        if options.from_json:
            study = page.Study.from_dict(json.loads(options.from_json.read_text()))
        else:
            study = run(options.only or PARTS, options.quick, options.jobs, save)
        print(f"\n{page.as_text(study)}\n\n{study.minutes:.1f} minutes")
        page.write(study, folder)


if __name__ == "__main__":
    main()
