# mypy: allow-untyped-defs, allow-untyped-calls, disallow-untyped-decorators=False
"""Sums to twice the usual precision: a number and its rounding error, the rest."""

from numba import njit

__all__ = ["add", "inlined", "quotient"]

_SPLITTER = 2.0**27 + 1.0

inlined = njit(cache=True, nogil=True, inline="always")


@inlined
def add(a, a_rest, b, b_rest):
    """Return the sum of two numbers with rests as a number with the rest."""
    s = a + b
    t = s - a
    rest = (a - (s - t)) + (b - t) + (a_rest + b_rest)
    total = s + rest
    return total, rest - (total - s)


@inlined
def quotient(a, a_rest, whole):
    """Return (a + a_rest) / whole, rounded once, for a whole number below 2**27."""
    q = a / whole
    t = _SPLITTER * q
    front = t - (t - q)  # 26 bits, so that its product below is exact
    remainder = ((a - front * whole) - (q - front) * whole) + a_rest
    return q + remainder / whole
