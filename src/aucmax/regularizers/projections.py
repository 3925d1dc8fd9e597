r"""Projections onto the L1, elastic-net and group balls, and their support functions.

The nearest point of the L1 ball, to magnitudes u outside, takes the same amount from
all weights, down to 0. With a share rho of the L1 norm, the ball holds the w >= 0 with

    sum_i rho w_i + (1 - rho) / 2 w_i^2 <= r

and the nearest point is w_i = max(0, u_i - lambda rho) / (1 + lambda (1 - rho)) with a
multiplier lambda. Its cost is convex and falls in lambda, so Newton's method from 0
never passes the solution.

Legend: rho = l1_ratio; u, w = magnitudes before and after; omega = weights (1, or the
sizes of groups).

References
----------
.. [1] C. Michelot. A finite algorithm for finding the projection of a point onto the
   canonical simplex of R^n. Journal of Optimization Theory and Applications 50 (1986).
.. [2] T. Radzik. Newton's method for fractional combinatorial optimization. Symposium
   on Foundations of Computer Science (1992).
"""

import numpy as np

from aucmax._core.validation import FloatArray

_MAX_EXCESS = 1e-14  # of a projection's cost over the radius: rounding


def euclidean_norm(vector: FloatArray) -> float:
    """Return the Euclidean norm."""
    # not a product of BLAS, which may wait for threads much longer than it takes
    return float(np.sqrt(np.square(vector).sum()))


def half_square(vector: FloatArray, factor: float) -> float:
    """Return ``factor / 2`` times the squared norm."""
    return factor / 2.0 * float(np.square(vector).sum())


def with_signs_of(point: FloatArray, magnitudes: FloatArray) -> FloatArray:
    """Return the magnitudes with the signs of a point, and zeros without a sign."""
    return np.copysign(magnitudes, point) + 0.0


def soft_threshold(point: FloatArray, threshold: float) -> FloatArray:
    """Move each coordinate towards 0 by the threshold, and no further than 0."""
    return with_signs_of(point, np.maximum(np.abs(point) - threshold, 0.0))


def nearest_in_l1_ball(
    magnitudes: FloatArray, radius: float, weights: FloatArray | None = None
) -> FloatArray:
    r"""Return the w with :math:`\sum_i \omega_i w_i = r` nearest to magnitudes outside.

    Distances are weighted by omega, too.
    """
    omega = np.ones_like(magnitudes) if weights is None else weights
    # seen from the largest one, of which nothing is lost by subtraction
    distances = magnitudes.max() - magnitudes
    top = min(_root(omega, omega * distances, radius), float(magnitudes.max()))
    return np.asarray(np.maximum(top - distances, 0.0))


def nearest_in_elastic_net_ball(
    magnitudes: FloatArray, radius: float, l1_ratio: float
) -> FloatArray:
    """Return the nearest magnitudes inside the ball to some outside."""
    curvature, multiplier = 1.0 - l1_ratio, 0.0
    while True:
        shrinkage = 1.0 + multiplier * curvature
        w: FloatArray = np.maximum(magnitudes - multiplier * l1_ratio, 0.0) / shrinkage
        excess = float((w * (l1_ratio + curvature / 2.0 * w)).sum()) - radius
        fall = float(np.square(l1_ratio + curvature * w[w > 0.0]).sum()) / shrinkage
        last = multiplier
        if excess > _MAX_EXCESS * radius:
            multiplier += excess / fall
        if multiplier == last:
            return w


def support(direction: FloatArray, radius: float, l1_ratio: float) -> float:
    r"""Return the maximum of :math:`\langle g, w \rangle` over an elastic-net ball.

    It is the value of the dual, a bound from above for every :math:`\mu > 0`,

    .. math:: \min_\mu \; \mu r
              + \frac{1}{2 \mu (1 - \rho)} \sum_i (|g_i| - \mu \rho)_+^2 .
    """
    slopes = np.abs(direction)
    largest = float(slopes.max(initial=0.0))
    curvature = 1.0 - l1_ratio
    if largest == 0.0 or curvature == 0.0:
        return radius * largest
    slopes = slopes / largest
    intercepts = np.full(slopes.size, l1_ratio**2)
    square = _root(np.square(slopes), intercepts, 2.0 * curvature * radius)
    multiplier = 1.0 / float(np.sqrt(square))
    excess = np.maximum(slopes - multiplier * l1_ratio, 0.0)
    return largest * (
        multiplier * radius + half_square(excess, 1.0 / (multiplier * curvature))
    )


def tilt_of_least_cost(reach: float, magnitudes: FloatArray, l1_ratio: float) -> float:
    r"""Return the :math:`\theta` with :math:`\theta g_i \le \rho + (1 - \rho) w_i`."""
    # the w, 0 where the inequality is strict, reaches <g, w> = o > 0 at the least cost
    curvature = 1.0 - l1_ratio
    return _root(np.square(magnitudes), l1_ratio * magnitudes, curvature * reach)


def _root(slopes: FloatArray, intercepts: FloatArray, total: float) -> float:
    """Return the x at which max(0, slope x - intercept) sum to a total."""
    # Newton's method on a convex, piecewise-linear function, from above the root; the
    # terms that are 0 are dropped [1], in O(log n) rounds [2]
    while True:
        x = (total + intercepts.sum()) / slopes.sum()
        used = slopes * x > intercepts
        if used.all() or not used.any():
            return float(x)
        slopes, intercepts = slopes[used], intercepts[used]
