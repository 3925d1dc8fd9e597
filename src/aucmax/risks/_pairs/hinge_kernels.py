# mypy: allow-untyped-defs, allow-untyped-calls, disallow-untyped-decorators=False
"""Compiled sums of hinges over the pairs of sorted groups.

Legend: s, u and t, w are scores and weights of the positives and the negatives of one
query, ascending. Negatives of query q are the rows from starts[2 q] on, positives those
from starts[2 q + 1] on. `down` and `up` are minus the slopes of positives, and the
slopes of negatives. Pairs up to `slack` beyond the kink have no slope.
"""

import numpy as np

from aucmax._core.compiled import njit


@njit(cache=True, nogil=True)
def first_weights(values, weights, amount, side):
    """Return each row's weight among the first `amount`; tied rows share equally."""
    # values ascend; the first is the largest for side 1, the smallest for side -1
    n = values.size
    weights_in_range = np.zeros(n)
    k = 0
    while k < n and amount > 0.0:
        start, mass = k, 0.0
        value = values[n - 1 - k if side > 0 else k]
        while k < n and values[n - 1 - k if side > 0 else k] == value:
            mass += weights[n - 1 - k if side > 0 else k]
            k += 1
        share = amount / mass if mass > amount else 1.0
        for tied in range(start, k):
            j = n - 1 - tied if side > 0 else tied
            weights_in_range[j] = share * weights[j]
        amount -= mass
    return weights_in_range


