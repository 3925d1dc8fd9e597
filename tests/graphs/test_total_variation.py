import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import config
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import linprog
from scipy.sparse import coo_array, eye_array, hstack

import reference_total_variation as reference
from aucmax.graphs.total_variation import prox
from reference_total_variation import optimality_gap

pytestmark = pytest.mark.kernel

EPS = np.finfo(float).eps


@st.composite
def small_graphs(draw, numbers, most=6):
    """Values, edges and weights of any graph: trees, cycles, pieces, lone nodes."""
    n = draw(st.integers(1, most))
    pairs = [(i, j) for j in range(n) for i in range(j)]
    edges = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    edges = [draw(st.permutations(edge)) for edge in edges]
    values = draw(st.lists(numbers, min_size=n, max_size=n))
    weights = [abs(draw(numbers)) for _ in edges]
    edges = np.array(edges, dtype=np.int64).reshape(-1, 2)
    return np.array(values, dtype=float), edges, np.array(weights, dtype=float)


whole_numbers = st.integers(-4, 4)
rounded_numbers = st.floats(-10.0, 10.0).map(lambda t: round(t, 3))


def grid(height, width):
    pixels = np.arange(height * width).reshape(height, width)
    across = np.column_stack((pixels[:, :-1].ravel(), pixels[:, 1:].ravel()))
    down = np.column_stack((pixels[:-1].ravel(), pixels[1:].ravel()))
    return np.vstack((across, down))


def cycle(n):
    nodes = np.arange(n)
    return np.column_stack((nodes, (nodes + 1) % n))


def random_tree(n, rng):
    children = np.arange(1, n)
    return np.column_stack(((rng.random(n - 1) * children).astype(int), children))


def random_graph(n, n_edges, rng):
    pairs = rng.integers(0, n, (4 * n_edges, 2))
    pairs = np.unique(np.sort(pairs[pairs[:, 0] != pairs[:, 1]], axis=1), axis=0)
    return rng.permutation(pairs)[:n_edges]


def side_by_side(*parts):
    """The edges of all parts, each a pair (number of nodes, edges), as one graph."""
    sizes = [n for n, _ in parts]
    starts = np.cumsum(sizes) - sizes
    return np.vstack(
        [edges + start for (_, edges), start in zip(parts, starts, strict=True)]
    )


def mixture(rng):
    """Two trees, a grid, a cycle, a dense part, and 10 nodes alone."""
    parts = [
        (8 * SIDE, random_tree(8 * SIDE, rng)),
        (100, grid(10, 10)),
        (2 * SIDE, cycle(2 * SIDE)),
        (2 * SIDE, random_graph(2 * SIDE, SIDE**2, rng)),
        (8 * SIDE, random_tree(8 * SIDE, rng)),
    ]
    return rng.permutation(110 + 20 * SIDE)[side_by_side(*parts)]


SIDE = 8 if config.DISABLE_JIT else 25
GRAPHS = {
    "grid": (SIDE**2, lambda rng: grid(SIDE, SIDE)),
    "long grid": (24 * SIDE, lambda rng: grid(3, 8 * SIDE)),
    "cycle": (20 * SIDE, lambda rng: cycle(20 * SIDE)),
    "sparse": (24 * SIDE, lambda rng: random_graph(24 * SIDE, 36 * SIDE, rng)),
    "dense": (5 * SIDE, lambda rng: random_graph(5 * SIDE, 5 * SIDE**2, rng)),
    "mixture": (110 + 20 * SIDE, mixture),
}
VALUES = {
    "normal": lambda n, rng: rng.standard_normal(n),
    "few": lambda n, rng: rng.integers(-2, 3, n).astype(float),
    "shifted": lambda n, rng: 1e6 + rng.standard_normal(n),
    "heavy": lambda n, rng: rng.standard_cauchy(n),
    "powers": lambda n, rng: 2.0 ** np.linspace(0, 60, n),
    "labels": lambda n, rng: (rng.random(n) < 0.3).astype(float),
}


def problem_of(kind, values, rng):
    n, make = GRAPHS[kind]
    edges = make(rng)
    values = VALUES[values](n, rng)
    scale = 0.3 * np.quantile(np.abs(values - np.median(values)), 0.75) * n / len(edges)
    return values, edges, scale * rng.exponential(size=len(edges))


def error_of(x, values, edges, weights):
    """Bound the root mean square of x - solution; half its square is in the gap."""
    return np.sqrt(2.0 * optimality_gap(x, values, edges, weights) / x.size)


@given(small_graphs(whole_numbers))
def test_whole_numbers_with_many_ties_give_the_blocks_of_the_exact_solution(problem):
    values, edges, weights = problem
    x, exact = prox(*problem), reference.exact_prox(*problem)
    assert_allclose(x, exact, rtol=0.0, atol=8.0 * EPS * np.abs(values).max())
    first, last = edges.T
    falls = np.sign(exact[first] - exact[last])
    assert_array_equal(np.sign(x[first] - x[last])[falls != 0.0], falls[falls != 0.0])
    # equal, and not by chance: neighbours that weaker edges would still hold together
    weaker = reference.exact_prox(values, edges, 0.999 * weights)
    held = (weaker[first] == weaker[last]) & (falls == 0.0)
    assert_array_equal(x[first[held]], x[last[held]])


