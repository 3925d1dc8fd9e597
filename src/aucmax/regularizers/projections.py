r"""Projections onto the L1, elastic-net and group balls, and their support functions.

With a share rho of the L1 norm, the ball holds the magnitudes w >= 0 with

    sum_i omega_i (rho w_i + (1 - rho) / 2 w_i^2) <= r

Three questions lead to points in which rho + (1 - rho) w_i is proportional to numbers
g_i > 0 wherever w_i > 0: which w is nearest to magnitudes u outside, measured by omega
as well (g_i = rho + (1 - rho) u_i), which has the largest <g, w>, and which w, inside
or not, reaches <g, w> = o at the least cost. Seen from the largest one, x = w_1,

    w_i = max(0, c_i x - rho e_i),    c_i = g_i / g_1,    e_i = (1 - c_i) / (1 - rho),

and with the first k, the largest, above 0 an equation for x remains:

    (1 - rho) / 2 x^2 + rho x = (r + rho^2 sum_i omega_i e_i (1 + c_i) / 2)
                                / sum_i omega_i c_i^2                    to spend r
    x = (o / g_1 + rho sum_i c_i e_i) / sum_i c_i^2                     to reach o

No sum has terms of both signs, so a tiny radius next to a huge point loses no digits.

Legend: rho = l1_ratio; u, w = magnitudes before and after; omega = weights (1, or the
sizes of groups); c = slopes; e = distances from the largest, (u_1 - u_i) / g_1.

References
----------
.. [1] C. Michelot. A finite algorithm for finding the projection of a point onto the
   canonical simplex of R^n. Journal of Optimization Theory and Applications 50 (1986).
.. [2] T. Radzik. Newton's method for fractional combinatorial optimization. Symposium
   on Foundations of Computer Science (1992).
"""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from aucmax._core.validation import FloatArray

_Numbers: TypeAlias = FloatArray | np.float64


def euclidean_norm(vector: FloatArray) -> float:
    """Return the Euclidean norm; squares neither overflow nor vanish."""
    largest = float(np.abs(vector).max(initial=0.0))
    if largest == 0.0:
        return 0.0
    # not a product of BLAS, which may wait for threads much longer than it takes
    return largest * float(np.sqrt(np.square(vector / largest).sum()))


def half_square(vector: FloatArray, factor: float) -> float:
    """Return ``factor / 2`` times the squared norm, infinite if too large."""
    with np.errstate(over="ignore", under="ignore"):
        return float(np.square(np.sqrt(factor / 2.0) * vector).sum())


def with_signs_of(point: FloatArray, magnitudes: FloatArray) -> FloatArray:
    """Return the magnitudes with the signs of a point, and zeros without a sign."""
    signed: FloatArray = np.copysign(magnitudes, point)
    signed += 0.0
    return signed


def soft_threshold(point: FloatArray, threshold: float) -> FloatArray:
    """Move each coordinate towards 0 by the threshold, and no further than 0."""
    return with_signs_of(point, np.maximum(np.abs(point) - threshold, 0.0))


def nearest_magnitudes(
    magnitudes: FloatArray,
    radius: float,
    l1_ratio: float = 1.0,
    weights: FloatArray | None = None,
) -> FloatArray:
    """Return the nearest magnitudes inside the ball to some outside, in O(n log n)."""
    largest = float(magnitudes.max())
    curvature = 1.0 - l1_ratio
    unit = l1_ratio + curvature * largest
    distances = (largest - magnitudes) / unit
    slopes = (l1_ratio + curvature * magnitudes) / unit
    top = _top_that_spends(radius, slopes, distances, l1_ratio, weights)
    top = min(top, largest)
    nearest: FloatArray = np.maximum(slopes * top - l1_ratio * distances, 0.0)
    return nearest


def support(direction: FloatArray, radius: float, l1_ratio: float) -> float:
    r"""Return the maximum of :math:`\langle g, w \rangle` over an elastic-net ball.

    With :math:`\mu = g_1 / (\rho + (1 - \rho) x)` it is the value of the dual,
    :math:`\mu (r + \frac{1 - \rho}{2} \|w\|^2)`.
    """
    slopes = np.abs(direction)
    largest = float(slopes.max(initial=0.0))
    curvature = 1.0 - l1_ratio
    if largest == 0.0 or curvature == 0.0:
        return radius * largest
    slopes /= largest
    distances = (1.0 - slopes) / curvature
    top = _top_that_spends(radius, slopes, distances, l1_ratio)
    w = np.maximum(slopes * top - l1_ratio * distances, 0.0)
    multiplier = largest / (l1_ratio + curvature * top)
    return multiplier * (radius + half_square(w, curvature))


def tilt_of_least_cost(reach: float, magnitudes: FloatArray, l1_ratio: float) -> float:
    r"""Return the :math:`\theta` with :math:`\theta g_i \le \rho + (1 - \rho) w_i`."""
    # the w, 0 where the inequality is strict, reaches <g, w> = o > 0 at the least cost
    largest = float(magnitudes.max())
    curvature = 1.0 - l1_ratio
    if curvature == 0.0:
        return 1.0 / largest
    slopes = magnitudes / largest
    distances = (1.0 - slopes) / curvature
    top = _top(
        slopes,
        distances,
        l1_ratio,
        lambda c: l1_ratio * c,
        lambda spared, spent: (reach / largest + spared) / spent,
    )
    return (l1_ratio + curvature * top) / largest


def _top_that_spends(
    radius: float,
    slopes: FloatArray,
    distances: FloatArray,
    l1_ratio: float,
    weights: FloatArray | None = None,
) -> float:
    square = l1_ratio * l1_ratio
    curvature = 1.0 - l1_ratio

    def solved(spared: _Numbers, spent: _Numbers) -> _Numbers:
        per_slope = (radius + spared) / spent
        root = np.sqrt(square + 2.0 * curvature * per_slope)
        return per_slope / ((l1_ratio + root) / 2.0)

    def gain(c: FloatArray) -> FloatArray:
        return square * (1.0 + c) / 2.0

    return _top(slopes, distances, l1_ratio, gain, solved, weights)


def _top(
    slopes: FloatArray,
    distances: FloatArray,
    l1_ratio: float,
    gain: Callable[[FloatArray], FloatArray],
    solved: Callable[[_Numbers, _Numbers], _Numbers],
    weights: FloatArray | None = None,
) -> float:
    """Return x, the largest magnitude."""
    # solved(spared, spent) is the x of a choice of magnitudes, from their sums of omega
    # e gain(c) and omega c^2. It is never too small, so magnitudes that it leaves at 0
    # are dropped [1], until none is left: Newton's method on a convex, piecewise-linear
    # function, with O(log n) rounds [2], usually 5 to 10, each shorter than the last.
    c, e = slopes, distances
    omega = np.ones_like(c) if weights is None else weights
    n_used, x = -1, solved(np.float64(0.0), np.float64(1.0))  # the largest alone
    while True:
        used = np.flatnonzero(c * x >= l1_ratio * e)
        if used.size == n_used:
            return float(x)
        c, e, omega, n_used = c[used], e[used], omega[used], used.size
        x = solved((omega * e * gain(c)).sum(), (omega * c * c).sum())
