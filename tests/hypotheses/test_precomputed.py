import re

import numpy as np
import pytest

from aucmax.hypotheses import PrecomputedColumns
from hypotheses.storage import STORAGE

storages = pytest.mark.parametrize("storage", STORAGE.values(), ids=STORAGE)
H = np.random.default_rng(0).choice([-1.0, -0.5, 0.0, 0.0, 0.25, 1.0], size=(40, 5))
H[:, 2], H[:, 3] = 0.0, 0.5


@storages
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_matrix_is_used_as_it_is(storage, dtype):
    columns = PrecomputedColumns.fit(storage(H.astype(dtype)))
    weight, row_weight = np.arange(5.0), np.arange(40.0) - 20.0
    np.testing.assert_array_equal(columns.scores(weight), H @ weight)
    np.testing.assert_array_equal(columns.edges(row_weight), H.T @ row_weight)
    np.testing.assert_array_equal(columns.columns([3, 0]), H[:, [3, 0]])
    assert columns.columns([0]).dtype == columns.scores(weight).dtype == np.float64
    assert columns.constant.tolist() == [False, False, True, True, False]
    assert (columns.n_rows, columns.n_hypotheses) == (40, 5)
    np.testing.assert_array_equal(columns.scale, np.ones(5))
    np.testing.assert_array_equal(columns.shift, np.zeros(5))


@storages
@pytest.mark.parametrize("value", [1.25, -2.0, 1e300])
def test_a_value_outside_is_named(storage, value):
    outside = H.copy()
    outside[7, 4] = outside[9, 4] = value
    where = re.escape(f"column 4 is {value:.17g} in row 7.")
    with pytest.raises(ValueError, match=where):
        PrecomputedColumns.fit(storage(outside))
    with pytest.raises(ValueError, match=re.escape("column 4 ('e') is")):
        PrecomputedColumns.fit(storage(outside), names=list("abcde"))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rounding_is_forgiven_and_no_more(dtype):
    eps = np.finfo(dtype).eps
    X = np.array([[1.0 + 4 * eps], [-1.0]], dtype=dtype)
    PrecomputedColumns.fit(X)
    with pytest.raises(ValueError, match="column 0 is 1"):
        PrecomputedColumns.fit(X + dtype(16 * eps))


def test_nan_is_named():
    X = H.copy()
    X[3, 1] = np.nan
    with pytest.raises(ValueError, match="NaN in row 3, column 1"):
        PrecomputedColumns.fit(X)
