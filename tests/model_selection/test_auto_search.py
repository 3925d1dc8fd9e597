import time
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from aucmax.exceptions import IncompatibleError, NotEnoughClassesError
from aucmax.model_selection import LightGBMBaseline, auto_search
from aucmax.model_selection.auto_search import AutoSearch, SearchClock, fit_out_of_fold
from aucmax.model_selection.goals import Goal
from aucmax.model_selection.held_out import HeldOutRows
from aucmax.model_selection.models import SearchSetting, choose_candidates
from aucmax.model_selection.stacking import learn_scale, scaled
from aucmax.tables import TableEncoder, Target
from aucmax.tables.cross_fit import FoldedTable, TableCandidate
from aucmax.tables.folds import plan_folds
from aucmax.tables.frames import as_table
from aucmax.tables.target import Grading

N_ROWS = 90
SETTING = SearchSetting(2, False, Goal("auc"), 1, 0)
WEIGHTS = np.array([0.3, 0.0, 0.7])


def training_rows(max_cells=np.inf, times=None, **more):
    """Return a table in three folds, and the plan of these."""
    generator = np.random.default_rng(0)
    X = generator.normal(size=(N_ROWS, 2))
    labels = X[:, 0] + generator.normal(size=N_ROWS) > 0.5
    target = Target(labels.astype(int), Grading((0, 1), (0, 1)), **more)
    plan = plan_folds(Target(target.labels, target.grading, times=times), 3, 0)
    return FoldedTable(as_table(X), target, plan.folds, max_cells), plan


def searched(models, clock=None, report=None, setting=SETTING, rows=None):
    folded, plan = rows or training_rows()
    tested = folded.target.take(plan.rows)
    held_out = HeldOutRows(tested, plan.fold_of_row, Goal("auc"))
    clock = clock or SearchClock(None)
    search = AutoSearch(folded, held_out, setting, clock, report)
    search.run(choose_candidates(models, setting))
    return search


def names(search):
    return [one.name for one in search.fitted]


def nothing(*_, **__):
    return None


class Recorder(ClassifierMixin, BaseEstimator):
    """Remembers what it was fitted to."""

    def __init__(self, callback=None):
        self.callback = callback

    def fit(self, X, y, sample_weight=None, qid=None):
        self.arguments_ = (X, y, sample_weight, qid)
        if self.callback is not None:
            self.callback("progress")
        return self

    def decision_function(self, X):
        return X[:, 0]


class Slow(Recorder):
    def fit(self, X, y):
        time.sleep(0.05)
        return super().fit(X, y)


class Broken(Recorder):
    """Raises an error, or only if it is fitted to all rows."""

    def __init__(self, error=NotEnoughClassesError, n_rows=None, callback=None):
        super().__init__(callback)
        self.error = error
        self.n_rows = n_rows

    def fit(self, X, y):
        if self.n_rows in (None, y.size):
            raise self.error("cannot learn\nthis")
        return super().fit(X, y)


def test_rows_are_scored_by_the_model_that_has_not_seen_them():
    folded, plan = training_rows()
    model = TableCandidate("mine", LogisticRegression())
    candidate = fit_out_of_fold("mine", model, folded, SETTING, nothing)
    for fold, (train, test) in enumerate(folded.folds):
        encoder = TableEncoder().fit(folded.table[train])
        labels = folded.target.labels[train]
        alone = LogisticRegression().fit(encoder.transform(folded.table[train]), labels)
        scores = alone.decision_function(encoder.transform(folded.table[test]))
        is_tested = plan.fold_of_row == fold
        np.testing.assert_allclose(candidate.scores[is_tested], scores)
        np.testing.assert_allclose(
            candidate.logits[is_tested], scaled(scores, candidate.scores)
        )


