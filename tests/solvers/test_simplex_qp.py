import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aucmax.solvers.simplex_qp import minimize_on_simplex

ROUNDING = 4.0 * np.finfo(float).eps


def slow_minimize(matrix, linear, start):
    """The same active-set method, each step by a linear system of its own."""
    x, used = start.copy(), start > 0.0
    for _ in range(2 * linear.size + 20):
        x, used = slow_minimize_on_face(matrix, linear, x, used)
        slope = matrix @ x - linear
        best = int(np.argmin(slope))
        noise = ROUNDING * ((np.abs(matrix) @ x).max() + np.abs(linear).max())
        if used[best] or x @ slope - slope[best] <= noise:
            break
        used[best] = True
    return x / x.sum()


def slow_minimize_on_face(matrix, linear, x, used):
    while True:
        free = np.flatnonzero(used)
        goal = stationary_point(matrix[np.ix_(free, free)], linear[free])
        value = x[free]
        falling = goal < 0.0
        step = 1.0
        if falling.any():
            steps = value[falling] / (value[falling] - goal[falling])
            step = steps.min()
        x = np.zeros_like(x)
        x[free] = np.maximum(value + step * (goal - value), 0.0)
        if not falling.any():
            return x, used
        leaving = free[falling][steps <= step]
        x[leaving] = 0.0
        used = used & ~np.isin(np.arange(x.size), leaving)


def stationary_point(matrix, linear):
    k = linear.size
    system = np.zeros((k + 1, k + 1))
    system[:k, :k] = matrix
    largest = np.abs(linear).max()
    ridge = ROUNDING * (np.diag(matrix) + largest)
    system[:k, :k] += np.diag(ridge)
    border = max(np.abs(matrix).max(), largest, 1e-300)
    system[k, :k] = system[:k, k] = border
    return np.linalg.lstsq(system, np.append(linear, border))[0][:k]


def value(matrix, linear, x):
    return 0.5 * x @ matrix @ x - linear @ x


def relative_gap(matrix, linear, x):
    """Bound how far the point is from the minimum, in units of what is added up."""
    slope = matrix @ x - linear
    terms = (np.abs(matrix) @ x).max() + np.abs(linear).max()
    return (x @ slope - slope.min()) / terms


def random_point(generator, k, kind):
    if kind == "vertex":
        return np.eye(k)[generator.integers(k)]
    if kind == "center":
        return np.full(k, 1.0 / k)
    x = generator.dirichlet(np.ones(k)) * (generator.random(k) < 0.5)
    return x / x.sum() if x.sum() > 0.0 else np.eye(k)[0]


def gram_of_cuts(generator, k, kind):
    """Return Q and b of cuts such as a bundle method may gather."""
    rank = int(generator.integers(1, 2 * k + 1))
    factor = generator.normal(size=(k, rank))
    linear = generator.normal(size=k)
    if kind == "equal":
        copies = generator.integers(0, max(k // 3, 1), size=k)
        factor, linear = factor[copies], linear[copies]
    elif kind == "flat":
        factor[generator.random(k) < 0.5] = 0.0
    elif kind == "steep":
        factor = 1e4 * factor[:, : max(k // 5, 1)]
    elif kind == "graded":
        factor *= 10.0 ** generator.uniform(-4, 4, size=(k, 1))
    elif kind == "alike":
        factor, linear = factor[:1] + 1e-4 * factor, 1e-7 * linear
    matrix = factor @ factor.T
    if kind == "ridged":
        matrix += 1e-10 * np.trace(matrix) / k * np.eye(k)
    return matrix, linear


KINDS = ["random", "equal", "flat", "steep", "graded", "alike", "ridged"]
STARTS = ["vertex", "center", "sparse"]


@pytest.mark.kernel
@given(
    seed=st.integers(0, 2**32 - 1),
    k=st.integers(1, 16),
    kind=st.sampled_from(KINDS),
    start=st.sampled_from(STARTS),
)
def test_nothing_promises_more_than_rounding(seed, k, kind, start):
    generator = np.random.default_rng(seed)
    matrix, linear = gram_of_cuts(generator, k, kind)
    x = minimize_on_simplex(matrix, linear, random_point(generator, k, start))
    assert x.min() >= 0.0
    assert x.sum() == pytest.approx(1.0, rel=1e-14)
    assert relative_gap(matrix, linear, x) <= 1e-14


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("k", [60, 150])
def test_many_cuts_are_no_harder(k, kind, start):
    generator = np.random.default_rng([k, KINDS.index(kind), STARTS.index(start)])
    matrix, linear = gram_of_cuts(generator, k, kind)
    x = minimize_on_simplex(matrix, linear, random_point(generator, k, start))
    assert x.min() >= 0.0
    assert x.sum() == pytest.approx(1.0, rel=1e-14)
    assert relative_gap(matrix, linear, x) <= 3e-14


@pytest.mark.kernel
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_a_slower_method_finds_no_lower_value(seed, kind):
    generator = np.random.default_rng([seed, KINDS.index(kind)])
    matrix, linear = gram_of_cuts(generator, 25, kind)
    start = random_point(generator, 25, "sparse")
    quick = value(matrix, linear, minimize_on_simplex(matrix, linear, start))
    slow = value(matrix, linear, slow_minimize(matrix, linear, start))
    scale = np.abs(matrix).max() + np.abs(linear).max()
    assert quick <= slow + 1e-14 * scale


@pytest.mark.parametrize("kind", ["random", "equal", "flat", "ridged"])
def test_an_interior_point_method_finds_the_same_value(kind):
    generator = np.random.default_rng(KINDS.index(kind))
    matrix, linear = gram_of_cuts(generator, 40, kind)
    x = cp.Variable(40, nonneg=True)
    quadratic = 0.5 * cp.quad_form(x, cp.psd_wrap(matrix)) - linear @ x
    problem = cp.Problem(cp.Minimize(quadratic), [cp.sum(x) == 1.0])
    optimum = problem.solve(solver=cp.CLARABEL)
    solution = minimize_on_simplex(matrix, linear, np.eye(40)[0])
    assert value(matrix, linear, solution) == pytest.approx(optimum, rel=1e-6, abs=1e-7)


@pytest.mark.kernel
def test_a_minimum_to_start_from_stays():
    generator = np.random.default_rng(1)
    matrix, linear = gram_of_cuts(generator, 20, "random")
    x = minimize_on_simplex(matrix, linear, np.eye(20)[0])
    again = minimize_on_simplex(matrix, linear, x)
    assert np.array_equal(again > 0.0, x > 0.0)
    assert again == pytest.approx(x, abs=1e-13)


@pytest.mark.kernel
@pytest.mark.parametrize("k", [1, 2, 9])
def test_without_any_curvature_the_largest_offset_wins(k):
    linear = np.arange(float(k))
    x = minimize_on_simplex(np.zeros((k, k)), linear, np.full(k, 1.0 / k))
    assert np.array_equal(x, np.eye(k)[k - 1])


@pytest.mark.kernel
def test_a_problem_of_zeros_has_every_point_as_its_minimum():
    x = minimize_on_simplex(np.zeros((4, 4)), np.zeros(4), np.full(4, 0.25))
    assert x.min() >= 0.0
    assert x.sum() == 1.0


@pytest.mark.kernel
@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")  # not compiled
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_not_finite_leaves_a_point_of_the_simplex(bad):
    matrix, linear = np.eye(5), np.ones(5)
    matrix[1, 3] = matrix[3, 1] = bad
    x = minimize_on_simplex(matrix, linear, np.full(5, 0.2))
    assert x.min() >= 0.0
    assert x.sum() == pytest.approx(1.0)
