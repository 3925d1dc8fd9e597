"""Compiled sums of the logistic loss over all pairs of rows of different levels.

Rows come group by group, by descending score within a group. Legend:

- `decays`[i] is exp(-distance of rows i and i + 1) in scores, `steps`[i] their distance
  in ranks; z, step and gap belong to the previous row of the sweep and this one;
- `near`[b, k - 1] is the sum of ``u * z^k`` over the previous rows of the sweep of
  levels other than b, where u is the weight of the pair except for this row's weight
  and z belongs to their distance; `far` is the same, with each term times the distance
  in ranks;
- `wrong`[b] are sums of u over the previous rows in the wrong order, above a row of
  level b in score though below it in level, or the reverse: plain, times the distance
  in ranks, in scores, and in both.

From row to row each is multiplied by a number of at most 1, and all that is added has
one sign, so that nothing overflows and nothing cancels. Plain loops over the powers
are compiled in a fifth of the time of unrolled ones, and run faster.
"""

# mypy: disable-error-code="no-untyped-def"

import math
from collections import namedtuple

import numpy as np

from aucmax._core.compiled import njit

#: rows in groups: where groups start, and one value per row. No weights: all are 1;
#: no steps: ranks differ by 1; no widths: rows with equal scores keep their order,
#: else they share a rank, and are a third of the sum of their widths apart
SweepRows = namedtuple("SweepRows", "starts scores decays levels weights steps widths")
#: the weight of a pair without its rows' weights: a factor per group (0: leave it out),
#: times the distance of its levels' weights, of shape (n_groups, n_levels), if it has
#: any columns
Pairing = namedtuple("Pairing", "factors level_weights n_levels is_ranked")

#: derivatives of each row, and losses of each group (empty if they are not needed)
Results = namedtuple("Results", "gradient hessian values")
#: the weights of pairs of levels, and the sums of the legend
Sums = namedtuple("Sums", "u near far wrong")

_LARGE = np.finfo(np.float64).max  # an infinite gap times weight 0 would be NaN
FEW_ROWS = 32  # of a group: fewer are compared pair by pair, which is faster


@njit(cache=True, nogil=True)
def fill_steps(scores, widths, starts, steps):
    """Fill in the distances in rank of neighbours; return whether scores are equal."""
    has_ties, before = False, 0.0  # half of the widths of the previous equal scores
    for group in range(starts.size - 1):
        start = starts[group]
        while start < starts[group + 1]:
            stop, width = start, 0.0
            while stop < starts[group + 1] and scores[stop] == scores[start]:
                width += widths[stop] if widths.size > 0 else 1.0
                steps[stop] = 0.0
                stop += 1
            if start > 0:
                steps[start - 1] = before + 0.5 * width
            has_ties = has_ties or stop > start + 1
            before, start = 0.5 * width, stop
    return has_ties


@njit(cache=True, nogil=True)
def find_range(scores, levels, weights, starts, limits, shares):
    """Fill in the share of each row within a range of false positive rates."""
    # Negatives, by descending score, cover stretches of their weight; limits[group] are
    # the ends of the range on it, and the share of positives after the last negative.
    # Tied negatives share equally; positives get the share of the next, or tied, one.
    for group in range(starts.size - 1):
        low, high = limits[group, 0], limits[group, 1]
        first, end = starts[group], starts[group + 1]
        before = 0.0
        start = waiting = first  # of the tied rows; of positives above any negative yet
        while start < end:
            stop, weight = start, 0.0
            while stop < end and scores[stop] == scores[start]:
                if levels[stop] == 0:
                    weight += weights[stop]
                stop += 1
            if weight > 0.0:
                share = 1.0
                if before < low or before + weight > high:
                    inside = min(before + weight, high) - max(before, low)
                    share = min(max(inside, 0.0) / weight, 1.0)
                shares[waiting:stop] = share
                before += weight
                waiting = stop
            start = stop
        shares[waiting:end] = limits[group, 2]


