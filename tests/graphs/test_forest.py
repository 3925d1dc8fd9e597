import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import config
from numpy.testing import assert_allclose
from scipy.sparse import coo_array
from scipy.sparse.csgraph import breadth_first_order, connected_components

import reference_total_variation as reference
from aucmax.graphs.total_variation import prox

pytestmark = pytest.mark.kernel

EPS = np.finfo(float).eps
MANY = 1200 if config.DISABLE_JIT else 20_000  # in either case too many to recurse
NO_EDGES = np.empty((0, 2), dtype=np.int64)


@st.composite
def small_forests(draw, numbers, most=7):
    """Values, edges and weights; a node hangs from an earlier one, or is a root."""
    n = draw(st.integers(1, most))
    parents = [draw(st.integers(-1, i - 1)) for i in range(n)]
    edges = [(parent, i) for i, parent in enumerate(parents) if parent >= 0]
    edges = [draw(st.permutations(edge)) for edge in draw(st.permutations(edges))]
    names = np.array(draw(st.permutations(range(n))))
    values = draw(st.lists(numbers, min_size=n, max_size=n))
    weights = [abs(draw(numbers)) for _ in edges]
    edges = names[np.array(edges, dtype=np.int64).reshape(-1, 2)]
    return np.array(values, dtype=float), edges, np.array(weights, dtype=float)


whole_numbers = st.integers(-4, 4)

rounded_numbers = st.floats(-10.0, 10.0).map(lambda t: round(t, 3))


def assert_is_exact(problem):
    x, exact = prox(*problem), reference.exact_prox(*problem)
    assert_allclose(x, exact, rtol=0.0, atol=8.0 * EPS * np.abs(problem[0]).max())


@given(small_forests(whole_numbers))
def test_whole_numbers_with_many_ties_give_the_exact_solution_but_for_rounding(problem):
    assert_is_exact(problem)


@given(small_forests(rounded_numbers, most=25))
def test_prox_agrees_with_the_dual_program(problem):
    assert_allclose(prox(*problem), reference.dual_prox(*problem), atol=1e-9)


def parents_of(kind, n, rng):
    """The parent of each node but the first; a parent is an earlier node."""
    children = np.arange(1, n)
    return {
        "chain": children - 1,
        "star": np.zeros(n - 1, dtype=np.int64),
        "binary": (children - 1) // 2,
        "caterpillar": np.where(children % 3 == 0, children - 3, children // 3 * 3),
        "random": (rng.random(n - 1) * children).astype(np.int64),
        "deep": np.maximum(0, children - rng.integers(1, 9, n - 1)),
    }[kind]


def big_forest(kind, n, rng):
    """Shuffled edges of one big tree, from which a few have been taken."""
    edges = np.column_stack((parents_of(kind, n, rng), np.arange(1, n)))
    edges = rng.permutation(n)[edges[rng.random(n - 1) > 3.0 / n]]
    return rng.permuted(rng.permutation(edges), axis=1)


def flows_of(surplus, edges):
    """Return the flow of the surplus over each edge, from its first node to its last.

    Subtrees are summed up with an invisible node at the root of all the trees.
    """
    n = surplus.size
    shape = (n + 1, n + 1)
    _, tree = connected_components(
        coo_array((np.ones(len(edges)), edges.T), shape=(n, n)), directed=False
    )
    roots = np.unique(tree, return_index=True)[1]
    ends = np.vstack((edges, np.column_stack((np.full(roots.size, n), roots))))
    graph = coo_array((np.ones(len(ends)), ends.T), shape=shape).tocsr()
    order, parent = breadth_first_order(graph, n, directed=False)
    below = np.append(surplus, 0.0).astype(np.longdouble)
    for i in order[:0:-1]:
        below[parent[i]] += below[i]
    first_is_child = parent[edges[:, 0]] == edges[:, 1]
    return np.where(first_is_child, below[edges[:, 0]], -below[edges[:, 1]])


def assert_is_optimal(x, values, edges, weights):
    """The flows fit the weights, and use them up between unequal neighbours.

    Equal means bit-equal: where a weight is not used up, so must be the values.
    """
    tolerance = 64.0 * EPS * np.abs(values).max() * values.size
    flows = flows_of(values - x, edges)
    assert np.all(np.abs(flows) <= weights + tolerance)
    rises = np.sign(x[edges[:, 0]] - x[edges[:, 1]])
    different = rises != 0.0
    wanted = rises[different] * weights[different]
    assert_allclose(flows[different], wanted, rtol=0.0, atol=tolerance)
    sums = np.bincount(component_of(edges, x.size), x - values)
    assert np.all(np.abs(sums) <= tolerance)


def component_of(edges, n):
    matrix = coo_array((np.ones(len(edges)), edges.T), shape=(n, n))
    return connected_components(matrix, directed=False)[1]


KINDS = ["chain", "star", "binary", "caterpillar", "random", "deep"]


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("scale", [0.3, 3.0, 300.0])
def test_big_forests_meet_the_conditions_of_optimality(kind, scale):
    rng = np.random.default_rng([KINDS.index(kind), int(scale)])
    edges = big_forest(kind, MANY, rng)
    values = rng.standard_normal(MANY)
    weights = scale * rng.exponential(size=len(edges))
    x = prox(values, edges, weights)
    assert 1 < np.unique(x).size < MANY
    assert_is_optimal(x, values, edges, weights)


@pytest.mark.parametrize("kind", KINDS)
def test_big_forests_of_few_values_meet_the_conditions_of_optimality(kind):
    rng = np.random.default_rng(KINDS.index(kind))
    edges = big_forest(kind, MANY, rng)
    values = rng.integers(-2, 3, MANY).astype(float)
    weights = rng.integers(0, 3, len(edges)).astype(float)
    x = prox(values, edges, weights)
    assert_is_optimal(x, values, edges, weights)


def test_the_conditions_of_optimality_notice_a_small_error():
    rng = np.random.default_rng(0)
    edges = big_forest("random", 300, rng)
    values, weights = rng.standard_normal(300), rng.exponential(size=len(edges))
    x = prox(values, edges, weights)
    x[7] += 1e-9
    with pytest.raises(AssertionError):
        assert_is_optimal(x, values, edges, weights)