@njit(cache=True, nogil=True)
def first_weights_of_groups(values, weights, starts, ends):
    """Return the weights of the first rows of each group, up to ends[query]."""
    # ends = weights at which ranges end: of the negatives that are skipped, of the
    # negatives and of the positives that count
    weights_in_range = np.empty(weights.size)
    for group in range(starts.size - 1):
        first, stop = starts[group], starts[group + 1]
        side = -1 if group % 2 else 1
        amount = ends[group // 2, 2 if group % 2 else 1]
        weights_in_range[first:stop] = first_weights(
            values[first:stop], weights[first:stop], amount, side
        )
    return weights_in_range


@njit(cache=True, nogil=True)
def add_hinges(s, u, t, w, margin, slack, down, up):
    """Sum u w max(0, t - s + margin) over all pairs; add its slopes to down and up."""
    # mass and moment cover the negatives above positive i less the margin; they grow
    total = mass = moment = 0.0
    n_below = t.size
    for i in range(s.size - 1, -1, -1):
        while n_below > 0 and t[n_below - 1] - s[i] + margin > slack:
            n_below -= 1
            mass += w[n_below]
            moment += w[n_below] * t[n_below]
        down[i] += u[i] * mass
        total += u[i] * (moment + mass * (margin - s[i]))
    mass = 0.0
    i = 0
    for j in range(t.size):
        while i < s.size and t[j] - s[i] + margin > slack:
            mass += u[i]
            i += 1
        up[j] += w[j] * mass
    return total


@njit(cache=True, nogil=True)
def add_differences(s, u, t, w, down, up):
    """Sum u w (t - s) over all pairs; add its slopes to down and up."""
    mass, own_mass = w.sum(), u.sum()
    down += u * mass
    up += w * own_mass
    return own_mass * (w * t).sum() - mass * (u * s).sum()


@njit(cache=True, nogil=True)
def count_passing(s, t, inside, skipped):
    """Count the positives that gain by passing the skipped negatives, the first."""
    # such a positive pays s - t to each skipped negative below it, and gains the hinge
    # with those inside; the price rises with s, and the gain falls
    gains = np.empty(s.size)
    mass = moment = 0.0
    j = t.size
    for i in range(s.size - 1, -1, -1):
        while j > 0 and t[j - 1] - s[i] + 1.0 > 0.0:
            j -= 1
            mass += inside[j]
            moment += inside[j] * t[j]
        gains[i] = moment + mass * (1.0 - s[i])
    mass = moment = 0.0
    j = 0
    for i in range(s.size):
        while j < t.size and t[j] < s[i]:
            mass += skipped[j]
            moment += skipped[j] * t[j]
            j += 1
        if not gains[i] > mass * s[i] - moment:
            return i
    return s.size


@njit(cache=True, nogil=True)
def structural_hinge(s, u, t, w, ends, is_loose, slack, down, up):
    """Sum the structural hinge over the pairs of one query; see `add_hinges`."""
    skipped = first_weights(t, w, ends[0], 1)
    inside = np.maximum(first_weights(t, w, ends[1], 1) - skipped, 0.0)
    chosen = first_weights(s, u, ends[2], -1)
    total, k = 0.0, s.size
    if ends[0] > 0.0:
        # the first k positives pass all skipped negatives, the others stay among them
        k = count_passing(s, t, inside, skipped)
        total += add_differences(s[:k], chosen[:k], t, skipped, down[:k], up)
        total += add_hinges(s[k:], chosen[k:], t, skipped, 0.0, slack, down[k:], up)
    total += add_hinges(s[:k], chosen[:k], t, inside, 1.0, slack, down[:k], up)
    if is_loose:
        # pairs with a row outside have no loss, but their order counts
        outside = np.maximum(w - skipped - inside, 0.0)
        total += add_hinges(s, chosen, t, outside, 0.0, slack, down, up)
        total += add_hinges(s, u - chosen, t, w, 0.0, slack, down, up)
    return total


@njit(cache=True, nogil=True)
def sum_hinges(values, weights, starts, slacks, pairs, ends, is_loose, slopes):
    """Sum the structural hinge of each query over its weight of pairs; add slopes.

    Without any `ends`, all rows count by their weights.
    """
    total = 0.0
    for q in range(pairs.size):
        first, middle, stop = starts[2 * q], starts[2 * q + 1], starts[2 * q + 2]
        s, u, down = values[middle:stop], weights[middle:stop], slopes[middle:stop]
        t, w, up = values[first:middle], weights[first:middle], slopes[first:middle]
        if ends.size == 0:
            value = add_hinges(s, u, t, w, 1.0, slacks[q], down, up)
        else:
            value = structural_hinge(s, u, t, w, ends[q], is_loose, slacks[q], down, up)
        total += value / pairs[q]
    return total


@njit(cache=True, nogil=True)
def add_ramps(queries, values, weights, width, sums):
    """Add, for each query, the sum of weight * clip((query - value) / width + 1/2)."""
    # Both ascend. Values half a width or more below the query count in full; mass and
    # moment are those of the values on the ramp, with distances from the query, so that
    # rounding is relative to the width.
    full = mass = moment = 0.0
    low = high = 0
    half = width / 2.0
    for i in range(queries.size):
        query = queries[i]
        if high > low:
            moment -= mass * (query - queries[i - 1])
        while low < values.size and values[low] - query <= -half:
            if low < high:
                mass -= weights[low]
                moment -= weights[low] * (values[low] - query)
            full += weights[low]
            low += 1
        if high <= low:
            high = low
            mass = moment = 0.0
        while high < values.size and values[high] - query < half:
            mass += weights[high]
            moment += weights[high] * (values[high] - query)
            high += 1
        sums[i] += full + min(max(mass / 2.0 - moment / width, 0.0), mass)


@njit(cache=True, nogil=True)
def sum_ramps(values, weights, starts, width, slopes):
    """Fill in the slopes of the sums of hinges whose kinks are rounded off."""
    slopes[:] = 0.0
    for q in range((starts.size - 1) // 2):
        first, middle, stop = starts[2 * q], starts[2 * q + 1], starts[2 * q + 2]
        s, u, down = values[middle:stop], weights[middle:stop], slopes[middle:stop]
        t, w, up = values[first:middle], weights[first:middle], slopes[first:middle]
        t = t + 1.0
        add_ramps(t, s, u, width, up)
        # the same ramps, seen from above
        add_ramps(-s[::-1], -t[::-1], w[::-1], width, down[::-1])
        up *= w
        down *= u
