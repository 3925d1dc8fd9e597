import json
import warnings

import numpy as np
import polars as pl
import pytest
from scipy import sparse

from aucmax.comparison import BASELINES, COMPARED, MODELS, compare_models
from aucmax.comparison.models import ModelChoice
from aucmax.comparison.pooling import pool_aucs, pool_differences
from aucmax.metrics import auc_interval, compare_auc, roc_auc_score
from aucmax.tables import TableEncoder, encode_target

ROWS = 240


def shapes(noise: float = 0.8, seed: int = 0) -> tuple[pl.DataFrame, np.ndarray]:
    rng = np.random.default_rng(seed)
    x, z = rng.normal(size=ROWS), rng.normal(size=ROWS)
    labels = (x + noise * rng.normal(size=ROWS) > 0.8).astype(int)
    return pl.DataFrame({"x": x, "z": z, "word": ["a", "b"] * (ROWS // 2)}), labels


def scores_of_folds(n_folds: int, seed: int = 0):
    rng = np.random.default_rng(seed)
    for size in 30 + 10 * np.arange(n_folds):
        labels = np.arange(size) % 3 == 0
        yield labels, labels + rng.normal(size=size), labels + 2 * rng.normal(size=size)


def test_one_fold_pools_to_delongs_interval_and_test():
    ((labels, a, b),) = scores_of_folds(1)
    one = np.ones(1)
    interval, test = auc_interval(labels, a), compare_auc(labels, a, b)
    assert pool_aucs([interval], one, 10) == pytest.approx(
        (interval.auc, interval.low, interval.high)
    )
    assert pool_differences([test], one, 10) == pytest.approx(
        (test.difference, test.low, test.high, test.z, test.p_value)
    )


def test_more_folds_narrow_the_interval_by_the_square_root():
    ((labels, a, b),) = scores_of_folds(1)
    n = 16
    weights = np.full(n, 1 / n)
    test = compare_auc(labels, a, b)
    pooled = pool_differences([test] * n, weights, 160)
    assert pooled.difference == pytest.approx(test.difference)
    assert pooled.high - pooled.low == pytest.approx((test.high - test.low) / 4)


def test_equal_scores_have_no_difference():
    tests = [compare_auc(labels, a, a) for labels, a, _ in scores_of_folds(3)]
    assert pool_differences(tests, np.full(3, 1 / 3), 40) == (0.0, 0.0, 0.0, 0.0, 1.0)


def test_a_fold_without_a_difference_still_has_its_variance():
    labels = np.array([1, 1, 0, 0, 1, 0])
    a, b = np.array([3, 1, 2, 0, 5, 4.0]), np.array([1, 3, 0, 2, 5, 4.0])
    test = compare_auc(labels, a, b)
    assert test.difference == 0
    pooled = pool_differences([test] * 2, np.full(2, 0.5), 6)
    assert pooled.high - pooled.low == pytest.approx((test.high - test.low) / 2**0.5)
    assert pooled.p_value == 1


def test_perfect_rankings_are_not_certain():
    labels, scores = np.arange(10) > 4, np.arange(10.0)
    perfect = auc_interval(labels, scores)
    pooled = pool_aucs([perfect] * 3, np.full(3, 1 / 3), 15)
    assert pooled.auc == pooled.high == 1
    assert pooled.low == pytest.approx(0.025 ** (1 / 15))
    worst = pool_aucs([auc_interval(labels, -scores)], np.ones(1), 5)
    assert (worst.auc, worst.low) == (0, 0)
    level = pool_aucs([auc_interval(labels, 0 * scores)], np.ones(1), 5)
    assert level == (0.5, 0.5, 0.5)
    certain = compare_auc(labels, scores, -scores)
    assert 0 < pool_differences([certain], np.ones(1), 5).p_value < 0.5


def test_the_interval_covers_the_truth_about_as_often_as_it_says():
    # scores without information: the AUC is 1/2; three folds a trial
    rng = np.random.default_rng(0)
    labels = np.arange(60) % 4 == 0
    covered = 0
    for _ in range(400):
        folds = [auc_interval(labels, rng.normal(size=60)) for _ in range(3)]
        pooled = pool_aucs(folds, np.full(3, 1 / 3), 45)
        covered += pooled.low <= 0.5 <= pooled.high
    assert 0.92 <= covered / 400 <= 0.98


def test_the_test_is_rarely_fooled_by_chance():
    rng = np.random.default_rng(1)
    labels = np.arange(60) % 4 == 0
    weights = np.full(3, 1 / 3)
    rejected = sum(
        pool_differences(
            [compare_auc(labels, *rng.normal(size=(2, 60))) for _ in range(3)],
            weights,
            45,
        ).p_value
        < 0.05
        for _ in range(400)
    )
    assert rejected / 400 <= 0.08


def test_all_models_are_measured_on_the_same_folds():
    table, labels = shapes()
    comparison = compare_models(table, encode_target(labels), n_folds=3)
    assert [result.name for result in comparison.results] == list(COMPARED)
    assert comparison.n_folds == 3
    for result in comparison.results:
        assert len(result.folds) == 3
        assert result.low < result.auc < result.high
        assert min(result.folds) <= result.auc <= max(result.folds)
        assert 0 <= result.measures["partial_auc"] <= 1
    pairs = {(test.model, test.baseline) for test in comparison.tests}
    assert pairs == {
        (name, baseline) for name in COMPARED for baseline in BASELINES
    } - {(baseline, baseline) for baseline in BASELINES}
    assert comparison.unit == "rows"
    by_name = {result.name: result.auc for result in comparison.results}
    for test in comparison.tests:
        assert test.difference == pytest.approx(
            by_name[test.model] - by_name[test.baseline]
        )
    assert by_name[comparison.best] == max(by_name.values())


def test_a_clear_winner_beats_and_the_other_loses():
    rng = np.random.default_rng(0)
    x, z = rng.normal(size=(2, 900))
    # ill only where the two signs agree: nothing for a linear model
    labels = (x * z + 0.3 * rng.normal(size=900) > 0).astype(int)
    comparison = compare_models(
        pl.DataFrame({"x": x, "z": z}),
        encode_target(labels),
        ["logistic", "lightgbm"],
        n_folds=3,
    )
    verdicts = {test.model: test.verdict for test in comparison.tests}
    assert verdicts == {"logistic": "loses", "lightgbm": "beats"}
    assert comparison.best == "lightgbm"


def test_positions_are_comparable_between_folds():
    table, labels = shapes()
    comparison = compare_models(table, encode_target(labels), ["logistic"], n_folds=4)
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
    really_fit = TableEncoder.fit
    seen: list[set[float]] = []

    def spy(self: TableEncoder, X: pl.DataFrame, y: None = None) -> TableEncoder:
        seen.append(set(X["number"]))
        return really_fit(self, X)

    monkeypatch.setattr(TableEncoder, "fit", spy)
    compare_models(table, encode_target(labels), ["logistic"], n_folds=4)
    left_out = [set(table["number"]) - rows for rows in seen]
    assert len(left_out) == 4
    assert sorted(row for rows in left_out for row in rows) == list(range(ROWS))


def test_warnings_of_a_model_become_notices(monkeypatch):
    class Grumbler:
        def set_params(self) -> "Grumbler":
            return self

        def fit(self, X: np.ndarray, y: np.ndarray) -> "Grumbler":
            warnings.warn("I am tired.\nVery.", UserWarning, stacklevel=1)
            warnings.warn("old habit", DeprecationWarning, stacklevel=1)
            return self

        def decision_function(self, X: np.ndarray) -> np.ndarray:
            return X[:, 0]

    monkeypatch.setattr(ModelChoice, "make", lambda self, n_rows: Grumbler())
    table, labels = shapes()
    news: list[str] = []
    comparison = compare_models(
        table, encode_target(labels), ["logistic"], n_folds=2, progress=news.append
    )
    assert comparison.notices == ("logistic: I am tired.",)
    assert [line.split(" AUC")[0] for line in news] == [
        "fold 1/2 logistic",
        "fold 2/2 logistic",
    ]


def test_sparse_rows_can_be_compared():
    rng = np.random.default_rng(0)
    dense = rng.normal(size=(ROWS, 8)) * (rng.random((ROWS, 8)) < 0.5)
    labels = (dense[:, 0] + 0.3 * rng.normal(size=ROWS) > 0).astype(int)
    comparison = compare_models(
        sparse.csc_matrix(dense), encode_target(labels), n_folds=2
    )
    assert all(result.auc > 0.7 for result in comparison.results)


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
    comparison = compare_models(table, target, ["aucsvc", "logistic"], n_folds=3)
    assert comparison.unit == "queries"
    aucsvc, logistic = comparison.results
    # the first learns within queries, the second all rows together
    assert aucsvc.auc > logistic.auc + 0.1
    assert aucsvc.low < aucsvc.auc < aucsvc.high
    (test,) = comparison.tests
    assert test.difference == pytest.approx(aucsvc.auc - logistic.auc)
    assert (test.verdict, test.low > 0) == ("beats", True)
    record = json.loads(json.dumps(comparison.to_dict(), allow_nan=False))
    assert (record["queries"], record["usable_queries"]) == (
        60,
        target.n_usable_queries,
    )
    # one-class queries are no news: they have been counted
    assert comparison.notices == ()


def test_scores_of_other_folds_do_not_matter_within_queries(monkeypatch):
    # a model that adds a constant of its own in each fold ranks every query as well
    table, levels, queries = searches(20)
    target = encode_target(levels > 0, qid=queries)
    offsets = iter([0.0, 100.0, 0.0, 0.0])

    class Shifted:
        def fit(self, X: np.ndarray, y: np.ndarray) -> "Shifted":
            self.offset = next(offsets)
            return self

        def decision_function(self, X: np.ndarray) -> np.ndarray:
            return X[:, 0] + self.offset

    monkeypatch.setattr(ModelChoice, "make", lambda self, n_rows: Shifted())
    shifted, plain = (
        compare_models(table, target, ["logistic"], n_folds=2) for _ in range(2)
    )
    assert shifted.results[0].auc == plain.results[0].auc
    np.testing.assert_array_equal(
        shifted.positions["logistic"], plain.positions["logistic"]
    )


@pytest.mark.parametrize("with_queries", [True, False])
def test_levels_are_compared_by_mauc(with_queries):
    table, levels, queries = searches()
    qid = queries if with_queries else None
    target = encode_target(levels, allow_levels=True, qid=qid)
    comparison = compare_models(
        table, target, ["lambdamart-ordinal", "logistic"], n_folds=3
    )
    assert comparison.metric == "mauc"
    assert comparison.unit == ("queries" if with_queries else "folds")
    for result in comparison.results:
        assert list(result.measures) == ["mauc", "ordinal_auc", "auc"]
        assert result.low < result.main < result.high
        # with three levels the best MAUC is below 1
        assert result.main < result.measures["ordinal_auc"]
        assert np.mean(result.folds) == pytest.approx(result.main, abs=0.02)
    record = comparison.to_dict()["models"][0]
    assert record["mauc"] == comparison.results[0].main
    assert len(record["fold_maucs"]) == 3


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"models": []}, "at least one model"),
        ({"models": ["oracle"]}, "there is no model 'oracle'"),
        ({"n_folds": 1}, "at least 2 folds"),
        ({"n_folds": 200}, "200 folds need 400"),
    ],
)
def test_impossible_comparisons_are_refused(change, message):
    table, labels = shapes()
    with pytest.raises(ValueError, match=message):
        compare_models(table, encode_target(labels), **change)


def test_lengths_must_agree():
    table, labels = shapes()
    with pytest.raises(ValueError, match="the table has 240 rows, the target 239"):
        compare_models(table, encode_target(labels[1:]))


def test_the_record_is_made_of_simple_values():
    table, labels = shapes()
    comparison = compare_models(table, encode_target(labels), ["logistic"], n_folds=2)
    record = json.loads(json.dumps(comparison.to_dict(), allow_nan=False))
    assert record["rows"] == ROWS
    assert record["positive_rows"] == labels.sum()
    assert record["tests"] == []


def test_c_grows_with_the_rows():
    settings = {name: MODELS[name].make(1000).get_params() for name in MODELS}
    assert settings["aucsvc"]["C"] == pytest.approx(100)
    assert settings["logistic"]["C"] == 1
