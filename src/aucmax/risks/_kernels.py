"""Compiled sweeps over sorted scores."""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def ramp_sums(queries, values, weights, half, sums):
    """For each query q: the sum over values v of weight * ramp((q - v) / (2 half)).

    The ramp is 0 below -1/2, 1 above 1/2 and linear between; with half = 0 it is a
    step that is 0 at v = q. Both queries and values ascend.
    """
    n = values.size
    mass = np.empty(n + 1)  # mass[j] = total weight of the j smallest values
    moment = np.empty(n + 1)  # moment[j] = their total weight * value
    mass[0] = moment[0] = 0.0
    for j in range(n):
        mass[j + 1] = mass[j] + weights[j]
        moment[j + 1] = moment[j] + weights[j] * values[j]
    full = reached = 0
    for i in range(queries.size):
        query = queries[i]
        # values[:full] lie at the top of the ramp, values[full:reached] on its slope
        while full < n and values[full] < query - half:
            full += 1
        reached = max(reached, full)
        while reached < n and values[reached] < query + half:
            reached += 1
        total = mass[full]
        if reached > full:
            on_slope = mass[reached] - mass[full]
            lean = (query + half) * on_slope - (moment[reached] - moment[full])
            total += lean / (2.0 * half)
        sums[i] = total


@njit(cache=True, nogil=True)
def hinge_total(queries, query_weights, values, weights):
    """Sum over all pairs of query_weight * weight * max(0, query - value)."""
    mass = moment = total = 0.0
    j = 0
    for i in range(queries.size):
        query = queries[i]
        # mass and moment cover the values below the query; both only grow
        while j < values.size and values[j] < query:
            mass += weights[j]
            moment += weights[j] * values[j]
            j += 1
        total += query_weights[i] * (query * mass - moment)
    return total
