import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression

from aucmax.exceptions import IncompatibleError
from aucmax.model_selection import fitted_candidates
from aucmax.model_selection.auto_search import AutoSearch, SearchClock, TimeUpError
from aucmax.model_selection.fitted_candidates import SearchRows, fit_out_of_fold
from aucmax.model_selection.input_table import GivenRows
from aucmax.model_selection.leaderboard import WHOLE_CURVE
from aucmax.model_selection.models import SearchSetting
from aucmax.model_selection.stacking import Spread, learn_scale, scaled
from aucmax.tables import TableEncoder, Target
from aucmax.tables.cross_fit import Candidate
from aucmax.tables.folds import plan_folds
from aucmax.tables.frames import as_table
from aucmax.tables.target import Grading

N_ROWS = 90
SETTING = SearchSetting(2, False, WHOLE_CURVE, 1, 0)


def training_table(**more):
    generator = np.random.default_rng(0)
    X = generator.normal(size=(N_ROWS, 2))
    labels = X[:, 0] + generator.normal(size=N_ROWS) > 0.5
    target = Target(labels.astype(int), Grading((0, 1), (0, 1)), **more)
    given = GivenRows(as_table(X), np.array([0, 1]), target)
    return SearchRows(given, plan_folds(labels, 3, 0))


def nothing(*_, **__):
    return None


class Recorder(ClassifierMixin, BaseEstimator):
    """Remembers what it was fitted to."""

    def __init__(self, callback=None):
        self.callback = callback

    def fit(self, X, y, sample_weight=None, qid=None):
        self.given_ = (X, y, sample_weight, qid)
        if self.callback is not None:
            self.callback("progress")
        return self

    def decision_function(self, X):
        return X[:, 0]


def candidate(estimator=None, name="mine", **options):
    return Candidate(name, estimator or Recorder(), **options)


def test_rows_are_scored_by_the_model_that_has_not_seen_them():
    rows = training_table()
    found = fit_out_of_fold(candidate(LogisticRegression()), rows, SETTING, nothing)
    assert len(found.models) == len(found.parts) == 3
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
    rows = training_table(weights=weight, queries=queries)
    calls = []
    found = fit_out_of_fold(
        candidate(), rows, SETTING, lambda *progress, **_: calls.append(progress)
    )
    train, _ = rows.plan.folds[0]
    _, y, given_weight, qid = found.models[0].given_
    np.testing.assert_array_equal(y, rows.given.labels[train])
    np.testing.assert_array_equal(given_weight, weight[train])
    np.testing.assert_array_equal(qid, queries[train])
    assert found.models[0].callback is None
    assert calls.count(("progress",)) == 3


def test_a_candidate_may_learn_from_some_of_the_rows():
    rows = training_table(weights=np.arange(1.0, 91.0))
    found = fit_out_of_fold(candidate(max_rows=20), rows, SETTING, nothing)
    X, y, weight, _ = found.models[0].given_
    assert X.shape[0] == y.size == weight.size == 20
    assert 0 < y.sum() < 20
    assert found.scores.size == N_ROWS


def test_time_may_run_out_within_a_fit():
    def stop(*progress, **_):
        if progress:
            raise TimeUpError

    with pytest.raises(TimeUpError):
        fit_out_of_fold(candidate(), training_table(), SETTING, stop)


@pytest.mark.parametrize("is_large", [False, True])
def test_matrices_are_kept_of_large_tables_those_of_one_view(monkeypatch, is_large):
    monkeypatch.setattr(fitted_candidates, "_MANY_CELLS", 1 if is_large else 10_000)
    folded = training_table().folded
    first = folded.matrices("linear", 0)
    assert folded.matrices("linear", 0) is first
    folded.matrices("trees", 0)
    assert (folded.matrices("linear", 0) is first) == (not is_large)


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
    clock = SearchClock(None)
    search = AutoSearch(rows, SETTING, clock, report)
    search.run([candidate(make(), name) for name in "abc"])
    clock.time_limit = time_limit
    search.notices.clear()
    return search, search.choose_members(WEIGHTS[: len(search.fitted)])


def test_models_with_a_weight_are_fitted_to_all_rows():
    weight = np.arange(1.0, N_ROWS + 1)
    rows = training_table(weights=weight)
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
    assert found.notices == []


def test_by_time_the_scale_is_that_of_the_last_rows():
    given = training_table().given
    plan = plan_folds(given.labels, 3, 0, times=np.arange(float(N_ROWS)))
    found, chosen = members(SearchRows(given, plan))
    last = plan.fold_of_row == plan.fold_of_row.max()
    one = found.fitted[2]
    np.testing.assert_array_equal(
        chosen.records[0]["scales"][0], learn_scale(one.scores[last], one.spread)
    )


@pytest.mark.parametrize(
    ("options", "notice"),
    [
        (
            {"time_limit": 0.0},
            "there was no time to fit the models to all rows; those of the folds are "
            "averaged",
        ),
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
    assert found.notices == [notice]
    assert chosen.encoders == [rows.folded.encoder(k) for k in range(3)]
    assert chosen.records[0]["models"] == found.fitted[2].models
    assert chosen.records[0]["scales"] is not None
    assert len(chosen.records[0]["scales"]) == 3


def test_who_ends_the_search_does_not_wait_for_more_fits():
    found, chosen = members(
        training_table(), report=lambda progress: progress.n_done == 1
    )
    assert found.is_stopped
    assert [one["name"] for one in chosen.records] == ["a"]
    assert len(chosen.encoders) == 3
