import numpy as np
import pytest
from scipy import sparse

from aucmax import LinearRankerCV
from aucmax.solvers.wide import RowSpace


def wide(n_rows=40, n_columns=300, seed=0):
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(n_rows, n_columns))
    X[:, :5] *= 30.0
    return X, X[:, 0] + 20.0 * generator.normal(size=n_rows) > 0.0


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_products_and_lengths_stay_as_they_were(make):
    X = wide()[0]
    X[3] = X[7]  # fewer directions than rows
    X[np.abs(X) < 0.5] = 0.0
    space = RowSpace.of(make(X))
    assert space.X.shape == (40, 39)
    weights = np.random.default_rng(1).normal(size=39)
    back = space.weights_of(weights)
    np.testing.assert_allclose(X @ back, space.X @ weights, atol=1e-9)
    assert np.linalg.norm(back) == pytest.approx(np.linalg.norm(weights))


@pytest.mark.parametrize(
    "X",
    [
        np.ones((20, 20)),
        np.zeros((5, 20)),
        np.full((5, 20), 1e200),
        sparse.eye_array(30, 200, format="csr"),  # as many numbers as rows
    ],
)
def test_data_that_would_not_get_smaller_stay_as_they_are(X):
    space = RowSpace.of(X)
    assert space.X is X
    assert space.weights_of(np.arange(3.0)).tolist() == [0, 1, 2]


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_a_wide_fit_is_the_same_in_either_basis(make, monkeypatch):
    X, y = wide()
    model = LinearRankerCV(fpr_range=(0, 0.5), C_values=(1.0,), cv=2)
    ours = model.fit(make(X), y).coef_
    params = model.best_params_
    monkeypatch.setattr("aucmax.solvers.wide._MAX_ROWS", 0)
    theirs = model.fit(make(X), y).coef_
    assert model.best_params_ == params
    np.testing.assert_allclose(ours, theirs, atol=0.01 * np.abs(theirs).max())
