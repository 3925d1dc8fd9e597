from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse

from aucmax.hypotheses.stumps import Stumps
from hypotheses.storage import STORAGE
from reference_margins import stump_values

pytestmark = pytest.mark.kernel

SHAPE = (7, 3)
# few distinct values, so that ties and constant columns are common
few_values = arrays(float, SHAPE, elements=st.sampled_from([-2.0, -1.0, 0.0, 0.0, 3.0]))
no_zeros = arrays(float, SHAPE, elements=st.sampled_from([-2.0, 1.0, 1.5, 4.0]))
tables = st.one_of(few_values, no_zeros)
# whole numbers, so that sums are exact and equal edges are equal
row_weights = arrays(float, SHAPE[0], elements=st.integers(-3, 3).map(float))
storages = pytest.mark.parametrize("storage", STORAGE.values(), ids=STORAGE)


def all_stumps(X):
    """Every stump as (column, threshold), in the order of the matrix."""
    for column, values in enumerate(np.asarray(X, dtype=float).T):
        for lower, upper in pairwise(np.unique(values)):
            middle = lower / 2 + upper / 2
            yield column, middle if middle < upper else lower


def listed(stumps):
    numbers = np.arange(stumps.n_hypotheses)
    return list(
        zip(stumps.column(numbers).tolist(), stumps.threshold.tolist(), strict=True)
    )


@given(X=tables, row_weight=row_weights)
def test_edges_and_the_first_of_the_best_are_those_of_the_matrix(X, row_weight):
    expected = list(all_stumps(X))
    for name, storage in STORAGE.items():
        stumps = Stumps.fit(storage(X))
        assert listed(stumps) == expected, name
        if not expected:
            continue
        H = stump_values(X, *np.array(expected).T, np.ones(len(expected)))
        edges = H.T @ row_weight
        np.testing.assert_array_equal(stumps.edges(row_weight), edges)
        # tenths are rounded, and so are their sums: equal edges differ a little
        number, edge = stumps.best(row_weight / 10.0)
        assert number == int(np.argmax(np.abs(edges))), name
        assert edge == pytest.approx(edges[number] / 10.0)


@storages
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_products_are_those_of_the_dense_matrix(storage, dtype):
    generator = np.random.default_rng(0)
    X = generator.normal(size=(60, 11)).astype(dtype)  # more than one block of columns
    X[generator.random(X.shape) < 0.4] = 0.0
    X[:, 1] = np.abs(X[:, 1])
    X[:, 2] = -np.abs(X[:, 2])
    X[:, 3] += 10.0
    X[:, 4] = X[:, 4].round()
    stumps = Stumps.fit(storage(X))
    n = stumps.n_hypotheses
    columns, thresholds = np.array(list(all_stumps(X))).T
    H = stump_values(X.astype(float), columns, thresholds, np.ones(n))
    weights, row_weight = generator.normal(size=n), generator.normal(size=60)
    weights[::3] = 0.0
    np.testing.assert_allclose(stumps.scores(weights), H @ weights, atol=1e-12)
    np.testing.assert_allclose(stumps.edges(row_weight), H.T @ row_weight, atol=1e-12)
    chosen = np.flatnonzero(generator.random(n) < 0.3)
    bins, weights = stumps.as_bins(chosen), weights[chosen]
    constant = H[:, chosen] @ weights - bins @ weights
    np.testing.assert_allclose(constant, constant[0], atol=1e-12)
    # a form of rows that constants do not change, such as a covariance
    wide = np.column_stack([bins.table.toarray(), row_weight])
    hessian = bins.hessian_over_stumps(np.cov(wide.T))
    expected = np.cov(np.column_stack([H[:, chosen], row_weight]).T)
    np.testing.assert_allclose(hessian, expected, atol=1e-12)
    assert stumps.scores(np.zeros(n)).tolist() == [0.0] * 60


def test_a_peak_has_a_larger_edge_than_its_neighbours():
    stumps = Stumps.fit(np.arange(6.0)[:, None])
    edges = np.array([1.0, -2.0, -2.0 - 1e-12, 0.5, -3.0])
    assert stumps.is_peak(edges).tolist() == [False, True, False, False, True]


def test_peaks_are_spread_over_a_column():
    generator = np.random.default_rng(0)
    stumps = Stumps.fit(generator.normal(size=(2001, 2)))
    edges = np.cumsum(generator.choice([-1.0, 1.0], size=4000))
    peaks = np.flatnonzero(stumps.is_peak(edges))
    assert np.argmax(np.abs(edges)) in peaks
    # one in most of the 100 parts of 40 stumps, and the largest of its part
    parts, firsts = np.unique(peaks // 40, return_index=True)
    assert parts.size > 60
    largest = np.abs(edges).reshape(-1, 40).max(axis=1)
    np.testing.assert_array_equal(np.abs(edges)[peaks[firsts]], largest[parts])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("lower", [1.0, -1.0, 1e8, 0.0])
def test_neighbouring_floats_are_split_between_them(dtype, lower):
    lower = dtype(lower)
    upper = np.nextafter(lower, dtype(np.inf))
    X = np.array([[lower], [upper], [lower]])
    stumps = Stumps.fit(X)
    assert lower <= stumps.threshold[0] < upper
    assert stumps.best(np.array([-1.0, 1.0, -1.0])) == (0, 3.0)
    assert stumps.scores(np.ones(1)).tolist() == [-1.0, 1.0, -1.0]
    assert (stumps.as_bins(np.array([0])) @ np.ones(1)).tolist() == [0.0, 2.0, 0.0]


def test_negative_zero_is_zero():
    X = np.array([[0.0], [-0.0], [1.0], [-1.0]])
    assert Stumps.fit(X).threshold.tolist() == [-0.5, 0.5]
    assert Stumps.fit(sparse.csr_array(X)).threshold.tolist() == [-0.5, 0.5]


@storages
def test_constant_columns_have_no_stump(storage):
    X = np.array([[0.0, 5.0, 1.0, -2.0], [0.0, 5.0, 2.0, -2.0]])
    assert listed(Stumps.fit(storage(X))) == [(2, 1.5)]
    assert Stumps.fit(storage(X[:1])).n_hypotheses == 0


def test_zeros_take_no_memory():
    X = np.zeros((500, 2))
    X[:3, 0] = -1.0, 2.0, 3.0
    assert Stumps.fit(X)._order.size == 3
    assert Stumps.fit(X)._order.dtype == np.int32


def test_a_memory_map_may_be_read_only(tmp_path):
    X = np.random.default_rng(0).normal(size=(50, 3))
    X.tofile(tmp_path / "X")
    mapped = np.memmap(tmp_path / "X", dtype=float, mode="r", shape=X.shape)
    row_weight = np.linspace(-1.0, 1.0, 50)
    row_weight.flags.writeable = False
    stumps, twin = Stumps.fit(mapped), Stumps.fit(X)
    assert type(stumps.threshold) is type(stumps.edges(row_weight)) is np.ndarray
    np.testing.assert_array_equal(stumps.edges(row_weight), twin.edges(row_weight))
    weights = np.ones(stumps.n_hypotheses)
    np.testing.assert_array_equal(stumps.scores(weights), twin.scores(weights))


def test_nan_is_named():
    X = np.ones((4, 2))
    X[3, 1] = np.nan
    with pytest.raises(ValueError, match=r"NaN in row 3, column 1 \('b'\)"):
        Stumps.fit(X, names=["a", "b"])
