import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aucmax.solvers.inner.priced_quadratic import minimize_at_norm, minimize_at_price

pytestmark = pytest.mark.kernel


def quadratic(seed, n=12, rank=None):
    """Return a curvature, which a ridge makes definite, and a slope."""
    generator = np.random.default_rng(seed)
    roots = generator.normal(size=(n if rank is None else rank, n))
    slope = roots.T @ generator.normal(size=roots.shape[0])
    return roots.T @ roots + 0.01 * np.eye(n), slope


@pytest.mark.parametrize("rank", [None, 5])
@given(seed=st.integers(0, 200), price=st.sampled_from([1e-3, 0.3, 2.0, 50.0]))
def test_slopes_are_what_the_price_asks_for(rank, seed, price):
    H, c = quadratic(seed, rank=rank)
    start = np.random.default_rng(seed).normal(size=c.size)
    x = minimize_at_price(H, c, start, price, tol=1e-6)
    slope = H @ x + c
    used = x != 0.0
    slack = 2e-6 * price + 1e-9 * np.abs(c).max()
    np.testing.assert_allclose(slope[used], -price * np.sign(x[used]), atol=slack)
    assert (np.abs(slope[~used]) <= price + slack).all()


def test_a_high_price_leaves_nothing():
    H, c = quadratic(0)
    x = minimize_at_price(H, c, np.ones(c.size), 1e3, tol=1e-6)
    assert not x.any()


def test_equal_columns_need_no_more_steps():
    H, c = quadratic(0, n=6)
    H, c = np.kron(np.ones((2, 2)), H) + 1e-6 * np.eye(12), np.tile(c, 2)
    x = minimize_at_price(H, c, np.zeros(12), 0.5, tol=1e-6)
    slope = H @ x + c
    assert (np.abs(slope) <= 0.5 * (1.0 + 1e-5)).all()


@given(seed=st.integers(0, 200), first=st.sampled_from([0.1, 1.0, 10.0]))
def test_a_norm_is_met_by_a_price(seed, first):
    H, c = quadratic(seed)
    free = np.abs(np.linalg.solve(H, c)).sum()
    found = minimize_at_norm(H, c, np.zeros(c.size), 0.3 * free, first, tol=1e-6)
    norm = np.abs(found).sum()
    # a few prices are tried, and the caller scales what is found
    assert 0.0 < norm <= 1.2 * free
    price = np.abs(H @ found + c).max()
    again = minimize_at_price(H, c, np.zeros(c.size), price, tol=1e-6)
    np.testing.assert_allclose(again, found, atol=1e-4 * norm)
