"""Peak memory of a fit beyond what the process held before, over that of its rows."""

from collections.abc import Callable
from pathlib import Path

import numpy as np

from aucmax import AUCSVC, AutoRanker
from benchmarks.gates import gate
from benchmarks.speed.on_dask import in_parts, rows, two_workers


def forget_peak() -> int:
    """Let the peak begin at the memory held now, on Linux; return that."""
    Path("/proc/self/clear_refs").write_text("5")
    return peak_bytes()


def peak_bytes() -> int:
    """Return the most memory that this process has held since `forget_peak`."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * int(next(x for x in lines if x.startswith("VmHWM")).split()[1])


def growth(fit: Callable[[np.ndarray, np.ndarray], object], n_rows: int) -> float:
    """Return by how many times the memory of the rows a fit raises the peak."""
    X, y = rows(n_rows, 30)
    fit(X[:2000], y[:2000])  # loads and compiles
    before = forget_peak()
    fit(X, y)
    return (peak_bytes() - before) / X.nbytes


@gate("memory of AUCSVC / its float32 rows, 10^6 x 30", at_most=2.5)
def auc_svc() -> float:
    return growth(lambda X, y: AUCSVC().fit(X, y), 1_000_000)


@gate("memory of AutoRanker / its float32 rows, 200,000 x 30", at_most=13.0)
def auto_ranker() -> float:
    models = ["linear", "lightgbm", "lambdamart"]
    return growth(
        lambda X, y: AutoRanker(models=models, time_limit=None, max_fits=6).fit(X, y),
        200_000,
    )


@gate("memory of AUCSVC on two Dask workers / its rows, 10^6 x 30", at_most=10.0)
def dask() -> float:
    X, y = rows(1_000_000, 30)
    with two_workers() as client:
        before = sum(client.run(forget_peak).values())
        data, labels = in_parts(client, X, y)
        AUCSVC().fit(data, labels)
        return (sum(client.run(peak_bytes).values()) - before) / X.nbytes
