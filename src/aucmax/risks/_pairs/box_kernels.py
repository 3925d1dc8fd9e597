# mypy: allow-untyped-defs, allow-untyped-calls, disallow-untyped-decorators=False
"""Compiled sweeps over two sorted classes and the ranges of their ranks."""

import numpy as np

from aucmax._core.compiled import njit


@njit(cache=True, nogil=True)
def first_weights(values, weights, amount, side):
    """Return each row's weight among the first `amount`; tied rows share equally."""
    # values ascend; the first is the largest for side 1, the smallest for side -1
    n = values.size
    taken = np.zeros(n)
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
            taken[j] = share * weights[j]
        amount -= mass
    return taken


@njit(cache=True, nogil=True)
def first_weights_of_groups(values, weights, starts, negatives, positives):
    """Return each row's weight among the first rows of its group."""
    # groups begin at starts, negatives and positives in turn; values ascend in each
    taken = np.empty(weights.size)
    for group in range(starts.size - 1):
        first, stop = starts[group], starts[group + 1]
        amount = 0.0
        for i in range(first, stop):
            amount += weights[i]
        amount *= positives if group % 2 else negatives
        side = -1 if group % 2 else 1
        own = first_weights(values[first:stop], weights[first:stop], amount, side)
        for i in range(first, stop):
            taken[i] = own[i - first]
    return taken


@njit(cache=True, nogil=True)
def add_hinges(s, u, t, w, margin, slack, down, up):
    """Sum u w max(0, t - s + margin) over all pairs; add its slopes to down and up."""
    # s, u and t, w = scores and weights of positives and negatives, ascending; down =
    # minus the slopes of positives; pairs up to slack beyond the kink have none
    # mass and moment cover the negatives that positive i meets; they only grow
    total = mass = moment = 0.0
    met = t.size
    for i in range(s.size - 1, -1, -1):
        while met > 0 and t[met - 1] - s[i] + margin > slack:
            met -= 1
            mass += w[met]
            moment += w[met] * t[met]
        down[i] += u[i] * mass
        total += u[i] * (moment + mass * (margin - s[i]))
    mass = 0.0
    met = 0
    for j in range(t.size):
        while met < s.size and t[j] - s[met] + margin > slack:
            mass += u[met]
            met += 1
        up[j] += w[j] * mass
    return total


@njit(cache=True, nogil=True)
def add_differences(s, u, t, w, down, up):
    """Sum u w (t - s) over all pairs; add its slopes to down and up."""
    mass = moment = own_mass = total = 0.0
    for j in range(t.size):
        mass += w[j]
        moment += w[j] * t[j]
    for i in range(s.size):
        own_mass += u[i]
        down[i] += u[i] * mass
        total += u[i] * (moment - mass * s[i])
    for j in range(t.size):
        up[j] += w[j] * own_mass
    return total


@njit(cache=True, nogil=True)
def count_passing(s, t, inside, skipped):
    """Count the positives that gain by passing the skipped negatives, the first."""
    # such a positive pays s - t to each skipped negative below it, and gains the hinge
    # with those inside; the price rises with s, and the gain falls
    gains = np.empty(s.size)
    mass = moment = 0.0
    met = t.size
    for i in range(s.size - 1, -1, -1):
        while met > 0 and t[met - 1] - s[i] + 1.0 > 0.0:
            met -= 1
            mass += inside[met]
            moment += inside[met] * t[met]
        gains[i] = moment + mass * (1.0 - s[i])
    mass = moment = 0.0
    met = 0
    for i in range(s.size):
        while met < t.size and t[met] < s[i]:
            mass += skipped[met]
            moment += skipped[met] * t[met]
            met += 1
        if not gains[i] > mass * s[i] - moment:
            return i
    return s.size


@njit(cache=True, nogil=True)
def box_hinge(s, u, t, w, box, is_loose, slack, down, up):
    """Sum the structural hinge over the pairs of one sample; see `add_hinges`."""
    # box = weights at which ranges end: the first negatives, which are skipped, the
    # negatives up to the end of their range, the positives up to theirs
    skipped = first_weights(t, w, box[0], 1)
    inside = first_weights(t, w, box[1], 1)
    for j in range(t.size):
        inside[j] = max(inside[j] - skipped[j], 0.0)
    chosen = first_weights(s, u, box[2], -1)
    total, k = 0.0, s.size
    if box[0] > 0.0:
        # the first k positives pass all skipped negatives, the others stay among them
        k = count_passing(s, t, inside, skipped)
        total += add_differences(s[:k], chosen[:k], t, skipped, down[:k], up)
        total += add_hinges(s[k:], chosen[k:], t, skipped, 0.0, slack, down[k:], up)
    total += add_hinges(s[:k], chosen[:k], t, inside, 1.0, slack, down[:k], up)
    if is_loose:
        # pairs with a row outside have no loss, but their order counts
        for j in range(t.size):
            inside[j] = max(w[j] - skipped[j] - inside[j], 0.0)
        total += add_hinges(s, chosen, t, inside, 0.0, slack, down, up)
        for i in range(s.size):
            chosen[i] = u[i] - chosen[i]
        total += add_hinges(s, chosen, t, w, 0.0, slack, down, up)
    return total


