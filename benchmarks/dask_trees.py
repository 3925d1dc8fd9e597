"""Trees on Dask: against XGBoost's own loss, by base rates of parts, under kills."""

import os
import signal
import threading
import time
from contextlib import contextmanager
from importlib import import_module

import numpy as np

from aucmax import LambdaMART
from aucmax.cli.row_storage import LOOPBACK
from aucmax.metrics import roc_auc_score
from benchmarks.harness import Report

try:
    import dask.array as da
    import distributed
    import xgboost
    from xgboost import dask as xgboost_dask
except ImportError:  # an extra: the report says so
    distributed = None

TITLE = "trees on Dask: two worker processes, one thread each"
SIZE = (1_000_000, 30)
N_ROUNDS, N_PARTS = 50, 8


def run(report: Report) -> None:
    """Time a fit, show why pairs of all workers matter, and kill workers."""
    for name in ("distributed", "xgboost"):
        import_module(name)
    price(report)
    base_rates(report)
    kills(report)


@contextmanager
def two_workers():
    with (
        distributed.LocalCluster(
            2, threads_per_worker=1, scheduler_kwargs=LOOPBACK, host="127.0.0.1"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def rows(n_rows: int, n_columns: int, seed: int = 0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns)).astype(np.float32)
    score = X[:, 0] * X[:, 1] + X[:, 2] + 0.5 * X[:, 3] + rng.normal(size=n_rows)
    return X, (score > 2.0).astype(int)


def parts(values):
    return da.from_array(values, chunks=(-(-len(values) // N_PARTS), *values.shape[1:]))


def price(report: Report) -> None:
    """Compare a fit with that of binary:logistic, and its trees with one worker's."""
    X, y = rows(*SIZE)
    new, new_y = rows(200_000, SIZE[1], seed=1)
    model = LambdaMART(n_estimators=N_ROUNDS, num_leaves=31)
    with two_workers() as client:
        data, labels = client.persist([parts(X), parts(y)])
        distributed.wait([data, labels])
        start = time.perf_counter()
        model.fit(data, labels)
        ours = time.perf_counter() - start
        settings = {
            "objective": "binary:logistic",
            "tree_method": "hist",
            "grow_policy": "lossguide",
            "max_leaves": 31,
            "max_depth": 0,
            "learning_rate": 0.05,
            "colsample_bytree": 0.8,
            "reg_lambda": 3.0,
        }
        start = time.perf_counter()
        matrix = xgboost_dask.DaskQuantileDMatrix(client, data, labels)
        found = xgboost_dask.train(client, settings, matrix, num_boost_round=N_ROUNDS)
        peer = time.perf_counter() - start
        margin = found["booster"].predict(xgboost.DMatrix(new))
        one = client.persist([parts(X).rechunk((-1, -1)), parts(y).rechunk(-1)])
        alone = LambdaMART(n_estimators=N_ROUNDS, num_leaves=31).fit(*one)
    auc = roc_auc_score(new_y, model.decision_function(new))
    report.add(
        f"{SIZE[0]:,} x {SIZE[1]}, {N_ROUNDS} rounds: ours / xgboost.dask",
        ours / peer,
        "x",
        at_most=1.6,
    )
    gain = auc - roc_auc_score(new_y, margin)
    report.add("test AUC less that of binary:logistic", gain, "")
    report.add(
        "test AUC, difference to one worker with all rows",
        abs(auc - roc_auc_score(new_y, alone.decision_function(new))),
        "",
        at_most=1e-3,
    )


def base_rates(report: Report) -> None:
    """Show partitions that differ in their base rate: all pairs against local pairs."""
    rng = np.random.default_rng(0)
    n_rows = 40_000
    place = np.repeat([0.0, 1.0], n_rows // 2)  # the partition, which is a column, too
    X = np.column_stack([place, rng.normal(size=(n_rows, 4))]).astype(np.float32)
    rate = np.where(place == 1.0, 0.3, 0.03)
    y = (rng.random(n_rows) < rate * np.exp(0.5 * X[:, 1] - 0.125)).astype(int)
    order = rng.permutation(n_rows // 2)
    train = np.concatenate([order[:10_000], n_rows // 2 + order[:10_000]])
    test = np.setdiff1d(np.arange(n_rows), train)
    data = da.from_array(X[train], chunks=(10_000, 5))
    labels = da.from_array(y[train], chunks=10_000)
    with two_workers():
        of_all = LambdaMART(n_estimators=N_ROUNDS).fit(data, labels)
    # pairs within a partition only: what a worker by itself can see
    local = LambdaMART("ordinal", n_estimators=N_ROUNDS)
    local.fit(X[train], y[train], qid=place[train])
    found, less = (
        roc_auc_score(y[test], model.decision_function(X[test]))
        for model in (of_all, local)
    )
    report.add("partitions of base rate 3% and 30%: AUC, pairs of all", found, "")
    report.add("... less that of local pairs", found - less, "", at_least=0.0)


def kills(report: Report) -> None:
    """Kill a worker every few seconds while trees grow."""
    X, y = rows(300_000, 30)
    is_over, killed = threading.Event(), []

    def kill(client) -> None:
        while len(killed) < 3 and not is_over.wait(6.0):
            pids = list(client.run(os.getpid, on_error="ignore").values())
            if pids:
                os.kill(pids[0], signal.SIGKILL)
                killed.append(pids[0])

    with two_workers() as client:
        killer = threading.Thread(target=kill, args=(client,), daemon=True)
        killer.start()
        model = LambdaMART(n_estimators=300).fit(parts(X), parts(y))
        is_over.set()
        killer.join()
    report.add("workers killed during a fit of 300 rounds", len(killed), "", at_least=3)
    report.add("rounds grown", model.n_iter_, "", at_least=300)
