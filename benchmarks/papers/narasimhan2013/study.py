"""What is run, and what the page is made of."""

from dataclasses import replace
from functools import partial
from typing import Any

from benchmarks.papers.narasimhan2013 import data as sets
from benchmarks.papers.narasimhan2013 import methods, pictures, race
from benchmarks.papers.narasimhan2013 import tables as made
from benchmarks.papers.narasimhan2013.methods import FULL, LOGISTIC, LOOSE, TIGHT
from benchmarks.papers.narasimhan2013.protocol import Plan, Result, run_method
from benchmarks.papers.narasimhan2013.race import Race, run_race
from benchmarks.papers.narasimhan2013.results import PartialResults
from benchmarks.papers.narasimhan2013.slope import Slope, slope_of
from benchmarks.papers.pages import Page
from benchmarks.papers.tasks import Task

EARLY, LATER, WHOLE = (0.0, 0.1), (0.05, 0.2), (0.0, 1.0)
N_SPLITS = 10
FEWER_SPLITS = {"thrombin": 5, "a9a": 5, **dict.fromkeys(sets.TOPICS, 4)}
RANGE_DATA = (
    *("bace", "ionosphere", "spambase", "sick", "sick-euthyroid"),
    *("mammography", "satimage", "vehicle"),
)
UNGROUPED = ("thrombin", "bace", "leukemia", "trade")
GROUPED = ("sick", "hypothyroid", "kr-vs-kp")
#: no weights have a tight risk on [0, 0.1] below 1: the full AUC is trained there
GROUPED_FULL = ("satimage", "a9a")
RACE_SECONDS, QUICK_SECONDS = 15.0, 2.0
QUICK_DATA, QUICK_RACE = ("sick", "vehicle"), "spambase"


def plans() -> list[Plan]:
    """Plan what is compared on splits, part by part."""
    main = (TIGHT, methods.TUNED, LOOSE, FULL, LOGISTIC, methods.TREES)
    later = (TIGHT, methods.FROM_ZERO, LOOSE, FULL, LOGISTIC)
    wide = tuple(methods.WIDE.values())
    # wider grids where they do not take long
    small = [name for name in (*sets.TABLES, *sets.MANY_CLASSES) if name != "leukemia"]
    chosen = (methods.CHOSEN, methods.SAME_FOLDS, LOGISTIC)
    every = tuple(methods.PENALTIES)
    single = tuple(name for name in every if name != "group")
    return [
        *(
            Plan("accuracy", data, main, FEWER_SPLITS.get(data, N_SPLITS), EARLY)
            for data in sets.ALL_DATA
        ),
        *(
            Plan(part, data, tried, FEWER_SPLITS.get(data, N_SPLITS), judged)
            for part, tried, judged in (
                ("bounded", (methods.SIGMOID, *chosen), EARLY),
                ("whole curve", chosen, WHOLE),
            )
            for data in sets.ALL_DATA
        ),
        *(Plan("grids", data, wide, N_SPLITS, EARLY) for data in small),
        *(Plan("range", data, later, 5, LATER) for data in RANGE_DATA),
        *(
            Plan("sparsity", data, single, 2 if data == "thrombin" else 3, EARLY)
            for data in UNGROUPED
        ),
        *(Plan("sparsity", data, every, 3, EARLY) for data in GROUPED),
        *(Plan("sparsity", data, every, 3, EARLY, WHOLE) for data in GROUPED_FULL),
    ]


def tasks() -> list[Task]:
    """Return one task for each method on each split, each slope and each race."""
    return _tasks(plans(), race.SETS, RACE_SECONDS)


def quick_tasks() -> list[Task]:
    """Return a part of each table: few data sets and splits, and short races."""
    few = [replace(plan, n_splits=2) for plan in plans() if plan.data in QUICK_DATA]
    return _tasks(few, (QUICK_RACE,), QUICK_SECONDS)


def _tasks(planned: list[Plan], raced: tuple[str, ...], seconds: float) -> list[Task]:
    found = [
        Task(
            plan.part,
            f"{plan.part}, {plan.data}, split {split + 1}, {method}",
            partial(run_method, plan, method, split),
            Result,
            (sets.path_of(plan.data),),
        )
        for plan in planned
        for split in range(plan.n_splits)
        for method in plan.methods
    ]
    found += [
        Task(
            "accuracy",
            f"slope, {plan.data}",
            partial(slope_of, plan.data),
            Slope,
            (sets.path_of(plan.data),),
        )
        for plan in planned
        if plan.part == "accuracy"
    ]
    found += [
        Task(
            "solvers",
            f"race, {', '.join(map(str, lane))}",
            partial(run_race, *lane, seconds),
            Race,
            (sets.path_of(lane.data),),
            is_timed=True,
        )
        for lane in race.lanes(raced)
    ]
    return found


def page(records: list[Any]) -> Page:
    """Return the tables and pictures for which there are records."""
    results = {
        part: PartialResults(some)
        for part in made.PARTS
        if (some := [r for r in records if isinstance(r, Result) and r.part == part])
    }
    slopes = [one for one in records if isinstance(one, Slope)]
    races = [one for one in records if isinstance(one, Race)]
    drawn = {}
    if races:
        drawn["passes"] = partial(pictures.draw_races, races)
    return Page(made.all_tables(results, slopes, races), pictures=drawn)
