"""Rows in memory, on disk and on workers answer alike."""

import numpy as np
import pytest
from scipy import sparse

from aucmax._core import mapped
from aucmax._core.features import explain_non_finite
from aucmax._core.mapped import is_mapped, write_map
from aucmax._core.row_matrix import as_row_matrix

GENERATOR = np.random.default_rng(0)
X = GENERATOR.normal(size=(101, 4))
WEIGHTS, OF_ROWS = GENERATOR.normal(size=4), GENERATOR.normal(size=101)
ROWS = GENERATOR.permutation(101)[:30]


def on_disk(table):
    return write_map([table], table.shape[1], float)


def on_workers(table):
    da = pytest.importorskip("dask.array")
    from aucmax import AUCSVC
    from aucmax._core.features import check_features

    return check_features(AUCSVC(), da.from_array(table, chunks=(30, -1)), fitting=True)


def some_on_workers(table):
    spread = np.full((table.shape[0] * 2, table.shape[1]), 1e3)
    places = np.random.default_rng(1).permutation(spread.shape[0])[: table.shape[0]]
    spread[places] = table
    return on_workers(spread)[places]


@pytest.fixture(
    params=[np.asarray, sparse.csr_array, on_disk, on_workers, some_on_workers],
    ids=["dense", "sparse", "disk", "workers", "some on workers"],
)
def place(request, monkeypatch):
    monkeypatch.setattr(mapped, "_CELLS_AT_ONCE", 100)  # 25 rows
    return request.param


def doubled(block):
    return 2.0 * block


def weighted_sums(block, row_values):
    return row_values @ block


def test_products_and_functions_of_blocks_are_those_of_the_matrix(place):
    rows = as_row_matrix(place(X))
    assert rows.shape == X.shape
    np.testing.assert_allclose(rows.matvec(WEIGHTS), X @ WEIGHTS)
    np.testing.assert_allclose(rows.rmatvec(OF_ROWS), X.T @ OF_ROWS, atol=1e-12)
    sums = rows.reduce_rows(weighted_sums, OF_ROWS)
    np.testing.assert_allclose(np.sum(sums, axis=0), OF_ROWS @ X, atol=1e-12)
    twice = as_row_matrix(rows.transform(doubled))
    np.testing.assert_allclose(twice.matvec(WEIGHTS), 2.0 * X @ WEIGHTS)
    chosen = rows.take(ROWS)
    chosen = chosen.toarray() if sparse.issparse(chosen) else chosen
    np.testing.assert_array_equal(chosen, X[ROWS])


def test_a_value_that_is_not_finite_is_found_wherever_it_is(place):
    spoilt = X.copy()
    spoilt[77, 2] = np.nan
    message = explain_non_finite(place(spoilt), None)
    if as_row_matrix(place(X)).on_workers:
        assert "In partition " in message
        assert "column 2" in message
    else:
        assert "NaN in row 77, column 2" in message


def test_maps_stay_on_disk():
    assert not is_mapped(as_row_matrix(X).transform(doubled))
    rows = as_row_matrix(on_disk(X))
    assert is_mapped(rows.transform(doubled))
    assert as_row_matrix(rows) is rows