@njit(cache=True, nogil=True)
def mean_over_queries(values, weights, starts, box, is_loose, rounding, slopes):
    """Average the structural hinge over queries with both classes; fill the slopes."""
    # negatives of query q ascend from starts[2 q] on, positives from starts[2 q + 1];
    # box = ends of ranges in shares of the class weights; values are shifted in place
    n_counted, total = 0, 0.0
    ends = np.empty(3)
    for q in range((starts.size - 1) // 2):
        first, middle, stop = starts[2 * q], starts[2 * q + 1], starts[2 * q + 2]
        slopes[first:stop] = 0.0
        mass = own_mass = 0.0
        for j in range(first, middle):
            mass += weights[j]
        for i in range(middle, stop):
            own_mass += weights[i]
        if mass == 0.0 or own_mass == 0.0:
            continue
        ends[0], ends[1], ends[2] = box[0] * mass, box[1] * mass, box[2] * own_mass
        low = min(values[first], values[middle])
        high = max(values[middle - 1], values[stop - 1])
        level = min(max(low, 0.0), high)  # sums keep their digits without it
        for i in range(first, stop):
            values[i] -= level
        n_counted += 1
        total += box_hinge(
            values[middle:stop],
            weights[middle:stop],
            values[first:middle],
            weights[first:middle],
            ends,
            is_loose,
            rounding * max(-low, high, 1.0),
            slopes[middle:stop],
            slopes[first:middle],
        ) / ((ends[1] - ends[0]) * ends[2])
        for i in range(first, stop):
            pairs = (ends[1] - ends[0]) * ends[2]
            slopes[i] = slopes[i] / pairs if i < middle else 0.0 - slopes[i] / pairs
    for i in range(slopes.size):
        slopes[i] /= max(n_counted, 1)
    return total / max(n_counted, 1)


@njit(cache=True, nogil=True)
def bring_near_zero(values, first, middle, stop):
    """Shift two ascending stretches so that sums keep digits; return the magnitude."""
    low = values[first] if values[first] < values[middle] else values[middle]
    high = (
        values[middle - 1]
        if values[middle - 1] > values[stop - 1]
        else values[stop - 1]
    )
    level = low if low > 0.0 else (high if high < 0.0 else 0.0)
    for i in range(first, stop):
        values[i] -= level
    largest = -low if -low > high else high
    return largest if largest > 1.0 else 1.0


@njit(cache=True, nogil=True)
def mean_pair_hinge(values, weights, starts, rounding, slopes):
    """Average the hinge of all pairs over queries; compiles in a tenth of the time."""
    n_counted, total = 0, 0.0
    for q in range((starts.size - 1) // 2):
        first, middle, stop = starts[2 * q], starts[2 * q + 1], starts[2 * q + 2]
        all_mass = own_mass = 0.0
        for j in range(first, middle):
            slopes[j] = 0.0
            all_mass += weights[j]
        for i in range(middle, stop):
            slopes[i] = 0.0
            own_mass += weights[i]
        if all_mass == 0.0 or own_mass == 0.0:
            continue
        n_counted += 1
        slack = rounding * bring_near_zero(values, first, middle, stop)
        # mass and moment cover the negatives that a positive meets; they only grow
        mass = moment = 0.0
        met = middle
        for i in range(stop - 1, middle - 1, -1):
            while met > first and values[met - 1] - values[i] + 1.0 > slack:
                met -= 1
                mass += weights[met]
                moment += weights[met] * values[met]
            own = weights[i] / own_mass
            slopes[i] -= own * (mass / all_mass)
            total += own * ((moment + mass * (1.0 - values[i])) / all_mass)
        mass = 0.0
        met = middle
        for j in range(first, middle):
            while met < stop and values[j] - values[met] + 1.0 > slack:
                mass += weights[met]
                met += 1
            slopes[j] = weights[j] / all_mass * (mass / own_mass)
    n_counted = n_counted if n_counted > 1 else 1
    for i in range(slopes.size):
        slopes[i] /= n_counted
    return total / n_counted
