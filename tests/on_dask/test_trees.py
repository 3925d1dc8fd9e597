"""Trees on Dask: pairs of all workers, and a model like any other."""

import os
import signal
import threading
import time

import numpy as np
import pytest

da = pytest.importorskip("dask.array", reason="dask is not installed")
distributed = pytest.importorskip("distributed", reason="distributed is not installed")
pytest.importorskip("xgboost", reason="XGBoost is not installed")

import dask.dataframe as dd
import pandas as pd
from scipy import sparse

import aucmax
from aucmax import LambdaMART
from aucmax._core.eval_set import LabelledRows
from aucmax._core.validation import check_qid
from aucmax.dask.tree_worker import TreeJob
from aucmax.metrics import ordinal_auc_score
from aucmax.trees.pair_objectives import OBJECTIVES
from on_dask.parts import cut as in_parts
from on_dask.parts import local_cluster

# the sockets of a cluster are closed when it likes to
pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture(scope="module")
def cluster():
    with local_cluster() as workers, distributed.Client(workers):
        yield workers


def rows(seed=0, n_rows=1500, n_columns=5):
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(n_rows, n_columns))
    y = X[:, 0] * X[:, 1] + X[:, 2] + 0.5 * generator.normal(size=n_rows) > 1.0
    return X, y.astype(int)


