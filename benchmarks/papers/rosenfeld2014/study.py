"""What is run, and what the page is made of."""

from functools import partial

from benchmarks.papers.pages import Page
from benchmarks.papers.rosenfeld2014 import pictures
from benchmarks.papers.rosenfeld2014 import tables as made
from benchmarks.papers.rosenfeld2014.data import APPLICATIONS, LETTERS
from benchmarks.papers.rosenfeld2014.methods import CONVERGED, OUT_OF_TIME, methods
from benchmarks.papers.rosenfeld2014.protocol import Result, run_method
from benchmarks.papers.rosenfeld2014.results import StudyResults
from benchmarks.papers.tasks import Task


def tasks() -> list[Task]:
    """Return one task for each method on each fold; each data set is a part."""
    return [
        Task(
            data,
            f"{data}, fold {fold + 1}, {method}",
            partial(run_method, data, fold, method),
            Result,
            application.files,
        )
        for data, application in APPLICATIONS.items()
        for fold in range(application.n_folds)
        for method in methods(data)
    ]


def quick_tasks() -> list[Task]:
    """Return the tasks on letters, which need no files."""
    return [task for task in tasks() if task.part == LETTERS]


def page(records: list[Result]) -> Page:
    """Return the tables, figures and pictures of the data that are there."""
    study = StudyResults(records)
    drawn = {}
    if LETTERS in study.data:
        drawn["letters"] = partial(pictures.draw_letters, study)
    if set(study.data) - {LETTERS}:
        drawn["differences"] = partial(pictures.draw_differences, study)
    ends = [end for one in records for end in one.ends]
    figures = {
        **made.gains(study),
        "minutes": f"{sum(sum(one.seconds) for one in records) / 60.0:.0f}",
        "fits": f"{len(ends):,}",
        "unfinished": f"{len(ends) - ends.count(CONVERGED):,}",
        "late": f"{ends.count(OUT_OF_TIME):,}",
    }
    return Page(made.all_tables(study), figures, drawn)
