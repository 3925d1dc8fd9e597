import cvxpy as cp
import numpy as np
import pytest
from scipy.optimize import linprog

from aucmax.solvers.inner.simplex_programs import play_game, project_below_target

KINDS = [
    "random",
    "equal cuts",
    "equal vertices",
    "nearly equal cuts",
    "zero",
    "one cut",
    "one vertex",
    "one of each",
    "more cuts than vertices",
    "large blocks",
]
SCALES = [1e-12, 1e-3, 1.0, 1e12]


def matrix(kind, seed=0):
    generator = np.random.default_rng(seed)
    shapes = {
        "one cut": (1, 9),
        "one vertex": (7, 1),
        "one of each": (1, 1),
        "more cuts than vertices": (30, 4),
        "large blocks": (60, 90),
    }
    A = generator.normal(size=shapes.get(kind, (8, 12)))
    if kind == "equal cuts":
        A[3:] = A[0]
    if kind == "nearly equal cuts":
        A = A[0] + 1e-9 * A
    if kind == "equal vertices":
        A[:, 4:] = A[:, :1]
    if kind == "zero":
        A[:] = 0.0
    return A


def uniform(size):
    return np.full(size, 1.0 / size)


def value_of(A):
    """Solve the game as a linear program in w and the height of the highest cut."""
    scale = np.abs(A).max() or 1.0
    K, N = A.shape
    solution = linprog(
        np.append(np.zeros(N), 1.0),
        A_ub=np.hstack([A / scale, -np.ones((K, 1))]),
        b_ub=np.zeros(K),
        A_eq=np.append(np.ones(N), 0.0)[None],
        b_eq=[1.0],
        bounds=[(0.0, None)] * N + [(None, None)],
    )
    return scale * solution.fun


def played(A, accuracy=1e-6, ceiling=None, shares=None, multipliers=None):
    K, N = A.shape
    return play_game(
        A,
        uniform(N) if shares is None else shares,
        uniform(K) if multipliers is None else multipliers,
        ceiling=np.abs(A).max() + 1e-300 if ceiling is None else ceiling,
        accuracy=accuracy,
    )


def assert_on_simplex(point):
    assert np.isfinite(point).all()
    assert point.min() >= 0.0
    assert point.sum() == pytest.approx(1.0, rel=1e-12)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("scale", SCALES)
def test_game_has_the_value_of_the_linear_program(kind, scale):
    A = scale * matrix(kind)
    game = played(A)
    value, unit = value_of(A), np.abs(A).max()
    assert_on_simplex(game.shares)
    assert_on_simplex(game.multipliers)
    assert game.top == pytest.approx((A @ game.shares).max(), rel=1e-9, abs=1e-9 * unit)
    assert game.bottom == pytest.approx(
        (game.multipliers @ A).min(), rel=1e-9, abs=1e-9 * unit
    )
    assert game.bottom - 1e-9 * unit <= value <= game.top + 1e-9 * unit
    assert game.top - game.bottom <= 2e-6 * unit


@pytest.mark.parametrize("seed", range(20))
def test_any_accuracy_gives_points_of_the_simplex_and_bounds(seed):
    generator = np.random.default_rng(seed)
    A = generator.normal(size=generator.integers(1, 20, 2)) + generator.normal()
    value = value_of(A)
    for accuracy in (1.0, 0.3, 1e-2, 1e-12, 0.0):
        game = played(A, accuracy)
        assert_on_simplex(game.shares)
        assert_on_simplex(game.multipliers)
        assert game.bottom - 1e-8 <= value <= game.top + 1e-8


@pytest.mark.parametrize("seed", range(10))
def test_a_start_at_a_corner_ends_at_the_same_value(seed):
    A = matrix("random", seed)
    K, N = A.shape
    corner = played(A, shares=np.eye(N)[0], multipliers=np.eye(K)[0])
    value = value_of(A)
    assert corner.bottom - 1e-9 <= value <= corner.top + 1e-9
    assert corner.top - corner.bottom <= 1e-5


def test_a_good_start_saves_iterations():
    A = matrix("random")
    first = played(A, 1e-9)
    again = played(A, 1e-9, shares=first.shares, multipliers=first.multipliers)
    assert len(again.path) == 0
    rough = played(A, 0.05)
    further = played(A, 1e-3, shares=rough.shares, multipliers=rough.multipliers)
    assert len(further.path) < len(played(A, 1e-3).path)


def test_a_game_ends_where_the_bound_reaches_the_ceiling():
    A = matrix("random")
    value = value_of(A)
    game = played(A, accuracy=0.0, ceiling=value - 0.1)
    assert value - 0.1 <= game.bottom <= value
    assert len(game.path) < len(played(A, accuracy=0.0).path)


