"""Time and size of AutoRanker's scoring beside its best single model."""

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import aucmax
from aucmax import AutoRanker
from benchmarks.report import Report
from benchmarks.speed.tables import table

TITLE = "Time and size of AutoRanker's scoring"
N_TRAIN, N_COLUMNS, N_TESTED = 3000, 30, 100_000


def run(report: Report) -> None:
    """Measure the combination, the compact one, and the best single model."""
    X, y = table(N_TRAIN + N_TESTED, N_COLUMNS)
    known = X[:N_TRAIN], y[:N_TRAIN]
    whole = AutoRanker(time_limit=None).fit(*known)
    board = whole.leaderboard().slice(1).sort("metric", descending=True)
    best = board["model"][0]
    models = {
        "combination": whole,
        "compact": AutoRanker(time_limit=None, compact=True).fit(*known),
        best: AutoRanker(models=[best], time_limit=None).fit(*known),
    }
    new, truth = X[N_TRAIN:], y[N_TRAIN:]
    for name, model in models.items():
        with TemporaryDirectory() as folder:
            path = Path(folder, "model.aucmax")
            aucmax.save(model, path)
            report.add(f"{name}: file", path.stat().st_size / 1e6, "MB")
        one = _best(partial(model.decision_function, new[:1]), 50)
        many = _best(partial(model.decision_function, new), 3)
        report.add(f"{name}: models", len(model.members_), "")
        report.add(f"{name}: one row", 1000 * one, "ms")
        report.add(f"{name}: 10^5 rows", many, "s")
        report.add(f"{name}: AUC of 10^5 new rows", model.score(new, truth), "")


def _best(call: Callable[[], object], repeats: int) -> float:
    """Return the shortest seconds of several calls."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)
