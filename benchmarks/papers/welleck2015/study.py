"""Tasks, tables and pictures of the study. XGBoost must be installed."""

from collections.abc import Callable
from functools import partial
from typing import Any

from benchmarks.papers.markdown import Table
from benchmarks.papers.tasks import Task
from benchmarks.papers.welleck2015 import tables as made
from benchmarks.papers.welleck2015.data import FILES, MSLR, N_PARTS
from benchmarks.papers.welleck2015.methods import METHODS, Result, run_method
from benchmarks.papers.welleck2015.tables import StudyResults


def tasks() -> list[Task]:
    """Return one task for each method on each fold; each data set is a part."""
    return [
        Task(
            data,
            f"{data}, fold {fold + 1}, {method}",
            partial(run_method, data, fold, method),
            Result,
            files,
        )
        for data, (files, _) in FILES.items()
        for fold in range(N_PARTS)
        for method in METHODS
    ]


def quick_tasks() -> list[Task]:
    """Return the tasks on the smallest data set."""
    return [task for task in tasks() if task.part == MSLR]


def tables(records: list[Result]) -> dict[str, Table]:
    """Return the tables of the data that are there."""
    return made.all_tables(StudyResults(records))


def pictures(records: list[Result]) -> dict[str, Callable[[], Any]]:
    """Return the calls that draw the pictures, by the ends of their files' names."""
    return {"precision": partial(made.draw_precision, StudyResults(records))}
