"""Compiled sweeps over all pairs of rows of different levels, by moments.

Rows come group by group, by descending score within a group. Legend:

- `decays`[i] is exp(-distance of rows i and i + 1) in scores, `steps`[i] their distance
  in ranks; z and step belong to the row before in the sweep and this one;
- `near`[b, k - 1] is what a row of level b has met so far in the sweep: the sum of
  ``u * z^k`` over the rows of other levels, where u is the weight of the pair but for
  the row's own and z belongs to their distance; `far` is the same, with each term
  times the distance in ranks;
- `passed`[b] are sums of u over those in the wrong order, above a row of level b in
  score though below it in level, or the reverse: as it is, times the distance in ranks,
  in scores, and in both.

From row to row each is multiplied by a number of at most 1, and all that is added has
one sign, so that nothing overflows and nothing cancels. Plain loops over the powers
are compiled in a fifth of the time of unrolled ones, and run faster.
"""

# mypy: disable-error-code="no-untyped-def"

from collections import namedtuple

import numpy as np

from aucmax._core.compiled import njit

#: rows in groups: where groups start, and one value per row (no
#: weights or steps: all are 1)
SweepRows = namedtuple("SweepRows", "starts scores decays steps levels weights")
#: the weight of a pair without its rows' weights: a factor per group (0: leave it out),
#: times the distance of its levels' weights, of shape (n_groups, n_levels), if it has
#: any columns
Pairing = namedtuple("Pairing", "factors level_weights is_ranked")
#: the weights of pairs of levels, and what each level has met in a sweep
Met = namedtuple("Met", "u near far passed")


_LARGE = np.finfo(np.float64).max  # an infinite gap times weight 0 would be NaN


@njit(cache=True, nogil=True)
def scatter_add(rows, span, gradients, hessians, gradient, hessian):
    """Add up both sweeps for their rows."""
    for i in range(span[0], span[1]):
        gradient[rows[i]] = gradients[0, i] + gradients[1, i]
        hessian[rows[i]] = hessians[0, i] + hessians[1, i]


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
            stop, mass = start, 0.0
            while stop < end and scores[stop] == scores[start]:
                if levels[stop] == 0:
                    mass += weights[stop]
                stop += 1
            if mass > 0.0:
                share = 1.0
                if before < low or before + mass > high:
                    inside = min(before + mass, high) - max(before, low)
                    share = min(max(inside, 0.0) / mass, 1.0)
                shares[waiting:stop] = share
                before += mass
                waiting = stop
            start = stop
        shares[waiting:end] = limits[group, 2]


def nothing_met(n_levels: int, n_powers: int) -> Met:
    """Return arrays for the sums that rows of each level have met."""
    return Met(
        np.empty((n_levels, n_levels)),
        np.empty((n_levels, n_powers)),
        np.empty((n_levels, n_powers)),
        np.empty((n_levels, 4)),
    )


@njit(cache=True, nogil=True)
def start_group(met, pairing, group):
    """Forget all rows, and fill in the weight of a pair of levels in this group."""
    level_weights = pairing.level_weights
    for a in range(met.u.shape[0]):
        for k in range(met.near.shape[1]):
            met.near[a, k] = met.far[a, k] = 0.0
        for k in range(met.passed.shape[1]):
            met.passed[a, k] = 0.0
        for b in range(met.u.shape[0]):
            met.u[a, b] = pairing.factors[group] if a != b else 0.0
            if level_weights.shape[1] > 0:
                distance = level_weights[group, a] - level_weights[group, b]
                met.u[a, b] *= abs(distance)


@njit(cache=True, nogil=True, inline="always")
def decay_and_read(near, a, z, table):
    """Carry `near` of one level over to a row of this level; return two sums of it."""
    slope = curvature = 0.0
    power = z
    for k in range(near.shape[1]):
        x = near[a, k] * power
        near[a, k] = x
        slope += table[0, k] * x
        curvature += table[1, k] * x
        power *= z
    return slope, curvature


@njit(cache=True, nogil=True, inline="always")
def decay_and_add(near, b, z, u):
    """Carry `near` of one level over to a row of another level, of weight u to it."""
    power = z
    for k in range(near.shape[1]):
        near[b, k] = near[b, k] * power + u
        power *= z


@njit(cache=True, nogil=True, inline="always")
def decay_and_add_far(near, far, b, z, step, u):
    """Carry `near` and `far` of one level on; then `near` meets a row of weight u."""
    power = z
    for k in range(near.shape[1]):
        x = near[b, k] * power
        far[b, k] = far[b, k] * power + step * x
        near[b, k] = x + u
        power *= z


@njit(cache=True, nogil=True, inline="always")
def decay_and_read_far(near, far, a, z, step, table):
    """Carry `near` and `far` over to a row of their level; return sums of `far`."""
    slope = curvature = 0.0
    power = z
    for k in range(near.shape[1]):
        x = near[a, k] * power
        near[a, k] = x
        x = far[a, k] * power + step * x
        far[a, k] = x
        slope += table[0, k] * x
        curvature += table[1, k] * x
        power *= z
    return slope, curvature


