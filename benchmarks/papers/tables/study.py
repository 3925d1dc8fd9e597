"""What is run, and what the page is made of."""

import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.stats import rankdata

from aucmax.metrics import compare_auc, partial_auc_score, roc_auc_score
from benchmarks.papers.differences import mean_difference
from benchmarks.papers.pages import ABSENT, Page, Table, largest_bold
from benchmarks.papers.tables.data import TABLES, path_of, split
from benchmarks.papers.tables.methods import (
    AUTOMATIC,
    METHODS,
    MOST_DENSE_COLUMNS,
    NEED_DENSE,
    SINGLE,
    TUNED,
)
from benchmarks.papers.tasks import Task

SECONDS = 20.0
# candidates of AutoRanker were chosen on the split of seed 0
SEED = 1
EARLY = {"fpr_range": (0.0, 0.1)}
OURS = "AutoRanker"
HINDSIGHT = tuple(SINGLE)[:4]
PARTS = {
    OURS: {OURS: AUTOMATIC[OURS]},
    "single": {name: SINGLE[name] for name in HINDSIGHT},
    "FLAML": {"FLAML": AUTOMATIC["FLAML"]},
    "AutoGluon": {"AutoGluon": AUTOMATIC["AutoGluon"]},
    "CatBoost": {"CatBoost": SINGLE["CatBoost"]},
    "tuned": TUNED,
}


@dataclass
class Result:
    """How a method ranks the test rows of a table.

    Attributes
    ----------
    auc, partial_auc : float
        The whole curve, and its first tenth of false positive rates.
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


@contextmanager
def clocks_of_the_process() -> Iterator[None]:
    """Let all clocks count the seconds that this process computes, not those it waits.

    So a time limit is the same on a machine that others use, too.
    """
    names = ("time", "perf_counter", "monotonic")
    before = {name: getattr(time, name) for name in names}
    origin = time.process_time()
    for name, clock in before.items():
        ticks = partial(_ticks, clock() - origin)
        setattr(time, name, ticks)
    try:
        yield
    finally:
        for name, clock in before.items():
            setattr(time, name, clock)


def _ticks(offset: float) -> float:
    return offset + time.process_time()


def run_method(table: str, method: str, seed: int = SEED) -> Result:
    """Fit a method to a table, and rank its test rows."""
    data = split(table, seed)
    start = time.process_time()
    with warnings.catch_warnings(), clocks_of_the_process():
        warnings.simplefilter("ignore")
        try:
            scores = METHODS[method](data, SECONDS)
        except (AssertionError, RuntimeError, TypeError) as error:
            # what others say when there is no model yet
            print(f"{method} has no model of {table} in time: {error}")
            return Result(table, method, np.nan, np.nan, SECONDS, [], [])
    seconds = time.process_time() - start
    return Result(
        table,
        method,
        roc_auc_score(data.y_test, scores),
        partial_auc_score(data.y_test, scores, **EARLY),
        seconds,
        rankdata(scores).tolist(),
        data.y_test.tolist(),
    )


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
        # frames of so many columns are more than FLAML and AutoGluon can do
        if table != "thrombin" or method not in NEED_DENSE
    ]


def quick_tasks() -> list[Task]:
    """Return the tasks without seconds to spend, on the smallest table."""
    return [
        t for t in tasks() if t.part == "single" and t.name.startswith("ionosphere")
    ]


def page(records: list[Result]) -> Page:
    """Return the tables of the page."""
    records = [one for one in records if np.isfinite(one.auc)]
    found = {(one.table, one.method): one for one in records}
    methods = [m for m in METHODS if any(one.method == m for one in records)]
    tables = [t for t in TABLES if any(one.table == t for one in records)]
    return Page(
        {
            "aucs": _by_table(found, tables, methods, "auc"),
            "partial_aucs": _by_table(found, tables, methods, "partial_auc"),
            "means": _means(found, tables, methods),
            "hindsight": _hindsight(found, tables),
        },
        {
            "n_tables": str(len(tables)),
            "seconds": f"{SECONDS:g}",
            "hours": f"{sum(one.seconds for one in records) / 3600:.1f}",
            "most_columns": f"{MOST_DENSE_COLUMNS:,}",
        },
    )


def _by_table(found, tables, methods, metric) -> Table:
    rows = []
    for table in tables:
        values = [
            getattr(found[table, m], metric) if (table, m) in found else None
            for m in methods
        ]
        rows.append([table, *largest_bold(values)])
    return Table(["table", *methods], rows)


def _means(found, tables, methods) -> Table:
    """Means over the tables that a method was run on, and AutoRanker less it there."""
    rows = []
    for method in methods:
        shared = [t for t in tables if {(t, method), (t, OURS)} <= found.keys()]
        if not shared:
            continue
        cells = [method, str(len(shared))]
        for metric in ("auc", "partial_auc"):
            theirs = np.array([getattr(found[t, method], metric) for t in shared])
            ours = np.array([getattr(found[t, OURS], metric) for t in shared])
            ahead = ABSENT
            wins = ABSENT
            if method != OURS and len(shared) > 1:
                ahead = mean_difference(ours - theirs).in_points(2)
                wins = f"{np.sum(ours > theirs)} : {np.sum(ours < theirs)}"
            cells += [f"{theirs.mean():.4f}", ahead, wins]
        cells.append(f"{np.mean([found[t, method].seconds for t in shared]):.1f}")
        rows.append(cells)
    head = ["method", "tables", "AUC", "AutoRanker less it, points", "above : below"]
    head += ["partial AUC", "AutoRanker less it, points ", "above : below "]
    return Table([*head, "seconds"], rows)


def _hindsight(found, tables) -> Table:
    """AutoRanker against the best of four usual models on each table's test rows."""
    rows = []
    for table in tables:
        if not {(table, m) for m in (*HINDSIGHT, OURS)} <= found.keys():
            continue
        best = max((found[table, m] for m in HINDSIGHT), key=lambda one: one.auc)
        ours = found[table, OURS]
        test = compare_auc(ours.labels, ours.ranks, best.ranks)
        early = max(found[table, m].partial_auc for m in HINDSIGHT)
        rows.append(
            [
                table,
                best.method,
                f"{best.auc:.4f}",
                f"{ours.auc:.4f}",
                f"{100 * test.low:+.2f} to {100 * test.high:+.2f}",
                f"{early:.4f}",
                f"{ours.partial_auc:.4f}",
            ]
        )
    head = ["table", "best of four", "its AUC", "AutoRanker", "difference, points"]
    return Table([*head, "best partial AUC", "AutoRanker "], rows)
