r"""The logistic function of a distance, as a short sum of exponentials.

For a pair of rows at distance :math:`x \ge 0`, with :math:`z = e^{-x}` in (0, 1],

.. math:: \sigma(-x) = \frac{z}{1 + z}, \quad
          \sigma(x)\,\sigma(-x) = \frac{z}{(1 + z)^2}, \quad
          \log(1 + e^{-x}) = \log(1 + z).

Divided by z, each is analytic around [0, 1], with its singularity at -1. A polynomial
that interpolates it in K Chebyshev points of [0, 1] has a relative error of about
:math:`(3 + 2\sqrt2)^{-K} = 5.83^{-K}`, and none at z = 1, of ties. Times z it is
a sum of :math:`z^k = e^{-kx}`, k = 1 ... K, and such sums over many pairs can be
carried from row to row.
"""

from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.polynomial import chebyshev, polynomial

from aucmax._core.validation import FloatArray

#: the finest accuracy: beyond it the rounding of the coefficients shows
FINEST = 1e-12
_MAX_POWERS = 20


def _slope(z: FloatArray) -> FloatArray:
    return 1.0 / (1.0 + z)


def _curvature(z: FloatArray) -> FloatArray:
    return 1.0 / (1.0 + z) ** 2


def _height(z: FloatArray) -> FloatArray:
    return np.log1p(z) / z


@lru_cache(maxsize=16)
def coefficients(accuracy: float) -> FloatArray:
    """Return the coefficients of slope, curvature and height: powers of z, (3, K)."""
    z = np.linspace(1e-9, 1.0, 4097)
    functions = (_slope, _curvature, _height)
    for n_powers in range(1, _MAX_POWERS + 1):
        rows = [_interpolate(function, n_powers) for function in functions]
        errors = [
            np.abs(polynomial.polyval(z, row) / function(z) - 1.0).max()
            for function, row in zip(functions, rows, strict=True)
        ]
        if max(errors) <= accuracy:
            break
    table = np.array(rows)
    table.flags.writeable = False
    return table


def _interpolate(
    function: Callable[[FloatArray], FloatArray], n_points: int
) -> FloatArray:
    """Return the polynomial in z through the Chebyshev-Radau points of [0, 1]."""
    angles = 2.0 * np.pi * np.arange(n_points) / (2 * n_points - 1)
    points = np.cos(angles)
    series = chebyshev.chebfit(points, function((points + 1.0) / 2), n_points - 1)
    in_x = chebyshev.cheb2poly(series)
    in_z = np.zeros(1)
    for coefficient in in_x[::-1]:  # Horner's rule with x = 2z - 1
        in_z = polynomial.polyadd(polynomial.polymul(in_z, [-1.0, 2.0]), [coefficient])
    return np.asarray(in_z, dtype=np.float64)
