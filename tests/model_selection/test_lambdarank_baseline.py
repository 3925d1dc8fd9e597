import numpy as np
import pytest
from scipy import sparse

import aucmax
from aucmax.metrics import ndcg_score
from aucmax.model_selection import LambdaRankBaseline

RNG = np.random.default_rng(0)
QUERIES = RNG.permutation(np.repeat(np.arange(40), 15))
X = RNG.normal(size=(600, 3))
LEVELS = np.digitize(X[:, 0] + 3 * RNG.normal(size=40)[QUERIES], [0, 1.5])


def test_it_ranks_rows_within_queries_in_any_order():
    model = LambdaRankBaseline(n_estimators=30).fit(X, LEVELS, qid=QUERIES)
    scores = model.decision_function(X)
    assert ndcg_score(LEVELS, scores, qid=QUERIES) > 0.97
    order = np.argsort(QUERIES, kind="stable")
    again = LambdaRankBaseline(n_estimators=30)
    again.fit(X[order], LEVELS[order], qid=QUERIES[order])
    np.testing.assert_array_equal(again.decision_function(X), scores)


def test_sparse_rows_and_weights():
    weights = np.where(X[:, 1] > 0, 5.0, 0.1)
    plain, weighted = (
        LambdaRankBaseline(n_estimators=5)
        .fit(sparse.csr_matrix(X), LEVELS, w, qid=QUERIES)
        .decision_function(sparse.csr_matrix(X))
        for w in (None, weights)
    )
    assert not np.array_equal(plain, weighted)
    assert LambdaRankBaseline(n_estimators=2).fit(X, LEVELS).model_text_


def test_it_is_saved_and_a_damaged_model_is_rejected(tmp_path):
    model = LambdaRankBaseline(n_estimators=3).fit(X, LEVELS, qid=QUERIES)
    aucmax.save(model, tmp_path / "m.aucmax")
    loaded = aucmax.load(tmp_path / "m.aucmax")
    np.testing.assert_array_equal(
        loaded.decision_function(X), model.decision_function(X)
    )
    model.model_text_ = model.model_text_[:200]
    with pytest.raises(ValueError, match="not a valid LightGBM model text"):
        aucmax.save(model, tmp_path / "bad.aucmax")


def test_a_query_that_lightgbm_refuses():
    rows = RNG.normal(size=(10_001, 1))
    with pytest.raises(ValueError, match="a query has 10001 rows, but LightGBM's"):
        LambdaRankBaseline().fit(rows, np.arange(10_001) % 2, qid=np.zeros(10_001))


def test_labels_must_be_levels():
    with pytest.raises(ValueError, match="levels"):
        LambdaRankBaseline().fit(X, LEVELS - 1, qid=QUERIES)
    with pytest.raises(ValueError, match="rows"):
        LambdaRankBaseline().fit(X, LEVELS[1:], qid=QUERIES[1:])
