import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aucmax.solvers.l1_quadratic import minimize_l1_quadratic

pytestmark = pytest.mark.kernel


def quadratic(seed, n=12, rank=None):
    """Return a curvature, which a ridge makes definite, and a gradient."""
    generator = np.random.default_rng(seed)
    roots = generator.normal(size=(n if rank is None else rank, n))
    gradient = roots.T @ generator.normal(size=roots.shape[0])
    return roots.T @ roots + 0.01 * np.eye(n), gradient


@pytest.mark.parametrize("rank", [None, 5])
@given(seed=st.integers(0, 200), penalty=st.sampled_from([1e-3, 0.3, 2.0, 50.0]))
def test_gradients_are_what_the_penalty_asks_for(rank, seed, penalty):
    H, c = quadratic(seed, rank=rank)
    x = np.random.default_rng(seed).normal(size=c.size)
    for _ in range(10):  # the rounds of one call are limited
        x = minimize_l1_quadratic(H, c, x, penalty, tol=1e-6 * penalty)
    gradient = H @ x + c
    used = x != 0.0
    slack = 2e-6 * penalty + 1e-9 * np.abs(c).max()
    np.testing.assert_allclose(gradient[used], -penalty * np.sign(x[used]), atol=slack)
    assert (np.abs(gradient[~used]) <= penalty + slack).all()


@given(seed=st.integers(0, 200), penalty=st.sampled_from([-2.0, 0.0, 0.3, 2.0]))
def test_nonnegative_weights_may_have_a_negative_penalty(seed, penalty):
    H, c = quadratic(seed)
    start = np.random.default_rng(seed).uniform(size=c.size)
    x = minimize_l1_quadratic(H, c, start, penalty, tol=1e-6, is_nonnegative=True)
    gradient = H @ x + c + penalty
    assert x.min() >= 0.0
    np.testing.assert_allclose(gradient[x > 0.0], 0.0, atol=1e-5)
    assert gradient.min() >= -1e-5


@pytest.mark.parametrize("is_nonnegative", [False, True])
@given(seed=st.integers(0, 200), first=st.sampled_from([0.1, 1.0, 10.0]))
def test_a_norm_is_reached_by_a_penalty(is_nonnegative, seed, first):
    H, c = quadratic(seed)
    options = {"tol": 1e-6, "is_nonnegative": is_nonnegative}
    zero = np.zeros(c.size)
    free = np.abs(minimize_l1_quadratic(H, c, zero, 1e-9, **options)).sum()
    x = minimize_l1_quadratic(H, c, zero, first, norm=0.3 * free, **options)
    norm = np.abs(x).sum()
    # a few penalties are tried, and the caller scales the result
    assert norm <= 1.2 * free
    if norm > 0.0:
        gradient = H @ x + c
        penalty = float(-gradient @ x / norm)
        again = minimize_l1_quadratic(H, c, zero, penalty, **options)
        np.testing.assert_allclose(again, x, atol=1e-3 * norm)
