import numpy as np
import pytest
from scipy.optimize import linprog

from aucmax.regularizers.l1 import L1, L1Ball
from aucmax.regularizers.regularizer import Hull, HullRegularizer
from aucmax.solvers.inner.level_step import level_step

N_CUTS = 8
FIRST = np.eye(N_CUTS)[0]


def sparse_center(size, seed, norm=0.8):
    generator = np.random.default_rng(seed)
    center = np.zeros(size)
    used = generator.choice(size, min(size, 4), replace=False)
    center[used] = generator.normal(size=used.size)
    return center * norm / np.abs(center).sum()


def cuts_through(center, seed, height=2.0, scale=1.0):
    """Draw cuts of which the last is 0 and the first is the highest at the center."""
    generator = np.random.default_rng(seed)
    gradients = 3.0 * generator.normal(size=(N_CUTS, center.size))
    offsets = height - generator.uniform(0.1, 1.0, N_CUTS) - gradients @ center
    offsets[0] = height - gradients[0] @ center
    gradients[-1], offsets[-1] = 0.0, 0.0
    return scale * gradients, scale * offsets, scale * height


def model(gradients, offsets, w, price):
    return price * np.abs(w).sum() + (offsets + gradients @ w).max()


def model_minimum(gradients, offsets, price, radius=None):
    """Minimise price plus highest cut over positive and negative parts, by HiGHS."""
    K, N = gradients.shape
    rows = np.hstack([gradients, -gradients, -np.ones((K, 1))])
    right = -offsets
    if radius is not None:
        rows = np.vstack([rows, np.append(np.ones(2 * N), 0.0)])
        right = np.append(right, radius)
    solution = linprog(
        np.append(np.full(2 * N, price), 1.0),
        A_ub=rows,
        b_ub=right,
        bounds=[(0.0, None)] * (2 * N) + [(None, None)],
        method="highs",
    )
    assert solution.success
    return solution.fun


@pytest.mark.parametrize("size", [1, 2, 9, 150, 700])
@pytest.mark.parametrize("price", [0.0, 0.3, 1.0, 50.0])
@pytest.mark.parametrize("seed", range(2))
def test_step_with_a_price_bounds_the_model_and_goes_below_the_level(size, price, seed):
    center = sparse_center(size, seed)
    gradients, offsets, height = cuts_through(center, seed)
    value = height + price * np.abs(center).sum()
    hull = Hull(1.5, is_signed=True, price=price)
    step = level_step(hull, gradients, offsets, FIRST, center, value, 0.5)
    optimum = model_minimum(gradients, offsets, price, 1.5)
    gap = value - step.lower_bound
    assert step.multipliers.min() >= 0.0
    assert step.multipliers.sum() == pytest.approx(1.0)
    assert optimum - 0.1 * gap - 1e-9 <= step.lower_bound <= optimum + 1e-9
    assert np.abs(step.parameters).sum() <= 1.5 * (1.0 + 1e-12)
    reached = model(gradients, offsets, step.parameters, price)
    assert reached <= value - 0.5 * gap + 0.1 * gap + 1e-9


@pytest.mark.parametrize("size", [6, 700])
@pytest.mark.parametrize("seed", range(3))
def test_shares_prove_the_bound(size, seed):
    center = sparse_center(size, seed)
    gradients, offsets, height = cuts_through(center, seed)
    value = height + np.abs(center).sum()
    step = level_step(L1().hull(value), gradients, offsets, FIRST, center, value, 0.5)
    slope = step.multipliers @ gradients
    # the lowest of the ball's vertices and the origin
    lowest = min(0.0, value * (1.0 - np.abs(slope).max()))
    proven = step.multipliers @ offsets + lowest
    assert step.lower_bound <= proven + 1e-9


@pytest.mark.parametrize("size", [3, 30, 700])
@pytest.mark.parametrize("seed", range(3))
def test_penalty_is_bounded_as_if_there_were_no_ball(size, seed):
    # the norm of a minimiser is at most the value, where the risk is nonnegative
    center = sparse_center(size, seed)
    gradients, offsets, height = cuts_through(center, seed)
    value = height + np.abs(center).sum()
    step = level_step(L1().hull(value), gradients, offsets, FIRST, center, value, 0.5)
    optimum = model_minimum(gradients, offsets, 1.0)
    gap = value - step.lower_bound
    assert optimum - 0.1 * gap - 1e-9 <= step.lower_bound <= optimum + 1e-9


@pytest.mark.parametrize("size", [5, 700])
def test_a_ball_is_a_hull_without_a_price(size):
    center = sparse_center(size, 0)
    gradients, offsets, value = cuts_through(center, 0)
    args = gradients, offsets, FIRST, center, value, 0.5
    ball = level_step(L1Ball(1.5).hull(0.0), *args)
    hull = level_step(Hull(1.5, is_signed=True), *args)
    np.testing.assert_array_equal(ball.parameters, hull.parameters)
    assert ball.lower_bound == hull.lower_bound


@pytest.mark.parametrize("seed", range(4))
def test_bound_is_never_below_that_of_the_shares_given(seed):
    generator = np.random.default_rng(seed)
    center = sparse_center(20, seed)
    gradients, offsets, height = cuts_through(center, seed)
    value = height + np.abs(center).sum()
    given = generator.dirichlet(np.ones(N_CUTS))
    lowest = min(0.0, value * (1.0 - np.abs(given @ gradients).max()))
    step = level_step(L1().hull(value), gradients, offsets, given, center, value, 0.5)
    assert step.lower_bound >= given @ offsets + lowest - 1e-12


@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_units_of_weights_and_risk_do_not_matter(scale):
    center = sparse_center(20, 0)
    gradients, offsets, height = cuts_through(center, 0)
    value = height + np.abs(center).sum()
    one = level_step(L1().hull(value), gradients, offsets, FIRST, center, value, 0.5)
    # weights and the risk in other units, so that a unit of weight costs the same
    other = level_step(
        L1().hull(scale * value),
        gradients,
        scale * offsets,
        FIRST,
        scale * center,
        scale * value,
        0.5,
    )
    assert other.lower_bound == pytest.approx(scale * one.lower_bound)
    np.testing.assert_allclose(
        other.parameters, scale * one.parameters, atol=1e-6 * scale
    )


def test_a_price_above_all_slopes_leads_to_the_origin():
    center = sparse_center(20, 0)
    gradients, offsets, height = cuts_through(center, 0)
    hull = Hull(1.0, is_signed=True, price=1e3)
    value = height + 1e3 * np.abs(center).sum()
    step = level_step(hull, gradients, offsets, FIRST, center, value, 1.0)
    gap = value - step.lower_bound
    assert step.lower_bound == pytest.approx(offsets.max(), abs=0.1 * gap)
    assert np.abs(step.parameters).sum() <= 0.2 * np.abs(center).sum()


def test_l1_offers_levels_from_the_origin():
    assert isinstance(L1(), HullRegularizer)
    np.testing.assert_array_equal(L1().middle(4), np.zeros(4))