@njit(cache=True, nogil=True)
def sweep(rows, pairing, table, groups, down, results):
    """Fill in both derivatives by the pairs of a row with previous rows of the sweep.

    Small groups and pairs of equal scores are summed in the sweep down, which also
    fills in the loss of each group if `results.values` has any elements.
    """
    n_levels = pairing.n_levels
    u, wrong = np.empty((n_levels, n_levels)), np.empty((n_levels, 4))
    near = np.empty((n_levels, table.shape[1]))
    sums = Sums(u, near, np.empty_like(near), wrong)
    with_value = results.values.size > 0
    for group in range(groups[0], groups[1]):
        first, end = rows.starts[group], rows.starts[group + 1]
        is_small = end - first <= FEW_ROWS
        value = 0.0
        results.gradient[first:end] = 0.0
        results.hessian[first:end] = 0.0
        if pairing.factors[group] != 0.0 and (down or not is_small):
            weigh_levels(pairing, group, u)
            span = (first, end)
            if is_small:
                value = add_pairs(rows, span, u, pairing.is_ranked, with_value, results)
            else:
                value = sweep_group(
                    rows, span, sums, table, pairing.is_ranked, down, results
                )
                if down and pairing.is_ranked and rows.widths.size > 0:
                    value += add_ties(rows, span, u, results)
        if down and with_value:
            results.values[group] = value


@njit(cache=True, nogil=True)
def sweep_group(rows, span, sums, table, is_ranked, down, results):
    """Fill in the derivatives of one group; return its loss, of the sweep down."""
    u, near, far, wrong = sums.u, sums.near, sums.far, sums.wrong
    near[:] = 0.0
    far[:] = 0.0
    wrong[:] = 0.0
    with_value = down and results.values.size > 0
    is_weighted, has_steps = rows.weights.size > 0, rows.steps.size > 0
    by_rank, sign = int(is_ranked), 1.0 if down else -1.0
    w, z, step, gap, value = 1.0, 1.0, 0.0, 0.0, 0.0
    for k in range(span[1] - span[0]):
        i = span[0] + k if down else span[1] - 1 - k
        a = rows.levels[i]
        if k > 0:
            previous = i - 1 if down else i
            z = rows.decays[previous]
            step = rows.steps[previous] if has_steps else float(by_rank)
            if with_value:
                gap = min(rows.scores[i - 1] - rows.scores[i], _LARGE)
        if is_weighted:
            w = rows.weights[i]
        for b in range(u.shape[0]):
            if with_value:
                move_losses(wrong, b, step, gap)
            wrong[b, 1] += step * wrong[b, 0]
            if is_ranked:
                decay_far(near, far, b, z, step)
            decay_and_add(near, b, z, u[b, a] * w)
            wrong[b, 0] += u[b, a] * w if (b > a) == down else 0.0
        slope, curvature, loss = read_sums(far if is_ranked else near, a, table)
        results.gradient[i] = sign * w * (slope - wrong[a, by_rank])
        results.hessian[i] = w * curvature
        value += w * (loss + wrong[a, 2 + by_rank])
    return value


@njit(cache=True, nogil=True)
def weigh_levels(pairing, group, u):
    """Fill in the weight of a pair of two levels in this group."""
    for a in range(u.shape[0]):
        for b in range(u.shape[0]):
            u[a, b] = pairing.factors[group] if a != b else 0.0
            if pairing.level_weights.shape[1] > 0:
                distance = (
                    pairing.level_weights[group, a] - pairing.level_weights[group, b]
                )
                u[a, b] *= abs(distance)


@njit(cache=True, nogil=True, inline="always")
def read_sums(sums, a, table):
    """Return slope, curvature and loss of the pairs of a row of level a."""
    slope = curvature = loss = 0.0
    for k in range(table.shape[1]):
        slope += table[0, k] * sums[a, k]
        curvature += table[1, k] * sums[a, k]
        loss += table[2, k] * sums[a, k]
    return slope, curvature, loss


@njit(cache=True, nogil=True, inline="always")
def move_losses(wrong, b, step, gap):
    """Add the distance to the previous row to the sums of distances of a level."""
    wrong[b, 3] += step * wrong[b, 2] + gap * (wrong[b, 1] + step * wrong[b, 0])
    wrong[b, 2] += gap * wrong[b, 0]


@njit(cache=True, nogil=True, inline="always")
def decay_and_add(near, b, z, u):
    """Multiply sums of a level by the decay since the previous row; add a row."""
    decay = z
    for k in range(near.shape[1]):
        near[b, k] = near[b, k] * decay + u
        decay *= z


