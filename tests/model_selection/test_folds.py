import numpy as np
import pytest

from aucmax.model_selection.folds import choose_folds, split_folds
from aucmax.tables import Grading, Target, encode_target

CLASSES = Grading.two_classes([0], 1)
RNG = np.random.default_rng(0)
QUERIES = RNG.integers(0, 40, 300)
LEVELS = RNG.integers(0, 3, 300) * (QUERIES % 4 > 0)


def test_folds_need_two_rows_of_each_class():
    target = Target(np.array([1] * 7 + [0] * 50), CLASSES)
    assert choose_folds(target) == 3
    assert choose_folds(target, 3) == 3
    with pytest.raises(
        ValueError, match=r"7 rows are positive, but 4 folds need 8.*use 3"
    ):
        choose_folds(target, 4)
    with pytest.raises(ValueError, match="at least 2"):
        choose_folds(target, 1)
    tiny = Target(np.array([1, 1, 1, 0]), CLASSES)
    with pytest.raises(
        ValueError, match=r"1 row is negative, but 2 .*more of them are needed"
    ):
        choose_folds(tiny, 2)


def test_folds_need_a_query_with_both_classes():
    target = encode_target([0, 1, 1, 0, 1, 0, 1, 1], qid=[1, 1, 2, 2, 3, 3, 4, 4])
    assert choose_folds(target) == 3
    assert choose_folds(target, 3) == 3
    with pytest.raises(ValueError, match=r"3 of the 4 queries.*4 folds need 4.*use 3"):
        choose_folds(target, 4)
    one = encode_target([0, 1, 1], qid=[1, 1, 2])
    with pytest.raises(ValueError, match=r"1 of the 2 queries.*more of them are"):
        choose_folds(one)


@pytest.mark.parametrize("levels", [LEVELS, LEVELS > 0], ids=["levels", "classes"])
@pytest.mark.parametrize("n_folds", [2, 7])
def test_no_query_is_divided_and_usable_ones_are_shared_out_evenly(levels, n_folds):
    target = encode_target(levels, allow_levels=True, qid=QUERIES)
    usable, tested = [], []
    for train, test in split_folds(target, n_folds, 3):
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
        return [test.tolist() for _, test in split_folds(target, 3, seed)]

    assert folds(0) == folds(0) != folds(1)


def test_without_queries_every_fold_has_its_share_of_each_level():
    levels = np.array([0] * 90 + [1] * 30 + [2] * 2)
    target = encode_target(levels, allow_levels=True)
    for _, test in split_folds(target, 3, 0):
        assert np.bincount(levels[test])[:2].tolist() == [30, 10]
