"""Threads, forks and Ctrl-C: what fits meet outside a quiet interpreter."""

import multiprocessing
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from aucmax import AUCSVC, LevelSumRanker
from builders import linear_rows

ENDLESS_FIT = """
import numpy as np
from aucmax import AUCSVC

X = np.random.default_rng(0).normal(size=(20_000, 50))
y = np.random.default_rng(1).random(20_000) < 0.2
AUCSVC(1e8, tol=1e-300, max_iter=10**9, solver="{solver}",
       callback=lambda progress: print("going", flush=True)).fit(X, y)
"""


def data(n_rows=3000):
    return linear_rows(n_rows, 12, cut=1.0)


@pytest.mark.parametrize("solver", ["newton", "bundle", "subgradient"])
def test_many_threads_may_fit_and_score_at_once(solver):
    X, y = data()
    expected = AUCSVC(solver=solver).fit(X, y).decision_function(X)

    def fit_and_score(_):
        return AUCSVC(solver=solver).fit(X, y).decision_function(X)

    with ThreadPoolExecutor(8) as pool:
        for scores in pool.map(fit_and_score, range(32)):
            np.testing.assert_allclose(scores, expected, rtol=1e-9, atol=1e-9)


def _fit_in_child(queue):
    X, y = data()
    queue.put(AUCSVC().fit(X, y).objective_)


@pytest.mark.skipif(
    "fork" not in multiprocessing.get_all_start_methods(), reason="no fork here"
)
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_a_forked_child_can_fit_after_its_parent_did():
    X, y = data()
    expected = AUCSVC().fit(X, y).objective_
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=_fit_in_child, args=(queue,))
    child.start()
    try:
        assert queue.get(timeout=60) == pytest.approx(expected, rel=1e-9)
        child.join(timeout=60)
        assert child.exitcode == 0
    finally:
        child.kill()


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="SIGINT is not sent alike there")
@pytest.mark.parametrize("solver", ["newton", "bundle", "subgradient"])
def test_ctrl_c_ends_a_fit_at_once(solver):
    child = subprocess.Popen(
        [sys.executable, "-c", ENDLESS_FIT.format(solver=solver)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        for _ in range(3):
            assert child.stdout.readline() == "going\n"
        child.send_signal(signal.SIGINT)
        # the fit would never end; a machine may be so busy that this takes a while
        _, errors = child.communicate(timeout=300)
        assert "KeyboardInterrupt" in errors
    finally:
        child.kill()


def test_an_interrupted_fit_leaves_an_unfitted_model_unfitted():
    X, y = data(200)
    model = AUCSVC(callback=interrupt)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    with pytest.raises(NotFittedError):
        model.decision_function(X)


def interrupt(progress):
    raise KeyboardInterrupt


@pytest.mark.parametrize("ranker", [AUCSVC(), LevelSumRanker(AUCSVC())])
@pytest.mark.parametrize("columns", [12, 5])
def test_a_refit_that_ends_early_leaves_the_model_as_it_was(ranker, columns):
    X, y = data(200)
    frame = pd.DataFrame(X).add_prefix("x")
    model = clone(ranker).fit(frame, y)
    machine = model if isinstance(model, AUCSVC) else model.estimator
    machine.set_params(callback=interrupt)
    before = dict(vars(model))
    scores = model.decision_function(frame)
    spoilt = X[:, :columns].copy()
    spoilt[7, 3] = np.nan
    for X_new, error in (
        (X[:, :columns], KeyboardInterrupt),
        (spoilt, ValueError),
        (X[:100, :columns], ValueError),
    ):
        with pytest.raises(error):
            model.fit(X_new, y.astype(int))
    after = vars(model)
    assert after.keys() == before.keys()
    assert all(after[name] is before[name] for name in before)
    np.testing.assert_array_equal(model.decision_function(frame), scores)
