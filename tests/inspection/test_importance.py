"""Importance of columns by shuffling, for every kind of table and model."""

import json
import warnings

import numpy as np
import polars as pl
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import aucmax
from aucmax.inference import compare_auc
from aucmax.inspection import permutation_importance
from aucmax.inspection.dependence import rank_dependence
from aucmax.metrics import partial_auc_score, roc_auc_score
from aucmax.model_selection import LightGBMBaseline
from aucmax.tables import TableEncoder

pytestmark = pytest.mark.filterwarnings("ignore:column 'same' is left out")

RNG = np.random.default_rng(0)
X = RNG.normal(size=(600, 4))
Y = 2 * X[:, 2] + X[:, 0] + RNG.normal(size=600) > 1
TABLE = pl.DataFrame(
    {
        "amount": X[:, 2],
        "kind": np.where(X[:, 0] > 0, "a", "b"),
        "noise": X[:, 1],
        "same": ["x"] * 600,
    }
)
LINEAR = LogisticRegression().fit(X, Y)


def test_the_drop_is_the_mean_over_shuffles():
    importances = permutation_importance(LINEAR, X, Y, n_repeats=3, random_state=5)
    rng = np.random.default_rng(5)
    orders = [rng.permutation(600) for _ in range(3)]
    start = roc_auc_score(Y, LINEAR.decision_function(X))
    for name, drop in zip(importances.column, importances.drop, strict=True):
        place, areas = int(name[1:]), []
        for order in orders:
            shuffled = X.copy()
            shuffled[:, place] = X[order, place]
            areas.append(roc_auc_score(Y, LINEAR.decision_function(shuffled)))
        assert drop == pytest.approx(start - np.mean(areas), abs=1e-12)
    assert importances.column[:2] == ["x2", "x0"]
    assert importances.value == pytest.approx(start)
    assert (np.diff(importances.drop) <= 0).all()


def test_with_one_shuffle_the_interval_is_delongs():
    importances = permutation_importance(LINEAR, X, Y, n_repeats=1, columns=["x2"])
    order = np.random.default_rng(0).permutation(600)
    shuffled = X.copy()
    shuffled[:, 2] = X[order, 2]
    truth = compare_auc(
        Y, LINEAR.decision_function(X), LINEAR.decision_function(shuffled)
    )
    assert importances.drop[0] == pytest.approx(truth.difference)
    assert (importances.low[0], importances.high[0]) == pytest.approx(
        (truth.low, truth.high)
    )


def test_many_rows_are_sampled_with_all_of_the_rarer_class():
    rare = Y & (np.arange(600) % 4 == 0)
    weight = RNG.random(600)
    n_rows = 2 * int(rare.sum())
    rows = {"sample_weight": weight, "n_repeats": 1}
    sampled = permutation_importance(LINEAR, X, rare, **rows, max_rows=n_rows)
    whole = permutation_importance(LINEAR, X, rare, **rows)
    assert sampled.column[0] == "x2"
    assert sampled.value != whole.value == pytest.approx(sampled.value, abs=0.05)
    with pytest.raises(ValueError, match="max_rows must be an integer of at least 4"):
        permutation_importance(LINEAR, X, rare, max_rows=3)


def test_a_part_of_the_curve_may_count():
    importances = permutation_importance(
        LINEAR, X, Y, fpr_range=(0, 0.2), n_repeats=1, columns=["x0"]
    )
    order = np.random.default_rng(0).permutation(600)
    shuffled = X.copy()
    shuffled[:, 0] = X[order, 0]
    before, after = (
        partial_auc_score(Y, LINEAR.decision_function(rows), fpr_range=(0, 0.2))
        for rows in (X, shuffled)
    )
    assert importances.metric == "partial_auc"
    assert importances.drop[0] == pytest.approx(before - after)


@pytest.mark.slow
def test_intervals_hold_the_drop_on_many_other_rows():
    rng = np.random.default_rng(3)
    big = rng.normal(size=(60_000, 4))
    labels = 2 * big[:, 2] + big[:, 0] + rng.normal(size=60_000) > 1
    truth = permutation_importance(LINEAR, big, labels, n_repeats=3, max_rows=60_000)
    truth = dict(zip(truth.column, truth.drop, strict=True))
    held = []
    for start in range(0, 60_000, 300):
        rows = slice(start, start + 300)
        importances = permutation_importance(
            LINEAR, big[rows], labels[rows], n_repeats=5, columns=["x2", "x0"]
        )
        for name, low, high in zip(
            importances.column, importances.low, importances.high, strict=True
        ):
            held.append(low <= truth[name] <= high)
    assert 0.9 <= np.mean(held) <= 0.985


def as_pandas():
    return pytest.importorskip("pandas").DataFrame(
        X, columns=[f"x{k}" for k in range(4)]
    )


