import numpy as np
import pytest

import reference
from aucmax._sorting import bucket_sort, sort_with_order
from aucmax.risks import PairHinge

pytestmark = pytest.mark.kernel

CROWDED = np.r_[np.linspace(0.0, 1e-9, 400)[::-1], 1e9]
VALUES = {
    "constant": np.zeros(50),
    "one": np.array([3.0]),
    "two": np.repeat([1.0, -1.0], 40),
    "geometric": np.geomspace(1e-300, 1e300, 61),
    "huge": np.array([-1.7e308, 1.7e308, 0.0]),
    "tiny": np.array([0.0, 5e-324, -5e-324]),
    "crowded": CROWDED,
    "cauchy": np.random.default_rng(0).standard_cauchy(300),
    "normal": np.random.default_rng(0).normal(size=1000),
}


@pytest.mark.parametrize("name", VALUES)
def test_values_come_back_sorted_with_their_order(name):
    values = VALUES[name]
    order, ordered = sort_with_order(values)
    np.testing.assert_array_equal(ordered, np.sort(values))
    np.testing.assert_array_equal(values[order], ordered)
    np.testing.assert_array_equal(np.sort(order), np.arange(values.size))


@pytest.mark.parametrize(("name", "spread_out"), [("normal", True), ("crowded", False)])
def test_crowded_values_are_left_to_a_sort_by_comparison(name, spread_out):
    values = VALUES[name]
    buffers = np.empty(values.size, np.int64), np.empty_like(values)
    assert bucket_sort(values, *buffers) is spread_out


def test_risk_of_crowded_scores_is_the_definition():
    labels = np.arange(CROWDED.size) % 2 == 0
    value, _ = PairHinge().value_and_subgradient(CROWDED, labels)
    assert value == pytest.approx(reference.pair_hinge(CROWDED, labels)[0], rel=1e-12)


def test_inputs_may_be_read_only():
    values = np.array([2.0, 1.0, 3.0])
    values.flags.writeable = False
    assert sort_with_order(values)[0].tolist() == [1, 0, 2]
