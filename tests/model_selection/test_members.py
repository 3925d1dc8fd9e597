import numpy as np
import pytest

from aucmax._core.folds import plan_folds
from aucmax.exceptions import IncompatibleError
from aucmax.model_selection.candidates import Candidate
from aucmax.model_selection.clock import Clock
from aucmax.model_selection.members import choose_members
from aucmax.model_selection.out_of_fold import TrainingTable
from aucmax.model_selection.rank_scale import learn_scale
from aucmax.model_selection.search import search
from model_selection.test_out_of_fold import N_ROWS, SETTING, Recorder, training_table

WEIGHTS = np.array([0.3, 0.0, 0.7])


class Refuses(Recorder):
    """Learns from folds, but not from all rows."""

    def __init__(self, error=IncompatibleError, callback=None):
        super().__init__(callback)
        self.error = error

    def fit(self, X, y, sample_weight=None, qid=None):
        if y.size == N_ROWS:
            raise self.error("too many")
        return super().fit(X, y, sample_weight, qid)


def members(rows, make=Recorder, time_limit=None, report=None):
    candidates = [Candidate(name, lambda _: make()) for name in "abc"]
    found = search(candidates, rows, SETTING, Clock(None), report)
    weights = WEIGHTS[: len(found.fitted)]
    return found, choose_members(found, weights, rows, SETTING, Clock(time_limit))


def test_models_with_a_weight_are_fitted_to_all_rows():
    weight = np.arange(1.0, N_ROWS + 1)
    rows = training_table(weight=weight)
    found, chosen = members(rows)
    assert [(one["name"], one["weight"]) for one in chosen.records] == [
        ("c", 0.7),
        ("a", 0.3),
    ]
    assert len(chosen.encoders) == 1
    for record, k in zip(chosen.records, (2, 0), strict=True):
        (model,), (scale,) = record["models"], record["scales"]
        X, y, given_weight, _ = model.given_
        np.testing.assert_array_equal(y, rows.given.labels)
        np.testing.assert_array_equal(given_weight, weight)
        np.testing.assert_array_equal(X, chosen.encoders[0].transform(rows.given.table))
        one = found.fitted[k]
        np.testing.assert_array_equal(scale, learn_scale(one.scores, one.spread))
    assert chosen.notices == []


def test_by_time_the_scale_is_that_of_the_last_rows():
    given = training_table().given
    plan = plan_folds(given.labels, 3, 0, times=np.arange(float(N_ROWS)))
    found, chosen = members(TrainingTable(given, plan))
    last = plan.fold_of_row == plan.fold_of_row.max()
    one = found.fitted[2]
    np.testing.assert_array_equal(
        chosen.records[0]["scales"][0], learn_scale(one.scores[last], one.spread)
    )


@pytest.mark.parametrize(
    ("options", "notice"),
    [
        ({"time_limit": 0.0}, "there was no time to fit the models to all rows"),
        (
            {"make": lambda: Refuses(KeyboardInterrupt)},
            "interrupted before the models were fitted to all rows",
        ),
        ({"make": Refuses}, "not fitted to all rows: IncompatibleError: too many"),
    ],
)
def test_the_models_of_the_folds_stand_in(options, notice):
    rows = training_table()
    found, chosen = members(rows, **options)
    assert chosen.notices == [notice]
    assert chosen.encoders == rows.encoders
    assert chosen.records[0]["models"] == found.fitted[2].models
    assert chosen.records[0]["scales"] is not None
    assert len(chosen.records[0]["scales"]) == 3


def test_who_ends_the_search_does_not_wait_for_more_fits():
    found, chosen = members(training_table(), report=lambda news: news.n_done == 1)
    assert found.is_stopped
    assert [one["name"] for one in chosen.records] == ["a"]
    assert len(chosen.encoders) == 3
