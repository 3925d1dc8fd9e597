import numpy as np
import pytest

import aucmax
from aucmax.exceptions import NotEnoughClassesError
from aucmax.metrics import ndcg_score, roc_auc_score
from aucmax.model_selection import LambdaRankBaseline, LightGBMBaseline

RNG = np.random.default_rng(0)
QUERIES = RNG.permutation(np.repeat(np.arange(40), 15))
X = RNG.normal(size=(600, 3))
LEVELS = np.digitize(X[:, 0] + 3 * RNG.normal(size=40)[QUERIES], [0, 1.5])
WORDS = np.where(X[:, 0] > 0, "yes", "no")


def test_scores_are_log_odds_of_the_second_label():
    model = LightGBMBaseline(n_estimators=5).fit(X, WORDS)
    scores = model.decision_function(X)
    assert model.score(X, WORDS) == roc_auc_score(WORDS, scores) > 0.95
    np.testing.assert_array_equal(model.predict(X) == "yes", scores > 0)
    again = model.fit(X, WORDS == "no").decision_function(X)
    assert np.corrcoef(scores, again)[0, 1] < 0  # by the trees of the new fit


def test_rows_of_another_width_and_one_class_are_rejected():
    model = LightGBMBaseline(n_estimators=3).fit(X, WORDS)
    with pytest.raises(ValueError, match="X has 2 columns, the model was trained on 3"):
        model.decision_function(X[:, :2])
    with pytest.raises(NotEnoughClassesError, match="one class only"):
        LightGBMBaseline().fit(X, np.zeros(600))
    assert model.decision_function(X[:0]).shape == (0,)


def test_rows_are_ranked_within_queries_in_any_order():
    model = LambdaRankBaseline(n_estimators=30).fit(X, LEVELS, qid=QUERIES)
    scores = model.decision_function(X)
    assert ndcg_score(LEVELS, scores, qid=QUERIES) > 0.97
    order = np.argsort(QUERIES, kind="stable")
    again = LambdaRankBaseline(n_estimators=30)
    again.fit(X[order], LEVELS[order], qid=QUERIES[order])
    np.testing.assert_array_equal(again.decision_function(X), scores)


def test_a_model_of_damaged_text_is_not_saved(tmp_path):
    model = LambdaRankBaseline(n_estimators=3).fit(X, LEVELS, qid=QUERIES)
    model.model_text_ = model.model_text_[:200]
    with pytest.raises(ValueError, match="not a valid LightGBM model text"):
        aucmax.save(model, tmp_path / "bad.aucmax")


def test_levels_and_queries_are_checked():
    with pytest.raises(ValueError, match="levels"):
        LambdaRankBaseline().fit(X, LEVELS - 1, qid=QUERIES)
    with pytest.raises(ValueError, match="rows"):
        LambdaRankBaseline().fit(X, LEVELS[1:], qid=QUERIES[1:])
    rows = RNG.normal(size=(10_001, 1))
    with pytest.raises(ValueError, match="a query has 10001 rows, but LightGBM's"):
        LambdaRankBaseline().fit(rows, np.arange(10_001) % 2, qid=np.zeros(10_001))
