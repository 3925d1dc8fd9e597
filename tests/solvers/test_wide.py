"""The span of the rows of wide data gives what the data themselves give."""

import numpy as np
import pytest
from scipy import sparse

from aucmax import AUCSVC
from aucmax.risks import PairHinge
from aucmax.solvers.wide import _basis_of_span, suits_row_space


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_products_and_lengths_are_kept_in_the_span(make):
    X = np.random.default_rng(0).normal(size=(40, 300))
    X[3] = X[7]  # fewer directions than rows
    X[np.abs(X) < 0.5] = 0.0
    rows, mixture = _basis_of_span(make(X))
    assert rows.shape == (40, 39)
    weights = np.random.default_rng(1).normal(size=39)
    back = X.T @ (mixture @ weights)
    np.testing.assert_allclose(X @ back, rows @ weights, atol=1e-9)
    assert np.linalg.norm(back) == pytest.approx(np.linalg.norm(weights))


@pytest.mark.parametrize("X", [np.zeros((5, 20)), np.full((5, 20), 1e200)])
def test_rows_without_a_basis_are_left_to_the_solver_on_the_data(X):
    assert _basis_of_span(X) is None


def test_only_data_that_get_smaller_suit_the_span():
    assert suits_row_space(np.ones((20, 40)))
    assert not suits_row_space(np.ones((20, 20)))
    # as many numbers as rows
    assert not suits_row_space(sparse.eye_array(30, 200, format="csr"))


def bits(n_rows=100, n_columns=1200, seed=0):
    """Draw zeros and ones where a few columns separate the classes."""
    generator = np.random.default_rng(seed)
    X = (generator.random((n_rows, n_columns)) < 0.15).astype(float)
    return X, X[:, :20].sum(axis=1) + 0.5 * generator.normal(size=n_rows) > 4.0


@pytest.mark.parametrize("make", [np.asarray, np.float32, sparse.csr_array])
@pytest.mark.parametrize("C", [1.0, 100.0])
def test_fits_agree_and_the_certificate_holds_on_the_data(make, C):
    X, y = bits()
    ours = AUCSVC(C).fit(make(X), y)
    theirs = AUCSVC(C, solver="bundle", tol=1e-3).fit(make(X), y)
    w = ours.coef_[0]
    value = 0.5 * w @ w + C * PairHinge().bind(y).value(X @ w)
    rel = 1e-5 if make is np.float32 else 1e-9
    assert ours.objective_ == pytest.approx(value, rel=rel)
    assert ours.dual_gap_ <= 1e-3 * ours.objective_
    assert ours.objective_ - ours.dual_gap_ <= theirs.objective_ * (1.0 + rel)
    assert theirs.objective_ - theirs.dual_gap_ <= ours.objective_ * (1.0 + rel)


def test_a_path_and_a_warm_start_give_what_single_fits_give():
    X, y = bits()
    path = AUCSVC().fit_path(X, y, [0.1, 10.0, 1000.0])
    for model in path:
        alone = AUCSVC(model.C).fit(X, y)
        assert model.objective_ <= alone.objective_ * (1.0 + 1e-3)
        assert alone.objective_ <= model.objective_ * (1.0 + 1e-3)
    model = path[1].set_params(warm_start=True, C=1000.0).fit(X, y)
    assert model.objective_ == pytest.approx(path[2].objective_, rel=1e-3)


def test_queries_and_weights_give_the_optimum_of_the_data():
    X, y = bits()
    weight = np.random.default_rng(1).uniform(0.5, 2.0, y.size)
    for options in ({"qid": np.arange(y.size) % 5}, {"sample_weight": weight}):
        ours = AUCSVC(1000.0).fit(X, y, **options)
        theirs = AUCSVC(1000.0, solver="bundle").fit(X, y, **options)
        assert ours.dual_gap_ <= 1e-3 * ours.objective_
        assert ours.objective_ == pytest.approx(theirs.objective_, rel=1e-3)


def test_iterations_time_and_callbacks_are_those_of_the_whole_fit():
    X, y = bits()
    seen = []
    model = AUCSVC(1000.0, callback=seen.append).fit(X, y)
    assert [progress.n_iter for progress in seen] == list(range(1, model.n_iter_ + 1))
    seconds = [progress.seconds for progress in seen]
    assert seconds == sorted(seconds)
    with pytest.warns(UserWarning, match="30 iterations"):
        short = AUCSVC(1000.0, max_iter=30, tol=1e-6).fit(X, y)
    assert short.n_iter_ == 30
    assert short.dual_gap_ > 0.0
