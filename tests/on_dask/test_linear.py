"""Linear models fitted to rows in parts are those fitted to the rows."""

from uuid import uuid4

import numpy as np
import pytest

pytest.importorskip("distributed", reason="Dask is not installed")

import dask
import dask.array as da
import dask.dataframe as dd
import pandas as pd
from distributed import Client
from scipy import sparse
from sklearn.base import clone

from aucmax import AUCSVC, LambdaMART, LinearRankerCV, MarginRanker, RankBoost
from aucmax.exceptions import IncompatibleError, NotEnoughClassesError
from on_dask.parts import cut, local_cluster

pytestmark = pytest.mark.usefixtures("in_this_thread")
N_ROWS = 1200


def rows(seed=0):
    """Features with an offset, an indicator, a time stamp; labels; weights."""
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(N_ROWS, 5))
    X[:, 1] += 5.0
    X[:, 3] = X[:, 3] > 1.0
    y = (X[:, 0] + X[:, 3] + generator.normal(size=N_ROWS) > 1.0).astype(int)
    X[:, 4] = 1.7e9 + 600.0 * (X[:, 4] + y)
    weights = generator.uniform(0.2, 2.0, N_ROWS)
    return X, y, weights


MODELS = [
    AUCSVC(),
    AUCSVC(1000.0, tol=1e-5, solver="bundle"),
    AUCSVC(fpr_range=(0.0, 0.2)),
    AUCSVC(penalty="l1"),
    AUCSVC(loss="sigmoid"),
    AUCSVC(loss="logistic"),
    MarginRanker(),
    MarginRanker("features", "instances"),
    LinearRankerCV(C_values=(1.0,), cv=2),
    LinearRankerCV(C_values=(1.0,), cv=2, losses=("hinge",), fpr_range=(0.0, 0.3)),
]
every_model = pytest.mark.parametrize(
    "model", MODELS, ids=lambda model: repr(model).replace("\n", "")[:60]
)


def scaled(X, model):
    """Leave the time stamp out of reach of products in float64."""
    if isinstance(model, MarginRanker):
        return X
    return np.column_stack([X[:, :4], (X[:, 4] - 1.7e9) / 600.0])


def assert_same_weights(model, parted, local):
    """Rows on workers have cutting planes for L1 terms: equal up to the tolerance."""
    is_other_solver = (
        isinstance(model, MarginRanker) or model.get_params().get("penalty") == "l1"
    )
    accuracy = 0.02 if is_other_solver else 1e-9
    size = np.abs(local.coef_).max()
    np.testing.assert_allclose(parted.coef_, local.coef_, rtol=0, atol=accuracy * size)
    if hasattr(local, "objective_"):
        rel = 1e-3 if is_other_solver else 1e-9
        assert parted.objective_ == pytest.approx(local.objective_, rel=rel)
    assert is_other_solver or parted.n_passes_ == local.n_passes_


@every_model
def test_a_fit_to_parts_is_the_fit_to_the_rows(model):
    X, y, _ = rows()
    X = scaled(X, model)
    local = clone(model).fit(X, y)
    parted = clone(model).fit(cut(X), cut(y, 500))
    assert_same_weights(model, parted, local)
    scores_in_parts = parted.decision_function(cut(X))
    assert scores_in_parts.chunks == ((350, 350, 350, 150),)
    np.testing.assert_array_equal(
        scores_in_parts.compute(), parted.decision_function(X)
    )
    np.testing.assert_array_equal(parted.predict(cut(X)).compute(), parted.predict(X))
    assert parted.score(cut(X), cut(y)) == pytest.approx(parted.score(X, y), rel=1e-12)


@pytest.mark.parametrize("model", [MODELS[0], MODELS[6], MODELS[8]])
def test_weights_count_alike_in_parts(model):
    X, y, weights = rows()
    X = scaled(X, model)
    weights[::9] = 0.0
    local = clone(model).fit(X, y, sample_weight=weights)
    parted = clone(model).fit(cut(X), cut(y), sample_weight=cut(weights))
    assert_same_weights(model, parted, local)


@pytest.mark.parametrize("model", [AUCSVC(), MarginRanker(epsilon=0.3)])
def test_sparse_blocks_stay_sparse(model):
    X, y, _ = rows()
    X = np.maximum(scaled(X, model) if not isinstance(model, MarginRanker) else X, 0.0)
    matrix = sparse.csr_matrix(X)
    parts = cut(X).map_blocks(sparse.csr_matrix)
    local, parted = clone(model).fit(matrix, y), clone(model).fit(parts, y)
    assert_same_weights(model, parted, local)
    scores = parted.decision_function(parts).compute()
    np.testing.assert_allclose(scores, parted.decision_function(matrix), rtol=1e-12)


