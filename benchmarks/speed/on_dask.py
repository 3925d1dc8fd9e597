"""Rows on two worker processes against one process; trees against xgboost.dask."""

from collections.abc import Iterator
from contextlib import contextmanager
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
