"""Rows in parts on two worker processes: what the parts cost, and workers that die.

On one machine nothing gets faster by it; what counts is the overhead.
"""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib import import_module
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from aucmax import AUCSVC
from aucmax.cli.row_storage import LOOPBACK
from aucmax.metrics import roc_auc_score
from benchmarks.harness import Report, timed

try:
    import dask.array as da
    from distributed import Client, LocalCluster, wait
except ImportError:  # an extra: the report says so
    da = None

TITLE = "Dask: linear fits, kills of workers, exact AUC"
N_ROWS = int(float(os.environ.get("AUCMAX_ROWS", "1e7")))
N_COLUMNS = 20
N_PARTS = 20
N_KILLS = 15


def run(report: Report) -> None:
    import_module("distributed")
    linear_fit(report)
    kills(report)
    exact_auc(report)


@contextmanager
def cluster() -> Iterator[tuple[Any, Any]]:
    """Start two workers of one thread each."""
    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, scheduler_kwargs=LOOPBACK
        ) as started,
        Client(started) as client,
    ):
        yield started, client


def parts(n_rows: int, n_columns: int, dtype: str = "float32") -> tuple[Any, Any]:
    """Return features and labels that the workers make from seeds."""

    def block(block_info: Any = None) -> np.ndarray:
        (start, end), _ = block_info[None]["array-location"]
        generator = np.random.default_rng(start)
        return generator.standard_normal((end - start, n_columns), dtype)

    def label(rows: np.ndarray) -> np.ndarray:
        noise = np.random.default_rng(len(rows)).standard_normal(len(rows))
        return rows[:, 0] + 0.5 * rows[:, 1] + noise > 1.5

    chunks = ((n_rows // N_PARTS,) * N_PARTS, (n_columns,))
    X = da.map_blocks(block, chunks=chunks, dtype=dtype)
    return X, X.map_blocks(label, drop_axis=1, dtype=bool)


def linear_fit(report: Report) -> None:
    """Compare a fit on two workers of a thread with local ones, of two and of one."""
    part = N_ROWS * N_COLUMNS * 4 / 2
    with cluster() as (_, client):
        AUCSVC().fit(*parts(20_000, N_COLUMNS))  # loads and compiles
        empty = client.run(memory_in_use)
        X, y = client.persist(parts(N_ROWS, N_COLUMNS))
        wait([X, y])
        before = memory_in_use()
        with watched_memory() as here, ExitStack() as stack:
            there = [
                stack.enter_context(watched_memory(pid))
                for pid in client.run(os.getpid).values()
            ]
            seconds, parted = timed(lambda: AUCSVC().fit(X, y))
        per_row = (max(here) - before) / N_ROWS
        on_worker = max(
            (max(seen) - start) / part
            for seen, start in zip(there, empty.values(), strict=True)
        )
        rows, labels = X.compute(), y.compute()
    shape = f"{N_ROWS:.0e} x {N_COLUMNS}"
    for n_threads, target in ((2, 1.6), (1, None)):
        with threadpool_limits(n_threads):
            local_seconds, local = timed(lambda: AUCSVC().fit(rows, labels))
        name = f"{shape}: time against a local fit of BLAS with {n_threads} threads"
        report.add(name, seconds / local_seconds, at_most=target)
    report.add(f"{shape}: client memory", per_row, unit="bytes a row", at_most=40)
    report.add(f"{shape}: worker memory by its part", on_worker, at_most=1.3)
    report.add("passes", parted.n_passes_, unit="passes")
    difference = np.abs(parted.coef_ - local.coef_).max() / np.abs(local.coef_).max()
    report.add("difference of weights (float32)", float(difference), unit="of 1")


@contextmanager
def watched_memory(pid: int | None = None) -> Iterator[list[float]]:
    """Note the memory that a process has, by default this one, every few moments."""
    seen, is_over = [memory_in_use(pid)], threading.Event()

    def look() -> None:
        while not is_over.wait(0.05):
            seen.append(memory_in_use(pid))

    watcher = threading.Thread(target=look, daemon=True)
    watcher.start()
    try:
        yield seen
    finally:
        is_over.set()
        watcher.join()


def memory_in_use(pid: int | None = None) -> float:
    """Return the bytes that a process has of its own."""
    import psutil  # of distributed

    return float(psutil.Process(pid).memory_info().rss)


def kills(report: Report) -> None:
    """Kill workers during a fit, one after the other."""
    with (
        LocalCluster(
            n_workers=0, scheduler_kwargs=LOOPBACK, silence_logs="error"
        ) as scheduler,
        Client(scheduler) as client,
        Mortals(client) as mortals,
    ):
        X, y = parts(200_000, 10, "float64")
        undisturbed = AUCSVC(1000.0, tol=1e-6).fit(X, y)
        seconds, model = timed(
            lambda: AUCSVC(1000.0, tol=1e-6, callback=mortals.kill_some).fit(X, y)
        )
    n_kills = mortals.n_kills
    report.add("workers killed in one fit", n_kills, unit="", at_least=N_KILLS)
    report.add("seconds of that fit", seconds, unit="s")
    is_equal = np.array_equal(model.coef_, undisturbed.coef_)
    report.add("bit-equal to an undisturbed fit", float(is_equal), unit="", at_least=1)


class Mortals:
    """Two workers without nannies, who give up after a few deaths."""

    def __init__(self, client: Any) -> None:
        self.client = client
        self.n_kills = 0
        self._workers: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> "Mortals":
        self._start()
        self._start()
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._workers:
            worker.kill()
            worker.wait()

    def kill_some(self, progress: object) -> None:
        """Kill a worker, and again when another is up in its place."""
        for _ in range(3):  # so that a fit of few iterations has kills enough
            if self.n_kills < N_KILLS:
                self.client.wait_for_workers(2, timeout=120)
                victim = self._workers.pop(0)
                victim.kill()
                victim.wait()
                self._start()
                self.n_kills += 1

    def _start(self) -> None:
        address = self.client.scheduler.address
        settings = [
            "--no-nanny",
            "--nthreads",
            "1",
            "--no-dashboard",
            "--host",
            "127.0.0.1",
        ]
        self._workers.append(
            subprocess.Popen(
                [sys.executable, "-m", "dask", "worker", address, *settings],
                stderr=subprocess.DEVNULL,
            )
        )


def exact_auc(report: Report) -> None:
    """Compare the exact AUC with sorting the parts."""
    for share, name in ((0.01, "1 % positive"), (0.5, "half of them positive")):
        with cluster() as (_, client):
            y, scores = client.persist(labelled_scores(10 * N_ROWS, share))
            roc_auc_score(y[:1000], scores[:1000])  # loads and compiles
            sorting, _ = timed(scores.map_blocks(sorted_size).compute)
            seconds, _ = timed(lambda: roc_auc_score(y, scores))  # noqa: B023
        report.add(
            f"{10 * N_ROWS:.0e} scores, {name}: time against sorting the parts",
            seconds / sorting,
            at_most=3.0,
        )


def labelled_scores(n_rows: int, share: float) -> tuple[Any, Any]:
    """Return labels and scores that the workers make from seeds."""
    chunks = (n_rows // N_PARTS,)
    generator = da.random.default_rng(0)
    y = generator.random(n_rows, chunks=chunks) < share
    return y, generator.normal(size=n_rows, chunks=chunks) + y


def sorted_size(block: np.ndarray) -> np.ndarray:
    """Sort a block, and return next to nothing."""
    return np.sort(block)[:1]
