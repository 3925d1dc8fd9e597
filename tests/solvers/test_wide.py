"""Wide data: the span of the rows against the data unchanged."""

import numpy as np
import pytest
from scipy import sparse

from aucmax import AUCSVC, LinearRankerCV
from aucmax.risks import PairHinge
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


def bits(n_rows=100, n_columns=1200, seed=0):
    """Draw zeros and ones of which a few columns tell the classes apart."""
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


def test_hard_problems_leave_the_data_alone_after_a_few_passes():
    X, y = bits()
    ours = AUCSVC(1000.0, tol=1e-5).fit(X, y)
    theirs = AUCSVC(1000.0, tol=1e-5, solver="bundle").fit(X, y)
    assert ours.n_passes_ < 20
    assert theirs.n_passes_ > 2 * ours.n_passes_
    assert ours.history_["n_passes"][-1] == ours.n_passes_
    assert ours.n_iter_ > ours.n_passes_


def test_a_path_and_a_warm_start_give_what_single_fits_give():
    X, y = bits()
    path = AUCSVC().fit_path(X, y, [0.1, 10.0, 1000.0])
    for model in path:
        alone = AUCSVC(model.C).fit(X, y)
        assert model.objective_ <= alone.objective_ * (1.0 + 1e-3)
        assert alone.objective_ <= model.objective_ * (1.0 + 1e-3)
    model = path[1].set_params(warm_start=True, C=1000.0).fit(X, y)
    assert model.objective_ == pytest.approx(path[2].objective_, rel=1e-3)


def test_queries_and_weights_work_there_as_well():
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
