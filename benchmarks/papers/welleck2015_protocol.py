"""One method on one fold: fit its candidates, choose by validation, keep the scores.

Each result is a file of its own, so that a run can be interrupted and taken up again.
The scores of the test rows are kept and nothing is measured on them here: what is
chosen cannot depend on them.
"""

import time
from collections.abc import Callable, Iterable
from concurrent.futures import Executor
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.papers.records import read_record, write_record
from benchmarks.papers.welleck2015_data import fold
from benchmarks.papers.welleck2015_methods import candidates, mauc


@dataclass
class Result:
    """What one method did on one fold.

    Attributes
    ----------
    candidates : list of str
        The settings tried.
    valid : list of float
        MAUC of the validation queries, for each of them.
    seconds : list of float
        Processor time of training, measuring on the validation queries included. The
        other kind would count what else the machine does.
    kept, run : list of int
        Rounds kept and rounds run; 0 for a linear model.
    scores : list of float
        Of the test rows, by the candidate chosen.
    """

    data: str
    fold: int
    method: str
    candidates: list[str] = field(default_factory=list)
    valid: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    kept: list[int] = field(default_factory=list)
    run: list[int] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)

    @property
    def chosen(self) -> int:
        """Which candidate the validation queries like best: the first of equals."""
        return int(np.argmax(self.valid))


class Task(NamedTuple):
    """One method on one fold of one data set, and the file of its result."""

    data: str
    fold: int
    method: str
    path: Path


def task(folder: Path, data: str, number: int, method: str) -> Task:
    """Return a task whose result is or will be in this folder."""
    name = f"{data}-{number}-{method}".lower()
    kept = (letter if letter.isalnum() else "-" for letter in name)
    return Task(data, number, method, folder / f"{''.join(kept)}.json")


def run_task(task: Task) -> Result:
    """Fit all candidates, and write the result whole or not at all."""
    rows = fold(task.data, task.fold)
    result = Result(task.data, task.fold, task.method)
    best = -np.inf
    for candidate in candidates(task.method):
        start = time.process_time()
        fitted = candidate.fit(rows)
        result.seconds.append(time.process_time() - start)
        result.candidates.append(candidate.name)
        result.valid.append(mauc(rows.valid, fitted.valid))
        result.kept.append(fitted.kept)
        result.run.append(fitted.run)
        if result.valid[-1] > best:
            best, result.scores = result.valid[-1], fitted.test.tolist()
    write_record(task.path, result)
    return result


def read(task: Task) -> Result | None:
    """Return the result of an earlier run, if there is one."""
    return read_record(task.path, Result)


def run_tasks(
    tasks: Iterable[Task], pool: Executor, report: Callable[[str], None]
) -> None:
    """Run what was not run before."""
    waiting = [one for one in tasks if not one.path.is_file()]
    for result in pool.map(run_task, waiting):
        report(
            f"  {result.data:<14} fold {result.fold + 1}  {result.method:<22}"
            f" {result.candidates[result.chosen]:<22} valid {max(result.valid):.4f}"
            f" {sum(result.seconds):7.1f} s"
        )
