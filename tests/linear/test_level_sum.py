"""Levels of relevance, by one model per level."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import aucmax
from aucmax import AUCSVC, LevelSumRanker
from aucmax.exceptions import (
    NotEnoughClassesError,
    OneClassQueryWarning,
)
from aucmax.metrics import multiclass_auc_score


@pytest.fixture(scope="module")
def data():
    generator = np.random.default_rng(0)
    X = generator.normal(size=(500, 5))
    target = X @ [1.0, 0.5, 0.0, 0.0, -0.5] + 0.3 * generator.normal(size=500)
    return X, np.digitize(target, [0.5, 1.5, 2.2])


def test_scores_are_the_models_summed_by_level(data):
    X, y = data
    ranker = LevelSumRanker(AUCSVC(3.0)).fit(X, y)
    np.testing.assert_array_equal(ranker.levels_, [0, 1, 2, 3])
    total = np.zeros(len(y))
    for level, model in zip((1, 2, 3), ranker.estimators_, strict=True):
        single = AUCSVC(3.0).fit(X, y == level)
        np.testing.assert_array_equal(model.coef_, single.coef_)
        total += level * single.decision_function(X)
    scores = ranker.decision_function(X)
    np.testing.assert_allclose(scores, total)
    np.testing.assert_allclose(scores, X @ ranker.coef_[0] + ranker.intercept_[0])
    assert ranker.n_features_in_ == 5


def test_score_is_the_area_that_the_levels_maximise(data):
    X, y = data
    ranker = LevelSumRanker().fit(X, y)
    scores = ranker.decision_function(X)
    weight, qid = 1.0 + np.arange(500) % 3, np.arange(500) % 5
    assert ranker.score(X, y) == multiclass_auc_score(y, scores)
    assert ranker.score(X, y, weight) == multiclass_auc_score(
        y, scores, sample_weight=weight
    )
    expected = multiclass_auc_score(y, scores, sample_weight=weight, qid=qid)
    assert ranker.score(X, y, weight, qid=qid) == expected
    assert expected != multiclass_auc_score(y, scores, sample_weight=weight)
    with pytest.raises(ValueError, match="row 3 is -1, which is negative"):
        ranker.score(X, np.where(np.arange(500) == 3, -1, y))
    with pytest.raises(NotFittedError):
        LevelSumRanker().score(X, y)


def test_level_values_are_the_weights(data):
    X, y = data
    values = np.array([0, 1, 4, 9])
    ranker = LevelSumRanker().fit(X, values[y])
    np.testing.assert_array_equal(ranker.levels_, values)
    one_by_one = LevelSumRanker().fit(X, y).estimators_
    expected = sum(
        value * model.coef_ for value, model in zip((1, 4, 9), one_by_one, strict=True)
    )
    np.testing.assert_allclose(ranker.coef_, expected)


def test_weights_and_queries_are_handed_on(data):
    X, y = data
    generator = np.random.default_rng(0)
    qid = np.arange(500) % 5
    weight = generator.uniform(0.5, 2.0, 500)
    ranker = LevelSumRanker().fit(X, y, sample_weight=weight, qid=qid)
    for level, model in zip((1, 2, 3), ranker.estimators_, strict=True):
        single = AUCSVC().fit(X, y == level, sample_weight=weight, qid=qid)
        np.testing.assert_array_equal(model.coef_, single.coef_)
    # this one takes no qid, and is not given any
    weighted = LevelSumRanker(LogisticRegression()).fit(X, y, weight)
    assert weighted.coef_.shape == (1, 5)


def test_queries_reach_a_pipeline_under_metadata_routing(data):
    X, y = data
    qid = np.arange(500) % 5
    with sklearn.config_context(enable_metadata_routing=True):
        machine = AUCSVC().set_fit_request(qid=True)
        ranker = LevelSumRanker(make_pipeline(machine)).fit(X, y, qid=qid)
    expected = LevelSumRanker().fit(X, y, qid=qid)
    np.testing.assert_array_equal(
        ranker.decision_function(X), expected.decision_function(X)
    )


def test_a_level_without_weight_is_left_out(data):
    X, y = data
    ranker = LevelSumRanker().fit(X, y, sample_weight=np.where(y == 2, 0.0, 1.0))
    np.testing.assert_array_equal(ranker.levels_, [0, 1, 3])
    kept = y != 2
    absent = LevelSumRanker().fit(X[kept], y[kept])
    np.testing.assert_allclose(ranker.coef_, absent.coef_, atol=1e-2)


def test_frames_sparse_data_and_pipelines_work(data):
    X, y = data
    frame = pd.DataFrame(X, columns=list("abcde"))
    ranker = LevelSumRanker(make_pipeline(StandardScaler(), AUCSVC())).fit(frame, y)
    assert list(ranker.feature_names_in_) == list("abcde")
    assert ranker.decision_function(frame).shape == (500,)
    with pytest.raises(AttributeError):
        _ = ranker.coef_  # a pipeline has none
    ranker.fit(X, y)
    assert not hasattr(ranker, "feature_names_in_")
    sparse_ranker = LevelSumRanker().fit(sparse.csr_array(X), y)
    np.testing.assert_allclose(
        sparse_ranker.coef_, LevelSumRanker().fit(X, y).coef_, rtol=1e-6
    )


def test_a_ranker_with_a_model_too_many_is_not_saved(data, tmp_path):
    ranker = LevelSumRanker(AUCSVC(3.0)).fit(*data)
    ranker.levels_ = ranker.levels_[:-1]
    with pytest.raises(ValueError, match="levels and models differ in number"):
        aucmax.save(ranker, tmp_path / "wrong.aucmax")


def test_negative_levels_and_one_level_are_refused(data):
    X, y = data
    with pytest.raises(ValueError, match="row 7 is -1, which is negative"):
        LevelSumRanker().fit(X, np.where(np.arange(len(y)) == 7, -1, y))
    with pytest.raises(NotEnoughClassesError, match="all rows are of level 2"):
        LevelSumRanker().fit(X, np.full(len(y), 2))


def test_bad_weights_estimators_and_queries_are_refused(data):
    X, y = data
    only = (y == 3).astype(float)
    with pytest.raises(NotEnoughClassesError, match="with any weight are of level 3"):
        LevelSumRanker().fit(X, y, sample_weight=only)
    with pytest.raises(TypeError, match="decision_function, got LinearRegression"):
        LevelSumRanker(LinearRegression()).fit(X, y)
    # level 3 has a query of its own
    qid = np.where(y == 3, 1, 0)
    with (
        pytest.raises(NotEnoughClassesError, match="level 3 against the rest: None of"),
        pytest.warns(OneClassQueryWarning),
    ):
        LevelSumRanker().fit(X, y, qid=qid)
