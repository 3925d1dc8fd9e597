import numpy as np
import pytest

from aucmax._core.eval_set import check_eval_set, hold_out
from aucmax.exceptions import NotEnoughClassesError

X, Y = np.eye(2), [0, 1]


def read(written):
    return check_eval_set(written, np.asarray, lambda y, name: np.asarray(y))


@pytest.mark.parametrize("written", [(X, Y), [(X, Y)], [X, Y], {"X": X, "y": Y}])
def test_a_pair_may_be_written_in_any_usual_way(written):
    rows = read(written)
    assert rows.X is X
    assert rows.labels.tolist() == Y
    assert rows.weight is rows.queries is None


def test_a_dict_names_weights_and_queries():
    rows = read({"X": X, "y": Y, "sample_weight": [1, 2], "qid": [3, 7]})
    assert rows.weight.tolist() == [1, 2]
    part = rows.part(np.array([1]))
    assert part.queries.ids[part.queries.codes].tolist() == [7]
    assert part.labels.tolist() == [1]


@pytest.mark.parametrize(
    ("written", "fault"),
    [
        ((X, Y, Y), "got a tuple of 3"),
        (7, "got a int"),
        ({"X": X}, "has no y"),
        ({"X": X, "y": Y, "weight": Y}, "an unknown key 'weight'"),
    ],
)
def test_anything_else_is_rejected_with_the_ways_there_are(written, fault):
    with pytest.raises(ValueError, match=r"eval_set.*'sample_weight' and 'qid'") as why:
        read(written)
    assert fault in str(why.value)


@pytest.mark.parametrize("fraction", [0.01, 0.1, 0.5, 0.99])
def test_each_class_gives_its_share_of_the_rows(fraction):
    labels = np.repeat(["no", "yes"], [90, 10])[
        np.random.default_rng(0).permutation(100)
    ]
    train, held = hold_out(labels, fraction, 3)
    assert np.array_equal(np.sort(np.concatenate([train, held])), np.arange(100))
    assert (np.diff(train) > 0).all()
    assert (np.diff(held) > 0).all()
    for label, n_rows in (("no", 90), ("yes", 10)):
        share = min(max(1, round(fraction * n_rows)), n_rows - 1)
        assert np.count_nonzero(labels[held] == label) == share


def test_the_random_state_decides_which_rows_are_held_out():
    labels = np.arange(100) % 2
    first, again, other = (hold_out(labels, 0.2, seed)[1] for seed in (0, 0, 1))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_queries_are_held_out_whole():
    queries = np.arange(100) // 5
    train, held = hold_out(np.arange(100) % 5, 0.25, 0, groups=queries)
    assert held.size == 25
    assert not set(queries[train]) & set(queries[held])


@pytest.mark.parametrize(
    ("labels", "groups", "fault"),
    [
        ([0, 0, 0, 1], None, "class 1 has one row"),
        ([0, 0, 1, 1], [7, 7, 7, 7], "all rows belong to one query"),
        ([0, 0, 0, 1], [1, 1, 2, 2], "queries with rows of one class only"),
    ],
)
def test_too_few_rows_to_hold_some_out_are_rejected(labels, groups, fault):
    with pytest.raises(NotEnoughClassesError, match=r"fraction=0\.1.*eval_set=") as why:
        hold_out(labels, 0.1, 0, groups)
    assert fault in str(why.value)
