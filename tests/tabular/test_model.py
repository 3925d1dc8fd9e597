import numpy as np
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import aucmax
from aucmax.exceptions import ModelFileError
from aucmax.metrics import roc_auc_score
from aucmax.tabular import MODELS, LightGBMBaseline, TableModel

ROWS = 400


def visits(seed: int = 0) -> tuple[pl.DataFrame, list[str]]:
    """A table whose number, category and gaps all tell about the target."""
    rng = np.random.default_rng(seed)
    size = rng.normal(size=ROWS)
    kind = rng.integers(0, 3, ROWS)
    risk = size + (kind == 1) * 1.5 + rng.normal(size=ROWS) * 0.7
    table = pl.DataFrame(
        {
            "size": [None if i % 11 == 0 else s for i, s in enumerate(size.tolist())],
            "kind": [["small", "big", "odd"][k] for k in kind],
            "day": [f"2024-0{1 + i % 9}-15" for i in range(ROWS)],
        }
    )
    return table, ["ill" if r > 0.7 else "well" for r in risk]


@pytest.mark.parametrize("name", MODELS)
def test_every_model_learns_from_raw_rows(name):
    table, outcome = visits()
    model = TableModel.by_name(name, positive="ill").fit(table, outcome)
    new, truth = visits(1)
    scores = model.decision_function(new)
    assert roc_auc_score(np.array(truth) == "ill", scores) > 0.8
    assert set(model.predict(new)) == {"ill", "well"}
    assert (
        scores[model.predict(new) == "ill"].min()
        > scores[model.predict(new) == "well"].max()
    )
    assert model.classes_.tolist() == ["well", "ill"]
    assert (model.n_rows_, model.n_positive_) == (ROWS, outcome.count("ill"))


@pytest.mark.parametrize("name", MODELS)
def test_a_saved_model_gives_the_same_scores(name, tmp_path):
    table, outcome = visits()
    model = TableModel.by_name(name, positive="ill", target="outcome")
    model.fit(table, outcome)
    aucmax.save(model, tmp_path / "m.aucmax")
    loaded = aucmax.load(tmp_path / "m.aucmax")
    new, _ = visits(1)
    np.testing.assert_array_equal(
        loaded.decision_function(new), model.decision_function(new)
    )
    assert loaded.predict(new).tolist() == model.predict(new).tolist()
    assert (loaded.name, loaded.target) == (name, "outcome")


@pytest.mark.parametrize("name", MODELS)
def test_sparse_rows_work_and_save(name, tmp_path):
    rng = np.random.default_rng(0)
    dense = rng.normal(size=(300, 20)) * (rng.random((300, 20)) < 0.4)
    labels = (dense[:, 0] + dense[:, 1] + rng.normal(size=300) * 0.3 > 0).astype(int)
    model = TableModel.by_name(name).fit(sparse.csr_matrix(dense), labels)
    aucmax.save(model, tmp_path / "m.aucmax")
    scores = aucmax.load(tmp_path / "m.aucmax").decision_function(
        sparse.csr_array(dense)
    )
    assert roc_auc_score(labels, scores) > 0.85


@pytest.mark.parametrize("scale", [1e-150, 1e150])
@pytest.mark.parametrize("name", MODELS)
def test_the_unit_of_a_column_does_not_change_the_ranking(name, scale):
    table, outcome = visits()
    other = table.with_columns(pl.col("size") * scale)
    aucs = [
        roc_auc_score(
            np.array(outcome) == "ill",
            TableModel.by_name(name).fit(t, outcome).decision_function(t),
        )
        for t in (table, other)
    ]
    assert aucs[0] == pytest.approx(aucs[1], abs=1e-6)


def test_lengths_must_agree():
    table, outcome = visits()
    with pytest.raises(ValueError, match="the table has 400 rows, but the target 399"):
        TableModel.by_name("logistic").fit(table, outcome[1:])


def test_an_unfitted_model_says_so():
    with pytest.raises(NotFittedError):
        TableModel.by_name("logistic").predict(visits()[0])


def test_an_unknown_name_is_refused_with_those_there_are():
    with pytest.raises(
        ValueError, match="no model 'svm'; choose from aucsvc, logistic"
    ):
        TableModel.by_name("svm")


def test_a_model_can_be_cloned_and_scored_by_scikit_learn():
    table, outcome = visits()
    model = clone(TableModel.by_name("logistic")).fit(table, outcome)
    assert model.score(table, outcome) > 0.7


@pytest.mark.parametrize("damage", [{"view": "stars"}, {"classes_": np.array(["one"])}])
def test_a_damaged_model_is_refused(damage):
    table, outcome = visits()
    model = TableModel.by_name("logistic").fit(table, outcome)
    model._check_state()
    vars(model).update(damage)
    with pytest.raises(ModelFileError):
        model._check_state()


def test_lightgbm_refuses_other_widths_and_one_class():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), np.arange(60) % 2
    model = LightGBMBaseline(n_estimators=3).fit(X, y)
    with pytest.raises(ValueError, match="X has 2 columns, the model was trained on 3"):
        model.decision_function(X[:, :2])
    with pytest.raises(ValueError, match="two labels, got 1"):
        LightGBMBaseline().fit(X, np.zeros(60))
    assert model.decision_function(X[:0]).shape == (0,)


def test_lightgbm_uses_its_new_trees_after_another_fit():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    model = LightGBMBaseline(n_estimators=5).fit(X, X[:, 0] > 0)
    first = model.decision_function(X)
    model.fit(X, X[:, 0] < 0)
    assert np.corrcoef(first, model.decision_function(X))[0, 1] < 0


def test_lightgbm_with_damaged_text_is_refused_before_its_parser_sees_it():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    model = LightGBMBaseline(n_estimators=3).fit(X, X[:, 0] > 0)
    model._check_state()
    model.model_text_ = model.model_text_[:300]
    with pytest.raises(ValueError, match="not a valid LightGBM model text"):
        model._check_state()
    model.model_text_ = 3
    with pytest.raises(ModelFileError, match="damaged"):
        model._check_state()
