# mypy: allow-untyped-defs, allow-untyped-calls, disallow-untyped-decorators=False
r"""Compiled Frank-Wolfe steps over planes that are known already.

Graph m has planes :math:`b_{mp} + \langle a_{mp}, w \rangle` below its risk, with
shares that sum to 1. Legend: `slopes` of shape (n_graphs, most planes, n_parameters),
with `offsets`, `shares` and the `counts` of planes of each graph; `slope` is that of
the mixture of all, and the weights minimise the price, half their square, plus C times
that mixture. Weights from `first_bounded` on are not below 0.
"""

import numpy as np
from numba import njit

__all__ = ["ascend", "insert_planes", "weights_at"]

_MOST_STEPS = 60
_FLAT_SHARE = 1e-12  # of the first slope: a line search ends where no more is left


@njit(cache=True, nogil=True)
def weights_at(slope, C, first_bounded):
    """Return the weights that minimise the price plus C times a plane."""
    weights = -C * slope
    for j in range(first_bounded, slope.size):
        weights[j] = max(weights[j], 0.0)
    return weights


@njit(cache=True, nogil=True)
def insert_planes(slopes, offsets, shares, counts, new_slopes, new_offsets):
    """Add a plane to each graph; a full one gives up, or mixes, what it needs least."""
    n_graphs, capacity, _ = slopes.shape
    for m in range(n_graphs):
        at = counts[m]
        if at == capacity:
            at = np.argmin(shares[m])
            if shares[m, at] > 0.0:
                _mix_smallest(slopes[m], offsets[m], shares[m], at)
        else:
            counts[m] += 1
        slopes[m, at] = new_slopes[m]
        offsets[m, at] = new_offsets[m]
        shares[m, at] = 1.0 if counts[m] == 1 else 0.0


@njit(cache=True, nogil=True)
def _mix_smallest(slopes, offsets, shares, at):
    """Mix the plane at a place into the one with the next larger share."""
    into = -1
    for p in range(shares.size):
        if p != at and (into < 0 or shares[p] < shares[into]):
            into = p
    total = shares[at] + shares[into]
    part = shares[at] / total
    slopes[into] += part * (slopes[at] - slopes[into])
    offsets[into] += part * (offsets[at] - offsets[into])
    shares[into] = total
    shares[at] = 0.0


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
    args = (turn, gain, C, first_bounded, n_graphs)
    first, _ = _rise(slope, 0.0, *args)
    last, _ = _rise(slope, most, *args)
    if last >= 0.0:
        return most
    low, high, step = 0.0, most, 0.0
    for _ in range(_MOST_STEPS):
        rise, curvature = _rise(slope, step, *args)
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
def ascend(
    slopes,
    offsets,
    shares,
    counts,
    slope,
    C,
    first_bounded,
    enough,
    max_sweeps,
):
    """Move shares from the lowest plane in use to the highest, graph by graph.

    Until the mean difference between the highest plane and the mixture is `enough`.
    Changes `shares` and `slope`.
    """
    n_graphs, capacity, n = slopes.shape
    heights = np.empty(capacity)
    weights = weights_at(slope, C, first_bounded)
    for _ in range(max_sweeps):
        missing = 0.0
        for m in range(n_graphs):
            top, bottom, mixed = 0, -1, 0.0
            for p in range(counts[m]):
                height = offsets[m, p]
                for j in range(n):
                    height += weights[j] * slopes[m, p, j]
                heights[p] = height
                mixed += shares[m, p] * height
                if height > heights[top]:
                    top = p
                if shares[m, p] > 0.0 and (bottom < 0 or height < heights[bottom]):
                    bottom = p
            missing += heights[top] - mixed
            if not heights[top] > heights[bottom]:
                continue
            turn = slopes[m, top] - slopes[m, bottom]
            gain = offsets[m, top] - offsets[m, bottom]
            most = shares[m, bottom]
            step = _best_step(slope, turn, gain, most, C, first_bounded, n_graphs)
            shares[m, top] += step
            shares[m, bottom] = 0.0 if step == most else most - step
            slope += step / n_graphs * turn
            weights = weights_at(slope, C, first_bounded)
        if missing / n_graphs <= enough:
            break
