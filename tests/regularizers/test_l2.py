import cvxpy as cp
import numpy as np
import pytest

from aucmax.regularizers.l2 import L2
from aucmax.risks.contract import Support
from aucmax.solvers.cuts import Cuts
from aucmax.solvers.simplex_qp import minimize_on_simplex


def random_cuts(seed, n_cuts=12, n_parameters=4, scale=1.0):
    generator = np.random.default_rng(seed)
    gradients = scale * generator.normal(size=(n_cuts, n_parameters))
    return gradients, generator.normal(size=n_cuts)


def cuts_of(gradients, offsets):
    cuts = Cuts(gradients.shape[1])
    for gradient, offset in zip(gradients, offsets, strict=True):
        cuts.add(gradient, Support(0.0, gradient, offset))
    return cuts


def first_vertex(size):
    return np.eye(size)[0]


@pytest.mark.parametrize("seed", range(20))
def test_minimum_on_the_simplex_has_no_descent_direction(seed):
    generator = np.random.default_rng(seed)
    k, rank = generator.integers(1, 30), generator.integers(1, 30)
    factor = generator.normal(size=(k, rank)) * 10.0 ** generator.integers(-3, 4)
    matrix, linear = factor @ factor.T, generator.normal(size=k)
    x = minimize_on_simplex(matrix, linear, first_vertex(k))
    slope = matrix @ x - linear
    assert x.min() >= 0.0
    assert x.sum() == pytest.approx(1.0, rel=1e-12)
    # for a convex function this difference bounds the distance to the minimum
    scale = np.abs(matrix).max() + np.abs(linear).max()
    assert x @ slope - slope.min() <= 1e-12 * scale


def test_duplicate_and_zero_rows_do_not_disturb_the_minimum():
    factor = np.array([[1.0, 2.0], [1.0, 2.0], [0.0, 0.0], [0.0, 0.0], [-1.0, 0.5]])
    linear = np.array([1.0, 1.0, 0.2, 0.2, 0.4])
    matrix = factor @ factor.T
    x = minimize_on_simplex(matrix, linear, first_vertex(5))
    slope = matrix @ x - linear
    assert x @ slope - slope.min() <= 1e-12


@pytest.mark.parametrize("C", [1e-2, 1.0, 1e2])
@pytest.mark.parametrize("seed", range(3))
def test_model_minimum_equals_an_independent_solver(seed, C):
    gradients, offsets = random_cuts(seed)
    at, bound = cuts_of(gradients, offsets).minimize(L2(), C)
    w = cp.Variable(gradients.shape[1])
    model = 0.5 * cp.sum_squares(w) + C * cp.max(offsets + gradients @ w)
    optimum = cp.Problem(cp.Minimize(model)).solve(solver=cp.CLARABEL)
    assert bound == pytest.approx(optimum, rel=1e-6, abs=1e-8)
    value = L2().value(at) + C * (offsets + gradients @ at).max()
    assert value == pytest.approx(bound, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_any_multipliers_give_a_lower_bound(seed):
    gradients, offsets = random_cuts(seed)
    _, bound = cuts_of(gradients, offsets).minimize(L2(), 3.0)
    points = np.random.default_rng(seed).normal(size=(200, gradients.shape[1]))
    for point in points:
        value = L2().value(point) + 3.0 * (offsets + gradients @ point).max()
        assert value >= bound - 1e-9