def test_weights_and_queries_reach_the_model_and_the_callback_is_removed():
    weight, queries = np.arange(1.0, 91.0), np.arange(90) // 10
    folded, _ = training_rows(weights=weight, queries=queries)
    calls = []

    def check_time(*progress, **_):
        calls.append(progress)

    candidate = fit_out_of_fold(
        "a", TableCandidate("a", Recorder()), folded, SETTING, check_time
    )
    train, _ = folded.folds[0]
    _, y, sample_weight, qid = candidate.models[0].arguments_
    np.testing.assert_array_equal(y, folded.target.labels[train])
    np.testing.assert_array_equal(sample_weight, weight[train])
    np.testing.assert_array_equal(qid, queries[train])
    assert candidate.models[0].callback is None
    assert calls.count(("progress",)) == 3


def test_a_candidate_may_learn_from_some_of_the_rows():
    folded, _ = training_rows(weights=np.arange(1.0, 91.0))
    some = TableCandidate("a", Recorder(), max_rows=20)
    candidate = fit_out_of_fold("a", some, folded, SETTING, nothing)
    X, y, weight, _ = candidate.models[0].arguments_
    assert X.shape[0] == y.size == weight.size == 20
    assert 0 < y.sum() < 20
    assert candidate.scores.size == N_ROWS


def test_every_candidate_is_reported():
    progress = []
    search = searched([LogisticRegression(), GaussianNB()], report=progress.append)
    assert names(search) == ["LogisticRegression", "GaussianNB"]
    assert [one.candidate for one in progress] == [*names(search), "combination"]
    assert [one.n_done for one in progress] == [0, 1, 2]
    assert progress[0].best == ""
    assert progress[1].best == "LogisticRegression"
    assert 0.6 < progress[1].score <= progress[2].score
    assert "1 of 2 done" in str(progress[1])
    assert "best so far 0." in str(progress[1])


def test_the_first_candidate_has_no_time_limit():
    with pytest.warns(UserWarning, match="enough for one model only, 'Slow'"):
        search = searched([Slow(), GaussianNB()], SearchClock(0.01))
    assert names(search) == ["Slow"]
    assert "left no time for GaussianNB" in search.notices[0]


def test_time_is_left_to_fit_what_is_done_to_all_rows():
    clock = SearchClock(2.0)
    search = searched([(str(k), Slow()) for k in range(50)], clock)
    assert 1 < len(search.fitted) < 50
    assert "left no time for" in search.notices[0]
    # three fits of two thirds of the rows each; half as long to fit all of them once
    once = sum(one.seconds for one in search.fitted) / 2.0
    assert once / 2.0 < 2.0 - clock.seconds < 2.0 * once


def test_a_candidate_that_fails_is_noted_and_an_unexpected_error_warns():
    search = searched([Broken(), GaussianNB()])
    assert names(search) == ["GaussianNB"]
    notice = "Broken is left out: NotEnoughClassesError: cannot learn"
    assert search.notices == [notice]
    with pytest.raises(ValueError, match="cannot learn"):
        searched([Broken()])
    with pytest.warns(RuntimeWarning, match="Broken is left out: IndexError: cannot"):
        searched([Broken(IndexError), GaussianNB()])


def test_an_interrupt_keeps_what_is_done():
    interrupted = Broken(KeyboardInterrupt)
    search = searched([GaussianNB(), interrupted, LogisticRegression()])
    assert names(search) == ["GaussianNB"]
    assert "interrupted at 'Broken'" in search.notices[0]
    assert search.is_stopped
    with pytest.raises(KeyboardInterrupt):
        searched([interrupted, GaussianNB()])


def test_an_interrupt_of_an_estimate_leaves_its_candidate_out(monkeypatch):
    estimates = iter([0.75, KeyboardInterrupt()])

    def estimate(*_):
        value = next(estimates)
        if isinstance(value, BaseException):
            raise value
        return SimpleNamespace(value=value)

    monkeypatch.setattr(HeldOutRows, "estimate", estimate)
    search = searched([GaussianNB(), LogisticRegression()])
    assert names(search) == ["GaussianNB"]
    assert [one.value for one in search.estimates] == [0.75]


