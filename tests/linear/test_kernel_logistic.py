import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics.pairwise import rbf_kernel

import aucmax
from aucmax.linear import kernel_logistic
from aucmax.linear.kernel_logistic import KernelLogistic
from aucmax.metrics import roc_auc_score


def rings(n_rows=300, seed=0):
    X = np.random.default_rng(seed).normal(size=(n_rows, 2))
    return X, (X**2).sum(axis=1) > 1.4


def test_it_ranks_what_no_line_can():
    model = KernelLogistic().fit(*rings())
    X, y = rings(seed=1)
    assert roc_auc_score(y, model.decision_function(X)) > 0.98


def test_the_score_is_a_sum_over_the_landmarks(monkeypatch):
    X, y = rings()
    model = KernelLogistic(n_landmarks=20).fit(X, y)
    kernel = rbf_kernel(X, model.landmarks_, gamma=model.gamma_)
    monkeypatch.setattr(kernel_logistic, "_ROWS_AT_A_TIME", 7)
    np.testing.assert_allclose(model.decision_function(X), kernel @ model.weights_)
    assert model.gamma_ == pytest.approx(0.7 / X.var(axis=0).sum())


def test_sparse_rows_give_the_same_model():
    X, y = rings()
    dense, same = KernelLogistic(), KernelLogistic()
    scores = dense.fit(X, y).decision_function(X)
    again = same.fit(sparse.csr_array(X), y).decision_function(sparse.csr_array(X))
    np.testing.assert_allclose(again, scores, atol=1e-6)


def test_weights_count():
    X, y = rings()
    weight = np.where(X[:, 0] > 0, 1.0, 1e-9)
    model = KernelLogistic().fit(X, y ^ (X[:, 0] < 0), weight)
    # rows without weight have turned labels, which are not learned
    right = X[:, 0] > 0
    assert roc_auc_score(y[right], model.decision_function(X[right])) > 0.95


def test_a_state_that_does_not_fit_together_is_rejected(tmp_path):
    model = KernelLogistic().fit(*rings())
    model.weights_ = model.weights_[1:]
    with pytest.raises(ValueError, match="landmarks_ is not of shape"):
        aucmax.save(model, tmp_path / "model.aucmax")
