"""Projections onto balls: exact arithmetic, optimality conditions, scales."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aucmax.regularizers.elastic_net import ElasticNetBall
from aucmax.regularizers.group_lasso import GroupLassoBall
from aucmax.regularizers.l1 import L1Ball, Simplex
from aucmax.regularizers.l2 import L2Ball

RATIOS = [0.0, 1e-6, 0.3, 0.9, 1.0 - 1e-6, 1.0]
SCALES = [1e-6, 1e-3, 1.0, 1e3, 1e6]


def drawn(n, seed, kind="normal"):
    generator = np.random.default_rng(seed)
    if kind == "tied":
        return np.append(generator.integers(-3, 4, n - 1), 3.0)
    if kind == "geometric":  # dropped one by one, if nothing else is done
        return np.where(np.arange(n) % 2, -1.0, 1.0) * 0.9 ** np.arange(n)
    return generator.normal(size=n)


def exact_l1_projection(point, radius):
    """Project in rational numbers, by trying all thresholds."""
    magnitudes = sorted((Fraction(abs(value)) for value in point), reverse=True)
    radius, total = Fraction(radius), Fraction(0)
    for k, value in enumerate(magnitudes, 1):
        total += value
        if value > (total - radius) / k:
            threshold = (total - radius) / k
    shrunk = [max(Fraction(abs(value)) - threshold, Fraction(0)) for value in point]
    return np.array([float(value) for value in shrunk]) * np.sign(point)


def assert_nearest(point, w, radius, l1_ratio):
    """Check point = w + lam * subgradient(w), lam >= 0, w on the sphere."""
    rho, curvature = l1_ratio, 1.0 - l1_ratio
    used, largest = w != 0.0, np.abs(w).argmax()
    assert (w[used] * point[used] > 0.0).all()
    slopes = rho + curvature * np.abs(w)
    lam = (np.abs(point) - np.abs(w))[largest] / slopes[largest]
    assert lam >= 0.0
    np.testing.assert_allclose(
        (np.abs(w) + lam * slopes)[used],
        np.abs(point[used]),
        rtol=1e-8,
        atol=1e-10 * np.abs(point).max(),
    )
    assert (np.abs(point[~used]) <= lam * rho * (1.0 + 1e-8)).all()
    cost = rho * np.abs(w).sum() + curvature / 2.0 * np.square(w).sum()
    assert cost == pytest.approx(radius, rel=1e-8)


@pytest.mark.parametrize("kind", ["normal", "tied", "geometric"])
@pytest.mark.parametrize("n", [1, 2, 7, 300])
@pytest.mark.parametrize("share", [1e-6, 0.01, 0.5, 0.999])
@pytest.mark.parametrize("l1_ratio", RATIOS)
def test_projection_meets_the_conditions_of_the_nearest_point(l1_ratio, share, n, kind):
    point = drawn(n, 1, kind)
    radius = share * ElasticNetBall(1.0, l1_ratio).norm(point)
    w = ElasticNetBall(radius, l1_ratio).prox(point, 1.0)
    assert_nearest(point, w, radius, l1_ratio)


@pytest.mark.parametrize("radius", SCALES)
@pytest.mark.parametrize("unit", SCALES)
@pytest.mark.parametrize("kind", ["normal", "tied"])
def test_l1_projection_is_that_of_exact_arithmetic(kind, unit, radius):
    point = unit * drawn(40, 3, kind)
    w = L1Ball(radius).prox(point, 1.0)
    if w is point:
        assert np.abs(point).sum() <= radius
        return
    expected = exact_l1_projection(point, radius)
    # a digit of the radius, or of the point where that is smaller
    slip = 1e-14 * min(radius, unit)
    np.testing.assert_allclose(w, expected, rtol=1e-12, atol=slip)
    np.testing.assert_array_equal(w[expected == 0.0], 0.0)
    assert np.abs(w).sum() <= radius * (1.0 + 1e-14)


@pytest.mark.parametrize(
    "ball",
    [
        L1Ball(2.0),
        L2Ball(2.0),
        ElasticNetBall(2.0, 0.4),
        GroupLassoBall(2.0, np.arange(300) // 4),
    ],
    ids=lambda ball: type(ball).__name__,
)
def test_projections_stay(ball):
    inside = drawn(300, 6) / 300.0
    assert ball.prox(inside, 1.0) is inside
    assert ball.prox(np.zeros(300), 1.0).max() == 0.0
    point = drawn(300, 7)
    before = point.copy()
    once = ball.prox(point, 1.0)
    np.testing.assert_array_equal(point, before)
    np.testing.assert_allclose(ball.prox(once, 1.0), once, rtol=1e-12, atol=1e-15)
    point.flags.writeable = False
    np.testing.assert_array_equal(ball.prox(point, 1.0), once)
    np.testing.assert_array_equal(ball.prox(point, 1e-6), once)


def test_special_cases_are_each_other():
    point = drawn(30, 8)
    l1, l2 = L1Ball(1.7).prox(point, 1.0), L2Ball(1.7).prox(point, 1.0)
    single = GroupLassoBall(1.7, np.arange(30)).prox(point, 1.0)
    np.testing.assert_allclose(single, l1, rtol=1e-14)
    almost = ElasticNetBall(1.7, 1.0).prox(point, 1.0)
    np.testing.assert_allclose(almost, l1, rtol=1e-13)
    together = GroupLassoBall(1.7 * np.sqrt(30.0), np.zeros(30, int))
    np.testing.assert_allclose(together.prox(point, 1.0), l2, rtol=1e-14)
    square = ElasticNetBall(1.7**2 / 2.0, 0.0).prox(point, 1.0)
    np.testing.assert_allclose(square, l2, rtol=1e-14)


@pytest.mark.parametrize("l1_ratio", RATIOS)
@pytest.mark.parametrize("radius", [1e-6, 1e-3, 1.0, 1e3, 1e6])
def test_support_is_reached_inside_and_bounded_by_the_dual(radius, l1_ratio):
    # any multiplier mu of the radius gives a bound from above
    direction = drawn(40, 9)
    ball = ElasticNetBall(radius, l1_ratio)
    solution = ball.support(direction)
    if l1_ratio < 0.99:  # else too many digits of a far point's projection are lost
        far = ball.prox(1e12 * direction, 1.0)
        assert solution == pytest.approx(direction @ far, rel=1e-6)
    for mu in solution / radius * np.array([0.5, 0.9, 1.0, 1.1, 2.0]):
        excess = np.maximum(np.abs(direction) - mu * l1_ratio, 0.0)
        square = np.square(excess).sum()
        curvature = 1.0 - l1_ratio
        if curvature > 0.0:
            dual = mu * radius + square / (2.0 * curvature * mu)
        else:
            dual = mu * radius if square == 0.0 else np.inf
        assert solution <= dual * (1.0 + 1e-12)


@pytest.mark.parametrize("radius", [0.5, 1.0, 7.0])
@given(seed=st.integers(0, 200))
def test_the_projection_onto_the_simplex_is_the_nearest_point(radius, seed):
    generator = np.random.default_rng(seed)
    point = 3.0 * generator.normal(size=generator.integers(1, 9))
    nearest = Simplex(radius).prox(point)
    assert nearest.min() >= 0.0
    assert nearest.sum() == pytest.approx(radius)
    # of all vertices, none is on the other side
    towards = (point - nearest) @ (radius * np.eye(point.size) - nearest).T
    assert towards.max() <= 1e-9
    bound = Simplex(radius).lower_bound(0.3, point)
    assert bound == pytest.approx(0.3 + min(radius * point))
