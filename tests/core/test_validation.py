import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aucmax._core.validation import (
    check_binary_labels,
    check_class_weights,
    check_levels,
    check_qid,
    check_relevance,
    check_sample_weight,
    check_scores,
    first_positive_level,
)
from aucmax.exceptions import NotEnoughClassesError, RoundedScoresWarning


@pytest.mark.parametrize(
    ("labels", "classes"),
    [
        ([0, 1, 1], [0, 1]),
        ([1, 0, 0], [0, 1]),
        (np.array([1, -1, -1], dtype=np.int8), [-1, 1]),
        (np.array([2.5, -1.0, -1.0]), [-1.0, 2.5]),
        (["yes", "no", "no"], ["no", "yes"]),
        (np.array(["yes", "no", "no"]), ["no", "yes"]),
        (np.array(["yes", "no", "no"], dtype=np.dtypes.StringDType()), ["no", "yes"]),
        (pd.Series(["yes", "no", "no"]), ["no", "yes"]),
        (pd.Series(["yes", "no", "no"], dtype="category"), ["no", "yes"]),
        (pd.Series([1, 0, 0], dtype="Int64"), [0, 1]),
        (pd.Series([True, False, False], dtype="boolean"), [False, True]),
        (pl.Series(["yes", "no", "no"]), ["no", "yes"]),
        (pl.Series([1, 0, 0]), [0, 1]),
    ],
)
def test_the_larger_label_is_the_positive_class(labels, classes):
    results, is_positive = check_binary_labels(labels)
    assert results.tolist() == classes
    assert is_positive.dtype == bool
    expected = [value == classes[1] for value in list(labels)]
    assert is_positive.tolist() == expected


@given(
    st.lists(st.sampled_from(["a", "b"]) | st.sampled_from(["b", "c"]), min_size=1)
    | st.lists(st.integers(-1, 1), min_size=1)
    | st.lists(st.sampled_from([-0.0, 0.0, 1.5]), min_size=1)
)
def test_labels_are_encoded_as_by_numpy_unique(labels):
    distinct = np.unique(labels)
    if distinct.size == 2:
        classes, is_positive = check_binary_labels(labels)
        assert (classes == distinct).all()
        assert (is_positive == (np.asarray(labels) == distinct[1])).all()
    else:
        expected = NotEnoughClassesError if distinct.size < 2 else ValueError
        with pytest.raises(expected):
            check_binary_labels(labels)
    if distinct.size > 1:
        levels, codes = check_levels(labels)
        assert (levels == distinct).all()
        assert (levels[codes] == np.asarray(labels)).all()


@pytest.mark.parametrize(
    ("labels", "error", "message"),
    [
        ([3, 3], NotEnoughClassesError, "one class only: all 2 labels are 3"),
        (
            [0, 1, 2, 5],
            ValueError,
            "Only binary classification is supported.* 4 distinct values.*0, 1, 2",
        ),
        ([0.1, 0.2, 0.3], ValueError, "3 distinct values, which look continuous"),
        ([0, 1, np.nan], ValueError, "nan in row 2"),
        (["a", None, "b"], ValueError, "None in row 1"),
        (["a", float("nan")], ValueError, "nan in row 1"),
        (pd.Series([0, 1, None], dtype="Int64"), ValueError, "in row 2"),
        (pl.Series(["a", "b", None]), ValueError, "None in row 2"),
        ([], ValueError, "is empty"),
        ([[0], [1]], ValueError, r"got shape \(2, 1\). Use ravel"),
        ([[0], [1, 2]], ValueError, "not one value per row"),
        (None, TypeError, "y_true is None"),
        ([0, 1j], TypeError, "complex128"),
        (["a", 1], TypeError, r"cannot be ordered \(int, str\)"),
        (np.ma.array([0, 1], mask=[False, True]), ValueError, "masked in row 1"),
        (pl.LazyFrame({"a": [0, 1]}), TypeError, r"collect\(\) first"),
        (np.array(["2020-01-01", "2021-01-01"], "M8[D]"), TypeError, "datetime64"),
    ],
)
def test_bad_labels_are_rejected_with_the_reason(labels, error, message):
    with pytest.raises(error, match=message):
        check_binary_labels(labels)


def test_levels_that_cannot_be_ordered_are_rejected():
    with pytest.raises(TypeError, match=r"cannot be ordered \(int, str\)"):
        check_levels(np.array(["a", 1], dtype=object))


