import numpy as np
import pytest
from scipy import sparse

from aucmax.hypotheses import StumpColumns, Stumps, stump_values
from hypotheses.storage import STORAGE

pytestmark = pytest.mark.kernel

storages = pytest.mark.parametrize("storage", STORAGE.values(), ids=STORAGE)
N_ROWS, N_COLUMNS = 150, 11  # more than one block of sums, and of columns


def table(dtype=np.float64):
    generator = np.random.default_rng(0)
    X = generator.normal(size=(N_ROWS, N_COLUMNS)).astype(dtype)
    X[generator.random(X.shape) < 0.5] = 0.0
    X[:, 0] = 1.0 + np.abs(X[:, 0])
    X[:, 1] = -1.0 - np.abs(X[:, 1])
    return X


def some_stumps(X, n_stumps, seed=1):
    """Stumps on and between the values of each column, many of a column."""
    generator = np.random.default_rng(seed)
    column = generator.integers(0, X.shape[1], n_stumps)
    threshold = X[generator.integers(0, X.shape[0], n_stumps), column]
    return column, threshold + generator.choice([0.0, 0.1], n_stumps)


@storages
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_products_are_those_of_the_dense_matrix(storage, dtype):
    X = table(dtype)
    generator = np.random.default_rng(2)
    stumps = StumpColumns(storage(X))
    column, threshold = some_stumps(X.astype(float), 40)
    n_new = stumps.add(column[:15], threshold[:15])
    n_new += stumps.add(column[15:], threshold[15:])
    assert stumps.n_hypotheses == n_new
    assert stumps.n_rows == N_ROWS
    assert stumps.constant.tolist() == [False] * n_new
    H = stump_values(X, stumps.column, stumps.threshold, np.ones(n_new))
    weights, row_weights = generator.normal(size=n_new), generator.normal(size=N_ROWS)
    weights[::3] = 0.0
    np.testing.assert_allclose(stumps.scores(weights), H @ weights, atol=1e-12)
    edges = H.T @ row_weights
    np.testing.assert_allclose(stumps.edges(row_weights), edges, atol=1e-12)
    np.testing.assert_allclose(stumps.edges(row_weights, 15), edges[15:], atol=1e-12)
    assert stumps.edges(row_weights, n_new).size == 0
    chosen = [3, 0, 3]
    np.testing.assert_array_equal(stumps.columns(chosen), H[:, chosen])
    assert stumps.columns(chosen).dtype == np.float64


@pytest.mark.parametrize("storage", [np.ascontiguousarray, sparse.csr_array])
def test_a_stump_is_taken_in_once(storage):
    X = table()
    stumps = StumpColumns(storage(X))
    column, threshold = np.array([2, 4, 2, 4]), np.array([0.5, 0.5, 0.5, -0.5])
    assert stumps.add(column, threshold) == 3
    assert stumps.add(column[::-1], threshold[::-1]) == 0
    assert stumps.add(np.array([2, 5]), np.array([0.25, 0.5])) == 2
    assert stumps.column.tolist() == [2, 4, 4, 2, 5]
    assert stumps.threshold.tolist() == [0.5, 0.5, -0.5, 0.25, 0.5]
    expected = np.where(X[:, stumps.column] > stumps.threshold, 1.0, -1.0)
    np.testing.assert_array_equal(stumps.columns(slice(None)), expected)


def test_zero_has_one_sign():
    stumps = StumpColumns(np.array([[0.0], [-0.0], [1.0]]))
    assert stumps.add(np.array([0, 0]), np.array([0.0, -0.0])) == 1
    assert stumps.columns([0])[:, 0].tolist() == [-1.0, -1.0, 1.0]


@storages
def test_no_stumps_have_scores_of_zero(storage):
    stumps = StumpColumns(storage(table()))
    nothing = np.empty(0, dtype=np.int64)
    assert stumps.add(nothing, np.empty(0)) == 0
    assert stumps.n_hypotheses == 0
    assert stumps.scores(np.empty(0)).tolist() == [0.0] * N_ROWS
    assert stumps.edges(np.ones(N_ROWS)).shape == (0,)
    assert stumps.columns([]).shape == (N_ROWS, 0)


@storages
def test_thresholds_between_neighbouring_float32_numbers_split_them(storage):
    lower = np.array([1.0, -1.0, 0.0, 1e8], dtype=np.float32)
    upper = np.nextafter(lower, np.float32(np.inf))
    data = storage(np.array([lower, upper, lower]))
    best = Stumps.fit(data).best(np.array([-1.0, 1.0, -1.0]))
    stumps = StumpColumns(data)
    # halfway between two numbers is not one of float32
    assert (best.threshold != best.threshold.astype(np.float32)).any()
    stumps.add(best.column, best.threshold)
    np.testing.assert_array_equal(
        stumps.columns(slice(None)), np.tile([[-1.0], [1.0], [-1.0]], 4)
    )


@storages
def test_edges_are_those_that_the_sweep_finds(storage):
    data = storage(table())
    row_weights = np.random.default_rng(3).normal(size=N_ROWS)
    best = Stumps.fit(data).best(row_weights)
    stumps = StumpColumns(data)
    assert stumps.add(best.column, best.threshold) == N_COLUMNS
    edges = best.direction * stumps.edges(row_weights)
    np.testing.assert_allclose(edges, best.edge, atol=1e-12)


def test_a_value_takes_one_byte():
    X = table()
    stumps = StumpColumns(X)
    stumps.add(*some_stumps(X, 5))
    assert stumps._values.nbytes == stumps.n_hypotheses * N_ROWS


def test_a_memory_map_may_be_read_only(tmp_path):
    X = table()
    X.tofile(tmp_path / "X")
    mapped = np.memmap(tmp_path / "X", dtype=float, mode="r", shape=X.shape)
    column, threshold = some_stumps(X, 20)
    row_weights = np.linspace(-1.0, 1.0, N_ROWS)
    row_weights.flags.writeable = False
    stumps, twin = StumpColumns(mapped), StumpColumns(X)
    stumps.add(column, threshold)
    twin.add(column, threshold)
    edges = stumps.edges(row_weights)
    assert type(edges) is np.ndarray
    np.testing.assert_array_equal(edges, twin.edges(row_weights))
