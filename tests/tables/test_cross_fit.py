"""Every row is scored by a model that has not seen it, its group or its query."""

import numpy as np
import pytest

from aucmax.exceptions import NotEnoughClassesError
from aucmax.tables import Grading, Target
from aucmax.tables.table_model import out_of_fold_scores

GRADING = Grading((0, 1), (0, 1))


def target(labels, **options):
    return Target(np.asarray(labels), GRADING, **options)


def remembered(seen):
    def fit_and_score(train, test):
        assert not set(train) & set(test)
        seen.append((set(train), set(test)))
        return test.astype(float)

    return fit_and_score


def test_every_row_is_scored_once():
    seen = []
    rows, scores = out_of_fold_scores(remembered(seen), target([0, 1, 0, 0] * 10))
    assert sorted(rows) == list(range(40))
    assert (rows == scores).all()
    assert len(seen) == 5


@pytest.mark.parametrize("name", ["groups", "queries"])
def test_groups_and_queries_are_not_divided(name):
    groups = np.repeat(np.arange(10), 4)
    seen = []
    out_of_fold_scores(remembered(seen), target([0, 1, 0, 0] * 10, **{name: groups}))
    assert seen
    for train, test in seen:
        assert not set(groups[list(train)]) & set(groups[list(test)])


def test_few_rows_of_a_class_make_fewer_folds():
    seen = []
    out_of_fold_scores(remembered(seen), target([0] * 20 + [1, 1]))
    assert len(seen) == 2


def test_one_row_of_a_class_is_too_few():
    with pytest.raises(NotEnoughClassesError, match="calibrate=None"):
        out_of_fold_scores(remembered([]), target([0] * 20 + [1]))


def test_many_rows_make_three_folds():
    seen = []
    out_of_fold_scores(remembered(seen), target(np.arange(30_000) % 2))
    assert len(seen) == 3