@pytest.mark.parametrize(
    "rows",
    [
        pytest.param(
            lambda: pl.DataFrame(X, schema=["x0", "x1", "x2", "x3"]), id="polars"
        ),
        pytest.param(as_pandas, id="pandas"),
        pytest.param(lambda: sparse.csr_array(X), id="sparse"),
    ],
)
def test_every_kind_of_table_gives_the_same(rows):
    table = rows()
    model = aucmax.AUCSVC().fit(X, Y)
    if hasattr(table, "columns"):
        model = make_pipeline(TableEncoder(), LogisticRegression()).fit(table, Y)
        expected = permutation_importance(
            model, pl.DataFrame(X, schema=["x0", "x1", "x2", "x3"]), Y, n_repeats=2
        )
    else:
        expected = permutation_importance(model, X, Y, n_repeats=2)
    importances = permutation_importance(model, table, Y, n_repeats=2)
    assert importances.column == expected.column
    np.testing.assert_allclose(importances.drop, expected.drop, atol=1e-12)


MODELS = {
    "linear": make_pipeline(TableEncoder(), LogisticRegression()),
    "trees": make_pipeline(
        TableEncoder(view="trees"), LightGBMBaseline(n_estimators=20)
    ),
    "combination": aucmax.AutoRanker(models=["logistic", "kernel"], cv=2),
}


@pytest.mark.parametrize("name", MODELS)
def test_models_of_tables_are_explained_by_raw_columns(name):
    model = MODELS[name].fit(TABLE, np.where(Y, "yes", "no"))
    importances = permutation_importance(
        model, TABLE, np.where(Y, "yes", "no"), n_repeats=2
    )
    # the constant column is not in use
    assert sorted(importances.column) == ["amount", "kind", "noise"]
    assert importances.column[0] == "amount"
    assert importances.low[0] > 0.05
    assert importances.to_frame().columns == ["column", "drop", "low", "high"]
    json.dumps(importances.to_dict())


def test_the_positive_class_is_that_of_the_model():
    labels = np.where(Y, "bad", "good")
    model = aucmax.AutoRanker(models=["logistic"], cv=2, pos_label="bad")
    model.fit(TABLE, labels)
    assert permutation_importance(model, TABLE, labels, n_repeats=1).value > 0.8


def test_pipelines_and_weights_are_taken():
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, Y)
    weight = RNG.random(600)
    importances = permutation_importance(model, X, Y, sample_weight=weight, n_repeats=1)
    start = roc_auc_score(Y, model.decision_function(X), sample_weight=weight)
    assert importances.value == pytest.approx(start)


def test_queries_are_averaged():
    qid = np.repeat(np.arange(30), 20)
    importances = permutation_importance(LINEAR, X, Y, qid=qid, n_repeats=2)
    start = roc_auc_score(Y, LINEAR.decision_function(X), qid=qid)
    assert importances.value == pytest.approx(start)
    assert importances.low[0] < importances.drop[0] < importances.high[0]
    assert importances.column[0] == "x2"


def test_cells_that_are_not_numbers_are_reported_once_with_their_own_row():
    amounts = [f"{one:.3f}" for one in X[:, 2]]
    table = TABLE.with_columns(amount=pl.Series(["?!", *amounts[1:]]))
    with pytest.warns(UserWarning, match="row 1 has"):
        model = make_pipeline(TableEncoder(), LogisticRegression()).fit(table, Y)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        importances = permutation_importance(model, table, Y, n_repeats=3)
        explained = rank_dependence(model, table, "amount", n_values=5)
    text = "column 'amount' holds numbers: 1 of its 600 filled cells treated as missing"
    assert [str(one.message).startswith(text) for one in caught] == [True] * 2
    assert all("row 1 has" in str(one.message) for one in caught)
    assert importances.column[0] == "amount"
    # numbers written as text are numbers, and cells of other text are missing
    assert explained.is_ordered
    assert explained.values[-1] is None
    assert (np.diff(explained.rank[:-1]) > 0).all()


def test_bad_input_is_said():
    with pytest.raises(ValueError, match="there is no column 'x9'; there are x0, x1"):
        permutation_importance(LINEAR, X, Y, columns=["x9"])
    with pytest.raises(ValueError, match="n_repeats must be an integer"):
        permutation_importance(LINEAR, X, Y, n_repeats=0)
    with pytest.raises(TypeError, match="neither decision_function nor predict_proba"):
        permutation_importance(StandardScaler(), X, Y)
    with pytest.raises(ValueError, match="X must be a table"):
        permutation_importance(LINEAR, X[0], Y)
    with pytest.raises(ValueError, match=r"has 50 rows, but the labels have 600"):
        permutation_importance(LINEAR, X[:50], Y)


def test_a_useless_column_has_a_narrower_interval_than_a_useful_one():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = X[:, 0] + 0.4 * rng.normal(size=200) > 1.7  # few positives, few errors
    model = LogisticRegression().fit(X, y)
    model.coef_[0, 1:] = 0.02, 0.0
    importances = permutation_importance(model, X, y)
    width = dict(
        zip(importances.column, importances.high - importances.low, strict=True)
    )
    assert importances.column[0] == "x0"
    assert importances.low[0] > 0.0
    assert width["x1"] < 0.2 * width["x0"]
    assert width["x2"] == 0.0  # not used, so shuffling changes nothing