@given(small_graphs(rounded_numbers, most=14))
def test_prox_agrees_with_the_dual_program(problem):
    assert_allclose(prox(*problem), reference.dual_prox(*problem), atol=1e-8)


@pytest.mark.parametrize("values", VALUES)
@pytest.mark.parametrize("kind", GRAPHS)
def test_larger_graphs_have_no_gap(kind, values):
    problem = problem_of(kind, values, np.random.default_rng(0))
    x = prox(*problem)
    assert 1 < np.unique(x).size < x.size
    assert error_of(x, *problem) <= 8.0 * EPS * np.abs(problem[0]).max()


@pytest.mark.parametrize("kind", ["grid", "cycle", "mixture"])
def test_a_program_finds_the_flows_that_prove_the_solution(kind):
    # D'f = values - x with |f| <= w, and f = w towards the smaller of unequal ends
    values, edges, weights = problem_of(kind, "normal", np.random.default_rng(1))
    x = prox(values, edges, weights)
    rows = np.repeat(np.arange(len(edges)), 2)
    ends = (np.tile([1.0, -1.0], len(edges)), (edges.ravel(), rows))
    divergence = coo_array(ends, shape=(values.size, len(edges)))
    rises = np.sign(x[edges[:, 0]] - x[edges[:, 1]])
    lower = np.where(rises > 0.0, weights, -weights)
    upper = np.where(rises < 0.0, -weights, weights)
    slack = eye_array(values.size)
    solution = linprog(
        np.repeat([0.0, 1.0], [len(edges), 2 * values.size]),
        A_eq=hstack((divergence, slack, -slack)),
        b_eq=values - x,
        bounds=np.vstack(
            (np.column_stack((lower, upper)), [[0.0, np.inf]] * (2 * values.size))
        ),
    )
    assert solution.fun <= 1e-8


@pytest.mark.parametrize("kind", GRAPHS)
def test_the_gap_notices_a_small_error(kind):
    problem = problem_of(kind, "normal", np.random.default_rng(2))
    x = prox(*problem)
    x[3] += 1e-3
    assert optimality_gap(x, *problem) >= 0.4e-6
    assert optimality_gap(problem[0], *problem) > 1.0


def test_numbers_whose_sums_may_overflow_are_rejected():
    values, edges, weights = problem_of("grid", "normal", np.random.default_rng(3))
    for problem in ((1e250 * values, edges, weights), (values, edges, 1e250 + weights)):
        with pytest.raises(ValueError, match=r"at most 1e\+200.*Divide all of them"):
            prox(*problem)


@pytest.mark.parametrize("kind", GRAPHS)
def test_names_order_and_direction_do_not_matter(kind):
    rng = np.random.default_rng(4)
    values, edges, weights = problem_of(kind, "normal", rng)
    x = prox(values, edges, weights)
    names, order = rng.permutation(x.size), rng.permutation(len(edges))
    shuffled = np.empty_like(values)
    shuffled[names] = values
    renamed = rng.permuted(names[edges[order]], axis=1)
    smoothed = prox(shuffled, renamed, weights[order])
    assert_allclose(smoothed[names], x, rtol=0.0, atol=1e-12)


@pytest.mark.parametrize("kind", GRAPHS)
def test_each_part_of_a_graph_is_solved_on_its_own(kind):
    rng = np.random.default_rng(7)
    values, edges, weights = problem_of(kind, "normal", rng)
    tree = random_tree(100, rng)
    pulls = rng.exponential(size=99)
    both = side_by_side((values.size, edges), (100, tree))
    far = 1e9 * rng.standard_normal(100)
    x = prox(np.append(values, far), both, np.append(weights, 1e9 * pulls))
    alone = prox(values, edges, weights)
    assert_allclose(x[: values.size], alone, rtol=0.0, atol=1e-12)
    assert_array_equal(x[values.size :], prox(far, tree, 1e9 * pulls))


def test_an_edge_given_twice_counts_twice():
    values, edges, weights = problem_of("sparse", "normal", np.random.default_rng(12))
    twice = np.vstack((edges, edges[:, ::-1]))
    x = prox(values, twice, np.append(0.25 * weights, 0.75 * weights))
    assert_allclose(x, prox(values, edges, weights), rtol=0.0, atol=1e-13)


@pytest.mark.parametrize(
    ("edges", "weights", "words"),
    [
        ([[0, 1], [1, 2]], [1.0, -0.5], r"weights\[1\] is -0.5"),
        ([[0, 1], [1, 2]], [1.0], "each of the 2 edges"),
        ([[0, 1], [2, 2]], [1.0, 1.0], "2"),
    ],
)
def test_bad_edges_and_weights_are_rejected(edges, weights, words):
    values = [1.0, 2.0, 3.0]
    with pytest.raises(ValueError, match=words):
        prox(values, edges, weights)


def test_a_square_is_solved_by_hand():
    # 8 is pulled down by 1 from both sides; 0 opposite, up; 4 and 4 pull as they are
    square = np.array([[0, 1], [1, 2], [2, 3], [3, 0]])
    x = prox(np.array([8.0, 4.0, 0.0, 4.0]), square, np.ones(4))
    assert_array_equal(x, [6.0, 4.0, 2.0, 4.0])
