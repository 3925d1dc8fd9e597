import numpy as np
import pytest

from aucmax._core.row_splits import class_folds, unit_folds
from aucmax.exceptions import NotEnoughClassesError
from aucmax.tables import Target, encode_target
from aucmax.tables import folds as module
from aucmax.tables.folds import split_rows
from aucmax.tables.target import Grading

CLASSES = Grading.two_classes([0], 1)
RNG = np.random.default_rng(0)
QUERIES = RNG.integers(0, 40, 300)
N_ROWS = 120
IS_FOURTH = np.arange(N_ROWS) % 4 == 0
LEVELS = RNG.integers(0, 3, 300) * (QUERIES % 4 > 0)


def count(target, n_folds=None):
    return len(split_rows(target, n_folds, 0))


def test_folds_need_two_rows_of_each_class():
    target = Target(np.array([1] * 7 + [0] * 50), CLASSES)
    assert count(target) == 3
    assert count(target, 3) == 3
    with pytest.raises(
        ValueError, match=r"7 rows are positive, but 4 folds need 8.*use 3"
    ):
        count(target, 4)
    with pytest.raises(ValueError, match="at least 2"):
        count(target, 1)
    tiny = Target(np.array([1, 1, 1, 0]), CLASSES)
    with pytest.raises(
        ValueError, match=r"1 row is negative, but 2 .*add more of them"
    ):
        count(tiny, 2)


def test_folds_need_a_query_with_both_classes():
    target = encode_target([0, 1, 1, 0, 1, 0, 1, 1], qid=[1, 1, 2, 2, 3, 3, 4, 4])
    assert count(target) == 3
    assert count(target, 3) == 3
    with pytest.raises(ValueError, match=r"3 of the 4 queries.*4 folds need 4.*use 3"):
        count(target, 4)
    one = encode_target([0, 1, 1], qid=[1, 1, 2])
    with pytest.raises(ValueError, match=r"1 of the 2 queries.*add more of them"):
        count(one)


@pytest.mark.parametrize("levels", [LEVELS, LEVELS > 0], ids=["levels", "classes"])
@pytest.mark.parametrize("n_folds", [2, 7])
def test_no_query_is_divided_and_usable_ones_are_shared_out_evenly(levels, n_folds):
    target = encode_target(levels, allow_levels=True, qid=QUERIES)
    usable, tested = [], []
    for train, test in split_rows(target, n_folds, 3):
        assert not set(QUERIES[train]) & set(QUERIES[test])
        assert sorted([*train, *test]) == list(range(300))
        usable.append(target.take(test).n_usable_queries)
        tested.extend(test)
    assert sorted(tested) == list(range(300))
    assert sum(usable) == target.n_usable_queries < 40
    assert max(usable) - min(usable) <= 1


def test_equal_seeds_give_equal_folds():
    target = encode_target(LEVELS, allow_levels=True, qid=QUERIES)

    def folds(seed: int) -> list[list[int]]:
        return [test.tolist() for _, test in split_rows(target, 3, seed)]

    assert folds(0) == folds(0) != folds(1)


def test_without_queries_every_fold_has_its_share_of_each_level():
    levels = np.array([0] * 90 + [1] * 30 + [2] * 2)
    target = encode_target(levels, allow_levels=True)
    for _, test in split_rows(target, 3, 0):
        assert np.bincount(levels[test])[:2].tolist() == [30, 10]


def test_groups_without_a_usable_query_cannot_be_divided():
    target = Target(
        np.array([0, 0, 1, 1]),
        CLASSES,
        queries=np.arange(4) // 2,
        groups=np.arange(4) // 2,
    )
    with pytest.raises(ValueError, match="cannot be divided into 2 folds"):
        count(target)


def test_each_repeat_deals_anew_and_tests_each_row_once():
    labels = np.arange(60) % 3 == 0
    folds = class_folds(labels, 3, 0, n_repeats=2)
    tests = [test.tolist() for _, test in folds]
    for repeat in (tests[:3], tests[3:]):
        assert sorted(np.concatenate(repeat)) == list(range(60))
    assert tests[:3] != tests[3:]
    assert tests[:3] == [test.tolist() for _, test in class_folds(labels, 3, 0)]


