"""Time and size of AutoRanker's scoring beside its best single model."""

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl

import aucmax
from aucmax import AutoRanker
from aucmax.datasets import load_demo
from benchmarks.report import Report

TITLE = "Time and size of AutoRanker's scoring"
N_TRAIN, N_SCORED = 3000, 100_000


def run(report: Report) -> None:
    """Measure the combination, the compact one, and the best single model."""
    machines = load_demo()  # raw columns, with text and missing values
    X, y = machines.drop("failed"), machines["failed"].to_numpy()
    known = X[:N_TRAIN], y[:N_TRAIN]
    new, truth = X[N_TRAIN:], y[N_TRAIN:]
    many_rows = pl.concat([new] * (N_SCORED // new.height))
    whole = AutoRanker(time_limit=None).fit(*known)
    board = whole.leaderboard().slice(1).sort("metric", descending=True)
    best = board["model"][0]
    models = {
        "combination": whole,
        "compact": AutoRanker(time_limit=None, compact=True).fit(*known),
        best: AutoRanker(models=[best], time_limit=None).fit(*known),
    }
    for name, model in models.items():
        with TemporaryDirectory() as folder:
            path = Path(folder, "model.aucmax")
            aucmax.save(model, path)
            report.add(f"{name}: file", path.stat().st_size / 1e6, "MB")
        one = _best(partial(model.decision_function, new[:1]), 50)
        many = _best(partial(model.decision_function, many_rows), 3)
        report.add(f"{name}: models", len(model.members_), "")
        report.add(f"{name}: one row", 1000 * one, "ms")
        report.add(f"{name}: 10^5 rows", many, "s")
        report.add(f"{name}: AUC of new rows", model.score(new, truth), "")


def _best(call: Callable[[], object], repeats: int) -> float:
    """Return the fewest processor seconds of several calls."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return min(times)
