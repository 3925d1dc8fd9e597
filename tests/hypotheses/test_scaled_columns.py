import re
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse

from aucmax.hypotheses.scaled_columns import ScaledColumns
from hypotheses.storage import STORAGE

SHAPE = (7, 4)
EVERY = range(SHAPE[1])
# zeros, constant columns, negative entries: all of them often
few_values = arrays(float, SHAPE, elements=st.sampled_from([-3.0, 0.0, 0.0, 1.0, 2.5]))
weights = arrays(float, SHAPE[1], elements=st.integers(-4, 4).map(lambda k: k / 4.0))
row_weights = arrays(float, SHAPE[0], elements=st.integers(-4, 4).map(float))
storages = pytest.mark.parametrize("storage", STORAGE.values(), ids=STORAGE)


def literal(X):
    """H by the definition, column by column."""
    H = np.zeros(X.shape)
    for k, column in enumerate(np.asarray(X, dtype=np.longdouble).T):
        low, high = column.min(), column.max()
        if high > low:
            H[:, k] = ((column - low) - (high - column)) / (high - low)
    return H


def sample(seed=0, n_rows=200):
    """Columns of all kinds; the last three are far from zero, large and small."""
    generator = np.random.default_rng(seed)
    normal = generator.normal(size=(n_rows, 9))
    normal[:, 1] = normal[:, 1].round()
    normal[:, 2] = 0.0
    normal[:, 3] = 7.25
    normal[generator.random(n_rows) < 0.8, 4] = 0.0
    normal[:, 5] = np.abs(normal[:, 5]) + 50.0
    normal[:, 6] += 1e6
    normal[:, 7] *= 1e100
    normal[:, 8] *= 1e-100
    return normal


@pytest.mark.slow
@storages
@given(X=few_values, weight=weights, row_weight=row_weights)
def test_products_are_those_with_the_literal_matrix(storage, X, weight, row_weight):
    columns = ScaledColumns.fit(storage(X))
    H = literal(X)
    np.testing.assert_allclose(columns.scores(weight), H @ weight, atol=1e-14)
    np.testing.assert_allclose(columns.edges(row_weight), H.T @ row_weight, atol=1e-13)
    np.testing.assert_allclose(columns.columns(EVERY), H, atol=1e-15)
    np.testing.assert_array_equal(columns.constant, np.ptp(X, axis=0) == 0)
    assert columns.n_hypotheses == SHAPE[1]


@storages
def test_columns_keep_their_digits_but_for_those_of_their_offset(storage):
    X = sample()
    columns = ScaledColumns.fit(storage(X))
    H = literal(X)
    np.testing.assert_allclose(columns.columns(range(9)), H, atol=1e-15)
    row_weight = np.random.default_rng(1).normal(size=200)
    # each by itself, so that none hides behind another
    for k, one in enumerate(np.eye(9)):
        digits = 1e-9 if k == 6 else 1e-12
        np.testing.assert_allclose(columns.scores(one), H[:, k], atol=digits)
        edge = columns.edges(row_weight)[k]
        np.testing.assert_allclose(edge, H[:, k] @ row_weight, atol=100.0 * digits)


@storages
def test_float32_data_give_the_same_to_their_precision(storage):
    X = sample()[:, :7].astype(np.float32)
    X[:, 6] = 1e4 + np.arange(200, dtype=np.float32) / 1024.0
    X = np.column_stack([X, X[:, 0] * np.float32(1e35), X[:, 0] * np.float32(1e-30)])
    columns = ScaledColumns.fit(storage(X))
    H = literal(X)
    generator = np.random.default_rng(1)
    weight, row_weight = generator.random(9), generator.normal(size=200) / 200.0
    scores, edges = columns.scores(weight), columns.edges(row_weight)
    assert scores.dtype == edges.dtype == columns.scale.dtype == np.float64
    np.testing.assert_allclose(columns.columns(range(9)), H, atol=1e-15)
    np.testing.assert_allclose(scores, H @ weight, atol=2e-5)
    np.testing.assert_allclose(edges, H.T @ row_weight, atol=2e-6)


def test_scale_and_shift_map_each_range_onto_minus_one_and_one():
    X = sample()[:, :6]
    columns = ScaledColumns.fit(X)
    moves = ~columns.constant
    mapped = X * columns.scale + columns.shift
    np.testing.assert_allclose(mapped.min(axis=0)[moves], -1.0, rtol=1e-12)
    np.testing.assert_allclose(mapped.max(axis=0)[moves], 1.0, rtol=1e-12)
    assert columns.constant.tolist() == [False, False, True, True, False, False]
    assert not columns.scale[~moves].any()
    assert not columns.shift[~moves].any()


