"""The network for tables: scikit-learn's checks, what it learns, files, bad input."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

import aucmax
from aucmax import AutoRanker
from aucmax.exceptions import ModelFileError, NotEnoughClassesError
from aucmax.persistence.model_file import _pack, _unpack
from aucmax.torch import NeuralRanker
from aucmax.torch._table_network import TableNetwork, find_places

SMALL = {"n_networks": 2, "max_epochs": 15, "hidden_sizes": (16,), "n_ramps": 8}
WEIGHTS_AS_REPEATED_ROWS = dict.fromkeys(
    [
        "check_sample_weight_equivalence_on_dense_data",
        "check_sample_weight_equivalence_on_sparse_data",
    ],
    "batches have as many rows, whatever they weigh",
)


@pytest.mark.sampled(3)
@parametrize_with_checks(
    [NeuralRanker(n_networks=1, max_epochs=8, hidden_sizes=(16,), n_ramps=8)],
    expected_failed_checks=lambda estimator: WEIGHTS_AS_REPEATED_ROWS,
)
def test_neural_ranker_passes_every_check_of_scikit_learn(estimator, check):
    check(estimator)


def data(n_rows=600, seed=0):
    """Rows whose order no linear model finds: a bump, a product, categories, gaps."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n_rows, 4))
    X[:, 3] = random.integers(0, 6, size=n_rows)
    signal = 3.0 * np.exp(-(X[:, 0] ** 2)) + X[:, 1] * X[:, 2] + 2.0 * (X[:, 3] % 2)
    y = signal + 0.3 * random.normal(size=n_rows) > 3.0
    X[random.random(n_rows) < 0.1, 0] = np.nan
    return X, y


def test_it_learns_bumps_products_and_categories():
    (X, y), (X_new, y_new) = data(1000), data(seed=1)
    options = {"n_networks": 1, "max_epochs": 40, "hidden_sizes": (64, 32)}
    model = NeuralRanker(**options, categorical_features=[3]).fit(X, y)
    assert model.score(X_new, y_new) > 0.9
    assert (model.predict(X_new) == y_new).mean() > 0.75
    assert 0 < model.n_epochs_[0] <= 40


def test_the_same_seed_gives_the_same_model_and_leaves_other_draws_alone():
    X, y = data(200)
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    models = [NeuralRanker(**SMALL, random_state=seed).fit(X, y) for seed in (1, 1, 2)]
    assert torch.equal(torch.rand(3), expected)
    scores = [model.decision_function(X) for model in models]
    assert (scores[0] == scores[1]).all()
    assert (scores[0] != scores[2]).any()


def test_a_part_of_the_curve_is_trained_for_and_scored():
    X, y = data(400)
    part = {"fpr_range": (0.0, 0.05), "tpr_range": (0.5, 1.0)}
    model = NeuralRanker(**part, **SMALL).fit(X, y)
    expected = aucmax.metrics.partial_auc_score(y, model.decision_function(X), **part)
    assert model.score(X, y) == pytest.approx(expected)


def test_a_row_of_weight_0_is_left_out():
    X, y = data(200)
    weight = (np.arange(200) < 150).astype(float)
    weighted = NeuralRanker(**SMALL).fit(X, y, sample_weight=weight)
    alone = NeuralRanker(**SMALL).fit(X[:150], y[:150], sample_weight=np.ones(150))
    assert (weighted.decision_function(X) == alone.decision_function(X)).all()


def test_a_class_of_few_rows_is_learned_without_rows_apart():
    X, y = data(60)
    y = np.arange(60) < 3
    model = NeuralRanker(**SMALL, n_iter_no_change=5).fit(X, y)
    assert model.n_epochs_.tolist() == [5, 5]


def test_unknown_categories_constant_and_empty_columns_are_taken():
    X, y = data(200)
    X = np.column_stack((X, np.ones(200), np.full(200, np.nan)))
    model = NeuralRanker(**SMALL, categorical_features=[3, 5]).fit(X, y)
    strange = X.copy()
    strange[:, 3], strange[:, 4:] = 99.0, 1e300
    gap = X.copy()
    gap[:, 3], gap[:, 4:] = np.nan, 1.0
    assert np.isfinite(model.decision_function(strange)).all()
    assert (model.decision_function(strange) == model.decision_function(gap)).all()


def test_a_saved_model_scores_alike(tmp_path):
    X, y = data(200)
    model = NeuralRanker(**SMALL, categorical_features=[3]).fit(
        X, np.where(y, "b", "a")
    )
    aucmax.save(model, tmp_path / "model.aucmax")
    again = aucmax.load(tmp_path / "model.aucmax")
    assert (again.decision_function(X) == model.decision_function(X)).all()
    assert (again.predict(X) == model.predict(X)).all()
    aucmax.save(NeuralRanker(), tmp_path / "unfitted.aucmax")


