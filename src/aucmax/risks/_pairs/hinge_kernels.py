# mypy: allow-untyped-defs, allow-untyped-calls, disallow-untyped-decorators=False
"""Compiled sweeps over sorted scores."""

import numpy as np

from aucmax._core.compiled import njit


@njit(cache=True, nogil=True)
def ramp_sums(queries, values, weights, half, slack, side, sums):
    """For each query q: the sum over values v of weight * ramp(side (q - v) / 2 half).

    The ramp is 0 below -1/2, 1 above 1/2 and linear between; with half = 0 it is a step
    that is 0 at v = q, and up to `slack` beyond. Queries and values ascend; empty
    weights stand for ones. Values on the ramp are added up as differences from one of
    them, `anchor`, so that both classes have the same shares to the last digits.
    """
    p, n = queries.size, values.size
    # seen from the end where the ramp is 1: the first `full` values are beyond the
    # ramp, those before `reached` on it; both counts only grow
    full = reached = 0
    full_mass = 0.0
    # values on the ramp: those before `turn` by sums from each of them up to `turn`,
    # those from there on by running sums; moments are about the anchor
    turn = 0
    anchor = mass = moment = 0.0
    masses, moments = np.empty(n if half > 0.0 else 0), np.empty(n if half > 0.0 else 0)
    for step in range(p):
        i = step if side > 0 else p - 1 - step
        query = queries[i]
        while full < n:
            j = full if side > 0 else n - 1 - full
            if side * (query - values[j]) <= half + slack:
                break
            full_mass += weights[j] if weights.size else 1.0
            full += 1
        sums[i] = full_mass
        if half == 0.0:
            continue
        while reached < n:
            j = reached if side > 0 else n - 1 - reached
            if side * (query - values[j]) <= slack - half:
                break
            weight = weights[j] if weights.size else 1.0
            mass += weight
            moment += weight * (side * (values[j] - anchor))
            reached += 1
        if full >= reached:
            continue
        if full >= turn:
            turn = reached
            j = turn - 1 if side > 0 else n - turn
            anchor = values[j]
            mass = moment = 0.0
            for k in range(turn - 1, full - 1, -1):
                j = k if side > 0 else n - 1 - k
                weight = weights[j] if weights.size else 1.0
                mass += weight
                moment += weight * (side * (values[j] - anchor))
                masses[k], moments[k] = mass, moment
            mass = moment = 0.0
        lean = side * (query - anchor) + half - slack
        lean = lean * (masses[full] + mass) - (moments[full] + moment)
        sums[i] += lean / (2.0 * half)


@njit(cache=True, nogil=True)
def hinge_total(queries, query_weights, values, weights):
    """Sum over pairs of query_weight * weight * max(0, query - value); empty: ones."""
    mass = moment = total = 0.0
    j = 0
    for i in range(queries.size):
        query = queries[i]
        # mass and moment cover the values below the query; both only grow
        while j < values.size and values[j] < query:
            weight = weights[j] if weights.size else 1.0
            mass += weight
            moment += weight * values[j]
            j += 1
        weight = query_weights[i] if query_weights.size else 1.0
        total += weight * (query * mass - moment)
    return total


