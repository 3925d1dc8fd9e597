"""How rows are kept in memory changes no score, for every estimator of arrays."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from contracts.test_bad_rows import ESTIMATORS, every_estimator

RNG = np.random.default_rng(1)
N = 80
X = np.where(RNG.random((N, 4)) < 0.6, RNG.normal(size=(N, 4)).round(2), 0.0)
Y = (X[:, 0] + 0.3 * RNG.normal(size=N) > 0).astype(int)


def read_only(folder):
    rows = X.copy()
    rows.setflags(write=False)
    return rows


def memory_map(folder):
    np.save(folder / "rows.npy", X)
    return np.load(folder / "rows.npy", mmap_mode="r")


def long_indices(folder):
    rows = sparse.csr_array(X)
    rows.indices, rows.indptr = rows.indices.astype("i8"), rows.indptr.astype("i8")
    return rows


def unsorted(folder):
    rows = sparse.csr_array(X)
    for start, stop in zip(rows.indptr[:-1], rows.indptr[1:], strict=True):
        rows.indices[start:stop] = rows.indices[start:stop][::-1].copy()
        rows.data[start:stop] = rows.data[start:stop][::-1].copy()
    rows.has_sorted_indices = False
    return rows


def duplicates(folder):
    where = np.nonzero(X)
    halves = np.tile(X[where] / 2.0, 2)
    places = tuple(np.tile(numbers, 2) for numbers in where)
    starts = np.concatenate(([0], np.cumsum(np.bincount(places[0], minlength=N))))
    by_row = np.argsort(places[0], kind="stable")
    return sparse.csr_array((halves[by_row], places[1][by_row], starts), X.shape)


def explicit_zeros(folder):
    columns, starts = np.tile(np.arange(4), N), np.arange(0, 4 * N + 1, 4)
    return sparse.csr_array((X.ravel(), columns, starts), X.shape)


DENSE = [
    read_only,
    memory_map,
    lambda folder: np.asfortranarray(X),
    lambda folder: np.ma.array(X, mask=False),
    lambda folder: X[::-1].copy()[::-1],
    lambda folder: np.repeat(X, 2, axis=1)[:, ::2],
]
SPARSE = [
    long_indices,
    unsorted,
    duplicates,
    explicit_zeros,
    lambda folder: sparse.csc_array(X),
    lambda folder: sparse.coo_array(X),
]

pytestmark = pytest.mark.filterwarnings("ignore:stopped by max rounds")


def scores(estimator, rows):
    return clone(estimator).fit(rows, Y).decision_function(rows)


@every_estimator
def test_rows_score_alike_however_they_are_kept(estimator, tmp_path):
    expected = scores(estimator, X)
    for kept in DENSE:
        np.testing.assert_allclose(scores(estimator, kept(tmp_path)), expected, 1e-6)


@every_estimator
def test_sparse_rows_score_alike_however_they_are_kept(estimator, tmp_path):
    # what sparse rows are fitted to may differ from dense ones by the tolerance
    expected = scores(estimator, sparse.csr_array(X))
    for kept in SPARSE:
        rows = kept(tmp_path)
        np.testing.assert_array_equal(rows.toarray(), X)
        np.testing.assert_allclose(scores(estimator, rows), expected, 1e-6, 1e-9)


def test_all_estimators_take_sparse_rows():
    assert all(model.__sklearn_tags__().input_tags.sparse for model in ESTIMATORS)
