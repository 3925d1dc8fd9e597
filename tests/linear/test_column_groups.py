import numpy as np
import pytest

from aucmax import AUCSVC
from aucmax.linear.penalties import group_numbers

NAMES = ["age", "height", "weight", "colour"]


def test_columns_are_found_by_number_and_by_name():
    groups = [[3, 0], (np.int64(2),), range(1, 2)]
    np.testing.assert_array_equal(group_numbers(groups, 4), [0, 2, 1, 0])
    names = [["colour", np.str_("age")], [2], np.array(["height"])]
    np.testing.assert_array_equal(group_numbers(names, 4, NAMES), [0, 2, 1, 0])


BAD_GROUPS = [
    (
        [[0, 1], [1, 2, 3]],
        None,
        "groups lists column 1 in group 0 and again in group 1; list it once",
    ),
    (
        [["age", "height"], ["height", "weight", "colour"]],
        NAMES,
        "column 'height' in group 0 and again in group 1",
    ),
    ([[0, 1, 0], [2, 3]], None, "lists column 0 in group 0 and again in group 0"),
    ([[0], [3]], None, r"leaves out 2 of the 4 columns: 1, 2\. Put each into a group"),
    ([[0], [3]], NAMES, "leaves out 2 of the 4 columns: 'height', 'weight'"),
    ([[0, 1], [2, 3, -1]], None, "holds -1 in group 1, but the columns of X are 0, 1"),
    (
        [["age"], [1, 2, 3]],
        None,
        "holds 'age' in group 0, but the columns of X are 0, 1",
    ),
    (
        [[0], ["hight"], [2, 3]],
        NAMES,
        "holds 'hight' in group 1, but .* 'age', 'height'",
    ),
    ([[0], 1, [2, 3]], None, r"such as \[\[0, 1\], \[2\]\], but group 1 is 1\."),
    ([[0, 1], [], [2, 3]], None, r"group 1 is \[\]"),
    ([[0, 1], [2.0, 3]], None, r"groups holds 2\.0 in group 1, but the columns"),
    ([[True, 1], [2, 3]], None, "groups holds True in group 0"),
]


@pytest.mark.parametrize(("groups", "names", "message"), BAD_GROUPS)
def test_bad_groups_are_named_with_their_column(groups, names, message):
    with pytest.raises(ValueError, match=message):
        group_numbers(groups, 4, names)


def test_many_columns_without_a_group_are_not_all_listed():
    with pytest.raises(ValueError, match=r"leaves out 99 .*: 1, 2, .*, 10, \.\.\.\. P"):
        group_numbers([[0]], 100)


def test_a_fit_refuses_bad_groups():
    X = np.random.default_rng(0).normal(size=(20, 4))
    y = np.arange(20) % 2
    with pytest.raises(ValueError, match="groups lists column 1"):
        AUCSVC(penalty="group", groups=[[0, 1], [1, 2, 3]]).fit(X, y)
    with pytest.raises(ValueError, match=r"penalty='group' needs groups"):
        AUCSVC(penalty="group").fit(X, y)
