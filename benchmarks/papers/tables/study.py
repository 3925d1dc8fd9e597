"""Tasks, tables and pictures of the study."""

import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import Any

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
# those of seeds 0 and 1 were looked at while AutoRanker was made
SEEDS = (2, 3)
EARLY = {"fpr_range": (0.0, 0.1)}
OURS = "AutoRanker"
#: shown table by table, if they were run
OTHERS = ("FLAML", "AutoGluon")
HINDSIGHT = tuple(SINGLE)
#: tables of one source, which intervals of a mean count as one
SOURCES = {
    "hypothyroid": "thyroid",
    "sick-euthyroid": "thyroid",
    "sick": "thyroid",
    "vehicle opel": "vehicle",
    "vehicle saab": "vehicle",
}
#: what is run on a split, the part that can be left out last
PARTS = {
    "single": SINGLE,
    **{name: {name: method} for name, method in AUTOMATIC.items()},
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
    seed: int
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


def run_method(table: str, method: str, seed: int) -> Result:
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
            return Result(table, seed, method, np.nan, np.nan, SECONDS, [], [])
    seconds = time.process_time() - start
    return Result(
        table,
        seed,
        method,
        roc_auc_score(data.y_test, scores),
        partial_auc_score(data.y_test, scores, **EARLY),
        seconds,
        rankdata(scores).tolist(),
        data.y_test.tolist(),
    )


def tasks() -> list[Task]:
    """Return one task for each split, method and table, all timed."""
    return [
        Task(
            f"{part} {seed}",
            f"{table}, {method}, split {seed}",
            partial(run_method, table, method, seed),
            Result,
            (path_of(table),),
            is_timed=True,
        )
        for seed in SEEDS
        for part, methods in PARTS.items()
        for table in TABLES
        for method in methods
        # 88,119 columns are more than the others can do
        if table != "thrombin" or method not in NOT_FOR_MANY_COLUMNS
    ]


def quick_tasks() -> list[Task]:
    """Return the tasks without seconds to spend, on the smallest table."""
    return [
        t
        for t in tasks()
        if t.part == f"single {SEEDS[0]}" and t.name.startswith("ionosphere")
    ]


def tables(records: list[Result]) -> dict[str, Table]:
    """Return the means of all methods, and each table by itself."""
    ranked = [one for one in records if np.isfinite(one.auc)]
    by_method = {
        key: list(splits)
        for key, splits in groupby(
            sorted(ranked, key=_table_and_method), _table_and_method
        )
    }
    methods = [m for m in METHODS if any(method == m for _, method in by_method)]
    names = [t for t in TABLES if any(table == t for table, _ in by_method)]
    by_table, counts = _by_table(by_method, names)
    means = _means(by_method, names, methods)
    return {"means": means, "by table": by_table, "AutoRanker against the best": counts}


def pictures(records: list[Result]) -> dict[str, Any]:
    """Return nothing: the page has no picture."""
    return {}


def _table_and_method(one: Result) -> tuple[str, str]:
    return one.table, one.method


def _mean(splits: list[Result], metric: str) -> float:
    return float(np.mean([getattr(one, metric) for one in splits]))


def _means(found, tables, methods) -> Table:
    """Means over the tables and splits that a method was run on, AutoRanker less it."""
    rows = []
    for method in methods:
        pairs = {t: _same_splits(found, t, method) for t in tables}
        pairs = {t: both for t, both in pairs.items() if both[0]}
        if not pairs:
            continue
        cells = [method, str(len(pairs))]
        for metric in ("auc", "partial_auc"):
            theirs, ours = (
                np.array([_mean(both[k], metric) for both in pairs.values()])
                for k in (0, 1)
            )
            ahead = ABSENT
            wins = ABSENT
            if method != OURS and len(pairs) > 1:
                sources = np.array([SOURCES.get(table, table) for table in pairs])
                ahead = mean_difference(ours - theirs, sources).in_points(2)
                wins = f"{np.sum(ours > theirs)} : {np.sum(ours < theirs)}"
            cells += [f"{theirs.mean():.4f}", ahead, wins]
        seconds = np.mean([_mean(theirs, "seconds") for theirs, _ in pairs.values()])
        rows.append([*cells, f"{seconds:.1f}"])
    head = ["method", "tables", "AUC", "AutoRanker less it, points", "above : below"]
    head += ["partial AUC", "AutoRanker less it, points ", "above : below "]
    return Table([*head, "seconds"], rows)


def _same_splits(found, table, method) -> tuple[list[Result], list[Result]]:
    """Return the results of a method and of AutoRanker on splits that both have."""
    theirs, ours = (
        {one.seed: one for one in found.get((table, name), [])}
        for name in (method, OURS)
    )
    shared = [seed for seed in SEEDS if seed in theirs and seed in ours]
    return [theirs[seed] for seed in shared], [ours[seed] for seed in shared]


def _by_table(found, tables) -> tuple[Table, Table]:
    """AutoRanker, other libraries, and the best of four usual models on the test rows.

    The best is chosen by its mean over the splits. Intervals of several splits, which
    share rows, are averaged.
    """
    rows, apart = [], []
    others = [m for m in OTHERS if any((table, m) in found for table in tables)]
    for table in tables:
        if not {(table, m) for m in (*HINDSIGHT, OURS)} <= found.keys():
            continue
        best, ours = max(
            (_same_splits(found, table, method) for method in HINDSIGHT),
            key=lambda both: _mean(both[0], "auc"),
        )
        tests = [
            compare_auc(our.labels, our.ranks, one.ranks)
            for our, one in zip(ours, best, strict=True)
        ]
        low, high = (
            np.mean([getattr(t, end) for t in tests]) for end in ("low", "high")
        )
        mean = _mean(ours, "auc") - _mean(best, "auc")
        early = max(
            _mean(_same_splits(found, table, m)[0], "partial_auc") for m in HINDSIGHT
        )
        apart.append((mean, low, high, _mean(ours, "partial_auc") - early))
        theirs = [_same_splits(found, table, method)[0] for method in others]
        cells = [table]
        for metric, value in (("auc", _mean(best, "auc")), ("partial_auc", early)):
            values = [_mean(some, metric) if some else None for some in theirs]
            cells += largest_bold([value, *values, _mean(ours, metric)])
        cells.insert(len(others) + 3, f"{100 * low:+.2f} to {100 * high:+.2f}")
        rows.append(cells)
    names = ["best of four", *others, OURS]
    head = ["table", *names, "less the best, points"]
    head += [f"{name}, partial AUC" for name in names]
    means, lows, highs, earlies = np.array(apart).reshape(-1, 4).T
    counts = (means >= 0, lows > 0, highs < 0, earlies >= 0)
    return Table(head, rows), Table(
        ["at least as good", "clearly above", "clearly below", "partial AUC as good"],
        [[str(count.sum()) for count in counts]],
    )