@njit(cache=True, nogil=True)
def leave_out(first, end, gradient, hessian):
    """Fill in zeros for the rows of a group that has no pairs."""
    for i in range(first, end):
        gradient[i] = hessian[i] = 0.0


@njit(cache=True, nogil=True)
def sweep_plain(rows, pairing, table, groups, down, met, gradient, hessian):
    """Sweep over groups where all distances in ranks count alike."""
    u, near, passed = met.u, met.near, met.passed
    sign = 1.0 if down else -1.0
    is_weighted = rows.weights.size > 0
    for group in range(groups[0], groups[1]):
        first, end = rows.starts[group], rows.starts[group + 1]
        if pairing.factors[group] == 0.0:
            leave_out(first, end, gradient, hessian)
            continue
        start_group(met, pairing, group)
        w, z = 1.0, 1.0
        for k in range(end - first):
            i = first + k if down else end - 1 - k
            a = rows.levels[i]
            if k > 0:
                z = rows.decays[i - 1 if down else i]
            if is_weighted:
                w = rows.weights[i]
            slope, curvature = decay_and_read(near, a, z, table)
            gradient[i] = sign * w * (slope - passed[a, 0])
            hessian[i] = w * curvature
            for b in range(u.shape[0]):
                if b != a:
                    decay_and_add(near, b, z, u[b, a] * w)
                    if (b > a) == down:
                        passed[b, 0] += u[b, a] * w


@njit(cache=True, nogil=True)
def sweep_ranked(rows, pairing, table, groups, down, met, gradient, hessian):
    """Sweep over groups where distances in ranks count."""
    u, near, far, passed = met.u, met.near, met.far, met.passed
    sign = 1.0 if down else -1.0
    is_weighted, has_steps = rows.weights.size > 0, rows.steps.size > 0
    for group in range(groups[0], groups[1]):
        first, end = rows.starts[group], rows.starts[group + 1]
        if pairing.factors[group] == 0.0:
            leave_out(first, end, gradient, hessian)
            continue
        start_group(met, pairing, group)
        w, z, step = 1.0, 1.0, 0.0
        for k in range(end - first):
            i = first + k if down else end - 1 - k
            a = rows.levels[i]
            if k > 0:
                z = rows.decays[i - 1 if down else i]
                step = rows.steps[i - 1 if down else i] if has_steps else 1.0
            if is_weighted:
                w = rows.weights[i]
            slope, curvature = decay_and_read_far(near, far, a, z, step, table)
            for b in range(u.shape[0]):
                passed[b, 1] += step * passed[b, 0]
                if b != a:
                    decay_and_add_far(near, far, b, z, step, u[b, a] * w)
                    if (b > a) == down:
                        passed[b, 0] += u[b, a] * w
            gradient[i] = sign * w * (slope - passed[a, 1])
            hessian[i] = w * curvature


@njit(cache=True, nogil=True)
def add_values(rows, pairing, table, groups, met, values):
    """Fill in the sum of the losses of all pairs, for some of the groups."""
    for group in range(groups[0], groups[1]):
        values[group] = 0.0
        if pairing.factors[group] != 0.0:
            start_group(met, pairing, group)
            span = (rows.starts[group], rows.starts[group + 1])
            values[group] = group_value(rows, span, met, pairing.is_ranked, table[1:])


@njit(cache=True, nogil=True)
def group_value(rows, span, met, is_ranked, table):
    """Return the losses of the pairs of one group; the table ends with the heights."""
    u, near, far, passed = met.u, met.near, met.far, met.passed
    is_weighted = rows.weights.size > 0
    w, z, step, gap = 1.0, 1.0, 0.0, 0.0
    value = 0.0
    for i in range(span[0], span[1]):
        a = rows.levels[i]
        if i > span[0]:
            z = rows.decays[i - 1]
            gap = min(rows.scores[i - 1] - rows.scores[i], _LARGE)
            step = 0.0
            if is_ranked:
                step = rows.steps[i - 1] if rows.steps.size > 0 else 1.0
        if is_weighted:
            w = rows.weights[i]
        for b in range(u.shape[0]):
            n, r, x = passed[b, 0], passed[b, 1], passed[b, 2]
            passed[b, 3] += step * x + gap * (r + step * n)
            passed[b, 2] += gap * n
            passed[b, 1] += step * n
        _, height = decay_and_read_far(near, far, a, z, step, table)
        value += w * (height + passed[a, 3])
        for b in range(u.shape[0]):
            if b != a:
                if is_ranked:
                    decay_and_add_far(near, far, b, z, step, u[b, a] * w)
                else:
                    decay_and_add(far, b, z, u[b, a] * w)
                if b > a:
                    passed[b, 0 if is_ranked else 1] += u[b, a] * w
    return value