@pytest.mark.parametrize(
    "forge",
    [
        lambda model: model.set_params(hidden_sizes=(10**12,)),
        lambda model: model.set_params(hidden_sizes="many"),
        lambda model: model.set_params(categorical_features=[9]),
        lambda model: model.parameters_.pop("curves"),
        lambda model: model.parameters_.update(curves=np.ones((2, 1), np.float32)),
        lambda model: model.parameters_.update(curves=np.ones((2, 3, 9, 3))),
        lambda model: setattr(model, "parameters_", {"curves": "large"}),
        lambda model: setattr(model, "knots_", model.knots_[:, :3]),
        lambda model: setattr(model, "knots_", model.knots_[:, ::-1]),
        lambda model: setattr(model, "n_epochs_", np.arange(3)),
        lambda model: setattr(model, "category_values_", [np.array([1.0, 0.0])]),
        lambda model: setattr(model, "category_values_", [np.arange(1e3)]),
        lambda model: setattr(model, "category_values_", 3),
    ],
)
def test_a_file_that_no_fit_has_left_is_refused(forge):
    X, y = data(60)
    model = NeuralRanker(**SMALL, categorical_features=[3]).fit(X, y)
    assert _unpack(_pack(model, "NeuralRanker")).n_features_in_ == 4
    forge(model)
    with pytest.raises((ModelFileError, ValueError)):
        _pack(model, "NeuralRanker")  # which reads what it has written


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_networks": 0}, "n_networks"),
        ({"hidden_sizes": (0,)}, "hidden_sizes"),
        ({"learning_rate": 0.0}, "learning_rate must be positive"),
        ({"dropout": 1.0}, "dropout"),
        ({"validation_fraction": 0.0}, "validation_fraction"),
        ({"weight_decay": -1.0}, "weight_decay must be at least 0, got -1.0"),
        ({"fpr_range": (0.5, 0.2)}, "fpr_range must satisfy"),
        ({"categorical_features": [0, 4]}, "different columns from 0 to 3"),
        ({"categorical_features": [1, 1]}, "different columns from 0 to 3"),
    ],
)
def test_bad_parameters_are_refused_and_nothing_is_changed(parameters, message):
    X, y = data(60)
    model = NeuralRanker(**{**SMALL, **parameters})
    before = dict(vars(model))
    with pytest.raises(ValueError, match=message):
        model.fit(X, y)
    assert vars(model) == before


def test_bad_rows_are_refused_by_name():
    X, y = data(60)
    with pytest.raises(TypeError, match="dense rows, got a sparse matrix"):
        NeuralRanker().fit(sparse.csr_array(X), y)
    with pytest.raises(NotEnoughClassesError):
        NeuralRanker().fit(X, np.zeros(60))
    X[7, 2] = np.inf
    with pytest.raises(ValueError, match="infinity in row 7, column 2"):
        NeuralRanker().fit(X, y)


def test_auto_ranker_takes_it_as_a_model(tmp_path):
    X, y = data(200)
    model = AutoRanker(
        models=["logistic regression", NeuralRanker(**SMALL)], folds=2, time_limit=None
    ).fit(X, y)
    assert "NeuralRanker" in model.leaderboard()["model"].to_list()
    aucmax.save(model, tmp_path / "auto.aucmax")
    again = aucmax.load(tmp_path / "auto.aucmax")
    assert (again.decision_function(X) == model.decision_function(X)).all()


def test_a_copy_is_as_good(tmp_path):
    X, y = data(100)
    model = NeuralRanker(**SMALL).fit(X, y)
    copy = clone(model).fit(X, y)
    assert (copy.decision_function(X) == model.decision_function(X)).all()


def test_places_among_knots_are_those_of_the_definition():
    knots = np.array([[0.0, 0.0, 1.0, 3.0], [-1e308, -1e308, 1e308, 1e308]])
    numbers = np.array(
        [[-5.0, -1e308], [0.0, 0.0], [0.5, 1e308], [2.0, 1.7e308], [9.0, np.nan]]
    )
    places = find_places(numbers, knots)
    assert places[:, 0].tolist() == [0.0, 1.0, 1.5, 2.5, 3.0]
    network = TableNetwork(knots, [], 2, (), 0.0)
    ramps = (places[:, :, None] - network.starts).clamp(0.0, 1.0)
    assert ramps[:3, 0].tolist() == [[0, 0, 0], [0, 0, 0], [0, 0.5, 0]]
    assert ramps[3, 0].tolist() == [0, 1, 0.5]
    assert ramps[:4, 1, 1].tolist() == [0.0, 0.5, 1.0, 1.0]
    assert places[4, 1] == -1.0
    # the number itself, standardized within the range of the knots; a gap is 0
    seen = torch.cat((ramps, (-places[:, :, None]).clamp(0.0, 1.0)), 2)
    lines = (seen * network.line[:, :, 0]).sum(2) + network.base[:, -1]
    for column, scale in enumerate((1.0, 1e308)):
        own = knots[column] / scale
        clipped = np.clip(numbers[:, column] / scale, own[0], own[-1])
        expected = np.nan_to_num((clipped - np.median(own)) / own.std())
        found = lines[:, column].double().numpy()
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)
