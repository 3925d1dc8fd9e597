"""Every decimal becomes the float64 that Python's own float() gives, bit for bit."""

import struct
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from aucmax.datasets import _svmlight_kernels as _kernels

pytestmark = pytest.mark.kernel

digits = st.integers(0, 10**19 - 1)
powers = st.integers(-345, 320)


def read(token):
    return _kernels.number(np.frombuffer(token.encode() + b"\n", dtype=np.uint8), 0)


def bits(value):
    return struct.pack("d", value)


def assert_right_or_left_to_python(token):
    kind, value, end = read(token)
    assert end == len(token)
    assert kind != _kernels.MALFORMED
    if kind == _kernels.EXACT:
        assert bits(value) == bits(float(token)), token


@given(st.floats(allow_nan=False, allow_infinity=False))
@example(5e-324)
@example(2.2250738585072014e-308)
@example(1.7976931348623157e308)
@example(-0.0)
def test_every_float_survives_its_repr(value):
    assert_right_or_left_to_python(repr(value))


@given(digits, powers, st.sampled_from(["", "-", "+"]))
def test_integers_times_powers_of_ten(mantissa, power, sign):
    assert_right_or_left_to_python(f"{sign}{mantissa}e{power}")


@given(st.floats(1e-5, 1e5), st.integers(1, 19), st.sampled_from("gef"))
def test_any_printed_precision(value, precision, style):
    assert_right_or_left_to_python(f"{value:.{precision}{style}}")


@given(st.integers(2**52, 2**53 - 1), st.integers(-4, 10), st.integers(-1, 1))
def test_ties_between_two_floats_and_their_neighbours(mantissa, power, nudge):
    halfway = Fraction(2 * mantissa + 1) * Fraction(2) ** power
    scaled = halfway * 10**4
    assert scaled.denominator == 1
    assert_right_or_left_to_python(f"{scaled.numerator + nudge}e-4")


@pytest.mark.parametrize("token", ["0.1", "123456.789", "0.1234567890123456", "1e22"])
def test_usual_numbers_are_not_left_to_python(token):
    assert read(token)[0] == _kernels.EXACT


@pytest.mark.parametrize("token", ["5.", ".5", "+.5e+3", "007", "0e999999999", "1E2"])
def test_unusual_forms_that_python_reads_are_read(token):
    kind, value, end = read(token)
    assert (kind, end) == (_kernels.EXACT, len(token))
    assert bits(value) == bits(float(token))


@pytest.mark.parametrize("token", ["", "-", ".", "e5", "1e", "1e+", "nan", "+-1", "x"])
def test_what_is_no_number_is_malformed(token):
    assert read(token)[0] == _kernels.MALFORMED


@pytest.mark.parametrize("token", ["1e999", "4.9e-324", "1" * 17, "0." + "1" * 30])
def test_what_is_beyond_the_fast_paths_is_left_to_python(token):
    kind, _, end = read(token)
    assert (kind, end) == (_kernels.LEFT_TO_PYTHON, len(token))
