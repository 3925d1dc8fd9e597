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
