"""One thread for products while anyone needs it, and as many as before after that."""

import os
import subprocess
import sys

import pytest

COMMON = """
import threading
import numpy as np
import scipy.linalg  # brings a BLAS of its own
from threadpoolctl import threadpool_info
from aucmax import MarginRanker
from aucmax._core.threads import one_blas_thread

def blas_threads():
    libraries = [one for one in threadpool_info() if one["user_api"] == "blas"]
    return {one["num_threads"] for one in libraries}

before = blas_threads()
"""
FAILURE = """
try:
    with one_blas_thread():
        seen = blas_threads()
        raise KeyError
except KeyError:
    pass
"""
TWO_USERS = """
second_is_in, first_is_out = threading.Event(), threading.Event()

def second():
    global seen
    with one_blas_thread():
        second_is_in.set()
        first_is_out.wait(10.0)
        seen = blas_threads()

thread = threading.Thread(target=second)
with one_blas_thread():
    thread.start()
    assert second_is_in.wait(10.0)
first_is_out.set()
thread.join()
with one_blas_thread():  # OpenBLAS listens to the main thread alone
    pass
"""
FIT = """
seen = before

def look(progress):
    global seen
    seen = min(seen, blas_threads(), key=max)

rng = np.random.default_rng(0)
X = rng.normal(size=(80, {n_columns}))
y = X[:, 0] + rng.normal(size=80) > 0.0
MarginRanker({hypotheses!r}, "instances", 0.1, callback=look).fit(X, y)
"""
FITS = {
    "stumps": FIT.format(n_columns=5, hypotheses="stumps"),
    "many columns": FIT.format(n_columns=500, hypotheses="signed"),
}
REPORT = "print(max(before), max(seen), blas_threads() == before, flush=True)\n"


@pytest.mark.slow
@pytest.mark.parametrize("fit", FITS)
def test_products_use_one_thread_inside_and_as_many_as_before_after_that(fit):
    # the tests themselves run with one thread
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "2", "OMP_NUM_THREADS": "2"}
    scripts = {"a block that fails": FAILURE, "two users": TWO_USERS, fit: FITS[fit]}
    code = COMMON + "".join(script + REPORT for script in scripts.values())
    ran = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env=environment,
    )
    if ran.stdout.startswith("1"):
        pytest.skip("the BLAS of this machine has no threads to limit")
    results = dict(zip(scripts, ran.stdout.splitlines(), strict=True))
    assert results == dict.fromkeys(scripts, "2 1 True")
