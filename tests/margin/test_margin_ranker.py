"""The fitted model, whatever the form of the data."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer

from aucmax import MarginRanker
from aucmax.exceptions import MarginWarning
from aucmax.metrics import roc_auc_score
from margin import samples

pytestmark = pytest.mark.filterwarnings("ignore::aucmax.exceptions.MarginWarning")
KINDS = ("features", "signed", "stumps")
# two fits of one problem agree within twice the tolerance; rounds of stumps are dear
TOLERANCES = {"features": 1e-4, "signed": 1e-4, "stumps": 1e-3}
FORMULATIONS = ("pairs", "hard", "instances", "adaptive", "global")
EVERY_MODEL = [
    pytest.param(MarginRanker(kind, formulation, 0.3), id=f"{formulation}-{kind}")
    for formulation in FORMULATIONS
    for kind in KINDS
]
for_every_model = pytest.mark.parametrize("model", EVERY_MODEL)


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return X[::2], y[::2], X[1::2], y[1::2]


def combination(model, X):
    """The weighted hypotheses, one by one."""
    x = X[:, model.columns_]
    if model.hypotheses == "stumps":
        H = np.where(x > model.thresholds_, 1.0, -1.0)
    else:
        low, high = model.low_[model.columns_], model.high_[model.columns_]
        H = 2.0 * (x - low) / (high - low) - 1.0
    return H @ (model.weights_ * model.directions_)


@pytest.mark.slow
@for_every_model
def test_attributes_are_those_documented(model):
    X, labels = samples.continuous(0, n_rows=40)
    model = clone(model).fit(X, labels)
    scores = combination(model, X)
    np.testing.assert_allclose(
        model.decision_function(X), scores - model.threshold_, atol=1e-12
    )
    np.testing.assert_array_equal(
        model.predict(X) == model.classes_[1], model.decision_function(X) > 0.0
    )
    assert (model.weights_ > 0.0).all()
    assert model.weights_.sum() <= 1.0 + 1e-9
    if model.hypotheses == "features":
        assert model.weights_.sum() == pytest.approx(1.0)
        assert (model.directions_ == 1.0).all()
    assert 0.0 <= model.dual_gap_ <= 1e-3 * max(abs(model.objective_), 0.05)
    assert model.n_iter_ >= 1
    assert model.n_passes_ >= 1.0
    assert hasattr(model, "history_") == (model.formulation in ("adaptive", "global"))
    assert hasattr(model, "curve_") == (model.formulation == "global")
    assert hasattr(model, "coef_") == (model.hypotheses != "stumps")
    if model.formulation in ("adaptive", "global"):
        steps = model.history_["nu_pos"], model.history_["margin"]
        assert steps[0].shape == steps[1].shape == (steps[0].size,)
    if model.hypotheses != "stumps":
        linear = X @ model.coef_[0] + model.intercept_[0]
        np.testing.assert_allclose(model.decision_function(X), linear, atol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_points_of_the_scorecard_are_the_combination(kind):
    X, labels = samples.continuous(0, n_rows=60)
    names = ["age", "pressure", "sugar", "pulse"]
    frame = pd.DataFrame(X, columns=names)
    model = MarginRanker(kind, "pairs", 0.3).fit(frame, labels)
    card = model.scorecard(decimals=None)
    combined = model.decision_function(frame) + model.threshold_
    np.testing.assert_allclose(card.score(card.points_for(X)), combined, atol=1e-9)
    assert card.scale == pytest.approx(model.weights_.sum())
    assert {row.feature for row in card.rows} <= set(names)
    assert len(card.rows) == model.weights_.size
    assert sum(row.points for row in model.scorecard(total=50).rows) == pytest.approx(
        50
    )
    plain = MarginRanker(kind, "pairs", 0.3).fit(X, labels).scorecard()
    assert {row.feature for row in plain.rows} <= {"x0", "x1", "x2", "x3"}


@pytest.mark.parametrize("kind", KINDS)
def test_float32_and_memory_maps_are_used_as_they_are(kind, tmp_path):
    X, labels = samples.continuous(0, n_rows=80)
    narrow = X.astype(np.float32)
    np.save(tmp_path / "X.npy", narrow)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    model = MarginRanker(kind, "pairs", 0.3)
    wide = clone(model).fit(narrow.astype(float), labels)
    for data in (narrow, mapped):
        fitted = clone(model).fit(data, labels)
        assert fitted.objective_ == pytest.approx(wide.objective_, rel=2e-3)
        assert fitted.weights_.dtype == np.float64
        scores = fitted.decision_function(data)
        np.testing.assert_allclose(
            scores, fitted.decision_function(data.astype(float)), atol=1e-5
        )


def test_names_of_frames_are_kept_and_asked_for():
    X, labels = samples.continuous(0)
    names = list("abcd")
    for frame in (pd.DataFrame(X, columns=names), pl.DataFrame(X, schema=names)):
        model = MarginRanker(epsilon=0.5).fit(frame, labels)
        assert list(model.feature_names_in_) == names
        with pytest.raises(ValueError, match="feature names"):
            model.decision_function(frame[names[::-1]])


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("kind", KINDS)
def test_weight_is_repetition(formulation, kind):
    make = samples.continuous if kind == "stumps" else samples.binary
    X, labels = make(1, n_rows=16, n_columns=3)
    repeats = samples.integer_weights(0, labels, low=0)
    model = MarginRanker(kind, formulation, 0.3, tol=TOLERANCES[kind])
    weighted = clone(model).fit(X, labels, sample_weight=repeats)
    repeated = clone(model).fit(np.repeat(X, repeats, axis=0), labels.repeat(repeats))
    expected = pytest.approx(repeated.objective_, rel=2.0 * model.tol, abs=1e-7)
    assert weighted.objective_ == expected
    certificate, other = weighted.certificate_, repeated.certificate_
    assert certificate.n_pairs == pytest.approx(other.n_pairs)
    assert certificate.pairs_guaranteed == pytest.approx(other.pairs_guaranteed, abs=1)
    # shares of the pairs do not depend on the unit of weight
    halved = clone(model).fit(X, labels, sample_weight=0.5 * repeats)
    assert halved.objective_ == expected


@pytest.mark.parametrize("kind", KINDS)
def test_rows_of_weight_zero_might_as_well_be_absent(kind):
    X, labels = samples.continuous(2, n_rows=40)
    weight = np.where(np.arange(40) % 5 == 4, 0.0, 1.0)
    X[4] = 1e3  # no range and no threshold comes from here
    present = MarginRanker(kind, epsilon=0.3)
    present.fit(X, labels, sample_weight=weight)
    absent = MarginRanker(kind, epsilon=0.3)
    absent.fit(X[weight > 0], labels[weight > 0])
    np.testing.assert_allclose(
        present.decision_function(X), absent.decision_function(X), atol=1e-9
    )


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("kind", ["signed", "stumps"])
def test_a_path_equals_single_fits(formulation, kind):
    X, labels = samples.continuous(3, n_rows=40 if kind == "signed" else 24)
    epsilons = [0.2, 0.6, 0.05] if kind == "signed" else [0.3, 0.4]
    model = MarginRanker(kind, formulation, tol=TOLERANCES[kind])
    path = model.fit_path(X, labels, epsilons)
    assert [one.epsilon for one in path] == epsilons
    assert not hasattr(model, "n_features_in_")
    single = [clone(one).fit(X, labels) for one in path]
    for one, other in zip(path, single, strict=True):
        # two local minima of the heuristic need not be the same
        rel = 0.02 if formulation == "adaptive" else 2.0 * model.tol
        assert one.objective_ == pytest.approx(other.objective_, rel=rel, abs=1e-6)
        assert one.decision_function(X).shape == labels.shape
        assert one.n_features_in_ == 4


def test_predict_has_the_best_balanced_accuracy_of_all_thresholds():
    X, labels = samples.continuous(0, n_rows=60)
    model = MarginRanker("signed", "pairs", 0.3).fit(X, labels)
    scores = model.decision_function(X)

    def balanced(predicted):
        return predicted[labels].mean() - predicted[~labels].mean()

    best = max(balanced(scores > threshold) for threshold in scores)
    assert balanced(model.predict(X)) == pytest.approx(best)


def test_stumps_rank_real_data_better_than_features(cancer):
    X, y, X_new, y_new = cancer
    areas = {}
    for kind in ("signed", "stumps"):
        model = MarginRanker(kind, epsilon=0.1).fit(X, y)
        areas[kind] = roc_auc_score(y_new, model.decision_function(X_new))
    assert areas["stumps"] > 0.98
    assert areas["signed"] > 0.97


def test_weights_that_the_tolerance_does_not_need_are_dropped():
    rng = np.random.default_rng(0)
    X = rng.choice([-1.0, 1.0], (400, 60))
    labels = X[:, :5].sum(axis=1) + rng.normal(size=400) > 0
    model = MarginRanker(formulation="pairs", epsilon=0.3).fit(X, labels)
    exact = MarginRanker(formulation="pairs", epsilon=0.3, tol=1e-8).fit(X, labels)
    assert model.objective_ == pytest.approx(exact.objective_, rel=1e-3)
    assert model.weights_.size <= 1.5 * (exact.weights_ > 1e-3).sum()
    assert model.weights_.min() > 1e-5


def test_many_binary_sparse_columns():
    rng = np.random.default_rng(0)
    n_rows, n_columns = 1500, 30_000
    columns = rng.zipf(1.3, 60 * n_rows) % n_columns
    rows = np.repeat(np.arange(n_rows), 60)
    words = sparse.csr_array((np.ones(rows.size), (rows, columns)), (n_rows, n_columns))
    words.data[:] = 1.0
    meaning = np.zeros(n_columns)
    meaning[:100] = rng.normal(size=100)
    scores = words @ meaning + 0.5 * rng.normal(size=n_rows)
    labels = scores > np.quantile(scores, 0.7)
    with warnings.catch_warnings():
        warnings.simplefilter("error", MarginWarning)
        for kind in ("signed", "stumps"):
            model = MarginRanker(kind, "pairs", 0.3, tol=1e-2).fit(words, labels)
            assert model.dual_gap_ <= 1e-2 * model.objective_
            assert roc_auc_score(labels, model.decision_function(words)) > 0.9
            assert model.weights_.size < 500


@pytest.mark.parametrize("kind", ["features", "signed"])
def test_no_copy_of_the_data_is_made(kind):
    tracemalloc = pytest.importorskip("tracemalloc")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(8_000, 60))
    labels = X[:, 0] + rng.normal(size=8_000) > 1.5
    model = MarginRanker(kind, "pairs", 0.3, tol=0.02)
    clone(model).fit(X[:500], labels[:500])
    tracemalloc.start()
    model.fit(X, labels)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.25 * X.nbytes + 100 * labels.size


def test_few_of_many_stumps_are_used_where_few_columns_matter():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 6))
    labels = (X[:, 0] + 0.5 * X[:, 1] > 0.0) ^ (rng.random(2000) < 0.02)
    # a step of no length once brought all its columns into use
    model = MarginRanker("stumps", epsilon=0.2, max_iter=100).fit(X, labels)
    assert model.dual_gap_ <= 1e-3 * model.objective_
    assert model.weights_.size < 200
