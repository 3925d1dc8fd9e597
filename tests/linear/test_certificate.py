"""What AUCSVC claims to be a lower bound is one."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from aucmax import AUCSVC

TOLERANCES = [1e-9, 1e-7, 1e-5, 1e-3]


def objective(X, y, weights, C):
    """Evaluate in long double, over explicit pairs."""
    weights = weights.ravel().astype(np.longdouble)
    scores = X.astype(np.longdouble) @ weights
    hinges = 1 - (scores[y][:, None] - scores[~y])
    return weights @ weights / 2 + C * np.maximum(hinges, 0).mean()


def by_pairs(X, y, C):
    """Solve with liblinear, one row per pair."""
    pairs = (X[y][:, None] - X[~y]).reshape(-1, X.shape[1])
    sides = np.where(np.arange(len(pairs)) % 2, 1, -1)
    solver = LinearSVC(
        C=C / len(pairs), loss="hinge", fit_intercept=False, tol=1e-12, max_iter=3000
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return solver.fit(pairs * sides[:, None], sides).coef_


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(24))
def test_no_claimed_bound_lies_above_an_attained_value(seed):
    rng = np.random.default_rng(seed)
    n_rows, n_columns = rng.integers(16, 31), rng.integers(80, 200)
    X, y = rng.normal(size=(n_rows, n_columns)), np.arange(n_rows) < n_rows // 2
    C = [0.1, 1.0, 10.0][seed % 3]
    attained = [objective(X, y, by_pairs(X, y, C), C)]
    bounds = {}
    for tol in TOLERANCES:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = AUCSVC(C, tol=tol).fit(X, y)
        attained.append(objective(X, y, model.coef_, C))
        bounds[tol] = np.longdouble(model.objective_) - np.longdouble(model.dual_gap_)
    assert max(bounds.values()) <= min(attained) * (1 + 1e-9)
    assert bounds[1e-9] >= min(attained) * (1 - 2e-9)


@pytest.mark.slow
@pytest.mark.parametrize("make", [np.asarray, np.asfortranarray, sparse.csr_array])
@pytest.mark.parametrize("n_columns", [5, 120])
@pytest.mark.parametrize("C", [1.0, 1e4])
@pytest.mark.parametrize("offset", [0.0, 300.0])
def test_a_bound_from_float32_is_one_for_exactly_these_numbers(
    make, n_columns, C, offset
):
    """Also where the objective is far below C, and columns far from 0."""
    rng = np.random.default_rng(n_columns)
    y = np.arange(40) < 15
    X = rng.normal(size=(40, n_columns)) + offset
    X[:, 0] += 3.0 * y
    X = X.astype(np.float32)
    exact = X.astype(np.float64)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = AUCSVC(C, tol=1e-9).fit(make(X), y)
    attained = objective(exact, y, model.coef_, C)
    rounding = 3e-13 * C * (1.0 + offset)
    assert model.objective_ == pytest.approx(float(attained), rel=1e-12, abs=rounding)
    bound = np.longdouble(model.objective_) - np.longdouble(model.dual_gap_)
    best = min(attained, objective(exact, y, by_pairs(exact, y, C), C))
    assert bound <= best * (1 + 1e-9) + rounding
    assert bound >= attained * (1 - 1e-4)


def many_wide_columns():
    rng = np.random.default_rng(0)
    return rng.normal(size=(30, 60)), np.arange(30) < 15


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"max_iter": 3}, "Raise max_iter, scale the columns"),
        ({"max_time": 1e-9}, "Raise max_time, scale the columns"),
        (
            {"callback": lambda progress: progress.n_iter == 2},
            "The callback stopped the fit",
        ),
        ({"C": 0.1, "tol": 1e-15}, "Rounding keeps the gap from falling further"),
    ],
)
def test_a_warning_says_what_ended_the_fit(options, why):
    with pytest.warns(ConvergenceWarning, match=why):
        AUCSVC(**{"tol": 1e-9, **options}).fit(*many_wide_columns())
