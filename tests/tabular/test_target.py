import numpy as np
import polars as pl
import pytest

from aucmax.exceptions import NotEnoughClassesError
from aucmax.tabular import Target, encode_target, match_target


@pytest.mark.parametrize(
    ("values", "classes"),
    [
        ([0, 1, 0, 0], (0, 1)),
        ([1, -1, 1, 1], (-1, 1)),
        ([1.0, 2.0, 1.0, 1.0], (1.0, 2.0)),
        ([True, False, True, True], (False, True)),
        (["yes", "no", "yes", "yes"], ("no", "yes")),
        (["True", "False", "True", "True"], ("False", "True")),
        (["sick", "well", "well", "well"], ("well", "sick")),
        (["well", "sick", "sick", "sick"], ("sick", "well")),
        (["b", "a", "b", "a"], ("a", "b")),
    ],
    ids=str,
)
def test_without_a_choice_the_larger_the_affirmative_or_the_rarer_is_positive(
    values, classes
):
    target = encode_target(pl.Series(values))
    assert target.classes == classes
    assert target.labels.tolist() == [int(v == classes[1]) for v in values]


@pytest.mark.parametrize("positive", [0, "0", 0.0])
def test_the_positive_value_can_be_chosen_in_any_spelling(positive):
    target = encode_target(np.array([0, 1, 1]), positive)
    assert target.classes == (1, 0)
    assert target.labels.tolist() == [1, 0, 0]


def test_the_positive_value_is_found_whatever_its_case():
    assert encode_target(["Died", "Alive", "Alive"], "died").classes[1] == "Died"
    assert encode_target([True, False], "False").classes[1] is False


def test_a_positive_value_that_does_not_occur_is_refused_with_those_that_do():
    with pytest.raises(ValueError, match=r"'maybe' does not occur.*'no': 1.*'yes': 2"):
        encode_target(["yes", "no", "yes"], "maybe", name="outcome")


def test_one_class_is_refused():
    with pytest.raises(NotEnoughClassesError, match="all 3 rows have outcome = 1"):
        encode_target([1, 1, 1], name="outcome")


def test_three_classes_are_refused_with_their_counts():
    with pytest.raises(ValueError, match=r"3 different values \('a': 1 rows, 'b': 1"):
        encode_target(["a", "b", "c"])


@pytest.mark.parametrize("gap", [None, float("nan"), " "])
def test_missing_targets_are_refused_with_their_rows(gap):
    values = [gap, "1", "0", gap] if gap == " " else [gap, 1.0, 0.0, gap]
    with pytest.raises(
        ValueError, match=r"outcome is missing in 2 of 4 rows \(row 1, 4"
    ):
        encode_target(pl.Series(values), name="outcome")


def test_no_rows_and_tables_are_refused():
    with pytest.raises(ValueError, match="there are no rows"):
        encode_target([])
    with pytest.raises(ValueError, match="one value a row"):
        encode_target(np.zeros((2, 2)))


@pytest.mark.parametrize("values", [[0, 1, 1], [0.0, 1.0, 1.0], ["0", "1", "1"]])
def test_new_labels_are_matched_in_any_spelling(values):
    target = match_target(pl.Series(values), [1, 0])
    assert target.labels.tolist() == [1, 0, 0]
    assert target.classes == (1, 0)


def test_unknown_new_labels_are_refused():
    with pytest.raises(ValueError, match=r"\(-1: 2 rows\); it knows 0 and 1"):
        match_target([-1, 1, -1], [0, 1])


def test_new_rows_of_one_class_are_refused():
    with pytest.raises(NotEnoughClassesError, match="needs rows of both classes"):
        match_target([1, 1], [0, 1])


def test_folds_need_two_rows_of_each_class():
    target = Target(np.array([1] * 7 + [0] * 50), (0, 1))
    assert target.usable_folds(5) == 3
    target.check_folds(3)
    with pytest.raises(ValueError, match=r"7 positive rows, but 4 folds need 8.*use 3"):
        target.check_folds(4)
    with pytest.raises(ValueError, match="at least 2"):
        target.check_folds(1)
    tiny = Target(np.array([1, 1, 1, 0]), (0, 1))
    with pytest.raises(ValueError, match=r"1 negative rows.*more of them are needed"):
        tiny.check_folds(2)
