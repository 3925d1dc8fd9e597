import numpy as np
import pytest
from scipy import sparse

from aucmax.hypotheses.stump_matrices import StumpColumns, StumpGrid
from aucmax.hypotheses.stumps import Stumps
from hypotheses.storage import STORAGE
from reference_margins import stump_values

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


def tied_table(seed, n_rows=40):
    """Draw columns with ties, gaps at zero, one constant, and neighbours in float."""
    rng = np.random.default_rng(seed)
    tied = rng.integers(-3, 4, n_rows).astype(float)
    close = np.where(rng.random(n_rows) < 0.5, 1.0, np.nextafter(1.0, 2.0))
    return np.column_stack(
        [rng.normal(size=n_rows), tied, np.full(n_rows, 2.0), close, -tied]
    )


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", [np.asarray, np.float32, sparse.csr_array])
def test_products_are_those_of_the_matrix_of_all_stumps(seed, kind):
    X = kind(tied_table(seed))
    grid = StumpGrid(X)
    assert 2 * grid.n_stumps == Stumps.fit(X).n_stumps
    H = stump_values(X, grid.column, grid.threshold, np.ones(grid.n_stumps))
    assert len(np.unique(np.column_stack([grid.column, H.T]), axis=0)) == grid.n_stumps
    rng = np.random.default_rng(seed)
    rows, weights = rng.normal(size=X.shape[0]), rng.random(grid.n_stumps)
    assert grid.edges(rows) == pytest.approx(H.T @ rows, abs=1e-12)
    assert grid.scores(weights) == pytest.approx(H @ weights, abs=1e-12)
    products = (H * weights) @ H.T
    assert grid.row_products(weights) == pytest.approx(products, abs=1e-12)
    upper = np.triu_indices(grid.n_stumps)
    products = (H.T * rows) @ H
    assert grid.column_products(rows)[upper] == pytest.approx(products[upper], abs=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_some_stumps_are_a_grid_of_their_own(seed):
    X, rng = tied_table(seed), np.random.default_rng(seed)
    grid = StumpGrid(X)
    grid.n_products_since()
    chosen = np.flatnonzero(rng.random(grid.n_stumps) < 0.3)
    # the second choice leaves whole columns without stumps
    for numbers in (chosen, chosen[grid.column[chosen] > 0], np.array([0])):
        some = grid.some(numbers)
        assert some.n_stumps == numbers.size
        H = stump_values(X, some.column, some.threshold, np.ones(numbers.size))
        rows, weights = rng.normal(size=X.shape[0]), rng.random(numbers.size)
        assert some.edges(rows) == pytest.approx(grid.edges(rows)[numbers], abs=1e-12)
        assert some.scores(weights) == pytest.approx(H @ weights, abs=1e-12)
        upper, products = np.triu_indices(numbers.size), (H.T * rows) @ H
        found = some.column_products(rows)[upper]
        assert found == pytest.approx(products[upper], abs=1e-12)
    assert grid.n_products_since() == 9  # of the grid and of its parts


@pytest.mark.parametrize("most", [1, 2, 100])
def test_peaks_are_the_strongest_of_neighbours(most):
    X, rng = tied_table(3), np.random.default_rng(3)
    grid = StumpGrid(X)
    edges = grid.edges(rng.normal(size=X.shape[0]))
    least = float(np.median(np.abs(edges)))
    expected = []
    for column in range(X.shape[1]):
        tops, run = [], []
        for k in [*np.flatnonzero(grid.column == column), None]:
            goes_on = k is not None and abs(edges[k]) > least
            if run and not (goes_on and edges[k] * edges[run[-1]] > 0.0):
                tops.append(max(run, key=lambda k: (abs(edges[k]), -k)))
                run = []
            if goes_on:
                run.append(k)
        expected += sorted(tops, key=lambda k: -abs(edges[k]))[:most]
    assert grid.peaks(edges, least, most).tolist() == sorted(expected)
    assert grid.peaks(edges, 2.0 * np.abs(edges).max(), most).size == 0


def test_the_best_stump_is_the_one_of_the_sweep():
    X, rng = tied_table(7), np.random.default_rng(7)
    grid, rows = StumpGrid(X), rng.normal(size=X.shape[0])
    best = Stumps.fit(X).best(rows, per_column=False)
    place = int(np.argmax(np.abs(grid.edges(rows))))
    assert (grid.column[place], grid.threshold[place]) == (
        best.column[0],
        best.threshold[0],
    )
    assert abs(grid.edges(rows)[place]) == pytest.approx(best.edge[0])
