"""Tests that need worker processes: their deaths, and memory that is missing."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

pytest.importorskip("distributed", reason="Dask is not installed")

import dask
import dask.array as da
from distributed import Client

from aucmax import AUCSVC
from aucmax.metrics import roc_auc_score
from on_dask.parts import local_cluster

PAST_MEMORY = """
import resource
import dask
import dask.array as da
import numpy as np
from aucmax import AUCSVC

def block(block_info=None):
    (start, end), (_, width) = block_info[None]["array-location"]
    return np.random.default_rng(start).normal(size=(end - start, width))

def in_use():
    lines = open("/proc/self/status").read().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if "VmData" in line)

dask.config.set(scheduler="synchronous")
X = da.map_blocks(block, chunks=((2000,) * 20, (200,)), dtype=float)  # 64 MB
y = X[:, 0].compute() + X[:, 1].compute() > 1.0
small = AUCSVC().fit(X[:4000], y[:4000])  # loads and compiles
limit = in_use() + 40_000_000
resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
print(AUCSVC().fit(X, y).n_passes_)
try:
    X.compute()
except MemoryError:
    print("more than memory holds")
"""


def printed_lines(script, environment):
    """Run a script in a new process, and return what it prints."""
    command = [sys.executable, "-c", script]
    env = {**os.environ, **environment}
    return subprocess.check_output(command, env=env, text=True).splitlines()


@pytest.mark.skipif(sys.platform != "linux", reason="limits of memory are Linux's")
def test_a_fit_reads_more_rows_than_memory_holds():
    threads = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    passes, confession = printed_lines(PAST_MEMORY, threads)
    assert float(passes) > 1.0
    assert confession == "more than memory holds"


@pytest.mark.filterwarnings("ignore")  # of Dask, about what it has lost
def test_a_fit_survives_the_death_of_workers_bit_for_bit():
    def block(block_info=None):
        start, end = block_info[None]["array-location"][0]
        generator = np.random.default_rng(start)
        values = generator.normal(size=(end - start, 5))
        values[:, 4] += values[:, 0] - 1.0
        return values

    table = da.map_blocks(block, chunks=((2000,) * 5, (5,)), dtype=float)
    X, y = table[:, :4], table[:, 4] > 0.0
    with dask.config.set(scheduler="synchronous"):
        alone = AUCSVC(1000.0, tol=1e-5).fit(X, y)
    killed = []
    with (
        local_cluster() as cluster,
        Client(cluster) as client,
    ):

        def kill(progress):
            if len(killed) < 2 and len(client.scheduler_info()["workers"]) == 2:
                worker = cluster.workers[len(killed)]
                killed.append(worker.pid)
                os.kill(worker.pid, signal.SIGKILL)

        model = AUCSVC(1000.0, tol=1e-5, callback=kill).fit(X, y)
    assert killed
    np.testing.assert_array_equal(model.coef_, alone.coef_)
    np.testing.assert_array_equal(model.intercept_, alone.intercept_)
    assert model.n_passes_ == alone.n_passes_


@pytest.mark.filterwarnings("ignore")  # of Dask, about what it has lost
def test_a_partition_that_kills_every_worker_is_named_within_seconds():
    def block(block_info=None):
        start, end = block_info[None]["array-location"][0]
        if start == 3000:
            os._exit(1)
        return np.random.default_rng(start).normal(size=(end - start, 3))

    X = da.map_blocks(block, chunks=((1000,) * 6, (3,)), dtype=float)
    y = np.random.default_rng(0).random(6000) < 0.5
    with (
        local_cluster(silence_logs="CRITICAL") as cluster,
        Client(cluster),
    ):
        start = time.monotonic()
        message = r"workers died, .* while they computed .*partition 3 of "
        with pytest.raises(RuntimeError, match=message):
            roc_auc_score(y, X[:, 0])
        assert time.monotonic() - start < 100.0  # 15 s without load; it was 314 s
