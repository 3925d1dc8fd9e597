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
    """Every stump as (column, threshold, direction), the best to be preferred first."""
    for column, values in enumerate(np.asarray(X, dtype=float).T):
        distinct = np.unique(values)
        for lower, upper in pairwise(distinct):
            middle = lower / 2 + upper / 2
            threshold = middle if middle < upper else lower
            yield column, threshold, 1.0
            yield column, threshold, -1.0


def literal_best(X, row_weight):
    """The best stump of each column, found by trying all."""
    best = {}
    for column, threshold, direction in all_stumps(X):
        values = direction * np.where(X[:, column] > threshold, 1.0, -1.0)
        edge = float(values @ row_weight)
        if column not in best or edge > best[column][-1]:
            best[column] = (column, threshold, direction, edge)
    return list(best.values())


@given(X=tables, row_weight=row_weights)
def test_the_best_of_each_column_and_the_first_of_all_are_found(X, row_weight):
    expected = literal_best(X, row_weight)
    first = sorted(expected, key=lambda stump: -stump[-1])[:1]
    n_stumps = len(list(all_stumps(X)))
    for name, storage in STORAGE.items():
        stumps = Stumps.fit(storage(X))
        assert as_list(stumps.best(row_weight)) == expected, name
        assert as_list(stumps.best(row_weight, per_column=False)) == first, name
        assert stumps.n_stumps == n_stumps, name


def as_list(best):
    return list(zip(*(array.tolist() for array in best), strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(40))
def test_rounding_does_not_decide_between_equal_edges(seed):
    generator = np.random.default_rng(seed)
    X = generator.integers(-3, 6, size=(20, 3)).astype(float)
    row_weight = generator.integers(-3, 4, size=20).astype(float)
    expected = [stump for stump in literal_best(X, row_weight) if stump[-1] > 0.0]
    stumps = Stumps.fit(X)
    # tenths are rounded, and so are their sums: equal edges differ in the last digit
    best = stumps.best(row_weight / 10.0)
    found = list(zip(*(array.tolist() for array in best[:3]), strict=True))
    assert set(found) >= {stump[:3] for stump in expected}
    of_all = stumps.best(row_weight / 10.0, per_column=False)
    largest = max(expected, key=lambda stump: stump[-1])
    assert tuple(array.item() for array in of_all[:3]) == largest[:3]


@storages
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_edges_are_those_of_the_values(storage, dtype):
    generator = np.random.default_rng(0)
    X = generator.normal(size=(60, 6)).astype(dtype)
    X[generator.random(X.shape) < 0.4] = 0.0
    X[:, 1] = np.abs(X[:, 1])
    X[:, 2] = -np.abs(X[:, 2])
    X[:, 3] += 10.0
    X[:, 4] = X[:, 4].round()
    data = storage(X)
    stumps = Stumps.fit(data)
    for _ in range(5):
        row_weight = generator.normal(size=60)
        best = stumps.best(row_weight)
        values = stump_values(data, best.column, best.threshold, best.direction)
        np.testing.assert_allclose(values.T @ row_weight, best.edge, atol=1e-13)
        expected = np.array(literal_best(X, row_weight))
        np.testing.assert_allclose(best.edge, expected[:, 3], atol=1e-13)
        np.testing.assert_array_equal(best.threshold, expected[:, 1])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("lower", [1.0, -1.0, 1e8, 0.0, 5e-324, 1e-40])
def test_neighbouring_floats_are_split_between_them(dtype, lower):
    lower = dtype(lower)
    upper = np.nextafter(lower, dtype(np.inf))
    X = np.array([[lower], [upper], [lower]])
    best = Stumps.fit(X).best(np.array([-1.0, 1.0, -1.0]))
    assert lower <= best.threshold[0] < upper
    assert best.edge.tolist() == [3.0]
    assert stump_values(X, *best[:3])[:, 0].tolist() == [-1.0, 1.0, -1.0]


def test_the_largest_floats_have_a_threshold_between_them():
    largest = np.finfo(float).max
    X = np.array([[largest], [-largest], [largest / 2]])
    best = Stumps.fit(X).best(np.array([1.0, -1.0, -1.0]))
    assert best.threshold.tolist() == [0.75 * largest]


def test_negative_zero_is_zero():
    X = np.array([[0.0], [-0.0], [1.0], [-1.0]])
    assert Stumps.fit(X).n_stumps == 4
    assert Stumps.fit(sparse.csr_array(X)).n_stumps == 4


@storages
def test_constant_columns_have_no_stump(storage):
    X = np.array([[0.0, 5.0, 1.0, -2.0], [0.0, 5.0, 2.0, -2.0]])
    stumps = Stumps.fit(storage(X))
    best = stumps.best(np.array([-1.0, 2.0]))
    assert stumps.n_stumps == 2
    assert [array.tolist() for array in best] == [[2], [1.5], [1.0], [3.0]]
    single = Stumps.fit(storage(X[:1]))
    assert single.n_stumps == 0
    assert single.best(np.ones(1)).column.size == 0


def test_a_row_twice_is_a_row_of_weight_two():
    X = np.array([[1.0, 0.0], [2.0, 3.0], [0.0, -1.0]])
    row_weight = np.array([1.0, -2.0, 4.0])
    once = Stumps.fit(X).best(row_weight)
    twice = Stumps.fit(np.repeat(X, 2, axis=0)).best(np.repeat(row_weight / 2, 2))
    for ours, theirs in zip(once, twice, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_zeros_take_no_memory():
    X = np.zeros((500, 2))
    X[:3, 0] = -1.0, 2.0, 3.0
    assert Stumps.fit(X)._sorted.order.size == 3
    assert Stumps.fit(X)._sorted.order.dtype == np.int32


def test_many_columns_are_sorted_in_blocks():
    X = np.random.default_rng(0).integers(-2, 3, size=(30, 21)).astype(float)
    row_weight = np.arange(30.0) - 11.0
    best = Stumps.fit(X).best(row_weight)
    assert list(zip(*(a.tolist() for a in best), strict=True)) == literal_best(
        X, row_weight
    )


def test_a_memory_map_may_be_read_only(tmp_path):
    X = np.random.default_rng(0).normal(size=(50, 3))
    X.tofile(tmp_path / "X")
    mapped = np.memmap(tmp_path / "X", dtype=float, mode="r", shape=X.shape)
    row_weight = np.linspace(-1.0, 1.0, 50)
    row_weight.flags.writeable = False
    best = Stumps.fit(mapped).best(row_weight)
    for ours, theirs in zip(best, Stumps.fit(X).best(row_weight), strict=True):
        assert type(ours) is np.ndarray
        np.testing.assert_array_equal(ours, theirs)


def test_nan_is_named():
    X = np.ones((4, 2))
    X[3, 1] = np.nan
    with pytest.raises(ValueError, match=r"NaN in row 3, column 1 \('b'\)"):
        Stumps.fit(X, names=["a", "b"])
