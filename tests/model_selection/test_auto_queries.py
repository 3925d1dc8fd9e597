"""AutoRanker ranks levels of relevance within queries."""

import numpy as np
import pytest

import aucmax
from aucmax import AutoRanker
from aucmax.metrics import ndcg_score
from aucmax.model_selection.models import RANKING_CANDIDATES
from aucmax.model_selection.stacking import searched
from model_selection.ranked_samples import ranked

FAST = ["svm-auc", "lightgbm-levels"]


def judged(seed, n_queries=40, size=15, n_levels=3):
    """Documents whose levels depend on two columns within queries of unequal ease."""
    rng = np.random.default_rng(seed)
    qid = np.repeat(np.arange(n_queries), size)
    ease = rng.normal(size=n_queries)[qid]
    X = rng.normal(size=(qid.size, 4))
    quality = X[:, 0] - X[:, 1] + ease + 0.7 * rng.normal(size=qid.size)
    X[:, 1] += 2.0 * ease
    cuts = np.quantile(quality, 1.0 - 0.4 / np.arange(1, n_levels))
    return X, np.searchsorted(np.sort(cuts), quality), qid


@pytest.fixture(scope="module")
def fitted():
    X, y, qid = judged(0)
    return AutoRanker(models=FAST, cv=3, time_limit=None).fit(X, y, qid=qid)


def test_levels_in_queries_are_ranked_for_ndcg(fitted, tmp_path):
    assert (fitted.metric_, fitted.combiner_) == ("ndcg@10", "search")
    assert fitted.levels_.tolist() == [0, 1, 2]
    X, y, qid = judged(1, 200)
    scores = fitted.decision_function(X)
    values = ndcg_score(y, scores, k=10, qid=qid, average=None)
    is_usable = np.array([np.ptp(y[qid == q]) > 0 for q in range(200)])
    value = fitted.score(X, y, qid=qid)
    assert value == pytest.approx(values[is_usable].mean())
    low, high = (fitted.estimate_[f"ndcg@10{end}"] for end in ("_low", "_high"))
    assert low < value < high
    assert low < fitted.estimate_["ndcg@10"] < high < 1.0
    assert "map" in fitted.estimate_
    assert "NDCG@10 on new rows: 0." in fitted.summary()
    assert not hasattr(fitted, "predict")
    assert not hasattr(fitted, "predict_proba")
    aucmax.save(fitted, tmp_path / "m.aucmax")
    loaded = aucmax.load(tmp_path / "m.aucmax")
    np.testing.assert_array_equal(loaded.decision_function(X), scores)
    assert loaded.score(X, y, qid=qid) == value


@pytest.mark.slow
def test_the_default_candidates_learn_to_rank():
    X, y, qid = judged(0, 12)
    model = AutoRanker(cv=2, max_fits=2 * len(RANKING_CANDIDATES))
    model.fit(X, y, qid=qid)
    assert {*model.board_["model"][1:]} <= {*RANKING_CANDIDATES}
    assert len(model.board_["model"]) >= len(RANKING_CANDIDATES)


@pytest.mark.parametrize("metric", ["ndcg@3", "map", "mauc"])
def test_the_metric_can_be_chosen(metric):
    X, y, qid = judged(0, 20)
    model = AutoRanker(models=FAST, cv=2, metric=metric).fit(X, y, qid=qid)
    assert model.metric_ == metric
    assert model.board_["metric"][0] == pytest.approx(model.estimate_[metric])
    if metric != "mauc":
        model.fit(X, y > 0, qid=qid)
        assert model.metric_ == metric
        assert model.predict(X).dtype == bool


def test_levels_without_queries_need_a_metric_of_levels():
    X, y, _ = judged(0)
    with pytest.raises(ValueError, match="Levels of relevance need qid, or a metric"):
        AutoRanker(models=FAST).fit(X, y)
    model = AutoRanker(models=FAST, cv=3, metric="mauc").fit(X, y)
    assert model.estimate_["mauc_low"] < model.estimate_["mauc"] < 1.0
    assert model.score(X, y) > 0.7


BAD = {
    "one query": (lambda y, qid: (y, qid * 0), "of two levels: 1 of 1, but two are"),
    "equal labels in all queries but one": (
        lambda y, qid: (np.where(qid == 3, y, qid % 3), qid),
        "queries with rows of two levels: 1 of 40",
    ),
    "fractions": (lambda y, qid: (y / 2 + 0.1, qid), "must be whole numbers"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_queries_and_labels_are_named(name):
    X, y, qid = judged(0)
    change, message = BAD[name]
    y, qid = change(y, qid)
    with pytest.raises(ValueError, match=message):
        AutoRanker(models=FAST).fit(X, y, qid=qid)


def test_queries_of_one_level_are_dealt_out_last():
    X, y, qid = judged(0)
    y = np.where(qid < 36, 0, y)  # four queries count
    model = AutoRanker(models=FAST, cv=4).fit(X, y, qid=qid)
    assert model.n_folds_ == 4
    notice = "36 of the 40 queries have rows of one level only; they do not count"
    assert notice in model.notices_


@pytest.mark.slow
def test_levels_up_to_31_are_ranked_by_all_and_higher_ones_by_some():
    X, y, qid = judged(0, 20)
    names = ["svm-auc", "lambdarank", "lambdamart-ndcg"]
    model = AutoRanker(models=names, cv=2, time_limit=None)
    model.fit(X, np.where(y == 2, 31, y), qid=qid)
    assert not any("left out" in notice for notice in model.notices_)
    model.fit(X, np.where(y == 2, 32, y), qid=qid)
    assert any("lambdarank is left out" in notice for notice in model.notices_)


def test_the_search_finds_weights_that_maximise_the_metric():
    queries = np.arange(600) // 20 * 3 + np.arange(600) % 3
    rows, logits = ranked([0.8, 0.9, None], queries=queries, metric="ndcg@10")
    weights = searched(rows, logits)
    assert weights.sum() == pytest.approx(1.0)
    assert weights.min() >= 0.0
    assert weights[2] < min(weights[:2])
    singles = [rows.measure(column) for column in logits.T]
    assert rows.measure(logits @ weights) > max(singles)
