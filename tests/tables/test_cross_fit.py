"""Every row is scored by a model that has not seen it, its group or its query."""

import numpy as np
import polars as pl
import pytest
from sklearn.base import BaseEstimator

from aucmax.exceptions import NotEnoughClassesError
from aucmax.tables import TableModel, Target
from aucmax.tables.cross_fit import out_of_fold_scores
from aucmax.tables.target import Grading

GRADING = Grading((0, 1), (0, 1))


def target(labels, **options):
    return Target(np.asarray(labels), GRADING, **options)


def numbers(X):
    return np.sqrt(X["square"].to_numpy()).round().astype(int)


class Remembers(BaseEstimator):
    """Scores each row by its number, whose square is the only column."""

    def fit(self, X, y):
        SEEN.append({*numbers(X)})
        return self

    def decision_function(self, X):
        tested = {*numbers(X)}
        assert not SEEN[-1] & tested
        SEEN[-1] = (SEEN[-1], tested)
        return numbers(X).astype(float)


SEEN = []


def scores_of(known):
    SEEN.clear()
    table = pl.DataFrame({"square": np.arange(known.labels.size) ** 2})
    return out_of_fold_scores(TableModel(Remembers(), view="raw"), table, known)


def test_every_row_is_scored_once():
    rows, scores = scores_of(target([0, 1, 0, 0] * 10))
    assert sorted(rows) == list(range(40))
    assert (rows == scores).all()
    assert len(SEEN) == 5


@pytest.mark.parametrize("name", ["groups", "queries"])
def test_groups_and_queries_are_not_divided(name):
    groups = np.repeat(np.arange(10), 4)
    scores_of(target([0, 1, 0, 0] * 10, **{name: groups}))
    assert SEEN
    for train, test in SEEN:
        assert not set(groups[list(train)]) & set(groups[list(test)])


def test_few_rows_of_a_class_make_fewer_folds():
    scores_of(target([0] * 20 + [1, 1]))
    assert len(SEEN) == 2


def test_one_row_of_a_class_is_too_few():
    with pytest.raises(NotEnoughClassesError, match="calibrate=None"):
        scores_of(target([0] * 20 + [1]))


def test_many_rows_make_three_folds():
    scores_of(target(np.arange(30_000) % 2))
    assert len(SEEN) == 3
