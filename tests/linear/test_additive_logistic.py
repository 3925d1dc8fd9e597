import numpy as np
import pytest
from scipy import sparse

from aucmax.exceptions import ModelFileError
from aucmax.linear import additive_logistic
from aucmax.linear.additive_logistic import AdditiveLogistic
from aucmax.metrics import roc_auc_score


def bent(n_rows=500, seed=0):
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(n_rows, 3))
    X[:, 2] = X[:, 2] > 0.0  # most of its quantiles are equal
    return X, np.abs(X[:, 0]) + X[:, 2] + 0.3 * generator.normal(size=n_rows) > 1.2


def test_it_ranks_by_curves():
    model = AdditiveLogistic().fit(*bent())
    X, y = bent(seed=1)
    assert roc_auc_score(y, model.decision_function(X)) > 0.95


def test_sparse_rows_have_the_scores_of_dense_ones():
    X, y = bent()
    X = np.hstack([X, np.eye(500)[:, :40]])  # columns with one value each
    dense, model = AdditiveLogistic().fit(X, y), AdditiveLogistic()
    rows = sparse.csr_array(X)
    scores = model.fit(rows, y).decision_function(rows)
    np.testing.assert_allclose(scores, dense.decision_function(X), atol=1e-6)


def test_the_score_is_a_sum_of_one_curve_per_column(monkeypatch):
    X, y = bent()
    model = AdditiveLogistic(n_ramps=4).fit(X, y)
    monkeypatch.setattr(additive_logistic, "_ROWS_AT_A_TIME", 7)
    expected = np.zeros(500)
    for column, knots, weights in zip(X.T, model.knots_, model.weights_, strict=True):
        expected += weights[0] * column
        for low, high, weight in zip(knots, knots[1:], weights[1:], strict=False):
            if high > low:
                expected += weight * np.interp(column, [low, high], [0.0, 1.0])
    np.testing.assert_allclose(model.decision_function(X), expected)


def test_beyond_the_known_values_the_order_is_kept():
    X, y = bent()
    model = AdditiveLogistic().fit(X[:, :1] ** 2, y)
    scores = model.decision_function(np.array([[50.0], [60.0]]))
    assert scores[0] < scores[1]


def test_a_state_that_does_not_fit_together_is_rejected():
    model = AdditiveLogistic().fit(*bent())
    model.weights_ = model.weights_[:, 1:]
    with pytest.raises(ModelFileError, match="differ in number"):
        model._check_state()
