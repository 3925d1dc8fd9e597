import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression

from aucmax._core.folds import plan_folds
from aucmax.model_selection import out_of_fold
from aucmax.model_selection.candidates import Candidate, Setting
from aucmax.model_selection.estimate import WHOLE
from aucmax.model_selection.input_table import GivenRows
from aucmax.model_selection.out_of_fold import (
    TimeUpError,
    TrainingTable,
    fit_out_of_fold,
)
from aucmax.model_selection.rank_scale import Spread, scaled
from aucmax.tables import TableEncoder, as_table

N_ROWS = 90
SETTING = Setting(60, 2, False, WHOLE, 1, 0)


def training_table(**more):
    generator = np.random.default_rng(0)
    X = generator.normal(size=(N_ROWS, 2))
    labels = X[:, 0] + generator.normal(size=N_ROWS) > 0.5
    given = GivenRows(as_table(X), np.array([0, 1]), labels, **more)
    return TrainingTable(given, plan_folds(labels, 3, 0))


def nothing(*_, **__):
    return None


def logistic(setting):
    return LogisticRegression()


class Recorder(ClassifierMixin, BaseEstimator):
    """Remembers what it was fitted to."""

    def __init__(self, callback=None):
        self.callback = callback

    def fit(self, X, y, sample_weight=None, qid=None):
        self.given_ = (X, y, sample_weight, qid)
        if self.callback is not None:
            self.callback("news")
        return self

    def decision_function(self, X):
        return X[:, 0]


def record(setting):
    return Recorder()


def test_rows_are_scored_by_the_model_that_has_not_seen_them():
    rows = training_table()
    found = fit_out_of_fold(Candidate("mine", logistic), rows, SETTING, nothing)
    assert len(found.models) == len(found.scales) == 3
    assert found.spread == Spread.of(found.scores)
    for fold, (train, test) in enumerate(rows.plan.folds):
        encoder = TableEncoder().fit(rows.given.table[train])
        model = LogisticRegression().fit(
            encoder.transform(rows.given.table[train]), rows.given.labels[train]
        )
        scores = model.decision_function(encoder.transform(rows.given.table[test]))
        here = rows.plan.fold_of_row == fold
        np.testing.assert_allclose(found.scores[here], scores)
        np.testing.assert_allclose(found.logits[here], scaled(scores, found.spread))


def test_weights_and_queries_reach_the_model_and_the_callback_is_taken_back():
    weight, queries = np.arange(1.0, 91.0), np.arange(90) // 10
    rows = training_table(weight=weight, queries=queries)
    calls = []
    found = fit_out_of_fold(
        Candidate("mine", record), rows, SETTING, lambda *news, **_: calls.append(news)
    )
    train, _ = rows.plan.folds[0]
    _, y, given_weight, qid = found.models[0].given_
    np.testing.assert_array_equal(y, rows.given.labels[train])
    np.testing.assert_array_equal(given_weight, weight[train])
    np.testing.assert_array_equal(qid, queries[train])
    assert found.models[0].callback is None
    assert calls.count(("news",)) == 3


def test_a_candidate_may_learn_from_some_of_the_rows():
    rows = training_table(weight=np.arange(1.0, 91.0))
    candidate = Candidate("mine", record, most_rows=20)
    found = fit_out_of_fold(candidate, rows, SETTING, nothing)
    X, y, weight, _ = found.models[0].given_
    assert X.shape[0] == y.size == weight.size == 20
    assert 0 < y.sum() < 20
    assert found.scores.size == N_ROWS


def test_time_may_run_out_within_a_fit():
    def stop(*news, **_):
        if news:
            raise TimeUpError

    with pytest.raises(TimeUpError):
        fit_out_of_fold(Candidate("mine", record), training_table(), SETTING, stop)


@pytest.mark.parametrize("is_large", [False, True])
def test_matrices_are_kept_of_large_tables_those_of_one_view(monkeypatch, is_large):
    monkeypatch.setattr(out_of_fold, "_MANY_CELLS", 1 if is_large else 10_000)
    rows = training_table()
    first = rows.matrices(0, "linear")
    assert rows.matrices(0, "linear") is first
    rows.matrices(0, "trees")
    assert (rows.matrices(0, "linear") is first) == (not is_large)
