# mypy: allow-untyped-defs, allow-untyped-calls, disallow-untyped-decorators=False
r"""Compiled Frank-Wolfe steps over known planes.

Graph m has planes :math:`b_{mp} + \langle a_{mp}, w \rangle` below its risk, with
shares that sum to 1. Legend: `slopes` of shape (n_graphs, max planes, n_parameters),
with `offsets`, `shares` and the `counts` of planes of each graph; `slope` is that of
the mixture of all, and the weights minimise half their square plus C times that
mixture. Weights from `first_bounded` on are not below 0.
"""

import numpy as np

from aucmax._core.compiled import njit

_MAX_STEPS = 60
_FLAT_SHARE = 1e-12  # of the first slope, at which a line search ends


@njit(cache=True, nogil=True)
def _set_weights(weights, slope, C, first_bounded):
    """Set the weights that minimise the penalty plus C times a plane."""
    for j in range(slope.size):
        weight = -C * slope[j]
        weights[j] = weight if j < first_bounded or weight > 0.0 else 0.0


@njit(cache=True, nogil=True)
def _rise(slope, step, turn, gain, C, first_bounded, n_graphs):
    """Return the dual's derivative along a turn of the slope, and its curvature."""
    rise, curvature = gain, 0.0
    for j in range(slope.size):
        weight = -C * (slope[j] + step * turn[j] / n_graphs)
        if j < first_bounded or weight > 0.0:
            rise += weight * turn[j]
            curvature += turn[j] * turn[j]
    return rise, C * curvature / n_graphs


@njit(cache=True, nogil=True)
def _best_step(slope, turn, gain, most, C, first_bounded, n_graphs):
    """Search the line exactly: the dual is concave and piecewise quadratic on it."""
    low, high, step, first = 0.0, most, most, 0.0
    for k in range(_MAX_STEPS):
        rise, curvature = _rise(slope, step, turn, gain, C, first_bounded, n_graphs)
        if k == 0:  # at the end of the line; then at its beginning
            if rise >= 0.0:
                break
            step = 0.0
            continue
        if k == 1:
            first = rise
        if abs(rise) <= _FLAT_SHARE * first:
            break
        if rise > 0.0:
            low = step
        else:
            high = step
        newton = step + rise / curvature if curvature > 0.0 else low - 1.0
        step = newton if low < newton < high else 0.5 * (low + high)
    return step


@njit(cache=True, nogil=True)
def _compare(heights, shares, m, n_planes):
    """Return the highest plane, the lowest in use, and the height of the mixture."""
    top, bottom, mixed = 0, -1, 0.0
    for p in range(n_planes):
        mixed += shares[m, p] * heights[p]
        if heights[p] > heights[top]:
            top = p
        if shares[m, p] > 0.0 and (bottom < 0 or heights[p] < heights[bottom]):
            bottom = p
    return top, bottom, mixed


@njit(cache=True, nogil=True)
def ascend(slopes, offsets, shares, counts, slope, C, first_bounded, enough, n_sweeps):
    """Move shares from the lowest plane in use to the highest, graph by graph."""
    # until the mean difference between the highest plane and the mixture is enough
    n_graphs, capacity, n = slopes.shape
    heights, turn, weights = np.empty(capacity), np.empty(n), np.empty(n)
    for _ in range(n_sweeps):
        missing = 0.0
        for m in range(n_graphs):
            _set_weights(weights, slope, C, first_bounded)
            for p in range(counts[m]):
                heights[p] = offsets[m, p]
                for j in range(n):
                    heights[p] += weights[j] * slopes[m, p, j]
            top, bottom, mixed = _compare(heights, shares, m, counts[m])
            missing += heights[top] - mixed
            if not heights[top] > heights[bottom]:
                continue
            for j in range(n):
                turn[j] = slopes[m, top, j] - slopes[m, bottom, j]
            gain = offsets[m, top] - offsets[m, bottom]
            most = shares[m, bottom]
            step = _best_step(slope, turn, gain, most, C, first_bounded, n_graphs)
            shares[m, top] += step
            shares[m, bottom] = 0.0 if step == most else most - step
            for j in range(n):
                slope[j] += step / n_graphs * turn[j]
        if missing / n_graphs <= enough:
            break
