"""Peak memory of a fit beyond what the process held before, over that of its rows."""

import resource
from collections.abc import Callable

import numpy as np

from aucmax import AUCSVC, AutoRanker
from benchmarks.gates import gate
from benchmarks.speed.on_dask import in_parts, rows, two_workers


def peak_bytes() -> int:
    """Return the most memory that this process has held so far."""
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def growth(fit: Callable[[np.ndarray, np.ndarray], object], n_rows: int) -> float:
    """Return by how many times the memory of the rows a fit raises the peak."""
    X, y = rows(n_rows, 30)
    fit(X[:2000], y[:2000])  # loads and compiles
    before = peak_bytes()
    fit(X, y)
    return (peak_bytes() - before) / X.nbytes


@gate("memory of AUCSVC / its float32 rows, 10^6 x 30", at_most=6.0)
def auc_svc() -> float:
    return growth(lambda X, y: AUCSVC().fit(X, y), 1_000_000)


@gate("memory of AutoRanker / its float32 rows, 200,000 x 30", at_most=20.0)
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
        before = sum(client.run(peak_bytes).values())
        data, labels = in_parts(client, X, y)
        AUCSVC().fit(data, labels)
        return (sum(client.run(peak_bytes).values()) - before) / X.nbytes