@given(arrays(float, (5, 1), elements=st.floats(allow_nan=False, allow_infinity=False)))
def test_a_finite_column_stays_in_the_range_or_is_rejected(X):
    size, is_constant = np.abs(X).max(), X.min() == X.max()
    if not (is_constant or (1e-150 < size < 1e150 and np.ptp(X) > 3e-7 * size)):
        with suppress(ValueError):
            ScaledColumns.fit(X)
        return
    columns = ScaledColumns.fit(X)
    formed = columns.columns([0])[:, 0]
    assert np.isfinite([columns.scale, columns.shift]).all()
    assert np.abs(formed).max() <= 1.0
    assert columns.constant[0] == is_constant
    if not columns.constant[0]:
        assert (formed.min(), formed.max()) == (-1.0, 1.0)
    np.testing.assert_allclose(columns.scores(np.ones(1)), formed, atol=1e-8)
    np.testing.assert_allclose(columns.edges(np.ones(5)), formed.sum(), atol=5e-8)


@storages
@pytest.mark.parametrize("column", [[1e9, 1e9 + 10.0], [0.0, 1e151], [0.0, 1e-151]])
def test_a_column_that_loses_its_digits_is_named(storage, column):
    X = np.column_stack([[1.0, 2.0], column])
    with pytest.raises(ValueError, match=r"column 1 \('age'\) runs from .* Scale the"):
        ScaledColumns.fit(storage(X), names=["sex", "age"])


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array, sparse.csc_array])
def test_a_single_row_is_constant(storage):
    columns = ScaledColumns.fit(storage(np.array([[0.0, -2.0, 1e300]])))
    assert columns.constant.all()
    assert columns.scores(np.ones(3)).tolist() == [0.0]
    assert columns.edges(np.ones(1)).tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("shape", [(70_001, 3), (300, 700), (3, 70_001), (140_000, 1)])
def test_ranges_cover_data_of_many_tiles(shape, order):
    X = np.asarray(np.random.default_rng(0).normal(size=shape), order=order)
    columns = ScaledColumns.fit(X)
    np.testing.assert_array_equal(columns.low, X.min(axis=0))
    np.testing.assert_array_equal(columns.high, X.max(axis=0))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_memory_map_is_read_where_it_lies(tmp_path, dtype):
    X = sample()[:, :6].astype(dtype)
    X.tofile(tmp_path / "X")
    mapped = np.memmap(tmp_path / "X", dtype=dtype, mode="r", shape=X.shape)
    columns, expected = ScaledColumns.fit(mapped), ScaledColumns.fit(X)
    assert columns.X is mapped
    weight, row_weight = np.arange(6.0), np.arange(200.0)
    for ours, theirs in [
        (columns.scores(weight), expected.scores(weight)),
        (columns.edges(row_weight), expected.edges(row_weight)),
        (columns.columns([1]), expected.columns([1])),
    ]:
        assert type(ours) is np.ndarray
        np.testing.assert_array_equal(ours, theirs)


@storages
def test_the_data_are_neither_copied_nor_changed(storage):
    X = storage(sample())
    before = X.copy()
    columns = ScaledColumns.fit(X)
    columns.scores(np.ones(9))
    columns.edges(np.ones(200))
    assert columns.X is X
    if sparse.issparse(X):
        assert X.nnz == before.nnz
        np.testing.assert_array_equal(X.data, before.data)
    else:
        np.testing.assert_array_equal(X, before)


def test_other_rows_are_mapped_alike():
    X = sample()
    columns = ScaledColumns.fit(X)
    other = ScaledColumns(sparse.csr_array(X[:5]), columns.low, columns.high)
    weight = np.arange(9.0)
    expected = columns.scores(weight)[:5]
    np.testing.assert_allclose(other.scores(weight), expected, atol=1e-8)
    beyond = ScaledColumns(np.array([[4.0, 9.0]]), np.zeros(2), np.array([2.0, 0.0]))
    assert beyond.columns([0, 1]).tolist() == [[3.0, 0.0]]
    assert beyond.scores(np.ones(2)).tolist() == [3.0]
    assert ScaledColumns(X[:0], columns.low, columns.high).scores(weight).size == 0


@storages
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_value_that_is_not_finite_is_named(storage, value):
    X = np.arange(12.0).reshape(4, 3)
    X[2, 1] = value
    kind = "NaN" if np.isnan(value) else "infinity"
    where = re.escape(f"{kind} in row 2, column 1 ('age')")
    with pytest.raises(ValueError, match=where):
        ScaledColumns.fit(storage(X), names=["sex", "age", "dose"])


def test_integers_are_refused():
    with pytest.raises(TypeError, match=r"got int64: use X\.astype\(float\)"):
        ScaledColumns.fit(np.arange(6).reshape(3, 2))
