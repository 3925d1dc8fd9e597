"""Models of censored times on 34 tables and published folds: docs/studies/survival.md.

The protocol, written before the run, is on that page. Tables are looked for in the
folders ``survival`` and ``survival_judge`` of ``AUCMAX_DATA``. If ``AUCMAX_RESULTS``
names a folder, each table becomes a file there, and what is there already is not run
again.
"""

import time
import warnings
from functools import partial
from typing import Any

import numpy as np
import polars as pl
from sklearn.pipeline import make_pipeline

from aucmax import AUCSVC, AutoRanker, LinearRankerCV
from aucmax.metrics import concordance_index, survival_target
from aucmax.tables import TableEncoder
from benchmarks.papers.data import FOLDER
from benchmarks.papers.tables.study import clocks_of_the_process
from benchmarks.report import Report, stored

TITLE = "Models of censored times, by Harrell's C on published folds"
FOLDERS = (FOLDER / "survival", FOLDER / "survival_judge")
MODELS: dict[str, Any] = {
    "AutoRanker": AutoRanker(time_limit=30.0),
    "LinearRankerCV": make_pipeline(TableEncoder(), LinearRankerCV()),
    "AUCSVC cox": make_pipeline(TableEncoder(), AUCSVC(loss="cox")),
}
# a level with a smaller share is merged, but five levels are always kept
MIN_SHARE, MIN_LEVELS = 0.05, 5


def run(report: Report) -> None:
    published = read_published()
    print(f"{'table':<18}", *MODELS, "best of 21; ranks")
    for folder in FOLDERS:
        rows = []
        for path in sorted(folder.glob("*.folds.csv.gz")):
            name = path.name.removesuffix(".folds.csv.gz")
            result = stored(f"survival-{name}", partial(measure_table, folder, name))
            learners = published[name]
            ours = [result[model] for model in MODELS]
            ranks = [1 + sum(c > our for c in learners.values()) for our in ours]
            best = max(learners, key=learners.__getitem__)
            shown = " ".join(f"{our:.4f}" for our in ours)
            print(f"{name:<18} {shown} {best} {learners[best]:.4f}; {ranks}")
            rows.append([*ours, *ranks, *learners.values()])
        means = np.mean(rows, axis=0)
        for model, c, rank in zip(MODELS, means, means[len(MODELS) :], strict=False):
            report.add(f"{folder.name}: {model}, rank {rank:.1f}", c, "")
        report.add(f"{folder.name}: best of 21", means[2 * len(MODELS) :].max(), "")


def read_published() -> dict[str, dict[str, float]]:
    """Return the published mean C of each learner, of each table.

    A failed fit counts as 0.5, as published; so do the two that rank nothing.
    """
    old = pl.read_csv(FOLDERS[0] / "published.csv").rename({"learner_id": "learner"})
    judge = pl.read_csv(FOLDERS[1] / "published.csv.gz")
    judge = judge.group_by("table", "learner").agg(pl.col("harrell_c").mean())
    names = old["learner"].unique().to_list()
    found: dict[str, dict[str, float]] = {}
    for part in (old, judge):
        for row in part.iter_rows(named=True):
            learners = found.setdefault(row["table"], dict.fromkeys(names, 0.5))
            learners[row["learner"]] = row["harrell_c"]
    return found


def measure_table(folder: Any, name: str) -> dict[str, float]:
    """Return the mean C of each model, and the mean seconds of AutoRanker."""
    table = pl.read_csv(folder / f"{name}.csv.gz", infer_schema_length=None)
    folds = pl.read_csv(folder / f"{name}.folds.csv.gz")
    tests = folds.partition_by("iteration")
    results = [measure_iteration(table, one["row_id"].to_numpy() - 1) for one in tests]
    return {k: float(np.mean([one[k] for one in results])) for k in results[0]}


def measure_iteration(table: pl.DataFrame, test: np.ndarray) -> dict[str, float]:
    """Return the C of each model on the test rows of one iteration."""
    train = np.setdiff1d(np.arange(table.height), test)
    y = survival_target(table["status"], table["time"])
    X = merge_rare_levels(table.drop("time", "status"), train)
    # pairs count if t_i < t_j: at equal times, a censored row is put just before
    _, order = np.unique(y["time"][test], return_inverse=True)
    times = 2 * order + y["event"][test]
    outcome: dict[str, float] = {}
    for title, model in MODELS.items():
        start = time.process_time()
        try:
            # a limit of seconds of the processor is the same on a busy machine
            with warnings.catch_warnings(action="ignore"), clocks_of_the_process():
                model.fit(X[train], y[train])
                scores = model.decision_function(X[test])
            outcome[title] = concordance_index(y["event"][test], times, scores)
        except Exception as error:  # counts as in the published figures
            print(f"{title} failed: {error!r}")
            outcome[title] = 0.5
        if title == "AutoRanker":
            outcome["seconds"] = time.process_time() - start
    return outcome


def merge_rare_levels(X: pl.DataFrame, train: np.ndarray) -> pl.DataFrame:
    """Merge rare levels of the training rows into the smallest one that is kept."""
    for name in X.select(pl.col(pl.String)).columns:
        counts = X[name][train].drop_nulls().value_counts(sort=True)
        n_kept = max((counts["count"] >= MIN_SHARE * train.size).sum(), MIN_LEVELS)
        kept = counts[name][:n_kept].to_list()
        is_rare = X[name].is_not_null() & ~X[name].is_in(kept)
        X = X.with_columns(X[name].set(is_rare, kept[-1]))
    return X
