import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import reference
from aucmax._core.sorting import (
    insertion_sort,
    radix_sort,
    sort_in_groups,
    sort_with_order,
)
from aucmax.risks import PairHinge

pytestmark = pytest.mark.kernel

GENERATOR = np.random.default_rng(0)
SIGNS = GENERATOR.choice([-1.0, 1.0], size=(1500, 100))
NORMAL = GENERATOR.normal(size=1500)
HEAVY = GENERATOR.standard_cauchy(1500) ** 3
CROWDED = np.r_[np.linspace(0.0, 1e-9, 400)[::-1], 1e9]
SPREAD_OUT = {
    "constant": np.full(50, 0.3),
    "one": np.array([3.0]),
    "two": np.repeat([1.0, -1.0], 40),
    "signed zeros": np.tile([0.0, -0.0, 1.0, -0.0, -1.0], 20),
    "normal": NORMAL,
    "sorted": np.sort(NORMAL),
    "falling": -np.sort(NORMAL),
    "few": GENERATOR.integers(0, 9, 1500) / 7.0,
    "sums of signs": SIGNS @ GENERATOR.random(100),
    "an atom": np.maximum(NORMAL, 0.0),
    "a narrow cluster": np.r_[NORMAL, 1e-3 * NORMAL[:100]],
    "few, and crowded": np.where(NORMAL > 0.0, 1e9, 1.0),
    "sorted, and crowded": np.sort(HEAVY),
    "geometric, of few values": np.geomspace(1e-100, 1e100, 61)[::-1],
}
CROWD = {
    "near-ties": np.tile([0.1, np.nextafter(0.1, 1.0), 0.5], 500),
    "equal sums of signs": SIGNS[:, :20] @ np.full(20, 0.05),
    "crowded": CROWDED,
    "heavy tails": HEAVY,
    "clusters and atoms": np.where(
        np.arange(1500) % 2, 1e-3 * NORMAL, GENERATOR.integers(0, 4, 1500)
    ),
    "a crowd at the end": np.r_[np.linspace(-1e9, 0.0, 500), 1e-9 * NORMAL],
    "crowded signed zeros": np.r_[np.tile([0.0, -0.0, 1e-9, -1e-9], 300), 1e9],
    "huge": np.array([-1.7e308, 1.7e308, 0.0]),
    "tiny": np.array([0.0, 5e-324, -5e-324, 0.0]),
    "infinite": np.array([1.0, np.inf, -np.inf, 1.7e308, -1.7e308, np.inf, 0.0]),
    "infinities alone": np.full(5, np.inf),
}
VALUES = SPREAD_OUT | CROWD


@pytest.fixture(autouse=True)
def _any_number_is_many(monkeypatch):
    monkeypatch.setattr("aucmax._core.sorting._MANY", 1)


def test_few_values_need_no_compiled_loop(monkeypatch):
    monkeypatch.setattr("aucmax._core.sorting._MANY", 10**6)
    monkeypatch.delattr("aucmax._core.sorting.bucket_sort")
    for values in VALUES.values():
        check_stable_sort(values, *sort_with_order(values))


@pytest.mark.parametrize("is_side_by_side", [True, False])
@pytest.mark.parametrize("name", VALUES)
def test_groups_are_sorted_each_by_itself(name, is_side_by_side):
    values = VALUES[name]
    sizes = GENERATOR.multinomial(values.size, [0.5, 0.25, 0.25])
    groups = np.repeat(np.arange(3), sizes)
    groups = groups if is_side_by_side else GENERATOR.permutation(groups)
    groups = np.unique(groups, return_inverse=True)[1]
    starts = np.concatenate(([0], np.cumsum(np.bincount(groups))))
    expected = np.lexsort((values, groups))  # keeps the order of equal ones
    np.testing.assert_array_equal(sort_in_groups(values, groups, starts), expected)


def check_stable_sort(values, order, ordered):
    expected = np.argsort(values, kind="stable")
    np.testing.assert_array_equal(order, expected)
    np.testing.assert_array_equal(ordered, values[expected])


@pytest.mark.parametrize("name", VALUES)
def test_values_come_back_sorted_with_their_order(name):
    values = VALUES[name].copy()
    order, ordered = sort_with_order(values)
    check_stable_sort(values, order, ordered)
    assert order.dtype == np.int32
    assert ordered.dtype == np.float64
    np.testing.assert_array_equal(values, VALUES[name])


def by_bytes(values, kind=np.int32):
    bits = (values + 0.0).view(np.int64)
    rows = np.empty((2, values.size), dtype=kind)
    order, bits = radix_sort(bits, rows[0], np.empty_like(bits), rows[1])
    return order, bits.view(np.float64)


@pytest.mark.parametrize("name", VALUES)
def test_any_values_are_sorted_by_their_bytes(name):
    check_stable_sort(VALUES[name], *by_bytes(VALUES[name]))


@given(
    st.one_of(
        arrays(float, st.integers(1, 12), elements=st.floats(allow_nan=False)),
        arrays(float, 12, elements=st.sampled_from([-2.0, -0.0, 0.0, 5e-324, 1.0])),
    )
)
def test_either_way_to_sort_is_stable(values):
    check_stable_sort(values, *by_bytes(values))
    check_stable_sort(values, *sort_with_order(values))


def test_row_numbers_may_be_long():
    order, ordered = by_bytes(HEAVY, np.int64)
    check_stable_sort(HEAVY, order, ordered)
    assert order.dtype == np.int64


def test_insertion_gives_up_after_too_many_moves():
    falling = np.arange(50.0)[::-1]
    n_moves = 50 * 49 // 2
    order, ordered = np.arange(50), falling.copy()
    assert not insertion_sort(order, ordered, n_moves - 1)
    order, ordered = np.arange(50), falling.copy()
    assert insertion_sort(order, ordered, n_moves)
    check_stable_sort(falling, order, ordered)


def test_risk_of_crowded_scores_is_the_definition():
    labels = np.arange(CROWDED.size) % 2 == 0
    value, _ = PairHinge().bind(labels).value_and_gradient(CROWDED)
    assert value == pytest.approx(reference.pair_hinge(CROWDED, labels)[0], rel=1e-12)
