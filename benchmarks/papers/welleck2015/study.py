"""What is run, and what the page is made of. XGBoost must be installed."""

from functools import partial

from benchmarks.papers.pages import Page
from benchmarks.papers.tasks import Task
from benchmarks.papers.welleck2015 import pictures
from benchmarks.papers.welleck2015 import tables as made
from benchmarks.papers.welleck2015.data import FILES, MSLR, N_PARTS
from benchmarks.papers.welleck2015.methods import METHODS
from benchmarks.papers.welleck2015.protocol import Result, run_method
from benchmarks.papers.welleck2015.results import StudyResults


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


def page(records: list[Result]) -> Page:
    """Return the tables and pictures of the data that are there."""
    study = StudyResults(records)
    seconds = sum(sum(one.seconds) for one in records)
    return Page(
        made.all_tables(study),
        {"minutes": f"{seconds / 60.0:.0f}"},
        {"precision": partial(pictures.draw_precision, study)},
    )
