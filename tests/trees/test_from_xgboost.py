"""Trees of XGBoost give the same leaves in LightGBM's words."""

import lightgbm
import numpy as np
import pytest
from scipy import sparse

from aucmax.model_selection.baselines import XGBoostRanker
from aucmax.persistence.booster_text import check_booster_text
from aucmax.trees.from_xgboost import lightgbm_text

xgboost = pytest.importorskip("xgboost", reason="XGBoost is not installed")


def fit_xgboost(X, y, n_rounds=20, **params):
    params = {"objective": "binary:logistic", "nthread": 1, **params}
    return xgboost.train(params, xgboost.DMatrix(X, y), n_rounds)


def rows(seed, n_rows=500, n_columns=6):
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(n_rows, n_columns))
    X[:, 0] = np.round(X[:, 0], 1)
    X[:, 1] = generator.integers(0, 3, n_rows)
    X[generator.random(X.shape) < 0.1] = np.nan
    y = (np.nan_to_num(X[:, 0] * X[:, 2]) + generator.normal(size=n_rows) > 0) * 1
    return X, y


def partition(leaves):
    """Number leaves by the first row that meets each, whatever they are called."""
    numbers = np.empty(leaves.shape, dtype=np.int64)
    for k, column in enumerate(leaves.T):
        _, first, inverse = np.unique(column, return_index=True, return_inverse=True)
        numbers[:, k] = first[inverse]
    return numbers


@pytest.mark.parametrize("max_depth", [1, 3, 8])
@pytest.mark.parametrize("base_score", [0.5, 0.1])
def test_every_row_is_in_the_same_leaf(max_depth, base_score):
    X, y = rows(0)
    booster = fit_xgboost(X, y, max_depth=max_depth, base_score=base_score, gamma=0.3)
    text = lightgbm_text(booster, X.shape[0])
    check_booster_text(text)
    twin = lightgbm.Booster(model_str=text)
    new, _ = rows(1, 3000)
    data = xgboost.DMatrix(new)
    expected = booster.predict(data, pred_leaf=True)
    results = twin.predict(new, pred_leaf=True)
    np.testing.assert_array_equal(partition(results), partition(expected))
    margins = booster.predict(data, output_margin=True)
    offset = np.log(base_score / (1.0 - base_score)) - base_score
    scores = twin.predict(new, raw_score=True) + offset
    np.testing.assert_allclose(scores, margins, rtol=0, atol=2e-5)


def test_doubles_at_a_threshold_go_where_rounding_sends_them():
    X = np.linspace(-1.0, 1.0, 64, dtype=np.float32)[:, None]
    booster = fit_xgboost(X, (X[:, 0] > 0.3) * 1 ^ (X[:, 0] < -0.62), 5, max_depth=4)
    twin = lightgbm.Booster(model_str=lightgbm_text(booster, 64))
    tree = booster.trees_to_dataframe()
    at = tree["Split"].dropna().to_numpy().astype(np.float32)
    before = np.nextafter(at, np.float32(-np.inf))
    middle = (at.astype(float) + before.astype(float)) / 2.0
    close = np.concatenate(
        [at, before, middle, np.nextafter(middle, -9), np.nextafter(middle, 9)]
    )[:, None]
    expected = booster.predict(xgboost.DMatrix(close), pred_leaf=True)
    results = twin.predict(close, pred_leaf=True)
    np.testing.assert_array_equal(partition(results), partition(expected))
    assert len(np.unique(expected[:, 0])) > 2


def test_trees_without_a_split_and_contributions():
    X, y = rows(0)
    booster = fit_xgboost(X, y, 3, gamma=1e9)
    twin = lightgbm.Booster(model_str=lightgbm_text(booster, X.shape[0]))
    assert len(set(twin.predict(X, raw_score=True))) == 1
    twin = lightgbm.Booster(model_str=lightgbm_text(fit_xgboost(X, y, 3), X.shape[0]))
    parts = twin.predict(X, pred_contrib=True)
    np.testing.assert_allclose(parts.sum(axis=1), twin.predict(X, raw_score=True))


def test_categorical_splits_are_rejected():
    X, _ = rows(0)
    X[:, 1] = np.nan_to_num(X[:, 1])
    kinds = ["q", "c", "q", "q", "q", "q"]
    data = xgboost.DMatrix(X, X[:, 1] == 1, feature_types=kinds, enable_categorical=True)  # noqa: E501  # fmt: skip
    booster = xgboost.train({"objective": "binary:logistic", "nthread": 1}, data, 2)
    with pytest.raises(ValueError, match="categorical splits of XGBoost"):
        lightgbm_text(booster, X.shape[0])


def test_a_ranker_of_sparse_rows_scores_as_xgboost_does():
    rng = np.random.default_rng(0)
    X = np.where(rng.random((400, 5)) < 0.4, rng.normal(size=(400, 5)), 0.0)
    levels = np.digitize(X[:, 0] + 0.3 * rng.normal(size=400), [0.1, 0.8])
    rows, queries = sparse.csr_array(X), np.repeat(np.arange(40), 10)
    model = XGBoostRanker(10).fit(rows, levels, qid=queries)
    data = xgboost.DMatrix(rows, levels)
    data.set_group(np.bincount(queries))
    params = {"objective": "rank:ndcg", "base_score": 0.0, "seed": 0, "nthread": 1}
    expected = xgboost.train(params, data, 10).predict(data)
    for new in (rows, X):  # zeros are missing values in both
        np.testing.assert_allclose(model.decision_function(new), expected, atol=1e-5)
    X[5, 2] = 0.0
    rows.data[rows.indptr[5] : rows.indptr[6]] *= (
        rows.indices[rows.indptr[5] : rows.indptr[6]] != 2
    )
    stored = XGBoostRanker(10).fit(rows, levels, qid=queries)
    absent = XGBoostRanker(10).fit(sparse.csr_array(X), levels, qid=queries)
    assert stored.model_text_ == absent.model_text_
