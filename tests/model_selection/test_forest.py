"""Forests: equal to scikit-learn's to the last bit, small, and safe to load."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier

import aucmax
from aucmax.model_selection.forest import Forest

KINDS = {
    "random": ({"thresholds": "random"}, ExtraTreesClassifier(n_estimators=30)),
    "all columns": (
        {"criterion": "entropy", "max_features": None, "min_samples_leaf": 2},
        ExtraTreesClassifier(30, criterion="entropy", max_features=None).set_params(
            min_samples_leaf=2
        ),
    ),
    "best": (
        {"thresholds": "best", "criterion": "entropy"},
        RandomForestClassifier(30, criterion="entropy"),
    ),
}


def ragged(n=300, seed=0):
    """Rows with ties, missing values, huge and tiny numbers, and weights."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6))
    X[:, 1] = X[:, 1].round()
    X[:, 2] *= 1e37
    X[:, 3] *= 1e-40
    X[rng.random(n) < 0.2, 4] = np.nan
    X[:, 5] = np.float32(0.1) + rng.integers(-3, 3, n) * 2.0**-27
    y = X[:, 0] + (X[:, 1] > 0) + np.isnan(X[:, 4]) + rng.normal(size=n) > 0.7
    return X, y, rng.integers(1, 4, n).astype(float)


@pytest.mark.parametrize("kind", KINDS)
def test_probabilities_equal_those_of_scikit_learn(kind):
    parameters, other = KINDS[kind]
    X, y, weight = ragged()
    new, *_ = ragged(n=200, seed=9)
    model = Forest(30, **parameters).fit(X, y, weight)
    with np.errstate(all="ignore"):  # it sums the columns
        other.set_params(random_state=0).fit(X, y, weight)
    for rows in (X, new):
        expected = other.predict_proba(rows)[:, 1]
        np.testing.assert_array_equal(model.predict_proba(rows)[:, 1], expected)
        np.testing.assert_array_equal(model.decision_function(rows), expected - 0.5)


def test_sparse_rows_with_indices_of_any_width_equal_those_of_scikit_learn():
    X = sparse.random(200, 40, 0.1, format="csr", random_state=0)
    y = X.toarray()[:, :5].sum(axis=1) > 0.2
    places = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    wide = sparse.csr_array((X.data, *places), shape=X.shape)
    parameters, other = KINDS["random"]
    expected = other.set_params(random_state=0).fit(X, y).predict_proba(X)[:, 1]
    for training_rows in (sparse.csr_array(X), wide):
        model = Forest(30, **parameters).fit(training_rows, y)
        for rows in (X, wide, X.toarray()):
            np.testing.assert_array_equal(model.predict_proba(rows)[:, 1], expected)


def test_values_beyond_single_precision_count_as_its_ends():
    X, y, _ = ragged()
    model = Forest(20).fit(X, y)
    far = np.where(np.isfinite(X), np.sign(X) * 1e300, X)
    ends = np.where(np.isfinite(X), np.sign(X) * np.finfo(np.float32).max, X)
    scores = model.decision_function(far)
    np.testing.assert_array_equal(scores, model.decision_function(ends))


def test_splits_and_rows_per_tree_are_limited():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(2000, 4)), rng.random(2000) < 0.5
    model = Forest(20, max_splits=1000, max_rows=500).fit(X, y)
    assert 800 < model.features_.size <= 1000
    free = Forest(20, max_rows=500).fit(X, y)
    assert 20 * 100 < free.features_.size < 20 * 500


def test_a_callback_can_end_a_fit():
    seen = []

    def stop(n_trees):
        seen.append(n_trees)
        if n_trees == 40:
            raise TimeoutError

    X, y, _ = ragged(60)
    with pytest.raises(TimeoutError):
        Forest(100, callback=stop).fit(X, y)
    assert seen == [20, 40]


def test_rows_of_another_width_and_wrong_parameters_are_rejected():
    X, y, _ = ragged(60)
    with pytest.raises(ValueError, match="X has 5 columns, the model was trained on 6"):
        Forest(5).fit(X, y).decision_function(X[:, :5])
    with pytest.raises(ValueError, match="thresholds"):
        Forest(5, thresholds="worst").fit(X, y)
    with pytest.raises(ValueError, match="n_estimators"):
        Forest(0).fit(X, y)


DAMAGE = {
    "a cycle": lambda m: m.children_.__setitem__((5, 0), 5),
    "no such split": lambda m: m.children_.__setitem__((0, 1), m.features_.size),
    "no such leaf": lambda m: m.children_.__setitem__((0, 1), -1 - m.shares_.size),
    "no such column": lambda m: m.features_.__setitem__(3, 6),
    "no trees": lambda m: setattr(m, "roots_", m.roots_[:0]),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_forest_is_rejected(damage, tmp_path):
    X, y, _ = ragged(100)
    model = Forest(5).fit(X, y)
    DAMAGE[damage](model)
    # what is written is loaded first
    with pytest.raises(ValueError, match="could not be loaded"):
        aucmax.save(model, tmp_path / "forest.aucmax")