@pytest.mark.parametrize(
    "scores",
    [
        [1, 2],
        np.array([1, 2], dtype=np.uint8),
        np.array([1, 2], dtype=np.float32),
        np.array([1, 9, 2, 9], dtype=float)[::2],
        np.array([1, 2], dtype=object),
        pd.Series([1, 2], dtype="Int64"),
        pl.Series([1, 2]),
        np.array([1, 2], dtype=np.longdouble),
    ],
)
def test_scores_become_contiguous_float64(scores):
    results = check_scores(scores, 2)
    assert results.dtype == np.float64
    assert results.flags.c_contiguous
    assert results.tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    ("scores", "error", "message"),
    [
        ([1, np.nan], ValueError, "row 1 is nan"),
        (np.array([1, 10**400], dtype=object), TypeError, "row 1 is 1000"),
        (np.array([1, np.longdouble("1e4000")]), ValueError, "row 1 is"),
        ([1, 2, 3], ValueError, "y_score has 3 rows, but the labels have 2"),
        ([1, None], TypeError, "row 1 is None"),
        (["1", "2"], TypeError, "must hold real numbers"),
        (np.array([1, "2"], dtype=object), TypeError, "row 1 is '2'"),
        ([1, 2j], TypeError, "complex128"),
        ([2**60, 2**60 + 1], ValueError, "float64 rounds to one"),
        (np.array([2**64 - 1, 2**64 - 2], np.uint64), ValueError, "rounds to one"),
        ([[1, 2], [3, 4]], ValueError, r"got shape \(2, 2\)"),
        (pl.LazyFrame({"a": [0, 1]}), TypeError, r"collect\(\) first"),
    ],
)
def test_bad_scores_are_rejected_with_the_row(scores, error, message):
    with pytest.raises(error, match=message):
        check_scores(scores, 2)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, -0.5], "row 1 weighs -0.5"),
        ([0, 0], "zero in every row"),
        ([1, np.nan], "row 1 is nan"),
        ([1, 2, 3], "sample_weight has 3 rows"),
        (
            [1e-300, 1e308],
            r"1e\+308 as the largest weight, .* Divide the weights by it",
        ),
        ([1e-300, 0.0], "1e-300 as the largest weight"),
    ],
)
def test_bad_weights_are_rejected(weights, message):
    with pytest.raises(ValueError, match=message):
        check_sample_weight(weights, 2)


def test_a_class_without_weight_is_named():
    classes, is_positive = check_binary_labels(["n", "y", "n"])
    check_class_weights(classes, is_positive, None)
    check_class_weights(classes, is_positive, np.array([0.0, 1.0, 1.0]))
    with pytest.raises(NotEnoughClassesError, match="every row of class 'y'"):
        check_class_weights(classes, is_positive, np.array([1.0, 0.0, 1.0]))


@pytest.mark.parametrize(
    ("qid", "codes"),
    [
        ([7, 3, 7], [1, 0, 1]),
        (["b", "a", "b"], [1, 0, 1]),
        ([(1, 2), (1, 3), (1, 2)], [0, 1, 0]),
        (np.array(["b", 1, "b"], dtype=object), [0, 1, 0]),
        (pd.Series(["b", "a", "b"]), [0, 1, 0]),
        (pl.Series([2.0, 1.0, 2.0]), [1, 0, 1]),
        ([2**63 + 1, 2**63, 2**63 + 1], [1, 0, 1]),
        ([10**20 + 1, 10**20, 10**20 + 1], [0, 1, 0]),
    ],
)
def test_query_ids_become_numbers(qid, codes):
    queries = check_qid(qid, 3)
    assert queries.codes.tolist() == codes
    assert queries.n_queries == 2
    assert [queries.ids[code] for code in codes] == list(qid)


@pytest.mark.parametrize(
    ("qid", "error", "message"),
    [
        ([1, 2], ValueError, "qid has 2 rows"),
        ([1, np.nan, 2], ValueError, "nan in row 1"),
        (["a", None, "b"], ValueError, "None in row 1"),
        (None, TypeError, "qid is None"),
        (np.array([[1], {}, 3], dtype=object), TypeError, "hashable"),
        ([1.0, 2.5, 3.0], ValueError, r"row 1 is the float 2\.5 \(1 such rows\)"),
        ([1.0, 2.0, 2.0**60], ValueError, "write these ids as integers or strings"),
        (pl.LazyFrame({"q": [1, 2, 3]}), TypeError, r"collect\(\) first"),
    ],
)
def test_bad_query_ids_are_rejected(qid, error, message):
    with pytest.raises(error, match=message):
        check_qid(qid, 3)


def test_relevance_is_a_number_above_zero_or_the_larger_of_two_strings():
    assert check_relevance([0, 2, -1]).tolist() == [False, True, False]
    assert check_relevance([True, False]).tolist() == [True, False]
    assert check_relevance(["n", "y"]).tolist() == [False, True]
    assert check_relevance(np.array(["n", "y"], dtype=object)).tolist() == [False, True]
    with pytest.raises(ValueError, match="Only binary"):
        check_relevance(["a", "b", "c"])
    assert first_positive_level(np.array([-1, 0, 1, 2])) == 2
    assert first_positive_level(np.array([1, 2])) == 0
    assert first_positive_level(np.array(["a", "b"])) == 1


def test_short_floats_that_tie_rows_by_rounding_give_a_warning():
    scores = 1e8 + 20.0 * np.random.default_rng(0).normal(size=100)
    with pytest.warns(RoundedScoresWarning, match=r"y_score is of type float32.*100 "):
        check_scores(scores.astype(np.float32))
    with pytest.warns(RoundedScoresWarning, match="of type float16"):
        check_scores(np.linspace(0.0, 1.0, 20_000, dtype=np.float16))
