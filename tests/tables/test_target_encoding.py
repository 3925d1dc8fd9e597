from datetime import date

import numpy as np
import polars as pl
import pytest

from aucmax.exceptions import NotEnoughClassesError, TooManyValuesError
from aucmax.tables import encode_target
from aucmax.tables.target import Grading
from aucmax.tables.target_encoding import read_moments

ZERO_OR_ONE = Grading.two_classes([0], 1)
ONE_OR_ZERO = Grading.two_classes([1], 0)


@pytest.mark.parametrize(
    ("values", "classes"),
    [
        ([0, 1, 0, 0], (0, 1)),
        ([1, -1, 1, 1], (-1, 1)),
        ([True, False, True, True], (False, True)),
        (["yes", "no", "yes", "yes"], ("no", "yes")),
        (["b", "a", "a", "a"], ("a", "b")),
    ],
    ids=str,
)
def test_without_a_choice_the_second_in_sorted_order_is_positive(values, classes):
    target = encode_target(pl.Series(values))
    assert target.grading.classes == classes
    assert target.labels.tolist() == [int(v == classes[1]) for v in values]


@pytest.mark.parametrize("positive", [0, "0", 0.0])
def test_the_positive_value_can_be_chosen_in_any_spelling(positive):
    target = encode_target(np.array([0, 1, 1]), positive)
    assert target.grading.classes == (1, 0)
    assert target.labels.tolist() == [1, 0, 0]


def test_the_positive_value_is_found_whatever_its_case():
    assert (
        encode_target(["Died", "Alive", "Alive"], "died").grading.classes[1] == "Died"
    )
    assert encode_target([True, False], "False").grading.classes[1] is False


def test_a_positive_value_that_does_not_occur_is_refused_with_those_that_do():
    with pytest.raises(ValueError, match=r"'maybe' does not occur.*'no': 1.*'yes': 2"):
        encode_target(["yes", "no", "yes"], "maybe", names={"y": "outcome"})


def test_one_class_is_refused():
    with pytest.raises(NotEnoughClassesError, match="all 3 rows have outcome = 1"):
        encode_target([1, 1, 1], names={"y": "outcome"})


def test_three_classes_are_refused_with_their_counts_and_a_way_out():
    with pytest.raises(
        TooManyValuesError,
        match=r"3 different values \('a': 1 rows, 'b': 1.*pos_label=",
    ) as error:
        encode_target(["a", "b", "c"])
    assert "levels" not in str(error.value)
    with pytest.raises(ValueError, match="levels of relevance, use a model"):
        encode_target([0, 1, 2])


@pytest.mark.parametrize(
    ("values", "positive", "classes"),
    [
        (["died", "lost", "well", "died"], "Died", ("not died", "died")),
        ([0.0, 1.0, 2.0, 2.0], "2", ("not 2", "2")),
    ],
)
def test_one_of_many_values_can_be_ranked_above_all_others(values, positive, classes):
    target = encode_target(values, positive)
    assert target.grading.classes == classes
    assert target.labels.tolist() == [int(v == values[-1]) for v in values]
    assert not target.is_graded
    again = encode_target(values[::-1], grading=target.grading)
    assert again.labels.tolist() == target.labels[::-1].tolist()


@pytest.mark.parametrize("values", [[0, 2, 5, 0], [0.0, 2.0, 5.0, 0.0]])
def test_whole_numbers_can_be_levels(values):
    target = encode_target(values, allow_levels=True)
    assert target.is_graded
    assert target.labels.tolist() == [0, 2, 5, 0]
    assert target.labels.dtype == np.int64
    assert target.relevant.tolist() == [0, 1, 1, 0]
    assert target.level_counts == {0: 2, 2: 1, 5: 1}
    assert (target.n_positive, target.n_negative) == (2, 2)


def test_two_levels_are_two_classes():
    target = encode_target([0, 2, 2], allow_levels=True)
    assert not target.is_graded
    assert target.labels.tolist() == [0, 1, 1]


@pytest.mark.parametrize("values", [[0, 1, 2.5], [-1, 0, 1], ["a", "b", "c"]], ids=str)
def test_values_that_are_no_levels_are_refused(values):
    with pytest.raises(ValueError, match="levels of relevance must be whole"):
        encode_target(values, allow_levels=True)


def test_new_rows_may_have_other_levels_but_no_other_kind_of_value():
    grading = encode_target([1, 2, 3], allow_levels=True).grading
    target = encode_target([1.0, 4.0, 1.0], grading=grading)
    assert target.labels.tolist() == [1, 4, 1]
    assert target.relevant.tolist() == [0, 1, 0]
    assert target.is_graded
    with pytest.raises(
        ValueError, match=r"did not occur in training.*the model knows 1, 2 and 3"
    ):
        encode_target(["low", "high"], grading=grading)


@pytest.mark.parametrize(
    ("qid", "message"),
    [
        ([1, None, 1, 2], r"search is missing in 1 of 4 rows \(row 2\).*their query"),
        ([1, 2, 3], "search has 3 rows, but the target has 4"),
        ([1, 1, 2, 2], "none of the 2 queries of search has rows with different"),
    ],
)
def test_unusable_queries_are_refused(qid, message):
    with pytest.raises(ValueError, match=message):
        encode_target([0, 0, 1, 1], qid=pl.Series(qid), names={"qid": "search"})


@pytest.mark.parametrize("gap", [None, float("nan"), " "])
def test_missing_targets_are_refused_with_their_rows(gap):
    values = [gap, "1", "0", gap] if gap == " " else [gap, 1.0, 0.0, gap]
    with pytest.raises(
        ValueError, match=r"outcome is missing in 2 of 4 rows \(row 1, 4"
    ):
        encode_target(pl.Series(values), names={"y": "outcome"})


def test_no_rows_and_tables_are_refused():
    with pytest.raises(ValueError, match="there are no rows"):
        encode_target([])
    with pytest.raises(ValueError, match="one value per row"):
        encode_target(np.zeros((2, 2)))


@pytest.mark.parametrize("values", [[0, 1, 1], [0.0, 1.0, 1.0], ["0", "1", "1"]])
def test_new_labels_are_matched_in_any_spelling(values):
    target = encode_target(pl.Series(values), grading=ONE_OR_ZERO)
    assert target.labels.tolist() == [1, 0, 0]
    assert target.grading.classes == (1, 0)


def test_unknown_new_labels_are_rejected():
    with pytest.raises(ValueError, match=r"\(-1: 2 rows\); the model knows 0 and 1"):
        encode_target([-1, 1, -1], grading=ZERO_OR_ONE)


def test_new_rows_of_one_class_are_refused():
    with pytest.raises(NotEnoughClassesError, match="needs rows of both classes"):
        encode_target([1, 1], grading=ZERO_OR_ONE)


@pytest.mark.parametrize(
    "values",
    [
        [3.0, 1.0, 2.0],
        np.array([30, 10, 20]),
        ["2024-03-01", "2024-01-01", "2024-02-01"],
        [date(2024, 3, 1), date(2024, 1, 1), date(2024, 2, 1)],
        np.array(["2024-03", "2024-01", "2024-02"], dtype="M8[s]"),
        ["3", "1", "2"],
    ],
)
def test_numbers_and_dates_are_put_in_order(values):
    assert np.argsort(read_moments(values)).tolist() == [1, 2, 0]


@pytest.mark.parametrize("values", [["2024-01-01", "soon"], [1.0, np.nan], [None, 2]])
def test_what_cannot_be_read_is_named(values):
    with pytest.raises(ValueError, match=r"when must be .* or a date .* row [01]"):
        read_moments(values, "when")