def test_queries_may_lie_across_parts():
    X, y, _ = rows()
    X, qid = scaled(X, None), np.arange(N_ROWS) // 25
    local = AUCSVC().fit(X, y, qid=qid)
    parted = AUCSVC().fit(cut(X), cut(y), qid=cut(qid))
    np.testing.assert_allclose(parted.coef_, local.coef_, rtol=1e-9)


def frame_of_rows():
    X, y, _ = rows()
    frame = pd.DataFrame(scaled(X, None)[:, :3], columns=["a", "b", "c"])
    frame["n"] = np.arange(N_ROWS) % 7
    frame["kind"] = pd.Categorical(np.array(["u", "v", "w"])[np.arange(N_ROWS) % 3])
    frame["y"] = y
    return frame


def test_frames_have_names_and_a_column_for_each_category():
    frame = frame_of_rows()
    parted = dd.from_pandas(frame, npartitions=3)
    names = ["a", "b", "c", "n", "kind"]
    local = AUCSVC().fit(pd.get_dummies(frame[names]), frame["y"])
    model = AUCSVC().fit(parted[names], parted["y"])
    assert model.feature_names_in_.tolist() == local.feature_names_in_.tolist()
    np.testing.assert_allclose(model.coef_, local.coef_, rtol=1e-9)
    scores = model.decision_function(parted[names])
    expected = local.decision_function(pd.get_dummies(frame[names]))
    np.testing.assert_allclose(scores.compute(), expected, rtol=1e-9, atol=1e-12)
    assert model.score(parted[names], parted["y"]) == pytest.approx(
        local.score(pd.get_dummies(frame[names]), frame["y"]), rel=1e-12
    )
    with pytest.raises(ValueError, match="feature names should match"):
        model.decision_function(parted[["a", "b"]])


def test_empty_parts_and_parts_of_one_class_are_as_good_as_others():
    X, y, _ = rows()
    X, order = scaled(X, None), np.argsort(y, kind="stable")
    X, y = X[order], y[order]
    chunks = (0, 300, 0, 700, 200, 0)
    for model in (AUCSVC(), MarginRanker(epsilon=0.3)):
        parted = clone(model).fit(cut(X, chunks), cut(y, chunks))
        assert_same_weights(model, parted, clone(model).fit(X, y))
    scores = parted.decision_function(cut(X, chunks)).compute()
    np.testing.assert_array_equal(scores, parted.decision_function(X))


def test_unknown_chunk_sizes_are_counted():
    X, y, _ = rows()
    X = scaled(X, None)
    parts, chosen = cut(X), y >= 0
    unknown = parts[cut(chosen)]
    assert np.isnan(unknown.shape[0])
    model = AUCSVC().fit(unknown, y)
    np.testing.assert_allclose(model.coef_, AUCSVC().fit(X, y).coef_, rtol=1e-9)


def bad_input():
    X, y, _ = rows()
    X = scaled(X, None)
    gap = X.copy()
    gap[800, 2] = np.nan
    frame = dd.from_pandas(frame_of_rows(), npartitions=2)
    text = frame.assign(note=frame["a"].astype(str))
    unknown = frame.assign(kind=frame["kind"].cat.as_unknown())
    return {
        r"In partition 2: Input X contains NaN in row 100, column 2": (cut(gap), y),
        r"cut into 5 chunks of columns.*rechunk\(\{1: -1\}\)": (
            da.from_array(X, chunks=(400, 1)),
            y,
        ),
        "X has 1200 rows but y has 1100": (cut(X), cut(y[:1100])),
        "column 'note' of X has type": (text.drop(columns="y"), frame["y"]),
        "categories of column 'kind' of X are not known": (
            unknown.drop(columns="y"),
            frame["y"],
        ),
        "X must hold real numbers, got dtype object": (cut(X.astype(object)), y),
        "rows and columns, got an array of 1 dimensions": (cut(y), y),
        "X must be a frame or a two-dimensional array": (frame["a"], frame["y"]),
        "X has no rows in any partition": (cut(X[:0], 1), y[:0]),
    }


