"""Laws of every penalty and ball: prox, lower bound, subgradient."""

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from aucmax.regularizers.elastic_net import ElasticNet, ElasticNetBall
from aucmax.regularizers.group_lasso import GroupLasso, GroupLassoBall
from aucmax.regularizers.l1 import L1, L1Ball
from aucmax.regularizers.l2 import L2, L2Ball

N = 8
GROUPS = [0, 2, 1, 1, 2, 0, 2, 3]  # not in order; of sizes 2, 2, 3, 1
PENALTIES = {
    "L1": L1(),
    "L2": L2(),
    "ElasticNet 0": ElasticNet(0.0),
    "ElasticNet 0.3": ElasticNet(0.3),
    "ElasticNet almost 1": ElasticNet(1.0 - 1e-9),
    "ElasticNet 1": ElasticNet(1.0),
    "GroupLasso": GroupLasso(GROUPS),
}
BALLS = {
    "L1Ball": L1Ball(1.5),
    "L2Ball": L2Ball(1.5),
    "ElasticNetBall 0": ElasticNetBall(1.5, 0.0),
    "ElasticNetBall 0.3": ElasticNetBall(1.5, 0.3),
    "ElasticNetBall almost 1": ElasticNetBall(1.5, 1.0 - 1e-9),
    "ElasticNetBall 1": ElasticNetBall(1.5, 1.0),
    "GroupLassoBall": GroupLassoBall(1.5, GROUPS),
}
ALL = PENALTIES | BALLS

# few distinct values, so that ties and zeros are the rule
tied = arrays(float, N, elements=st.integers(-3, 3).map(float))


def price(name, w):
    """Return the price of w, which a ball limits, by NumPy or CVXPY."""
    kind = name.replace("Ball", "").split()[0]
    is_array = isinstance(w, np.ndarray)
    norm = np.linalg.norm if is_array else cp.norm
    square = w @ w if is_array else cp.sum_squares(w)
    if kind == "L1":
        return norm(w, 1)
    if kind == "L2":
        return norm(w, 2) if "Ball" in name else 0.5 * square
    if kind == "GroupLasso":
        members = [np.flatnonzero(np.equal(GROUPS, g)) for g in range(4)]
        return sum(np.sqrt(m.size) * norm(w[m], 2) for m in members)
    rho = ALL[name].l1_ratio
    return rho * norm(w, 1) + (1.0 - rho) / 2.0 * square


def minimum(name, build):
    """Minimise the regularizer plus ``build(w)``, independently."""
    w = cp.Variable(N)
    if name in BALLS:
        problem = cp.Problem(cp.Minimize(build(w)), [price(name, w) <= 1.5])
    else:
        problem = cp.Problem(cp.Minimize(price(name, w) + build(w)))
    return problem.solve(solver=cp.CLARABEL), w.value


def inside(name, points):
    """Shrink points until they are in the ball; return those of a penalty unchanged."""
    if name not in BALLS:
        return points
    shares = [min(1.0, 1.4 / max(price(name, point), 1e-9)) for point in points]
    return np.array(shares)[:, None] * points


@pytest.mark.parametrize("name", ALL)
@given(here=tied)
def test_value_is_the_definition(name, here):
    if name in BALLS:
        assert ALL[name].value(here) == 0.0
        assert ALL[name].norm(here) == pytest.approx(price(name, here))
    else:
        assert ALL[name].value(here) == pytest.approx(price(name, here))


@pytest.mark.parametrize("name", ALL)
@given(here=tied, there=tied)
def test_gradient_supports_the_price_from_below(name, here, there):
    regularizer = ALL[name]
    gradient = regularizer.gradient(here)
    rise = regularizer.value(there) - regularizer.value(here)
    assert rise >= gradient @ (there - here) - 1e-12


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("step", [0.1, 1.0, 3.0])
@pytest.mark.parametrize("seed", range(2))
def test_prox_is_that_of_an_independent_solver(name, step, seed):
    point = 2.0 * np.random.default_rng(seed).normal(size=N)
    solution = ALL[name].prox(point, step)
    _, expected = minimum(name, lambda w: cp.sum_squares(w - point) / (2.0 * step))
    np.testing.assert_allclose(solution, expected, atol=3e-4)


