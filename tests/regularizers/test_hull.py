import cvxpy as cp
import numpy as np
import pytest
from scipy.optimize import linprog

from aucmax.regularizers.l1 import L1Ball, Simplex
from aucmax.regularizers.regularizer import HullRegularizer
from aucmax.solvers.inner import level_step as level_steps
from aucmax.solvers.inner.level_step import level_step

HULLS = [Simplex, L1Ball]


def cuts_through(center, seed, n_cuts=8, scale=1.0):
    """Draw cuts of which the first is the highest at the center; return its height."""
    generator = np.random.default_rng(seed)
    gradients = scale * generator.normal(size=(n_cuts, center.size))
    offsets = scale * generator.uniform(-0.05, 0.0, n_cuts) - gradients @ center
    offsets[0] = 0.3 * scale - gradients[0] @ center
    return gradients, offsets, 0.3 * scale


def points(kind, size, generator, n_points=1):
    """Draw points of the hull; those of the L1 ball are inside it."""
    drawn = generator.dirichlet(np.ones(size), n_points)
    if kind is L1Ball:
        drawn *= generator.choice([-1.0, 1.0], drawn.shape)
        drawn *= generator.uniform(0.2, 1.0, (n_points, 1))
    return drawn


def model_minimum(kind, gradients, offsets):
    """Minimise the highest cut over all vertices, by a linear program."""
    if kind is L1Ball:
        gradients = np.hstack([gradients, -gradients])
    K, N = gradients.shape
    solution = linprog(
        np.append(np.zeros(N), 1.0),
        A_ub=np.hstack([gradients, -np.ones((K, 1))]),
        b_ub=-offsets,
        A_eq=np.append(np.ones(N), 0.0)[None],
        b_eq=[1.0],
        bounds=[(0.0, None)] * N + [(None, None)],
    )
    return solution.fun


def assert_inside(kind, parameters):
    if kind is Simplex:
        assert parameters.min() >= 0.0
        assert parameters.sum() == pytest.approx(1.0, rel=1e-12)
    else:
        assert np.abs(parameters).sum() <= 1.0 + 1e-12


def height(gradients, offsets, parameters):
    return (offsets + gradients @ parameters).max()


@pytest.mark.parametrize("kind", HULLS)
def test_hulls_cost_nothing_inside_and_have_a_middle(kind):
    assert isinstance(kind(), HullRegularizer)
    middle = kind(radius=2.0).middle(5)
    np.testing.assert_allclose(middle, 0.4 if kind is Simplex else 0.0)
    assert kind().value(middle) == 0.0
    np.testing.assert_array_equal(kind().gradient(middle), np.zeros(5))


@pytest.mark.parametrize("kind", HULLS)
@pytest.mark.parametrize("size", [1, 2, 9, 150, 700])
@pytest.mark.parametrize("seed", range(3))
def test_step_bounds_the_model_and_goes_below_the_level(kind, size, seed):
    center = points(kind, size, np.random.default_rng(seed))[0]
    center[np.abs(center) < 1.0 / size] = 0.0  # as the centers of a solver: sparse
    if kind is Simplex:
        center /= center.sum()
    gradients, offsets, value = cuts_through(center, seed)
    step = level_step(
        kind().hull(value), gradients, offsets, np.eye(8)[0], center, value, 0.5
    )
    optimum = model_minimum(kind, gradients, offsets)
    gap = value - step.lower_bound
    assert step.multipliers.min() >= 0.0
    assert step.multipliers.sum() == pytest.approx(1.0)
    assert optimum - 0.1 * gap <= step.lower_bound <= optimum + 1e-9
    assert_inside(kind, step.parameters)
    level = value - 0.5 * gap
    assert height(gradients, offsets, step.parameters) <= level + 0.1 * gap + 1e-9


@pytest.mark.parametrize("kind", HULLS)
@pytest.mark.parametrize("seed", range(5))
def test_step_is_about_as_short_as_it_can_be(kind, seed):
    center = points(kind, 12, np.random.default_rng(seed))[0]
    gradients, offsets, value = cuts_through(center, seed)
    step = level_step(
        kind().hull(value), gradients, offsets, np.eye(8)[0], center, value, 0.5
    )
    level = value - 0.5 * (value - step.lower_bound)
    # in shares of the vertices, of which one at most of each coordinate has any
    plus, minus = cp.Variable(12, nonneg=True), cp.Variable(12, nonneg=True)
    w = plus - minus
    square = cp.sum_squares(plus - np.maximum(center, 0.0))
    square += cp.sum_squares(minus - np.maximum(-center, 0.0))
    inside = (
        [minus == 0.0, cp.sum(plus) == 1.0]
        if kind is Simplex
        else [cp.sum(plus + minus) <= 1.0]
    )
    problem = cp.Problem(
        cp.Minimize(square), [offsets + gradients @ w <= level, *inside]
    )
    shortest = problem.solve(solver=cp.CLARABEL)
    assert ((step.parameters - center) ** 2).sum() <= 2.0 * shortest + 1e-9


@pytest.mark.parametrize("kind", HULLS)
@pytest.mark.parametrize("size", [30, 700])
def test_a_level_just_below_the_center_is_reached_near_it(kind, size):
    # also where the center is inside the L1 ball, and not all vertices are at work
    center = np.zeros(size)
    center[:3] = (0.2, -0.1, 0.05) if kind is L1Ball else (0.5, 0.3, 0.2)
    gradients, offsets, value = cuts_through(center, 0)
    step = level_step(
        kind().hull(value), gradients, offsets, np.eye(8)[0], center, value, 1e-3
    )
    assert 0.0 < np.abs(step.parameters - center).max() < 5e-3