@pytest.mark.parametrize("message", bad_input())
def test_bad_input_is_refused_with_directions(message):
    X, y = bad_input()[message]
    with pytest.raises((ValueError, TypeError), match=message):
        AUCSVC().fit(X, y)


def test_other_faults_are_named():
    X, y, _ = rows()
    with pytest.raises(NotEnoughClassesError, match="one class only"):
        AUCSVC().fit(cut(X), cut(np.zeros(N_ROWS)))
    for model in (
        RankBoost(),
        MarginRanker("stumps"),
    ):
        with pytest.raises(
            IncompatibleError, match="does not support Dask collections"
        ):
            model.fit(cut(X), cut(y))
    gap = X.copy()
    gap[400, 1] = np.inf
    for model in (MarginRanker(), LinearRankerCV(cv=2)):
        message = "In partition 1: Input X contains infinity in row 50, column 1"
        with pytest.raises(ValueError, match=message):
            model.fit(cut(gap), cut(y))
    model = AUCSVC().fit(cut(scaled(X, None)), cut(y))
    with pytest.raises(ValueError, match="In partition 1: Input X contains infinity"):
        model.decision_function(cut(gap)).compute()
    with pytest.raises(ValueError, match="X has 3 features, but AUCSVC is expecting 5"):
        model.decision_function(cut(X[:, :3]))


@pytest.fixture(scope="module")
def cluster():
    # threads of this process: workers in processes take seconds to start
    with local_cluster(threads_per_worker=2, processes=False) as started:
        yield started


@pytest.mark.parametrize("lengths", [(300,) * 4, (np.nan,) * 4], ids=["known", "not"])
def test_a_cluster_keeps_the_parts_and_makes_each_once(cluster, tmp_path, lengths):
    X, y, _ = rows()
    X = scaled(X, None)

    def block(block_info=None):
        start, end = block_info[None]["array-location"][0]
        (tmp_path / f"{start} {uuid4()}").touch()
        return X[start:end]

    with Client(cluster), dask.config.set(scheduler=None):
        parts = da.map_blocks(block, chunks=((300,) * 4, (5,)), dtype=float)
        parts = parts.map_blocks(np.negative, chunks=(lengths, (5,)))
        first = AUCSVC().fit(parts, cut(y))
        made = sorted(int(path.name.split()[0]) for path in tmp_path.iterdir())
        assert made == [0, 300, 600, 900]
        again = AUCSVC().fit(parts, cut(y))
    assert first.n_passes_ > 2
    np.testing.assert_array_equal(again.coef_, first.coef_)
    with dask.config.set(scheduler="synchronous"):
        alone = AUCSVC().fit(parts, cut(y))
    np.testing.assert_array_equal(alone.coef_, first.coef_)


def test_persisted_rows_are_used_where_they_are(cluster):
    X, y, _ = rows()
    X = scaled(X, None)
    expected = AUCSVC().fit(X, y)
    frame = pd.DataFrame(X, columns=list("abcde"))
    with Client(cluster) as client, dask.config.set(scheduler=None):
        X_parts, y_parts = client.persist([cut(X), cut(y)])
        table = client.persist(dd.from_pandas(frame, npartitions=2))
        models = [
            AUCSVC().fit(X_parts, y_parts),
            AUCSVC().fit(X_parts[:, :], y_parts),
            AUCSVC().fit(table, y_parts),
        ]
        for model in models:
            np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-9)
        assert models[0].score(X_parts, y_parts) == pytest.approx(
            expected.score(X, y), rel=1e-12
        )


@pytest.mark.parametrize("model", [AUCSVC(), LambdaMART(n_estimators=2)])
def test_a_scheduler_that_is_gone_is_named(model):
    X, y, _ = rows()
    gone = local_cluster(1, processes=False)
    with Client(gone.scheduler_address), dask.config.set(scheduler=None):
        gone.close()
        with pytest.raises(RuntimeError, match=r"the scheduler .* does not answer"):
            model.fit(cut(X), cut(y))


def test_a_client_closed_during_a_fit_is_named(cluster):
    X, y, _ = rows()
    with dask.config.set(scheduler=None), Client(cluster) as client:
        model = AUCSVC(1000.0, tol=1e-5, callback=lambda _: client.close() and None)
        with pytest.raises(RuntimeError, match="the Dask client is closed"):
            model.fit(cut(scaled(X, None)), cut(y))
    assert not hasattr(model, "coef_")