@njit(cache=True, nogil=True)
def query_ramps(values, weights, starts, half, slopes):
    """Fill the slopes of the mean hinge over queries, its kinks rounded off."""
    # negatives of query q, lifted by the margin, ascend from starts[2 q] on, positives
    # from starts[2 q + 1] on; a query without weight in a class has no slopes
    n_counted = 0
    for q in range((starts.size - 1) // 2):
        first, middle, stop = starts[2 * q], starts[2 * q + 1], starts[2 * q + 2]
        mass = own_mass = 0.0
        for j in range(first, middle):
            slopes[j] = 0.0
            mass += weights[j]
        for i in range(middle, stop):
            slopes[i] = 0.0
            own_mass += weights[i]
        if mass == 0.0 or own_mass == 0.0:
            continue
        n_counted += 1
        s, u, down = values[middle:stop], weights[middle:stop], slopes[middle:stop]
        t, w, up = values[first:middle], weights[first:middle], slopes[first:middle]
        ramp_sums(s, t, w, half, 0.0, -1, down)
        ramp_sums(t, s, u, half, 0.0, 1, up)
        for i in range(middle, stop):
            slopes[i] *= 0.0 - weights[i] / own_mass / mass
        for j in range(first, middle):
            slopes[j] *= weights[j] / mass / own_mass
    n_counted = n_counted if n_counted > 1 else 1
    for i in range(slopes.size):
        slopes[i] /= n_counted


@njit(cache=True, nogil=True)
def cell_masses(scores, labels, weights, low, scale, masses, moments):
    """Add up weight and weight * place, (score - low) * scale, by class and cell."""
    # row 0 of masses and moments is for negatives; empty weights stand for ones
    for i in range(scores.size):
        place = (scores[i] - low) * scale
        weight = weights[i] if weights.size else 1.0
        side = 1 if labels[i] else 0
        masses[side, int(place)] += weight
        moments[side, int(place)] += weight * place


@njit(cache=True, nogil=True)
def cell_shares(masses, lift, reach, shares):
    """For each cell: the weight of the other class that a row there is paired with."""
    # A negative lift cells up meets a positive d cells below it by the share clip((d +
    # reach) / (2 reach), 0, 1): the mean over 2 reach cells, so one sum serves all.
    n = masses.shape[1]
    for side in range(2):
        # from the far end, negatives above a positive look like positives below
        total = 0.0
        below = np.empty(n)
        for k in range(n):
            total += masses[1, k] if side == 0 else masses[0, n - 1 - k]
            below[k] = total
        window = 0.0
        first = lift - reach
        for k in range(first, first + 2 * reach):
            window += below[min(k, n - 1)] if k >= 0 else 0.0
        for k in range(n):
            shares[side, k if side == 0 else n - 1 - k] = window / (2 * reach)
            enters, leaves = first + k + 2 * reach, first + k
            window += below[min(enters, n - 1)] if enters >= 0 else 0.0
            window -= below[min(leaves, n - 1)] if leaves >= 0 else 0.0


@njit(cache=True, nogil=True)
def cell_hinge_bound(masses, moments, lift):
    """Sum over pairs of max(0, negative + lift - positive), in cells, from above."""
    # pairs in one cell, at most one cell apart, are bounded by the chord of the hinge
    mass = moment = total = 0.0
    n = masses.shape[1]
    for k in range(-lift, n):
        here = k + lift
        # mass and moment cover the positives in the cells below `here`
        if here >= n:
            own_mass = own_moment = 0.0
        else:
            own_mass, own_moment = masses[1, here], moments[1, here]
        if k >= 0:
            lifted = moments[0, k] + lift * masses[0, k]
            total += lifted * mass - masses[0, k] * moment
            chord = lifted * own_mass - masses[0, k] * own_moment
            total += 0.5 * (chord + masses[0, k] * own_mass)
        mass += own_mass
        moment += own_moment
    return total


@njit(cache=True, nogil=True)
def cell_subgradient(scores, labels, weights, low, scale, shares, subgradient):
    """Spread the cells' shares over the rows: up for negatives, down for positives."""
    for i in range(scores.size):
        cell = int((scores[i] - low) * scale)
        weight = weights[i] if weights.size else 1.0
        if labels[i]:
            subgradient[i] = -weight * shares[1, cell]
        else:
            subgradient[i] = weight * shares[0, cell]


@njit(cache=True, nogil=True)
def smooth_choice(masses, amounts, reach, choice):
    """Choose the first rows of each class, smoothly, up to the given amounts."""
    # Negatives (row 0) rank from the last cell down, positives from the first up. A
    # cell d cells ahead of the threshold counts by clip((d + reach) / (2 reach), 0, 1).
    n = masses.shape[1]
    for side in range(2):
        # `total` weighs what counts with the threshold at rank `cell`, `window` the
        # cells whose shares grow, by 1 / (2 reach), on the way to the next rank
        cell, total, window = -reach, 0.0, 0.0
        part = 0.0
        while cell < n + reach:
            enters, leaves = cell + reach, cell - reach
            if 0 <= enters < n:
                window += masses[side, n - 1 - enters if side == 0 else enters]
            if 0 <= leaves < n:
                window -= masses[side, n - 1 - leaves if side == 0 else leaves]
            gain = window / (2 * reach)
            if total + gain >= amounts[side]:
                part = (amounts[side] - total) / gain if gain > 0.0 else 0.0
                break
            total += gain
            cell += 1
        for rank in range(n):
            share = (cell + part - rank) / (2 * reach) + 0.5
            share = min(max(share, 0.0), 1.0)
            choice[side, n - 1 - rank if side == 0 else rank] = share


@njit(cache=True, nogil=True)
def keep_first(masses, moments, amounts):
    """Keep the first rows of each class, exactly, up to the given amounts."""
    # the rows kept of a split cell are assumed as far ahead as its sum allows: a bound
    # of the hinge from above
    n = masses.shape[1]
    for side in range(2):
        left = amounts[side]
        for rank in range(n):
            cell = n - 1 - rank if side == 0 else rank
            mass, moment = masses[side, cell], moments[side, cell]
            if mass > left:
                rest = mass - left
                if side == 0:
                    moment = min(left * (cell + 1), moment - rest * cell)
                else:
                    moment = max(left * cell, moment - rest * (cell + 1))
                masses[side, cell], moments[side, cell] = left, moment
                left = 0.0
            else:
                left -= mass


@njit(cache=True, nogil=True)
def split_cell(keys, weights, amount, n_cells):
    """Find the cell of a grid in which the highest keys come to weigh `amount`."""
    # Returns the weight of higher cells, and the keys and weights in the cell in their
    # order; keys too close together or too far apart for a grid are returned unchanged.
    low, high = keys.min(), keys.max()
    if not -1e300 <= low <= high <= 1e300 or high - low < 1e-290:
        return 0.0, keys, weights
    width = (high - low) / n_cells
    masses = np.zeros(n_cells)
    cells = np.empty(keys.size, np.uint16)
    for i in range(keys.size):
        cell = min(int((keys[i] - low) / width), n_cells - 1)
        cells[i] = cell
        masses[cell] += weights[i] if weights.size else 1.0
    above, cell = 0.0, n_cells - 1
    # a cell that holds no key is passed, even where rounding leaves some amount
    while cell > 0 and (masses[cell] == 0.0 or above + masses[cell] < amount):
        above += masses[cell]
        cell -= 1
    places = np.flatnonzero(cells == cell)
    return above, keys[places], weights[places] if weights.size else weights


@njit(cache=True, nogil=True)
def partners(positives, negatives, difference, above, at_least):
    """Count, for each positive s, the negatives t with s - t > or >= `difference`."""
    # both ascend, and rounded differences are monotone: the counts only grow
    n = negatives.size
    strictly = loosely = 0
    for i in range(positives.size):
        s = positives[i]
        while strictly < n and s - negatives[strictly] > difference:
            strictly += 1
        loosely = max(loosely, strictly)
        while loosely < n and s - negatives[loosely] >= difference:
            loosely += 1
        above[i] = strictly
        at_least[i] = loosely
