import json
import warnings

import numpy as np
import polars as pl
import pytest
from sklearn.base import BaseEstimator

from aucmax.metrics import roc_auc_score
from aucmax.model_selection import compare_models
from aucmax.model_selection.comparison import verdict
from aucmax.model_selection.models import BASELINES, compared_models
from aucmax.tables import TableEncoder, encode_target
from aucmax.tables._cells import TypedTable

ROWS = 240


def shapes(noise: float = 0.8, seed: int = 0) -> tuple[pl.DataFrame, np.ndarray]:
    rng = np.random.default_rng(seed)
    x, z = rng.normal(size=ROWS), rng.normal(size=ROWS)
    labels = (x + noise * rng.normal(size=ROWS) > 0.8).astype(int)
    return pl.DataFrame({"x": x, "z": z, "word": ["a", "b"] * (ROWS // 2)}), labels


def test_all_models_are_measured_on_the_same_folds():
    table, labels = shapes()
    comparison = compare_models(table, encode_target(labels), cv=2)
    assert [result.name for result in comparison.results] == list(compared_models())
    assert comparison.n_folds == 2
    for result in comparison.results:
        assert len(result.folds) == 2
        assert result.low < result.auc < result.high
        assert min(result.folds) <= result.auc <= max(result.folds)
        assert 0 <= result.measures["partial_auc"] <= 1
    pairs = {test.names for test in comparison.tests}
    assert pairs == {
        (name, baseline)
        for name in compared_models()
        for baseline in set(BASELINES) & set(compared_models())
        if name != baseline
    }
    assert comparison.unit == "rows"
    by_name = {result.name: result.auc for result in comparison.results}
    for test in comparison.tests:
        model, baseline = test.names
        assert test.difference == pytest.approx(by_name[model] - by_name[baseline])
    assert by_name[comparison.best] == max(by_name.values())
    text = " ".join(str(comparison).split())
    assert "p-values are adjusted for all tests (Holm)" in text


def test_a_clear_winner_beats_and_the_other_loses():
    rng = np.random.default_rng(0)
    x, z = rng.normal(size=(2, 900))
    # ill only where the two signs agree: nothing for a linear model
    labels = (x * z + 0.3 * rng.normal(size=900) > 0).astype(int)
    comparison = compare_models(
        pl.DataFrame({"x": x, "z": z}),
        encode_target(labels),
        ["logistic", "lightgbm"],
        cv=3,
    )
    verdicts = {test.names[0]: verdict(test) for test in comparison.tests}
    assert verdicts == {"logistic": "loses", "lightgbm": "beats"}
    assert comparison.best == "lightgbm"


def test_positions_are_comparable_between_folds():
    table, labels = shapes()
    comparison = compare_models(table, encode_target(labels), ["logistic"], cv=4)
    positions = comparison.positions["logistic"]
    assert positions.shape == (ROWS,)
    assert positions.min() >= 0
    assert positions.max() <= 1
    # negatives spread evenly in every fold, so that the pooled AUC is the mean one
    assert positions[labels == 0].mean() == pytest.approx(0.5)
    pooled = roc_auc_score(labels, positions)
    assert pooled == pytest.approx(comparison.results[0].auc, abs=0.02)


def test_tables_are_learned_from_the_training_rows_of_each_fold_alone(monkeypatch):
    table, labels = shapes()
    table = table.with_columns(number=np.arange(float(ROWS)))
    really_learn = TableEncoder.learn
    seen: list[set[float]] = []

    def spy(self: TableEncoder, X: TypedTable, y: None = None) -> TableEncoder:
        seen.append(set(X.frame["number"]))
        return really_learn(self, X)

    monkeypatch.setattr(TableEncoder, "learn", spy)
    compare_models(table, encode_target(labels), ["logistic"], cv=4)
    left_out = [set(table["number"]) - rows for rows in seen]
    assert len(left_out) == 4
    assert sorted(row for rows in left_out for row in rows) == list(range(ROWS))


def test_warnings_of_a_model_become_notices():
    class Grumbler(BaseEstimator):
        def fit(self, X: np.ndarray, y: np.ndarray) -> "Grumbler":
            warnings.warn("I am tired.\nVery.", UserWarning, stacklevel=1)
            warnings.warn("old habit", DeprecationWarning, stacklevel=1)
            return self

        def decision_function(self, X: np.ndarray) -> np.ndarray:
            return X[:, 0]

    table, labels = shapes()
    lines: list[str] = []
    comparison = compare_models(
        table, labels, [Grumbler()], cv=2, progress=lines.append
    )
    assert [str(notice) for notice in comparison.notices] == ["Grumbler: I am tired."]
    assert [line.split(" AUC")[0] for line in lines] == [
        "fold 1/2 Grumbler",
        "fold 2/2 Grumbler",
    ]


def searches(n_queries: int = 60) -> tuple[pl.DataFrame, np.ndarray, np.ndarray]:
    """Queries, some of them better throughout; z tells them, but not their rows."""
    rng = np.random.default_rng(0)
    queries = rng.permutation(np.repeat(np.arange(n_queries), 10))
    ease = 2 * rng.normal(size=n_queries)[queries]
    x, z, noise = rng.normal(size=(3, queries.size))
    levels = np.digitize(x - z + ease + 0.5 * noise, [0.5, 2])
    return pl.DataFrame({"x": x, "z": z + ease}), levels, queries


def test_with_queries_the_mean_over_queries_is_compared():
    table, levels, queries = searches()
    target = encode_target(levels > 0, qid=queries)
    comparison = compare_models(table, target, ["svm-auc", "logistic"], cv=3)
    assert comparison.unit == "queries"
    aucsvc, logistic = comparison.results
    # the first learns within queries, the second all rows together
    assert aucsvc.auc > logistic.auc + 0.1
    assert aucsvc.low < aucsvc.auc < aucsvc.high
    (test,) = comparison.tests
    assert test.difference == pytest.approx(aucsvc.auc - logistic.auc)
    assert (verdict(test), test.low > 0) == ("beats", True)
    record = json.loads(json.dumps(comparison.to_dict(), allow_nan=False))
    assert (record["queries"], record["usable_queries"]) == (
        60,
        target.n_usable_queries,
    )
    # one-class queries are not reported: the target has counted them
    assert comparison.notices == ()


@pytest.mark.slow
@pytest.mark.parametrize("with_queries", [True, False])
def test_levels_are_compared_by_mauc(with_queries):
    table, levels, queries = searches()
    qid = queries if with_queries else None
    target = encode_target(levels, allow_levels=True, qid=qid)
    comparison = compare_models(
        table, target, ["lambdamart-ordinal", "logistic"], cv=3, metric="mauc"
    )
    assert comparison.metric == "mauc"
    assert comparison.unit == ("queries" if with_queries else "folds")
    for result in comparison.results:
        assert sorted(result.measures) == sorted(
            ["mauc", "ordinal_auc", "auc", *["ndcg@10", "map"] * with_queries]
        )
        assert result.low < result.main < result.high
        # with three levels the best MAUC is below 1
        assert result.main < result.measures["ordinal_auc"]
        assert np.mean(result.folds) == pytest.approx(result.main, abs=0.02)
    record = comparison.to_dict()["models"][0]
    assert record["mauc"] == comparison.results[0].main
    assert len(record["fold_maucs"]) == 3
