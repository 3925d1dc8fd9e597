"""BoundedL2 is L2 where it has nothing to bound, and keeps the rest from below 0."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from aucmax.regularizers.l2 import L2, BoundedL2

points = arrays(float, 5, elements=st.integers(-4, 4).map(float))


@given(point=points, slope=points, constant=st.integers(-3, 9).map(float))
def test_with_nothing_to_bound_it_is_l2(point, slope, constant):
    free, plain = BoundedL2(first_bounded=5), L2()
    assert free.value(point) == plain.value(point)
    assert free.lower_bound(constant, slope) == plain.lower_bound(constant, slope)
    np.testing.assert_array_equal(free.prox(point, 0.5), plain.prox(point, 0.5))


@given(point=points)
def test_the_value_is_infinite_just_where_a_bounded_weight_is_negative(point):
    value = BoundedL2(first_bounded=2).value(point)
    assert np.isinf(value) == (min(point[2:]) < 0.0)


@given(point=points, first=st.integers(0, 5))
def test_no_bounded_weight_comes_out_negative(point, first):
    before = point.copy()
    w = BoundedL2(first).prox(point, 2.0)
    np.testing.assert_array_equal(w[:first], point[:first] / 3.0)
    np.testing.assert_array_equal(w[first:], np.maximum(point[first:], 0.0) / 3.0)
    np.testing.assert_array_equal(point, before)


def test_a_line_that_rises_with_bounded_weights_is_bounded_by_its_constant():
    slope = np.array([0.0, 3.0, 4.0])
    assert BoundedL2(first_bounded=1).lower_bound(2.5, slope) == 2.5
    # falling lines are followed: 2.5 - |slope|^2 / 2 while the line stays above 0
    assert BoundedL2(first_bounded=0).lower_bound(30.0, -slope) == 30.0 - 12.5
    np.testing.assert_array_equal(slope, [0.0, 3.0, 4.0])


@pytest.mark.parametrize("first", [0, 1, 3])
def test_the_lower_bound_is_reached(first):
    rng = np.random.default_rng(first)
    slope, regularizer = rng.normal(size=3), BoundedL2(first)
    bound = regularizer.lower_bound(0.4, slope)
    lowest = np.inf
    for share in np.linspace(0.0, 1.0, 20_001):  # the minimiser is -share slope, cut
        w = -share * slope
        w[first:] = np.maximum(w[first:], 0.0)
        lowest = min(lowest, regularizer.value(w) + max(0.0, 0.4 + slope @ w))
    assert bound == pytest.approx(lowest, abs=1e-4)
    assert bound <= lowest + 1e-12
