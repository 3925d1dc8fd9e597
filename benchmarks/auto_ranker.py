"""AutoRanker: seconds, the time limit, and memory."""

import resource
import time

import numpy as np

from aucmax import AutoRanker
from benchmarks.harness import Report, timed

TITLE = "AutoRanker"


def table(n_rows: int, n_columns: int = 30) -> tuple[np.ndarray, np.ndarray]:
    """Make a table with lines, products and noise."""
    generator = np.random.default_rng(0)
    X = generator.normal(size=(n_rows, n_columns))
    strength = X[:, 0] + X[:, 1] * X[:, 2] + np.sin(2 * X[:, 3])
    return X, strength + generator.logistic(size=n_rows) > 1.0


def seconds(report: Report) -> None:
    """Time everything, the first model, and whether limits are kept."""
    X, y = table(3000)
    moments = []
    AutoRanker(models=["logistic regression"]).fit(X, y)  # compiles
    start = time.process_time()
    model = AutoRanker(
        time_limit=None, callback=lambda _: moments.append(time.process_time())
    )
    model.fit(X, y)
    report.add(
        "3,000 x 30, everything, seconds of the processor",
        time.process_time() - start,
        "s",
        at_most=40,
    )
    report.add("the first model", moments[1] - start, "s", at_most=5)
    for limit in (5.0, 10.0):
        taken, _ = timed(lambda limit=limit: AutoRanker(time_limit=limit).fit(X, y))
        report.add(f"time_limit={limit:g}", taken, "s", at_most=limit + 3.0)


def memory(report: Report) -> None:
    """Measure the peak of the process with a million rows, less what it had before."""
    X, y = table(1_000_000)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    taken, model = timed(lambda: AutoRanker(time_limit=60.0).fit(X, y))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    report.add("10^6 x 30, seconds with time_limit=60", taken, "s", at_most=72)
    report.add("peak of memory over the data", 1024 * peak / X.nbytes, at_most=4)
    report.add("AUC", model.estimate_["auc"])


def run(report: Report) -> None:
    seconds(report)
    memory(report)