def cut(values):
    return in_parts(values, -(-len(values) // 5))


# --- the gradient, on threads that stand for workers


class Together:
    """Sums over threads, in place of those over workers."""

    def __init__(self, n):
        self.barrier, self.lock, self.terms = threading.Barrier(n), threading.Lock(), []

    def allreduce(self, values, op):
        with self.lock:
            self.terms.append(values)
        self.barrier.wait()
        return np.sum(self.terms, axis=0)


@pytest.mark.parametrize("objective", ["logistic", "auc", "pauc", "ordinal", "mauc"])
@pytest.mark.parametrize("weighted", [False, True])
def test_workers_that_exchange_scores_have_the_gradient_of_all_pairs(
    objective, weighted, monkeypatch
):
    generator = np.random.default_rng(1)
    is_levels = OBJECTIVES[objective].labels == "levels"
    labels = generator.integers(0, 3 if is_levels else 2, 90)
    queries = check_qid(generator.integers(0, 7, 90), 90) if is_levels else None
    weights = generator.random(90) if weighted else None
    scores = np.round(generator.normal(size=90), 1)
    chosen = np.flatnonzero(np.arange(90) % 10)  # the others have no weight
    risk = OBJECTIVES[objective].risk()
    rows = LabelledRows(np.arange(90), labels, weights, queries).part(chosen)
    job = TreeJob(risk, rows, np.array([0, 40, 90]))
    monkeypatch.setattr("xgboost.collective.allreduce", Together(2).allreduce)
    gradient = np.zeros((2, 90))

    def work(numbers):
        gradient[:, numbers] = job.gradient_hessian_at(numbers)(scores[numbers])

    parts = np.split(generator.permutation(90), [35])
    workers = [threading.Thread(target=work, args=(numbers,)) for numbers in parts]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(timeout=60)
    pairs = risk.bind(rows.labels, rows.weight, rows.codes)
    expected = pairs.gradient_hessian(scores[chosen], scaled=True)
    np.testing.assert_allclose(gradient[:, chosen], expected, rtol=1e-12, atol=1e-14)
    assert not gradient[:, ::10].any()


# --- fits


def test_a_fit_ranks_like_a_local_one_and_is_a_model_like_any_other(cluster, tmp_path):
    X, y = rows()
    new, new_y = rows(1)
    local = LambdaMART(n_estimators=40).fit(X, y)
    model = LambdaMART(n_estimators=40).fit(cut(X), cut(y))
    assert model.n_iter_ == 40
    assert model.classes_.tolist() == [0, 1]
    score = model.score(new, new_y)
    assert score == pytest.approx(local.score(new, new_y), abs=0.02)
    assert score > 0.85
    aucmax.save(model, tmp_path / "model.aucmax")
    again = aucmax.load(tmp_path / "model.aucmax")
    np.testing.assert_array_equal(
        again.decision_function(new), model.decision_function(new)
    )
    assert set(model.predict(new)) == {0, 1}
    in_parts = model.decision_function(cut(new))
    np.testing.assert_array_equal(in_parts.compute(), model.decision_function(new))
    np.testing.assert_array_equal(model.predict(cut(new)).compute(), model.predict(new))
    assert model.score(cut(new), cut(new_y)) == pytest.approx(score, abs=1e-12)


def test_frames_have_names_and_levels_may_be_in_queries_anywhere(cluster):
    X, _ = rows()
    levels = np.digitize(X[:, 0] + X[:, 1], [-1.0, 0.5])
    qid = np.random.default_rng(3).integers(0, 60, len(X))  # none in one partition
    names = [f"x{k}" for k in range(5)]
    frame = pd.DataFrame(X, columns=names).assign(level=levels, qid=qid)
    data = dd.from_pandas(frame, npartitions=4)
    model = LambdaMART("ordinal", n_estimators=30).fit(
        data[names], data["level"], qid=data["qid"]
    )
    assert list(model.feature_names_in_) == names
    assert model.levels_.tolist() == [0, 1, 2]
    score = ordinal_auc_score(levels, model.decision_function(frame[names]), qid=qid)
    assert score > 0.9


def test_rows_of_sparse_blocks_are_scored_as_they_were_trained(cluster):
    # XGBoost takes absent values as missing: that they are absent matters here
    X, _ = rows(seed=3)
    X[np.random.default_rng(3).random(X.shape) < 0.7] = 0.0
    y = (X[:, 0] != 0.0) * 1
    model = LambdaMART(n_estimators=40)
    local = model.fit(X, y).score(X, y)
    model.fit(cut(X).map_blocks(sparse.csr_matrix), cut(y))
    assert model.score(X, y) > local - 0.005
    scores = model.decision_function(X)
    np.testing.assert_allclose(
        model.decision_function(sparse.csr_matrix(X)), scores, rtol=1e-12
    )


# --- deaths and limits


def test_a_killed_worker_ends_the_fit_with_directions():
    X, y = rows()

    def kill(progress):
        if progress.n_iter > 1:
            return
        client = distributed.get_client()
        holder = next(who for who, rows in client.has_what().items() if rows)
        os.kill(client.run(os.getpid, workers=[holder])[holder], signal.SIGKILL)

    with local_cluster() as workers, distributed.Client(workers):
        model = LambdaMART(n_estimators=60, callback=kill)
        with pytest.raises(RuntimeError, match="workers were lost while they grew"):
            model.fit(cut(X), cut(y))


def test_time_is_kept_and_the_trees_by_then(cluster):
    X, y = rows()
    model = LambdaMART(n_estimators=100_000, max_time=1.0).fit(cut(X), cut(y))
    assert model.stop_reason_ == "max time"
    assert 0 < model.n_iter_ < 100_000


def wait_for_idle_workers(client):
    deadline = time.monotonic() + 10.0
    while sum(client.run(lambda dask_worker: len(dask_worker.active_threads)).values()):
        assert time.monotonic() < deadline, "workers are still busy"
        time.sleep(0.05)


def test_a_callback_ends_a_fit_with_the_trees_so_far(cluster):
    X, y = rows()
    told = []

    def stop(progress):
        told.append(progress.n_iter)
        return progress.n_iter == 7

    model = LambdaMART(n_estimators=100_000, callback=stop).fit(cut(X), cut(y))
    assert told == [1, 2, 3, 4, 5, 6, 7]
    assert (model.n_iter_, model.stop_reason_) == (7, "callback")
    whole = LambdaMART(n_estimators=7).fit(cut(X), cut(y))
    np.testing.assert_array_equal(
        model.decision_function(X), whole.decision_function(X)
    )


def test_an_interrupted_fit_leaves_the_workers_free(cluster):
    X, y = rows()

    def interrupt(progress):
        raise KeyboardInterrupt

    model = LambdaMART(n_estimators=100_000, callback=interrupt)
    with pytest.raises(KeyboardInterrupt):
        model.fit(cut(X), cut(y))
    assert not hasattr(model, "n_iter_")
    wait_for_idle_workers(distributed.get_client())


# --- what is wrong


X, Y = rows(n_rows=200)
BAD = {
    "no rows": (lambda: (cut(X)[:0], cut(Y)[:0]), "no rows"),
    "infinity": (
        lambda: (cut(np.where(np.arange(200)[:, None] == 150, np.inf, X)), cut(Y)),
        "In partition 3: Input X contains infinity in row 30, column 0",
    ),
    "fewer labels": (lambda: (cut(X), cut(Y[:150])), "200 rows but y has 150"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_rows_are_named(cluster, name):
    make, message = BAD[name]
    rows, labels, *rest = make()
    options = dict(zip(("sample_weight", "qid"), rest, strict=False))
    with pytest.raises((ValueError, TypeError), match=message):
        LambdaMART(n_estimators=2).fit(rows, labels, **options)


@pytest.mark.parametrize(
    "settings",
    [
        {"n_iter_no_change": 5},
        {"params": {"max_bin": 63}},
        {"categorical_features": [0]},
    ],
)
def test_settings_that_are_not_possible_say_so(cluster, settings):
    with pytest.raises(ValueError, match="not supported for Dask collections"):
        LambdaMART(n_estimators=2, **settings).fit(cut(X), cut(Y))


def test_without_a_cluster_the_message_says_how_to_start_one():
    code = (
        "import dask.array as da, numpy as np; from aucmax import LambdaMART\n"
        "X = da.zeros((9, 2), chunks=(3, 2)); y = da.arange(9, chunks=3) % 2\n"
        "try: LambdaMART().fit(X, y)\n"
        "except ValueError as error: print(error)"
    )
    import subprocess
    import sys

    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert "distributed.Client()" in ran.stdout
