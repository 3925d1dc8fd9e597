"""Tasks and tables of the study."""

import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any
from unittest.mock import patch

import numpy as np
from scipy.stats import rankdata

from aucmax.inference import compare_auc
from aucmax.metrics import partial_auc_score, roc_auc_score
from benchmarks.papers.differences import mean_difference
from benchmarks.papers.markdown import ABSENT, Table, largest_bold
from benchmarks.papers.tables.data import TABLES, path_of, split
from benchmarks.papers.tables.methods import (
    AUTOMATIC,
    METHODS,
    NOT_FOR_MANY_COLUMNS,
    SINGLE,
)
from benchmarks.papers.tasks import Task

SECONDS = 60.0
EARLY = (0.0, 0.1)
OURS = "AutoRanker"
#: tables of one source, which intervals of a mean count as one
SOURCES = {
    **dict.fromkeys(("hypothyroid", "sick-euthyroid", "sick"), "thyroid"),
    **dict.fromkeys(("vehicle opel", "vehicle saab"), "vehicle"),
}
#: what can be run separately
PARTS: dict[str, tuple[str, ...]] = {
    "single": tuple(SINGLE),
    **{name: (name,) for name in AUTOMATIC},
}


@dataclass
class Result:
    """How a method ranks the test rows of a table.

    Attributes
    ----------
    auc, partial_auc : float
        The whole curve, and its first tenth of false positive rates; NaN without model.
    seconds : float
        Of the processor, for fitting and scoring.
    ranks, labels : list
        Of the test rows, for paired tests.
    """

    table: str
    method: str
    auc: float
    partial_auc: float
    seconds: float
    ranks: list[float]
    labels: list[int]

    def __str__(self) -> str:
        return f"{self.auc:.4f} {self.partial_auc:.4f} {self.seconds:.1f} s"


Found = dict[tuple[str, str], Result]


@contextmanager
def clocks_of_the_process() -> Iterator[None]:
    """Let all clocks count the seconds that this process computes, not those it waits.

    So a time limit is the same on a machine that others use, too.
    """

    def process_clock(clock: Any) -> Any:
        offset = clock() - time.process_time()
        return lambda: offset + time.process_time()

    names = ("time", "perf_counter", "monotonic")
    clocks = {name: process_clock(getattr(time, name)) for name in names}
    with patch.multiple(time, **clocks):
        yield


def run_method(table: str, method: str) -> Result:
    """Fit a method to a table, and rank its test rows."""
    data = split(table)
    start = time.process_time()
    with warnings.catch_warnings(action="ignore"), clocks_of_the_process():
        try:
            scores = METHODS[method](data, SECONDS)
        except (AssertionError, RuntimeError, TypeError) as error:
            # what others raise when there is no model yet
            print(f"{method} has no model of {table} in time: {error}")
            return Result(table, method, np.nan, np.nan, SECONDS, [], [])
    seconds = time.process_time() - start
    auc = roc_auc_score(data.y_test, scores)
    early = partial_auc_score(data.y_test, scores, fpr_range=EARLY)
    ranks, labels = rankdata(scores).tolist(), data.y_test.tolist()
    return Result(table, method, auc, early, seconds, ranks, labels)


def tasks() -> list[Task]:
    """Return one task for each method and table, all timed."""
    return [
        Task(
            part,
            f"{table}, {method}",
            partial(run_method, table, method),
            Result,
            (path_of(table),),
            is_timed=True,
        )
        for part, methods in PARTS.items()
        for table in TABLES
        for method in methods
        # 88,119 columns are more than the others can do
        if table != "thrombin" or method not in NOT_FOR_MANY_COLUMNS
    ]


def quick_tasks() -> list[Task]:
    """Return the tasks without seconds to spend, on the smallest table."""
    single = (task for task in tasks() if task.part == "single")
    return [task for task in single if task.name.startswith("ionosphere")]


def tables(records: list[Result]) -> dict[str, Table]:
    """Return the means of all methods, and each table by itself."""
    results = {(one.table, one.method): one for one in records if np.isfinite(one.auc)}
    return {"means": _means(results), "by table": _by_table(results)}


def _means(results: Found) -> Table:
    """Means over the tables that a method was run on, AutoRanker less it."""
    rows = []
    for method in METHODS:
        keys = [(t, method) for t in TABLES if {(t, method), (t, OURS)} <= set(results)]
        if not keys:
            continue
        theirs = [results[key] for key in keys]
        ours = [results[table, OURS] for table, _ in keys]
        sources = np.array([SOURCES.get(table, table) for table, _ in keys])
        cells = [method, str(len(keys))]
        for metric in ("auc", "partial_auc"):
            values, best = (
                np.array([getattr(one, metric) for one in some])
                for some in (theirs, ours)
            )
            cells += [f"{values.mean():.4f}", ABSENT, ABSENT]
            if method != OURS and len(keys) > 1:
                difference = mean_difference(best - values, sources)
                ahead = f"{np.sum(best > values)}:{np.sum(best < values)}"
                cells[-2:] = difference.in_points(2), ahead
        rows.append([*cells, f"{np.mean([one.seconds for one in theirs]):.1f}"])
    less = ["AutoRanker less it, points", "above:below"]
    head = ["method", "tables", "AUC", *less, "partial AUC", *less, "seconds"]
    return Table(head, rows)


def _by_table(results: Found) -> Table:
    """AutoRanker, other libraries, and the best of four usual models on test rows."""
    others = [m for m in NOT_FOR_MANY_COLUMNS if any(m == key[1] for key in results)]
    rows = []
    for table in TABLES:
        if not {(table, method) for method in (*SINGLE, OURS)} <= set(results):
            continue
        single, ours = [results[table, m] for m in SINGLE], results[table, OURS]
        best = max(single, key=lambda one: one.auc)
        test = compare_auc(ours.labels, ours.ranks, best.ranks)
        theirs = [results.get((table, method)) for method in others]
        values = [None if one is None else one.auc for one in theirs]
        early = max(one.partial_auc for one in single)
        rows.append(
            [
                table,
                *largest_bold([best.auc, *values, ours.auc]),
                f"[{100 * test.low:+.2f}, {100 * test.high:+.2f}]",
                *largest_bold([early, ours.partial_auc]),
            ]
        )
    names = ["best of four", *others, OURS]
    early_names = [f"{name}, partial AUC" for name in ("best of four", OURS)]
    return Table(["table", *names, "less the best, points", *early_names], rows)
