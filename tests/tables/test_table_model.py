from functools import cache

import numpy as np
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import cross_val_score
from sklearn.naive_bayes import GaussianNB

import aucmax
from aucmax.decisions import operating_point, reliability
from aucmax.exceptions import IncompatibleError
from aucmax.metrics import (
    multiclass_auc_score,
    ndcg_score,
    ordinal_auc_score,
    roc_auc_score,
    survival_target,
)
from aucmax.model_selection import MODELS, table_model
from aucmax.model_selection.models import LEVEL_MODELS
from aucmax.tables import TableModel, encode_target

ROWS = 400
OF_LABELS = [name for name, model in MODELS.items() if not model.learns_survival]
LAMBDAMART = [name for name in OF_LABELS if name.startswith("lambdamart")]


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
    return table, ["ill" if r > 0.7 else "healthy" for r in risk]


def quick(name: str, **settings: object) -> TableModel:
    """A model of few rounds, if it has rounds, or of few models."""
    if MODELS[name].learns_survival:
        settings.pop("pos_label", None)
    model = table_model(name, **settings)
    if name == "auto":
        models = ["logistic", "lightgbm-small"]
        model.set_params(estimator__models=models, estimator__folds=2)
    if "n_estimators" in model.estimator.get_params():
        model.set_params(estimator__n_estimators=30)
    return model


def learnable(name: str, is_positive: np.ndarray) -> dict[str, object]:
    """Labels, or for a model of censored times events before all other rows."""
    if MODELS[name].learns_survival:
        return {"y": survival_target(is_positive, np.where(is_positive, 1.0, 2.0))}
    return {"y": np.where(is_positive, "ill", "healthy")}


@cache
def fitted(name: str) -> TableModel:
    table, outcome = visits()
    model = quick(name, target="outcome")
    return model.fit(table, **learnable(name, np.array(outcome) == "ill"))


