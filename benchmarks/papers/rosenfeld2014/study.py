"""Tasks, tables and pictures of the study."""

from collections.abc import Callable
from functools import partial
from typing import Any

from benchmarks.papers.markdown import Table
from benchmarks.papers.rosenfeld2014 import methods
from benchmarks.papers.rosenfeld2014 import tables as made
from benchmarks.papers.rosenfeld2014.data import APPLICATIONS, LETTERS
from benchmarks.papers.rosenfeld2014.methods import Method, Result, run_method
from benchmarks.papers.rosenfeld2014.tables import StudyResults
from benchmarks.papers.tasks import Task

MEASURES = "measures"


def tasks() -> list[Task]:
    """Return one task for each method on each fold.

    Each data set is a part; so is the comparison of measures.
    """
    main = [_tasks(data, data, methods.methods(data)) for data in APPLICATIONS]
    compared = [
        _tasks(MEASURES, data, [Method(kind, edges) for kind in methods.TRAINED_WITH])
        for data, edges in methods.COMPARED.items()
    ]
    return [task for some in (*main, *compared) for task in some]


def _tasks(part: str, data: str, some: list[Method]) -> list[Task]:
    return [
        Task(
            part,
            f"{data}, fold {fold + 1}, {method}",
            partial(run_method, data, fold, method),
            Result,
            APPLICATIONS[data].files,
        )
        for fold in range(APPLICATIONS[data].n_folds)
        for method in some
    ]


def quick_tasks() -> list[Task]:
    """Return the tasks on letters, which need no files."""
    return [task for task in tasks() if task.part == LETTERS]


def tables(records: list[Result]) -> dict[str, Table]:
    """Return the tables of the data that are there."""
    main = [one for one in records if one.method not in methods.TRAINED_WITH]
    compared = [one for one in records if one.method in methods.TRAINED_WITH]
    tables = made.all_tables(StudyResults(main)) if main else {}
    if compared:
        study = StudyResults(compared)
        for data in study.data:
            tables[f"measures, {data}"] = made.measure_rows(study, data)
    return tables


def pictures(records: list[Result]) -> dict[str, Callable[[], Any]]:
    """Return the calls that draw the pictures, by the ends of their files' names."""
    main = [one for one in records if one.method not in methods.TRAINED_WITH]
    study = StudyResults(main)
    calls: dict[str, Callable[[], Any]] = {}
    if LETTERS in study.data:
        calls["letters"] = partial(made.draw_letters, study)
    if set(study.data) - {LETTERS}:
        calls["differences"] = partial(made.draw_differences, study)
    return calls
