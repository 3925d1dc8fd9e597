"""All stumps at once, against the matrix of them."""

import numpy as np
import pytest
from scipy import sparse

from aucmax.hypotheses import StumpGrid, Stumps, stump_values

pytestmark = pytest.mark.kernel


def table(seed, n_rows=40):
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
    X = kind(table(seed))
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
    X, rng = table(seed), np.random.default_rng(seed)
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
    X, rng = table(3), np.random.default_rng(3)
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
    X, rng = table(7), np.random.default_rng(7)
    grid, rows = StumpGrid(X), rng.normal(size=X.shape[0])
    best = Stumps.fit(X).best(rows, per_column=False)
    place = int(np.argmax(np.abs(grid.edges(rows))))
    assert (grid.column[place], grid.threshold[place]) == (
        best.column[0],
        best.threshold[0],
    )
    assert abs(grid.edges(rows)[place]) == pytest.approx(best.edge[0])