@pytest.mark.slow
@pytest.mark.parametrize("name", OF_LABELS)
def test_every_model_learns_from_raw_rows(name):
    model = fitted(name)
    new, truth = visits(1)
    scores = model.decision_function(new)
    # full trees fit the noise of a small table
    enough = 0.75 if name == "extra-trees" else 0.8
    assert roc_auc_score(np.array(truth) == "ill", scores) > enough
    assert model.classes_.tolist() == ["healthy", "ill"]
    assert (model.n_rows_, model.n_positive_) == (ROWS, visits()[1].count("ill"))
    assert model.has_threshold_
    assert set(model.predict(new)) == {"ill", "healthy"}
    assert (
        scores[model.predict(new) == "ill"].min()
        > scores[model.predict(new) == "healthy"].max()
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_a_saved_model_gives_the_same_scores(name, tmp_path):
    model = fitted(name)
    aucmax.save(model, tmp_path / "m.aucmax")
    loaded = aucmax.load(tmp_path / "m.aucmax")
    new, _ = visits(1)
    np.testing.assert_array_equal(
        loaded.decision_function(new), model.decision_function(new)
    )
    if model.has_threshold_:
        assert loaded.predict(new).tolist() == model.predict(new).tolist()
    assert (loaded.name, loaded.target) == (name, "outcome")
    assert loaded.grading_ == model.grading_


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_sparse_rows_work_and_save(name, tmp_path):
    rng = np.random.default_rng(0)
    dense = rng.normal(size=(300, 20)) * (rng.random((300, 20)) < 0.4)
    labels = dense[:, 0] + dense[:, 1] + rng.normal(size=300) * 0.3 > 0
    model = quick(name, pos_label="ill")
    model.fit(sparse.csr_matrix(dense), **learnable(name, labels))
    aucmax.save(model, tmp_path / "m.aucmax")
    scores = aucmax.load(tmp_path / "m.aucmax").decision_function(
        sparse.csr_array(dense)
    )
    if name == "xgboost-ndcg":  # orders the top of the list, and stops there
        assert ndcg_score(labels.astype(int), scores, k=10) > 0.95
    else:
        assert roc_auc_score(labels, scores) > 0.83


@pytest.mark.slow
@pytest.mark.parametrize("scale", [1e-150, 1e150])
@pytest.mark.parametrize("name", MODELS)
def test_the_unit_of_a_column_does_not_change_the_ranking(name, scale):
    table, outcome = visits()
    other = table.with_columns(pl.col("size") * scale)
    given = learnable(name, np.array(outcome) == "ill")
    model = quick(name, pos_label="ill").fit(other, **given)
    expected = fitted(name).score(table, **given)
    assert model.score(other, **given) == pytest.approx(expected, abs=1e-6)


def graded(
    n_queries: int = 60, seed: int = 0
) -> tuple[pl.DataFrame, np.ndarray, np.ndarray]:
    """Queries, some of them better throughout; z tells them, but not their rows."""
    rng = np.random.default_rng(seed)
    queries = np.repeat(np.arange(n_queries), 12)
    ease = 2 * rng.normal(size=n_queries)[queries]
    x, z, noise = rng.normal(size=(3, queries.size))
    levels = np.digitize(x - z + ease + 0.5 * noise, [0.5, 2])
    return pl.DataFrame({"x": x, "z": z + ease}), levels, queries


@pytest.mark.filterwarnings("ignore::aucmax.exceptions.OneClassQueryWarning")
@pytest.mark.parametrize("name", ["svm-auc", *LAMBDAMART])
def test_models_that_can_learn_within_queries_do(name):
    table, levels, queries = graded()
    relevant = (levels > 0).astype(int)
    model = quick(name).fit(table, relevant, qid=queries)
    together = quick(name).fit(table, relevant)
    new, truth, others = graded(seed=1)
    aucs = [
        roc_auc_score(truth > 0, m.decision_function(new), qid=others)
        for m in (model, together)
    ]
    assert aucs[0] > aucs[1] + 0.02
    assert aucs[0] > 0.8


@pytest.mark.filterwarnings("ignore::aucmax.exceptions.OneClassQueryWarning")
@pytest.mark.parametrize("name", LEVEL_MODELS)
def test_models_of_levels_learn_levels_and_save_them(name, tmp_path):
    table, levels, queries = graded()
    model = quick(name, query_column="search")
    model.fit(table, levels, qid=queries)
    assert model.classes_.tolist() == [0, 1, 2]
    assert not model.has_threshold_
    aucmax.save(model, tmp_path / "m.aucmax")
    loaded = aucmax.load(tmp_path / "m.aucmax")
    scores = loaded.decision_function(table)
    # models of single rows also learn which queries are better
    enough = 0.7 if name in ("auto", "lightgbm-levels") else 0.85
    assert ordinal_auc_score(levels, scores, qid=queries) > enough
    assert loaded.query_column == "search"


def test_models_of_two_classes_take_levels_only_if_told():
    table, levels, _ = graded(20)
    with pytest.raises(ValueError, match="3 different values"):
        table_model("logistic").fit(table, levels)
    with pytest.raises(ValueError, match="levels must be one of"):
        table_model("logistic", levels="all").fit(table, levels)
    model = table_model("logistic", levels="relevant").fit(table, levels)
    plain = table_model("logistic").fit(table, levels > 0)
    np.testing.assert_array_equal(
        model.decision_function(table), plain.decision_function(table)
    )
    assert not model.has_threshold_


def test_one_of_many_values_is_predicted_or_not():
    table, levels, _ = graded(20)
    model = table_model("logistic", pos_label=2).fit(table, levels)
    assert set(model.predict(table)) == {"2", "not 2"}


def test_lengths_must_agree():
    table, outcome = visits()
    with pytest.raises(ValueError, match="has 400 rows, but the target has 399"):
        table_model("logistic").fit(table, outcome[1:])


def test_an_unfitted_model_says_so():
    with pytest.raises(NotFittedError):
        table_model("logistic").predict(visits()[0])


def test_an_unknown_name_is_refused_with_those_there_are():
    with pytest.raises(ValueError, match="Did you mean 'svm-auc'"):
        table_model("svm")


def test_a_model_can_be_cloned_and_scored_by_scikit_learn():
    table, outcome = visits()
    model = clone(table_model("logistic")).fit(table, outcome)
    scores = model.decision_function(table)
    ill = np.array(outcome) == model.classes_[1]
    assert model.score(table, outcome) == roc_auc_score(ill, scores)
    assert cross_val_score(model, table, outcome, cv=2).min() > 0.7


def test_levels_are_scored_by_mauc():
    table, levels, queries = graded(20)
    model = table_model("logistic", levels="relevant").fit(table, levels)
    expected = multiclass_auc_score(levels, model.decision_function(table), qid=queries)
    assert model.score(table, levels, qid=queries) == expected


def test_a_fit_that_fails_leaves_the_model_as_it_was():
    table, outcome = visits()
    model = table_model("logistic").fit(table, outcome)
    before = model.decision_function(table)
    for bad in (table.select("kind").with_columns(kind=pl.lit("one")), table.head(3)):
        with pytest.raises(ValueError, match=r"no column can be used|has 3 rows"):
            model.fit(bad, outcome)
    model.set_params(estimator__C=-1.0)
    with pytest.raises(ValueError, match="C"):
        model.fit(table, outcome)
    np.testing.assert_array_equal(model.decision_function(table), before)
    encoder = model.encoder_
    columns = encoder.columns_
    with pytest.raises(ValueError, match="no column can be used"):
        encoder.fit(table.select("kind").with_columns(kind=pl.lit("one")))
    assert encoder.columns_ is columns


def test_probabilities_serve_as_scores():
    table, outcome = visits()
    model = TableModel(GaussianNB()).fit(table, outcome)
    assert model.score(table, outcome) > 0.7
    assert set(model.predict(table)) == {"ill", "healthy"}


def test_a_target_brings_its_own_queries_and_positive_value():
    table, outcome = visits()
    target = encode_target(outcome, "healthy")
    model = table_model("logistic", pos_label="ill").fit(table, target)
    assert model.classes_.tolist() == ["ill", "healthy"]
    with pytest.raises(ValueError, match="already encoded"):
        model.fit(table, target, qid=outcome)


@pytest.mark.parametrize(
    "damage",
    [
        {"view": "stars"},
        {"levels": "many"},
        {"classes_": np.array(["one"])},
        {"classes_": "ill"},
        {"levels_": np.array([0, 1, 2])},
        {"levels_": np.array([1, 1])},
        {"levels_": np.array([0.0, 1.0])},
        {"values_": None},
    ],
    ids=str,
)
def test_a_damaged_model_is_refused(damage, tmp_path):
    table, outcome = visits()
    model = table_model("logistic").fit(table, outcome)
    aucmax.save(model, tmp_path / "whole.aucmax")
    vars(model).update(damage)
    with pytest.raises(ValueError, match="could not be loaded"):
        aucmax.save(model, tmp_path / "damaged.aucmax")


CUTTING = ("logistic", "lightgbm", "svm-auc")


@pytest.mark.parametrize("name", CUTTING)
def test_one_rule_cuts_all_models_where_the_balanced_accuracy_is_best(name):
    model = fitted(name)
    table, outcome = visits()
    encoder = model.encoder_
    matrix = encoder.training_rows(table, [one == "ill" for one in outcome], model.view)
    scores = model.estimator_.decision_function(matrix)
    best = operating_point(np.array(outcome) == "ill", scores)
    assert model.threshold_ == pytest.approx(best.threshold)


@pytest.mark.parametrize("name", CUTTING)
@pytest.mark.parametrize("kind", ["sigmoid", "isotonic"])
def test_probabilities_come_from_rows_that_no_model_has_seen(name, kind):
    table, outcome = visits()
    model = quick(name, pos_label="ill", calibrate=kind).fit(table, outcome)
    new, truth = visits(1)
    is_ill = np.array(truth) == "ill"
    chances = model.predict_proba(new)[:, 1]
    scores = model.decision_function(new)
    assert roc_auc_score(is_ill, chances) == pytest.approx(
        roc_auc_score(is_ill, scores), abs=1e-12
    )
    found = reliability(is_ill, chances)
    assert found.mean_probability == pytest.approx(found.base_rate, rel=0.3)
    # those of the training rows themselves would be far too sure
    assert found.log_loss < 0.6
    rare = model.predict_proba(new, prevalence=0.01)[:, 1]
    assert rare.mean() < chances.mean() / 3


def test_there_are_no_probabilities_without_calibration():
    assert not hasattr(fitted("logistic"), "predict_proba")


def test_calibration_is_left_to_an_estimator_that_has_one():
    table, outcome = visits()
    auto = aucmax.AutoRanker(models=["logistic"], folds=3)
    model = TableModel(auto, view="raw", pos_label="ill", calibrate="sigmoid")
    model.fit(table, outcome)
    assert model.estimator_.calibrate == "sigmoid"
    np.testing.assert_array_equal(
        model.predict_proba(table)[:, 1],
        model.estimator_.predict_proba(model.encoder_.select(table))[:, 1],
    )
    assert model.threshold_ == 0.0


def test_levels_have_no_probabilities():
    table, _ = visits()
    levels = np.arange(table.height) % 3
    model = quick("lambdamart-ordinal", calibrate="sigmoid")
    with pytest.raises(IncompatibleError, match="probabilities need two classes"):
        model.fit(table, levels)
    with pytest.raises(ValueError, match="calibrate must be one of"):
        quick("logistic", calibrate="platt").fit(table, levels > 0)


def test_calibrated_models_are_saved(tmp_path):
    table, outcome = visits()
    model = quick("logistic", pos_label="ill", calibrate="isotonic").fit(table, outcome)
    aucmax.save(model, tmp_path / "m.aucmax")
    loaded = aucmax.load(tmp_path / "m.aucmax")
    np.testing.assert_array_equal(
        loaded.predict_proba(table), model.predict_proba(table)
    )
    assert loaded.share_of_known_rows(table, outcome) == 1.0
    new, truth = visits(1)
    assert loaded.share_of_known_rows(new, truth) < 0.1