@njit(cache=True, nogil=True, inline="always")
def decay_far(near, far, b, z, step):
    """Multiply sums by rank distance by the decay since the previous row."""
    decay = z
    for k in range(near.shape[1]):
        far[b, k] = (far[b, k] + step * near[b, k]) * decay
        decay *= z


@njit(cache=True, nogil=True)
def add_pairs(rows, span, u, is_ranked, with_value, results):
    """Add the derivatives of all pairs of a group, pair by pair; return their loss."""
    value, tied_distance = 0.0, 0.0
    is_weighted, has_steps = rows.weights.size > 0, rows.steps.size > 0
    can_tie, tied_stop = is_ranked and rows.widths.size > 0, span[0]
    for i in range(span[0], span[1]):
        a, w = rows.levels[i], rows.weights[i] if is_weighted else 1.0
        if can_tie and i >= tied_stop:  # the first of rows with equal scores
            tied_stop, width = i, 0.0
            while tied_stop < span[1] and rows.scores[tied_stop] == rows.scores[i]:
                width += rows.widths[tied_stop]
                tied_stop += 1
            tied_distance = width / 3.0
        z, from_i, gradient, hessian = 1.0, 0.0, 0.0, 0.0
        for j in range(i + 1, span[1]):
            # no branch on levels, which are hard to predict: u is 0 for equal ones
            z *= rows.decays[j - 1]
            b = rows.levels[j]
            v = u[a, b] * w
            if is_weighted:
                v *= rows.weights[j]
            if is_ranked:
                from_i += rows.steps[j - 1] if has_steps else 1.0
                v *= tied_distance if j < tied_stop else from_i
            share = 1.0 / (1.0 + z)
            push = v * share * (z if a > b else -1.0)
            curvature = v * z * share * share
            gradient -= push
            hessian += curvature
            results.gradient[j] += push
            results.hessian[j] += curvature
            if with_value and a != b:
                gap = rows.scores[i] - rows.scores[j] if a < b else 0.0
                value += v * (math.log1p(z) + min(gap, _LARGE))
        results.gradient[i] += gradient
        results.hessian[i] += hessian
    return value


@njit(cache=True, nogil=True)
def add_ties(rows, span, u, results):
    """Add the pairs of equal scores at the mean distance of random orders."""
    value = 0.0
    by_level = np.empty(u.shape[0])
    start = span[0]
    while start < span[1]:
        if start + 1 == span[1] or rows.scores[start + 1] < rows.scores[start]:
            start += 1
            continue
        stop, width = start, 0.0
        by_level[:] = 0.0
        while stop < span[1] and rows.scores[stop] == rows.scores[start]:
            w = rows.weights[stop] if rows.weights.size > 0 else 1.0
            by_level[rows.levels[stop]] += w
            width += rows.widths[stop]
            stop += 1
        for i in range(start, stop):
            a, w = rows.levels[i], rows.weights[i] if rows.weights.size > 0 else 1.0
            for b in range(u.shape[0]):
                v = u[a, b] * w * by_level[b] * width / 3.0
                results.gradient[i] += 0.5 * v if b > a else -0.5 * v
                results.hessian[i] += 0.25 * v
                value += 0.5 * math.log(2.0) * v
        start = stop
    return value


@njit(cache=True, nogil=True)
def add_to_edges(scores, levels, weights, bins, at_edges):
    """Divide the weight of each row between both edges of its bin."""
    for i in range(scores.size):
        x = (scores[i] - bins.low) * bins.scale
        k = min(int(x), bins.n_bins - 1)
        w = weights[i] if weights.size else 1.0
        at_edges[k, levels[i]] += w * (1.0 - (x - k))
        at_edges[k + 1, levels[i]] += w * (x - k)


@njit(cache=True, nogil=True)
def read_edges(scores, levels, weights, bins, per_row, gradient, hessian):
    """Fill in both derivatives of each row, interpolated between edges."""
    for i in range(scores.size):
        x = (scores[i] - bins.low) * bins.scale
        k = min(int(x), bins.n_bins - 1)
        level, w = levels[i], weights[i] if weights.size else 1.0
        low, high = w * (1.0 - (x - k)), w * (x - k)
        gradient[i] = low * per_row[0, k, level] + high * per_row[0, k + 1, level]
        hessian[i] = low * per_row[1, k, level] + high * per_row[1, k + 1, level]