def test_the_path_leads_down_to_the_value():
    A = matrix("random")
    game = played(A, 1e-9)
    tops = [top for top, _ in game.path]
    products = [iterate.product for _, iterate in game.path]
    assert tops[-1] == pytest.approx(value_of(A), abs=1e-6)
    assert np.diff(products).max() < 0.0
    assert all(iterate.x.min() > 0.0 for _, iterate in game.path)


def projected(A, target, center, curvature=None, slack=1e-7, accuracy=1e-7):
    curvature = np.ones(A.shape[1]) if curvature is None else curvature
    path = played(A, 1e-3).path
    below = [iterate for top, iterate in path if top <= target]
    start = below[0] if below else path[-1][1]
    return project_below_target(
        A, target, center, curvature, start, slack=slack, accuracy=accuracy
    )


def distance(shares, center, curvature=1.0):
    return (curvature * (shares - center) ** 2).sum() / 2.0


def nearest(A, target, center, curvature):
    w = cp.Variable(A.shape[1], nonneg=True)
    price = cp.sum_squares(cp.multiply(np.sqrt(curvature), w - center)) / 2.0
    problem = cp.Problem(cp.Minimize(price), [A @ w <= target, cp.sum(w) == 1.0])
    problem.solve(solver=cp.CLARABEL)
    return w.value


@pytest.mark.parametrize("part", [0.1, 0.5, 0.9])
@pytest.mark.parametrize(
    "kind", ["random", "equal cuts", "equal vertices", "one cut", "large blocks"]
)
def test_projection_is_that_of_an_independent_solver(kind, part):
    A = matrix(kind)
    center = np.random.default_rng(1).dirichlet(np.ones(A.shape[1]))
    curvature = np.ones(A.shape[1])
    curvature[-1] = 0.0
    top, value = (A @ center).max(), value_of(A)
    target = top - part * (top - value)
    shares = projected(A, target, center, curvature)
    assert_on_simplex(shares)
    assert (A @ shares).max() <= target + 1e-7
    expected = nearest(A, target, center, curvature)
    assert distance(shares, center, curvature) == pytest.approx(
        distance(expected, center, curvature), rel=1e-4, abs=1e-9
    )
    # equal vertices without a price may share in any way
    if kind != "equal vertices":
        np.testing.assert_allclose(shares, expected, atol=2e-4)


@pytest.mark.parametrize("slack", [0.3, 0.03])
@pytest.mark.parametrize("seed", range(10))
def test_a_rough_projection_is_near_enough(seed, slack):
    A = matrix("random", seed)
    center = np.random.default_rng(seed).dirichlet(np.ones(A.shape[1]))
    top, value = (A @ center).max(), value_of(A)
    target = (top + value) / 2.0
    shares = projected(A, target, center, slack=slack * (top - target), accuracy=0.3)
    assert_on_simplex(shares)
    assert (A @ shares).max() <= target + slack * (top - target)
    expected = nearest(A, target, center, np.ones(A.shape[1]))
    assert distance(shares, center) <= 2.0 * distance(expected, center)


def test_shares_that_end_at_zero_are_zero():
    A = matrix("random", 3)
    center = np.eye(A.shape[1])[0]
    target = 0.9 * value_of(A) + 0.1 * (A @ center).max()
    expected = nearest(A, target, center, np.ones(A.shape[1]))
    shares = projected(A, target, center)
    assert (expected < 1e-6).any()
    np.testing.assert_array_equal(shares > 0.0, expected > 1e-6)


def test_a_center_below_the_target_stays():
    A = matrix("random")
    center = np.random.default_rng(0).dirichlet(np.ones(A.shape[1]))
    shares = projected(A, (A @ center).max() + 1.0, center)
    np.testing.assert_allclose(shares, center, atol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("scale", SCALES)
def test_a_target_that_no_point_reaches_still_gives_a_point_of_the_simplex(kind, scale):
    A = scale * matrix(kind)
    unit = np.abs(A).max() + 1e-300
    game = play_game(
        A,
        np.eye(A.shape[1])[0],
        uniform(A.shape[0]),
        ceiling=2.0 * unit,
        accuracy=0.0,
    )
    for _, start in game.path[:3]:
        shares = project_below_target(
            A,
            game.bottom - unit,
            uniform(A.shape[1]),
            np.ones(A.shape[1]),
            start,
            slack=0.1 * unit,
            accuracy=0.1,
        )
        assert_on_simplex(shares)
