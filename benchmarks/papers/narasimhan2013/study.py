"""Tasks, tables and pictures of the study."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from benchmarks.papers.markdown import Table
from benchmarks.papers.narasimhan2013 import data as sets
from benchmarks.papers.narasimhan2013 import methods, race
from benchmarks.papers.narasimhan2013 import tables as made
from benchmarks.papers.narasimhan2013.methods import Plan, Result, run_method
from benchmarks.papers.narasimhan2013.race import Race, run_race
from benchmarks.papers.tasks import Task

EARLY, WHOLE = (0.0, 0.1), (0.0, 1.0)
N_SPLITS = 10
FEWER_SPLITS = {"thrombin": 5, "a9a": 5, **dict.fromkeys(sets.TOPICS, 4)}
UNGROUPED = ("thrombin", "bace", "leukemia", "trade")
GROUPED = ("sick", "hypothyroid", "kr-vs-kp")
#: no weights have a tight risk on [0, 0.1] below 1: the full AUC is trained there
GROUPED_FULL = ("satimage", "a9a")
RACE_SECONDS, QUICK_SECONDS = 15.0, 2.0
QUICK_DATA, QUICK_RACE = ("sick", "vehicle"), "spambase"


def plans() -> list[Plan]:
    """Plan what is compared on splits, part by part."""
    main = (
        methods.TIGHT,
        methods.TUNED,
        methods.LOOSE,
        methods.FULL,
        methods.LOGISTIC,
        methods.TREES,
    )
    bounded = (methods.SIGMOID, methods.CHOSEN, methods.SAME_FOLDS, methods.LOGISTIC)
    every = tuple(methods.PENALTIES)
    single = tuple(name for name in every if name != "group")
    return [
        *(
            Plan(part, data, tried, FEWER_SPLITS.get(data, N_SPLITS), EARLY)
            for part, tried in (("accuracy", main), ("bounded", bounded))
            for data in sets.ALL_DATA
        ),
        *(
            Plan("sparsity", data, single, 2 if data == "thrombin" else 3, EARLY)
            for data in UNGROUPED
        ),
        *(Plan("sparsity", data, every, 3, EARLY) for data in GROUPED),
        *(Plan("sparsity", data, every, 3, EARLY, WHOLE) for data in GROUPED_FULL),
    ]


def tasks() -> list[Task]:
    """Return one task for each method on each split and each race."""
    return _tasks(plans(), race.SETS, RACE_SECONDS)


def quick_tasks() -> list[Task]:
    """Return a part of each table: few data sets and splits, and short races."""
    few = [replace(plan, n_splits=2) for plan in plans() if plan.data in QUICK_DATA]
    return _tasks(few, (QUICK_RACE,), QUICK_SECONDS)


def _tasks(planned: list[Plan], raced: tuple[str, ...], seconds: float) -> list[Task]:
    tasks_of_study = [
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
    tasks_of_study += [
        Task(
            "solvers",
            f"race, {', '.join(map(str, lane))}",
            partial(run_race, *lane, seconds),
            Race,
            (sets.path_of(lane[0]),),
            is_timed=True,
        )
        for lane in race.lanes(raced)
    ]
    return tasks_of_study


def tables(records: list[Any]) -> dict[str, Table]:
    """Return the tables for which there are records."""
    results = [one for one in records if isinstance(one, Result)]
    parts = dict.fromkeys(one.part for one in results)
    by_part = {
        part: made.PartialResults(one for one in results if one.part == part)
        for part in parts
    }
    return made.all_tables(by_part, _races(records))


def _races(records: list[Any]) -> list[Race]:
    return [one for one in records if isinstance(one, Race)]


def pictures(records: list[Any]) -> dict[str, Callable[[], Any]]:
    """Return the calls that draw the pictures, by the ends of their files' names."""
    races = _races(records)
    return {"passes": partial(made.draw_races, races)} if races else {}