@pytest.mark.parametrize("name", ALL)
@given(point=tied, other=tied, step=st.sampled_from([1e-3, 0.3, 1.0, 20.0]))
def test_prox_inequality(name, point, other, step):
    # it holds for all others, just if the prox is right
    regularizer = ALL[name]
    w = regularizer.prox(point, step)
    other = inside(name, other[None])[0]
    rise = regularizer.value(other) - regularizer.value(w)
    assert step * rise >= (point - w) @ (other - w) - 1e-11
    if name in BALLS:
        assert price(name, w) <= 1.5 * (1.0 + 1e-12)


@pytest.mark.parametrize("name", ALL)
@given(here=tied, there=tied)
def test_prox_brings_no_two_points_apart(name, here, there):
    moved = ALL[name].prox(here, 0.7) - ALL[name].prox(there, 0.7)
    assert np.linalg.norm(moved) <= np.linalg.norm(here - there) + 1e-12


@pytest.mark.parametrize("name", ALL)
@given(point=tied, step=st.sampled_from([0.3, 2.0, 1e9]))
def test_zeros_are_exact_and_have_no_sign(name, point, step):
    w = ALL[name].prox(point.copy() + 0.0, step)
    assert (w[point == 0.0] == 0.0).all()
    assert not np.signbit(w[w == 0.0]).any()
    assert (w * point >= 0.0).all()
    assert (np.abs(w) <= np.abs(point) * (1.0 + 1e-15)).all()


def test_l1_and_groups_zero_what_is_not_worth_its_price():
    point = np.array([0.5, -0.5, 2.0, 0.1, -0.6, 0.5, 0.6, -1.0])
    zero = np.abs(point) <= 1.0
    for penalty in (L1(), ElasticNet(1.0)):
        np.testing.assert_array_equal(penalty.prox(point, 1.0) == 0.0, zero)
    groups = GroupLasso(GROUPS).prox(point, 1.0)
    np.testing.assert_array_equal(groups == 0.0, np.not_equal(GROUPS, 1))


@pytest.mark.slow
@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("constant", [-1.0, 0.0, 0.2, 1.0, 30.0])
@pytest.mark.parametrize("scale", [0.1, 1.0, 4.0])
def test_lower_bound_is_the_minimum_of_an_independent_solver(name, constant, scale):
    slope = scale * np.random.default_rng(0).normal(size=N)
    bound = ALL[name].lower_bound(constant, slope)
    expected, _ = minimum(name, lambda w: cp.pos(constant + slope @ w))
    # over a set, the bound is that of the line itself
    assert max(bound, 0.0) == pytest.approx(expected, rel=1e-6, abs=1e-7)
    assert isinstance(bound, float)


@pytest.mark.parametrize("name", ALL)
@given(slope=tied, constant=st.integers(-2, 12).map(lambda n: n / 2.0), point=tied)
def test_lower_bound_is_nowhere_above_the_objective(name, slope, constant, point):
    bound = ALL[name].lower_bound(constant, slope)
    points = inside(name, np.array([point, 0.3 * point, -slope, -0.1 * slope]))
    for w in points:
        value = ALL[name].value(w) + max(0.0, constant + slope @ w)
        assert bound <= value + 1e-12


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: ElasticNet(1.5), r"l1_ratio must be in \[0, 1\], got 1\.5"),
        (lambda: ElasticNetBall(1.0, -0.1), r"l1_ratio must be in \[0, 1\]"),
        (lambda: ElasticNetBall(0.0, 0.5), "radius must be positive and finite, got 0"),
        (lambda: L2Ball(float("inf")), "radius must be positive and finite, got inf"),
        (lambda: L1Ball(-1.0), r"radius must be positive and finite, got -1\.0"),
        (lambda: GroupLassoBall(0, [0]), "radius must be positive"),
        (lambda: GroupLasso([0, 2]), "from 0 without a gap"),
        (lambda: GroupLasso([0, -1]), "from 0 without a gap"),
        (lambda: GroupLasso([0.0, 1.0]), "whole numbers"),
        (lambda: GroupLasso([[0, 1]]), r"shape \(1, 2\)"),
        (lambda: GroupLasso([0, 0]).value(np.ones(3)), "group of 2 weights.* 3"),
    ],
)
def test_bad_parameters_are_named(make, text):
    with pytest.raises(ValueError, match=text):
        make()
