"""The accuracy that `PairLogistic` states, on each way to compute it."""

import numpy as np
import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from aucmax.risks import PairLogistic, PairSigmoid
from aucmax.risks._pairs import logistic_grid
from aucmax.trees.pair_objectives import find_objective
from reference_pair_logistic import pair_logistic
from reference_pair_sigmoid import pair_sigmoid

pytestmark = pytest.mark.kernel

SWITCH = logistic_grid._MIN_ROWS  # rows from which a grid can be cheaper than a sort
EPS = np.finfo(np.float64).eps
# the default, that of trees, the ends of what can be asked for, and some between
ACCURACIES = [1e-7, 2e-5, 0.1, 1e-3, 1e-10, 1e-12]


def equal(generator, size):
    """Nothing but ties."""
    return np.zeros(size)


def nearly_equal(generator, size):
    """Steps of one length, far below the unit."""
    return generator.permutation(size) * 10.0 ** generator.uniform(-12, -3)


def two_clusters(generator, size):
    """Narrow ones, some units from each other."""
    place = generator.integers(0, 2, size) * generator.uniform(0.0, 40.0)
    return place + 1e-4 * generator.random(size)


def heavy_ties(generator, size):
    """Few values, at the ends of cells and between them."""
    return generator.integers(-6, 7, size) * generator.choice([0.25, 0.1, 0.5])


def duplicates(generator, size):
    """Each value several times."""
    return generator.normal(size=size)[generator.integers(0, size // 5, size)]


def smooth(generator, size):
    """As models have them."""
    return generator.normal(size=size)


KINDS = [equal, nearly_equal, two_clusters, heavy_ties, duplicates, smooth]
SCALES = [1.0, 1e-9, 1e-6, 1e-3, 1e3, 1e9]
OFFSETS = [0.0, 1.0, -1e3, 1e9]


@st.composite
def rows(draw):
    """Scores, labels, queries and weights of some rows."""
    generator = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    size = draw(st.sampled_from([SWITCH, SWITCH - 1, SWITCH + 1, 60, 900]))
    scale = draw(st.sampled_from(SCALES))
    scores = draw(st.sampled_from(KINDS))(generator, size) * scale
    scores += draw(st.sampled_from(OFFSETS)) * scale
    n_positives = draw(st.sampled_from([size // 2, 2, size // 5]))
    labels = np.zeros(size, dtype=np.int64)
    labels[generator.permutation(size)[:n_positives]] = 1
    weight = draw(st.sampled_from([None, [0.5, 1.0, 3.0], [1e-8, 1.0, 1e8]]))
    if weight is not None:
        weight = generator.choice(weight, size)
        weight[generator.integers(0, size)] = 0.0
    n_queries = draw(st.sampled_from([1, 1, 3, size // 4]))
    qid = None if n_queries == 1 else generator.integers(0, n_queries, size)
    return scores, labels, qid, weight


def largest_error(results, expected):
    """Return the largest relative error; what underflows has none."""
    tiny = np.abs(expected) < 1e-290
    errors = np.abs(np.subtract(results, expected)) / np.where(tiny, 1e-290, expected)
    return float(np.abs(errors).max())


def rounding(size):
    """Return the relative error of the sums themselves, and of the definition's."""
    return 1e-14 + size * EPS


@given(rows(), st.sampled_from(ACCURACIES))
def test_value_gradient_and_hessian_of_the_logistic_loss_are_as_accurate_as_stated(
    rows, accuracy
):
    scores, labels, qid, weight = rows
    pairs = PairLogistic(accuracy=accuracy).bind(labels, weight, qid)
    expected = pair_logistic(scores, labels, qid, weight)
    results = pairs.value_gradient_hessian(scores)
    for ours, literal in zip(results, expected[:3], strict=True):
        error = largest_error(ours, literal)
        event(f"share of the accuracy: {error / accuracy:.1f}")
        assert error <= accuracy + rounding(scores.size)


@given(rows(), st.sampled_from(ACCURACIES), st.sampled_from([1.0, 1e-9, 0.1, 1e9]))
def test_value_and_gradient_of_the_sigmoid_are_as_accurate_as_stated(
    rows, accuracy, tau
):
    scores, labels, qid, weight = rows
    pairs = PairSigmoid(tau=tau, accuracy=accuracy).bind(labels, weight, qid)
    expected = pair_sigmoid(scores, labels, qid, weight, tau=tau)
    for ours, literal in zip(pairs.value_and_gradient(scores), expected, strict=True):
        assert largest_error(ours, literal) <= accuracy + rounding(scores.size)


@pytest.mark.parametrize("size", [60, 100, SWITCH - 2, SWITCH, SWITCH + 2, 2**14])
def test_ties_have_the_slope_and_the_curvature_of_the_definition(size):
    """So four rows of a round that starts at one score weigh 1, as limits expect."""
    labels = np.arange(size) % 2
    pairs = find_objective("logistic").risk().bind(labels)
    out = np.empty(size, dtype=np.float32), np.empty(size, dtype=np.float32)
    for score in (0.0, 0.3, -1e9):
        gradient, hessian = pairs.gradient_hessian(
            np.full(size, score), scaled=True, out=out
        )
        np.testing.assert_array_equal(gradient, 0.5 - labels)
        np.testing.assert_array_equal(hessian, 0.25)
