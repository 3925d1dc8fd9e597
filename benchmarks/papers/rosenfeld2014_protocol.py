"""One method on one fold: fit its candidates, choose by validation, keep the scores.

Each result is a file of its own, so that a run can be interrupted and taken up again.
The scores of the test samples are kept and nothing is measured on them here: what is
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
from benchmarks.papers.rosenfeld2014_data import APPLICATIONS
from benchmarks.papers.rosenfeld2014_methods import (
    CONVERGED,
    Fitted,
    Method,
    candidates,
    sample_aucs,
)


@dataclass
class Result:
    """What one method did on one fold.

    Attributes
    ----------
    candidates : list of str
        The settings tried.
    valid : list of float
        Mean AUC of the samples judged, for each of them.
    seconds : list of float
        Processor time of all fits and of judging them.
    ends : list of str
        How each fit ended, that of the chosen candidate on all training samples too.
    gaps : list of float
        Certified relative gaps of those fits that have one.
    weights : list of float
        Of the chosen candidate: of nodes, then of edges.
    scores : list of list of float
        Of the nodes of each test sample, by the candidate chosen.
    """

    data: str
    fold: int
    kind: str
    design: str
    candidates: list[str] = field(default_factory=list)
    valid: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    ends: list[str] = field(default_factory=list)
    gaps: list[float] = field(default_factory=list)
    weights: list[float] = field(default_factory=list)
    scores: list[list[float]] = field(default_factory=list)

    @property
    def chosen(self) -> int:
        """Which candidate validation likes best: the first of equals."""
        return int(np.argmax(self.valid))

    def note(self, fitted: Fitted) -> None:
        """Keep how a fit ended."""
        self.ends.append(fitted.end)
        if fitted.gap is not None:
            self.gaps.append(fitted.gap)

    @property
    def method(self) -> Method:
        """The method."""
        return Method(self.kind, self.design)


class Task(NamedTuple):
    """One method on one fold of one data set, and the file of its result."""

    data: str
    fold: int
    method: Method
    path: Path


def task(folder: Path, data: str, number: int, method: Method) -> Task:
    """Return a task whose result is or will be in this folder."""
    name = f"{data}-{number}-{method}".lower()
    kept = (letter if letter.isalnum() else "-" for letter in name)
    return Task(data, number, method, folder / f"{''.join(kept)}.json")


def run_task(task: Task) -> Result:
    """Fit all candidates, and write the result whole or not at all."""
    split = APPLICATIONS[task.data].split(task.fold)
    result = Result(task.data, task.fold, task.method.kind, task.method.design)
    settings = list(candidates(task.data, task.method))
    last: list[Fitted] = []
    for candidate in settings:
        start = time.process_time()
        aucs = []
        for train, valid in split.rounds:
            fitted = candidate.fit(train)
            result.note(fitted)
            aucs.append(sample_aucs(valid, fitted.score(valid)))
        result.seconds.append(time.process_time() - start)
        result.candidates.append(candidate.name)
        result.valid.append(float(np.concatenate(aucs).mean()))
        last.append(fitted)
    is_fitted = len(split.rounds) == 1  # on what is to be learned from in the end
    chosen = result.chosen
    best = last[chosen]
    if not is_fitted:
        best = settings[chosen].fit(split.train)
        result.note(best)
    result.weights = best.weights
    result.scores = [values.tolist() for values in best.score(split.test)]
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
            f"  {result.data:<26} fold {result.fold + 1}  {result.method!s:<42}"
            f" {result.candidates[result.chosen]:<28} valid {max(result.valid):.4f}"
            f" {sum(result.seconds):7.1f} s"
            f" {len(result.ends) - result.ends.count(CONVERGED)} not converged"
        )