@pytest.mark.parametrize("is_balanced", [None, True, False])
def test_units_are_dealt_whole_by_class_or_at_random(is_balanced):
    unit = RNG.integers(0, 1200, 3000)
    labels = RNG.random(3000) < 0.3
    folds = unit_folds(labels, unit, 4, 0, is_balanced=is_balanced)
    assert sorted(np.concatenate([test for _, test in folds])) == list(range(3000))
    for train, test in folds:
        assert not np.intersect1d(unit[train], unit[test]).size


def plan_folds(labels, n_folds, seed, **rows):
    return module.plan_folds(Target(labels.astype(int), CLASSES, **rows), n_folds, seed)


def check_parts(plan, labels=IS_FOURTH):
    """No row is in training and test, nor in two tests; blocks are all test rows."""
    for train, test in plan.folds:
        assert not np.intersect1d(train, test).size
        assert labels[test].any()
        assert not labels[test].all()
    assert np.unique(plan.rows).size == plan.rows.size
    np.testing.assert_array_equal(
        np.sort(np.concatenate(plan.blocks)), np.arange(plan.rows.size)
    )


def test_every_row_is_tested_once_and_classes_are_spread():
    plan = plan_folds(IS_FOURTH, 5, 0)
    check_parts(plan)
    np.testing.assert_array_equal(np.sort(plan.rows), np.arange(N_ROWS))
    assert [np.count_nonzero(IS_FOURTH[test]) for _, test in plan.folds] == [6] * 5
    assert plan.scoring == [0, 1, 2, 3, 4]
    other = plan_folds(IS_FOURTH, 5, 1)
    assert not np.array_equal(other.rows, plan.rows)


def test_few_positives_make_few_folds_and_a_notice():
    labels = np.arange(50) < 5
    plan = plan_folds(labels, 5, 0)
    check_parts(plan, labels)
    assert len(plan.folds) == 2
    assert "only 5 rows are positive: 2 folds instead of 5" in plan.notices[0]


def test_one_row_of_a_class_cannot_be_checked():
    with pytest.raises(NotEnoughClassesError, match="1 row is positive; at least two"):
        plan_folds(np.arange(50) < 1, 5, 0)


def test_groups_of_one_class_cannot_be_judged():
    with pytest.raises(NotEnoughClassesError, match="leaves both classes"):
        plan_folds(IS_FOURTH, 2, 0, groups=IS_FOURTH.astype(int))


def test_the_future_tests_the_past():
    moments = np.random.default_rng(0).permutation(N_ROWS) // 3
    plan = plan_folds(IS_FOURTH, 4, 0, times=moments.astype(float))
    check_parts(plan)
    assert len(plan.folds) == 4
    for train, test in plan.folds:
        assert moments[train].max() < moments[test].min()
    assert plan.scoring == [3]


def test_time_needs_both_classes_before_and_after():
    with pytest.raises(NotEnoughClassesError, match="no time before and after"):
        plan_folds(IS_FOURTH, 3, 0, times=IS_FOURTH.astype(float))
    with pytest.raises(ValueError, match="cannot be combined with groups or queries"):
        plan_folds(IS_FOURTH, 3, 0, times=np.arange(120.0), groups=np.arange(120))


@pytest.mark.parametrize(
    ("limits", "n_folds"), [((200, 300), 5), ((50, 200), 2), ((5, 9), 1)]
)
def test_many_rows_need_fewer_folds(monkeypatch, limits, n_folds):
    monkeypatch.setattr(module, "_MAX_ROWS_FOR_ALL_FOLDS", limits[0])
    monkeypatch.setattr(module, "_MAX_ROWS_FOR_TWO_FOLDS", limits[1])
    plan = plan_folds(IS_FOURTH, 5, 0)
    check_parts(plan)
    assert len(plan.folds) == n_folds
    assert len(plan.blocks) == 5
    for block in plan.blocks:
        labels = IS_FOURTH[plan.rows[block]]
        assert labels.any()
        assert not labels.all()
