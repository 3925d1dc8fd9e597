import numpy as np
import pytest

from aucmax.exceptions import NotEnoughClassesError
from aucmax.model_selection import plan as module
from aucmax.model_selection.plan import plan_folds

N_ROWS = 120
LABELS = np.arange(N_ROWS) % 4 == 0


def check_parts(plan, labels=LABELS):
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
    plan = plan_folds(LABELS, 5, 0)
    check_parts(plan)
    np.testing.assert_array_equal(np.sort(plan.rows), np.arange(N_ROWS))
    assert [np.count_nonzero(LABELS[test]) for _, test in plan.folds] == [6] * 5
    assert plan.scoring == [0, 1, 2, 3, 4]
    other = plan_folds(LABELS, 5, 1)
    assert not np.array_equal(other.rows, plan.rows)


def test_few_positives_make_few_folds_and_a_notice():
    labels = np.arange(50) < 5
    plan = plan_folds(labels, 5, 0)
    check_parts(plan, labels)
    assert len(plan.folds) == 2
    assert "5 positive rows are few: 2 folds in place of 5" in plan.notices[0]


def test_one_row_of_a_class_cannot_be_checked():
    with pytest.raises(NotEnoughClassesError, match="1 row is positive; at least two"):
        plan_folds(np.arange(50) < 1, 5, 0)


@pytest.mark.parametrize("name", ["groups", "queries"])
def test_no_group_is_divided(name):
    unit = np.random.default_rng(0).integers(0, 20, size=N_ROWS)
    plan = plan_folds(LABELS, 5, 0, **{name: unit})
    check_parts(plan)
    for train, test in plan.folds:
        assert not np.intersect1d(unit[train], unit[test]).size


def test_a_group_in_every_row_is_no_group():
    plan = plan_folds(LABELS, 5, 0, groups=np.arange(N_ROWS))
    np.testing.assert_array_equal(plan.rows, plan_folds(LABELS, 5, 0).rows)


def test_one_group_cannot_be_kept_aside():
    with pytest.raises(ValueError, match="all rows belong to one of the groups"):
        plan_folds(LABELS, 5, 0, groups=np.zeros(N_ROWS, int))


def test_groups_of_one_class_cannot_be_judged():
    with pytest.raises(NotEnoughClassesError, match="leaves both classes"):
        plan_folds(LABELS, 2, 0, groups=LABELS.astype(int))


def test_the_future_tests_the_past():
    moments = np.random.default_rng(0).permutation(N_ROWS) // 3
    plan = plan_folds(LABELS, 4, 0, moments=moments.astype(float))
    check_parts(plan)
    assert len(plan.folds) == 4
    for train, test in plan.folds:
        assert moments[train].max() < moments[test].min()
    assert plan.scoring == [3]


def test_time_needs_both_classes_before_and_after():
    with pytest.raises(NotEnoughClassesError, match="no time before and after"):
        plan_folds(LABELS, 3, 0, moments=LABELS.astype(float))
    with pytest.raises(ValueError, match="folds go by one of them"):
        plan_folds(LABELS, 3, 0, moments=np.arange(120.0), groups=np.arange(120))


@pytest.mark.parametrize(
    ("limits", "n_folds"), [((200, 300), 5), ((50, 200), 2), ((5, 9), 1)]
)
def test_many_rows_need_fewer_folds(monkeypatch, limits, n_folds):
    monkeypatch.setattr(module, "_MOST_ROWS_FOR_ALL_FOLDS", limits[0])
    monkeypatch.setattr(module, "_MOST_ROWS_FOR_TWO_FOLDS", limits[1])
    plan = plan_folds(LABELS, 5, 0)
    check_parts(plan)
    assert len(plan.folds) == n_folds
    assert len(plan.blocks) == 5
    for block in plan.blocks:
        labels = LABELS[plan.rows[block]]
        assert labels.any()
        assert not labels.all()
