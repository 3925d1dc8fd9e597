import re

import numpy as np
import pytest
from scipy import sparse

from aucmax.hypotheses.scaled_columns import PrecomputedColumns, evaluate_callables
from hypotheses.storage import STORAGE

X = np.array([[-3.0, 1.0], [5.0, 4.0], [0.0, 0.5]])


def first_sign(rows):
    return np.sign(rows[:, 0])


class Above:
    def __init__(self, threshold):
        self.threshold = threshold

    def __call__(self, rows):
        return rows[:, 1] > self.threshold


def test_functions_become_columns():
    values = evaluate_callables(
        [first_sign, Above(2.0), lambda rows: [0.5] * len(rows)], X
    )
    assert values.tolist() == [[-1.0, 0.0, 0.5], [1.0, 1.0, 0.5], [0.0, 0.0, 0.5]]
    assert values.dtype == np.float64


@pytest.mark.parametrize(
    "table", [sparse.csr_array(X), X.tolist(), {"a": 1, "b": 2, "c": 3}]
)
def test_functions_get_what_was_given(table):
    seen = []

    def remember(rows):
        seen.append(rows)
        return np.zeros(3)

    assert evaluate_callables([remember], table).shape == (3, 1)
    assert seen[0] is table


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ([0.0, 1.5, 2.0], "is 1.5 in row 1"),
        ([0.0, 0.0, -1.0001], "is -1.0001"),
        ([0.0, np.nan, 0.0], "is nan in row 1"),
        ([np.inf, 0.0, 0.0], "is inf in row 0"),
        ([0.0, 1.0], "for each of the 3 rows, got shape (2,)"),
        ([[0.0], [1.0], [0.0]], "got shape (3, 1)"),
        (0.5, "got shape ()"),
        (["a", "b", "c"], "real numbers, got dtype <U1"),
        ([0j, 0j, 0j], "real numbers, got dtype complex128"),
    ],
)
def test_what_is_no_hypothesis_is_named(bad, message):
    def wrong(rows):
        return bad

    with pytest.raises(ValueError, match=re.escape(message)) as caught:
        evaluate_callables([first_sign, wrong], X)
    assert "hypothesis 1 (wrong)" in str(caught.value)


def test_an_error_of_the_function_is_passed_on_with_its_name():
    def broken(rows):
        raise KeyError("age")

    with pytest.raises(KeyError, match="age") as caught:
        evaluate_callables([broken], X)
    assert caught.value.__notes__ == ["Raised by hypothesis 0 (broken)."]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rounding_is_forgiven(dtype):
    top = dtype(1.0) + 4 * np.finfo(dtype).eps
    evaluate_callables([lambda rows: np.full(3, top, dtype=dtype)], X)


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
    assert columns.n_hypotheses == 5
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
