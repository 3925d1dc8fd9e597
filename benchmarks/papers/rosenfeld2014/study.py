"""What is run, and what the page is made of."""

from functools import partial

from benchmarks.papers.pages import Page
from benchmarks.papers.rosenfeld2014 import methods, pictures
from benchmarks.papers.rosenfeld2014 import tables as made
from benchmarks.papers.rosenfeld2014.data import APPLICATIONS, LETTERS
from benchmarks.papers.rosenfeld2014.methods import Method
from benchmarks.papers.rosenfeld2014.protocol import Result, run_method
from benchmarks.papers.rosenfeld2014.results import StudyResults
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


def page(records: list[Result]) -> Page:
    """Return the tables, figures and pictures of the data that are there."""
    main = [one for one in records if one.method not in methods.TRAINED_WITH]
    compared = [one for one in records if one.method in methods.TRAINED_WITH]
    tables, figures, drawn = {}, {}, {}
    if main:
        study = StudyResults(main)
        if LETTERS in study.data:
            drawn["letters"] = partial(pictures.draw_letters, study)
        if set(study.data) - {LETTERS}:
            drawn["differences"] = partial(pictures.draw_differences, study)
        ends = [end for one in main for end in one.ends]
        tables |= made.all_tables(study)
        figures |= made.gains(study)
        figures["fits"] = f"{len(ends):,}"
        figures["unfinished"] = f"{len(ends) - ends.count(methods.CONVERGED):,}"
        figures["late"] = f"{ends.count(methods.OUT_OF_TIME):,}"
        figures["minutes"] = _minutes(main)
    if compared:
        study = StudyResults(compared)
        for place, data in enumerate(study.data):
            tables[f"measures_{place}"] = made.measure_rows(study, data)
        figures["unnested"] = f"{made.distance_of_unnested(study):.1g}"
        figures["measure_minutes"] = _minutes(compared)
    return Page(tables, figures, drawn)


def _minutes(records: list[Result]) -> str:
    return f"{sum(sum(one.seconds) for one in records) / 60.0:.0f}"
