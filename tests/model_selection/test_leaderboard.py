import numpy as np
import polars as pl
import pytest

from aucmax import AutoRanker

MODELS = ["logistic", "kernel", "additive"]


@pytest.fixture(scope="module")
def data():
    generator = np.random.default_rng(0)
    X = generator.normal(size=(300, 3))
    return X, X[:, 0] + X[:, 1] ** 2 + generator.normal(size=300) > 1.0


@pytest.fixture(scope="module")
def model(data):
    return AutoRanker(models=MODELS, cv=3).fit(*data)


def test_the_leaderboard_has_every_model_the_best_first(model):
    board = model.leaderboard()
    assert isinstance(board, pl.DataFrame)
    names = ["model", "metric", "low", "high", "p_value", "weight", "seconds"]
    assert board.columns == names
    assert board["model"][0] == "combination"
    assert set(board["model"][1:]) == set(MODELS)
    assert board["metric"][1:].is_sorted(descending=True)
    assert (board["low"] < board["metric"]).all()
    assert (board["metric"] < board["high"]).all()
    # the best single model is what the others are tested against
    assert board["p_value"][1] is None
    assert board["p_value"].null_count() == 1
    assert board["weight"][1:].sum() == pytest.approx(1.0)
    assert board["seconds"][0] == pytest.approx(board["seconds"][1:].sum())


def test_the_summary_says_it_in_words(model):
    text = model.summary()
    assert "300 rows" in text
    assert "3 models tried on 3 folds" in text
    for name, weight in model.weights_.items():
        assert f"{weight:.2f} {name}" in text
    low, high = model.estimate_["auc_low"], model.estimate_["auc_high"]
    assert f"95% interval {low:.4f} to {high:.4f}" in text


def test_a_part_of_the_curve_is_named(data):
    model = AutoRanker(models=["kernel"], cv=2, fpr_range=(0, 0.2)).fit(*data)
    assert "Partial AUC (false positive rates 0 to 0.2) on new rows" in model.summary()
    assert model.leaderboard()["metric"][0] == model.estimate_["partial_auc"]
    assert model.estimate_["auc"] != model.estimate_["partial_auc"]


def test_the_summary_names_a_single_model_and_why_there_is_one(data):
    alone = AutoRanker(models=["kernel"], cv=2).fit(*data)
    assert "Selected: kernel (no other was tried)." in alone.summary()
    alone.board_ = {
        name: [*values, values[-1]] for name, values in alone.board_.items()
    }
    assert "Selected: kernel (no combination was better)." in alone.summary()
