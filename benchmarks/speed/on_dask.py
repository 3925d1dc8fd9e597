"""Rows on two worker processes against one process; trees against xgboost.dask.

``python -m benchmarks.speed.on_dask [ROWS ...]`` prints seconds and processor seconds
of both for some numbers of rows, as in docs/user_guide/large_data.md.
"""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from aucmax import AUCSVC, LambdaMART
from benchmarks.gates import gate, ratio

LOOPBACK = {"dashboard": False, "dashboard_address": "127.0.0.1:0"}


@contextmanager
def two_workers() -> Iterator[Any]:
    """Start two workers of one thread each."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            2, threads_per_worker=1, scheduler_kwargs=LOOPBACK, host="127.0.0.1"
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


def in_parts(client: Any, *arrays: np.ndarray) -> list[Any]:
    """Hand the rows to the workers in eight parts."""
    import dask.array as da
    from distributed import wait

    chunk = -(-len(arrays[0]) // 8)
    parts = client.persist([da.from_array(a, (chunk, *a.shape[1:])) for a in arrays])
    wait(parts)
    return parts


def rows(n_rows: int, n_columns: int) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(0)
    X = generator.normal(size=(n_rows, n_columns)).astype(np.float32)
    score = X[:, 0] * X[:, 1] + X[:, 2] + generator.normal(size=n_rows)
    return X, (score > 2.0).astype(int)


@gate("AUCSVC on two workers / one process of two threads, 3 * 10^6 x 20", at_most=1.6)
def linear() -> float:
    X, y = rows(3_000_000, 20)
    with two_workers() as client:
        data, labels = in_parts(client, X, y)
        return ratio(
            lambda: AUCSVC().fit(data, labels), lambda: AUCSVC().fit(X, y), repeats=2
        )


@gate("LambdaMART on two workers / xgboost.dask, 300,000 x 30", at_most=1.8)
def trees() -> float:
    from xgboost import dask as xgboost_dask

    X, y = rows(300_000, 30)
    parameters = {
        "objective": "binary:logistic",
        "tree_method": "hist",
        "grow_policy": "lossguide",
        "max_leaves": 31,
        "max_depth": 0,
    }
    with two_workers() as client:
        data, labels = in_parts(client, X, y)

        def fit_theirs() -> None:
            matrix = xgboost_dask.DaskQuantileDMatrix(client, data, labels)
            xgboost_dask.train(client, parameters, matrix, num_boost_round=50)

        ours = LambdaMART(n_estimators=50, num_leaves=31)
        return ratio(lambda: ours.fit(data, labels), fit_theirs, repeats=1)


def costs(
    local: Callable[[], object], on_workers: Callable[[], object], client: Any
) -> str:
    """Call both twice, in turn; return the fewest seconds, and processor seconds."""
    used = np.empty((2, 2, 3))
    for repeat in range(2):
        for place, call in enumerate((local, on_workers)):
            before = np.array(clocks(client))
            call()
            used[repeat, place] = np.array(clocks(client)) - before
    (here, here_cpu, _), (there, client_cpu, workers_cpu) = used.min(axis=0)
    return (
        f"{here:7.2f} s, on Dask {there:7.2f} s | processor {here_cpu:7.2f} s, on Dask "
        f"{client_cpu:.2f} + {workers_cpu:.2f} s (client + workers), "
        f"{(client_cpu + workers_cpu) / here_cpu:.2f} x"
    )


def clocks(client: Any) -> tuple[float, float, float]:
    """Return the time, and processor seconds of this process and of the workers."""
    workers = client.run(time.process_time).values()
    return time.perf_counter(), time.process_time(), sum(workers)


def fit_files(read: Callable[..., Any], folder: str) -> None:
    """Read all rows of a folder, and fit a model to them."""
    frame = read(folder)
    AUCSVC().fit(frame.drop(columns="y"), frame["y"])


CALLS: dict[str, Callable[[Any, Any], object]] = {
    "AUCSVC": lambda X, y: AUCSVC().fit(X, y),
    "LambdaMART": lambda X, y: LambdaMART(n_estimators=20).fit(X, y),
}


def compare(n_rows: int) -> Iterator[tuple[str, str]]:
    """Yield what one process and two workers take for rows in memory, and in files."""
    import dask.dataframe as dd
    import pandas as pd

    X, y = rows(n_rows, 20)
    with two_workers() as client, TemporaryDirectory() as folder:
        for k, part in enumerate(np.array_split(np.arange(n_rows), 8)):
            frame = pd.DataFrame(X[part]).add_prefix("x").assign(y=y[part])
            frame.to_parquet(Path(folder, f"part-{k}.parquet"))
        data, labels = in_parts(client, X, y)
        for name, call in CALLS.items():
            call(X[:1000], y[:1000])  # compiles
            local, on_dask = partial(call, X, y), partial(call, data, labels)
            yield name, costs(local, on_dask, client)
        on_dask = partial(fit_files, dd.read_parquet, folder)
        local = partial(fit_files, pd.read_parquet, folder)
        yield "AUCSVC from files", costs(local, on_dask, client)


if __name__ == "__main__":
    for size in sys.argv[1:] or ["16e3", "1e5", "1e6", "3e6", "1e7"]:
        for name, found in compare(int(float(size))):
            print(f"{size:>5} rows, {name:<18} {found}", flush=True)