@pytest.mark.parametrize("kind", HULLS)
@pytest.mark.parametrize("seed", range(5))
def test_working_sets_give_the_same_bound_and_a_step_below_the_level(
    kind, seed, monkeypatch
):
    generator = np.random.default_rng(seed)
    center = np.zeros(900)
    center[generator.choice(900, 5, replace=False)] = points(kind, 5, generator)[0]
    gradients, offsets, value = cuts_through(center, seed, n_cuts=15)
    args = gradients, offsets, np.full(15, 1.0 / 15.0), center, value, 0.5
    part = level_step(kind().hull(value), *args)
    monkeypatch.setattr(level_steps, "_MAX_VERTICES_AT_ONCE", 10**6)
    whole = level_step(kind().hull(value), *args)
    gap = value - whole.lower_bound
    assert part.lower_bound == pytest.approx(whole.lower_bound, abs=0.1 * gap)
    for step in (part, whole):
        assert height(gradients, offsets, step.parameters) <= value - 0.35 * gap
    # fewer vertices to spread a step over make it longer
    moves = [((step.parameters - center) ** 2).sum() for step in (part, whole)]
    assert moves[0] <= 4.0 * moves[1]


@pytest.mark.parametrize("kind", HULLS)
def test_a_center_of_many_vertices_is_left_for_a_point_below_the_level(kind):
    center = points(kind, 5000, np.random.default_rng(0))[0]
    gradients, offsets, value = cuts_through(center, 0)
    step = level_step(
        kind().hull(value), gradients, offsets, np.eye(8)[0], center, value, 0.5
    )
    gap = value - step.lower_bound
    assert_inside(kind, step.parameters)
    assert height(gradients, offsets, step.parameters) <= value - 0.4 * gap


@pytest.mark.parametrize("kind", HULLS)
@pytest.mark.parametrize("seed", range(5))
def test_bound_is_never_below_that_of_the_shares_given(kind, seed):
    generator = np.random.default_rng(seed)
    center = points(kind, 20, generator)[0]
    gradients, offsets, value = cuts_through(center, seed)
    given = generator.dirichlet(np.ones(8))
    slope, constant = given @ gradients, given @ offsets
    lowest = constant + (slope.min() if kind is Simplex else -np.abs(slope).max())
    step = level_step(kind().hull(value), gradients, offsets, given, center, value, 0.5)
    assert step.lower_bound >= lowest - 1e-12
    again = level_step(
        kind().hull(value), gradients, offsets, step.multipliers, center, value, 0.5
    )
    assert again.lower_bound >= step.lower_bound - 1e-12


@pytest.mark.parametrize("kind", HULLS)
@pytest.mark.parametrize("scale", [1e-12, 1e-4, 1e4, 1e12])
def test_units_do_not_matter(kind, scale):
    center = points(kind, 20, np.random.default_rng(0))[0]
    steps = []
    for unit in (1.0, scale):
        gradients, offsets, value = cuts_through(center, 0, scale=unit)
        step = level_step(
            kind().hull(value), gradients, offsets, np.eye(8)[0], center, value, 0.5
        )
        steps.append(step)
    assert steps[1].lower_bound == pytest.approx(scale * steps[0].lower_bound)
    np.testing.assert_allclose(steps[1].parameters, steps[0].parameters, atol=1e-6)


@pytest.mark.parametrize("kind", HULLS)
def test_a_larger_hull_is_that_of_steeper_cuts(kind):
    center = points(kind, 20, np.random.default_rng(0))[0]
    gradients, offsets, value = cuts_through(center, 0)
    args = offsets, np.eye(8)[0]
    one = level_step(kind().hull(value), gradients, *args, center, value, 0.5)
    three = level_step(
        kind(radius=3.0).hull(value), gradients / 3.0, *args, 3.0 * center, value, 0.5
    )
    assert three.lower_bound == pytest.approx(one.lower_bound)
    np.testing.assert_allclose(three.parameters, 3.0 * one.parameters, atol=1e-9)


@pytest.mark.parametrize("kind", HULLS)
@pytest.mark.parametrize("name", ["flat", "equal", "twice", "one"])
def test_degenerate_cuts_have_a_bound(kind, name):
    center = points(kind, 6, np.random.default_rng(0))[0]
    gradients, offsets, value = cuts_through(center, 0)
    if name == "flat":
        gradients, offsets, value = 0.0 * gradients, np.full(8, 0.1), 0.1
    if name == "equal":
        gradients[:], offsets[:] = gradients[0], offsets[0]
    if name == "twice":
        gradients[4:], offsets[4:] = gradients[:4], offsets[:4]
    if name == "one":
        gradients, offsets = gradients[:1], offsets[:1]
    shares = np.full(offsets.size, 1.0 / offsets.size)
    step = level_step(
        kind().hull(value), gradients, offsets, shares, center, value, 0.5
    )
    optimum = model_minimum(kind, gradients, offsets)
    gap = value - optimum
    assert optimum - 0.11 * gap - 1e-12 <= step.lower_bound <= optimum + 1e-9
    assert_inside(kind, step.parameters)


@pytest.mark.parametrize("kind", HULLS)
def test_a_bound_at_the_value_leaves_the_center(kind):
    center = points(kind, 6, np.random.default_rng(0))[0]
    gradients, offsets, _ = cuts_through(center, 0)
    step = level_step(
        kind().hull(-100.0), gradients, offsets, np.eye(8)[0], center, -100.0, 0.5
    )
    np.testing.assert_array_equal(step.parameters, center)
    assert step.lower_bound > -100.0