def test_the_callback_may_end_the_search_and_its_error_is_not_one_of_a_model():
    search = searched([GaussianNB(), Slow()], report=lambda one: one.n_done == 1)
    assert names(search) == ["GaussianNB"]
    assert search.notices == ["the callback ended the search"]
    assert search.is_stopped

    def fail(progress):
        if progress.n_done == 1:
            raise RuntimeError("of the callback")

    with pytest.raises(RuntimeError, match="of the callback"):
        searched([GaussianNB(), ("other", GaussianNB())], report=fail)


def test_large_tables_are_encoded_view_by_view():
    trees = LightGBMBaseline(n_estimators=3)
    models = [("a", GaussianNB()), ("b", trees), ("c", LogisticRegression())]
    assert names(searched(models)) == ["a", "b", "c"]
    rows = training_rows(max_cells=1)
    assert names(searched(models, rows=rows)) == ["a", "c", "b"]
    assert {view for *_, view in rows[0]._matrices} == {"trees"}


def test_a_fit_that_cannot_be_stopped_is_tried_with_some_rows(monkeypatch):
    monkeypatch.setattr(auto_search, "_MANY_ROWS", 10)
    sizes = []

    class Blind(GaussianNB):
        def fit(self, X, y, sample_weight=None):
            sizes.append(y.size)
            time.sleep(0.02 * y.size)
            return super().fit(X, y)

    setting = SETTING._replace(is_limited=True)
    with pytest.warns(UserWarning, match="enough for one model only"):
        searched([GaussianNB(), Blind()], SearchClock(0.5), setting=setting)
    assert sizes == [60 // 16]


def members(rows, make=Recorder, time_limit=None, refits=True):
    clock = SearchClock(None)
    models = [(name, make()) for name in "abc"]
    setting = SETTING._replace(refits=refits)
    search = searched(models, clock, setting=setting, rows=rows)
    clock.time_limit = time_limit
    return search, *search.fit_members(WEIGHTS, rows[1])


@pytest.mark.parametrize("times", [None, np.arange(float(N_ROWS))])
def test_models_with_a_weight_are_fitted_to_all_rows(times):
    rows = training_rows(times=times, weights=np.arange(1.0, N_ROWS + 1))
    folded, plan = rows
    search, (encoder,), records = members(rows)
    assert [(one["name"], one["weight"]) for one in records] == [("c", 0.7), ("a", 0.3)]
    # by time the scale is that of the last rows
    is_last = plan.fold_of_row >= (0 if times is None else plan.fold_of_row.max())
    for record, k in zip(records, (2, 0), strict=True):
        (model,), (scale,) = record["models"], record["scales"]
        X, y, weight, _ = model.arguments_
        np.testing.assert_array_equal(y, folded.target.labels)
        np.testing.assert_array_equal(weight, folded.target.weights)
        np.testing.assert_array_equal(X, encoder.transform(folded.table))
        one = search.fitted[k]
        expected = learn_scale(one.scores[is_last], one.scores)
        np.testing.assert_array_equal(scale, expected)
    assert search.notices == []


@pytest.mark.parametrize(
    ("options", "notice"),
    [
        ({"refits": False}, None),
        (
            {"time_limit": 0.0},
            "there was no time to fit the models to all rows; those of the folds are "
            "averaged",
        ),
        (
            {"make": lambda: Broken(KeyboardInterrupt, N_ROWS)},
            "interrupted before the models were fitted to all rows",
        ),
        (
            {"make": lambda: Broken(IncompatibleError, N_ROWS)},
            "not fitted to all rows: IncompatibleError: cannot learn",
        ),
    ],
)
def test_the_models_of_the_folds_are_kept_if_there_is_no_refit(options, notice):
    rows = training_rows()
    search, encoders, records = members(rows, **options)
    assert search.notices == [] if notice is None else [notice]
    assert encoders == [rows[0].encoder(k) for k in range(3)]
    assert records[0]["models"] == search.fitted[2].models
    assert len(records[0]["scales"]) == 3
