"""The prox of total variation, literal and slow, for any graph.

minimise  1/2 sum_i (x_i - values_i)^2 + sum_e weights_e |x_i - x_j|,   e = (i, j)
"""

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
from scipy.optimize import lsq_linear

from aucmax.graphs._flow_kernels import _flow_down
from aucmax.graphs.total_variation import EdgeNetwork


def value(x, values, edges, weights):
    differences = np.abs(x[edges[:, 0]] - x[edges[:, 1]])
    return 0.5 * np.sum((x - values) ** 2) + weights @ differences


def exact_prox(values, edges, weights):
    """By all 2^n sets, in whole numbers; each entry is rounded once, at the end.

    gain(S) = values of S - weights of the edges that leave S. The set where x >= t has
    the largest gain(S) - t |S|, so the sets, from none to all of the nodes, lie on the
    concave hull of the points (|S|, gain(S)), and x is its slopes.
    """
    n = len(values)
    ratios = [float(t).as_integer_ratio() for t in (*values, *weights)]
    unit = math.lcm(*(below for _, below in ratios))
    whole = [above * (unit // below) for above, below in ratios]
    gains = [gain(mask, whole[:n], edges.tolist(), whole[n:]) for mask in range(2**n)]
    chain = [0]
    while chain[-1] != 2**n - 1:
        chain.append(next_set(chain[-1], gains, n))
    x = np.empty(n)
    for inner, outer in pairwise(chain):
        added = members(outer & ~inner, n)
        x[added] = Fraction(gains[outer] - gains[inner], len(added) * unit)
    return x


def gain(mask, values, edges, weights):
    total = sum(values[i] for i in members(mask, len(values)))
    for (i, j), weight in zip(edges, weights, strict=True):
        if (mask >> i & 1) != (mask >> j & 1):
            total -= weight
    return total


def members(mask, n):
    return [i for i in range(n) if mask >> i & 1]


def next_set(inner, gains, n):
    """The largest of the sets to which gain rises most steeply."""
    shares = [0, *(math.lcm(*range(1, n + 1)) // size for size in range(1, n + 1))]
    best, steepest = -1, None
    for outer in range(inner + 1, len(gains)):
        if outer & inner == inner:
            size = (outer & ~inner).bit_count()
            slope = (gains[outer] - gains[inner]) * shares[size], size
            if steepest is None or slope > steepest:
                best, steepest = outer, slope
    return best


def dual_prox(values, edges, weights):
    """By the dual: flows within the weights that bring the values closest to zero.

    x = values - D'f, where f solves a least-squares problem in a box. Weights of zero
    are left out, as the method wants room in every direction.
    """
    used = weights > 0.0
    if not used.any():
        return values.copy()
    rows = np.arange(np.count_nonzero(used))
    incidence = np.zeros((rows.size, values.size))
    incidence[rows, edges[used, 0]] = 1.0
    incidence[rows, edges[used, 1]] = -1.0
    box = -weights[used], weights[used]
    solution = lsq_linear(incidence.T, values, box, method="bvls", tol=1e-15)
    return values - incidence.T @ solution.x


def optimality_gap(x, values, edges, weights):
    r"""Bound how far x is from the minimum: its value less that of a dual flow.

    With any flow |f_e| <= w_e on the edges, and r_i = v_i - outflow_i, the value of x
    is at most |x - r|^2 / 2 + sum_e w_e |x_i - x_j| - f_e (x_i - x_j) above the
    minimum. Between unequal ends f is w towards the smaller one; among nodes of equal x
    it is a maximum flow, which may be a wrong one: only its limits matter.
    """
    first, second = edges.T
    rise = x[first] - x[second]
    flow = weights * np.sign(rise)
    remainder = values - np.bincount(first, flow, x.size)
    remainder += np.bincount(second, flow, x.size)
    equal = rise == 0.0
    network = EdgeNetwork(edges[equal], np.array([0, x.size]))
    state = network.state(remainder - x, weights[equal])
    _, _, begin, end, _, twin, room = state = tuple(part.copy() for part in state)
    capacity = room.copy()
    label, queue = np.empty((2, x.size), twin.dtype)
    _flow_down(0, x.size, 0.0, state, label, queue, np.zeros(x.size, dtype=bool))
    inner = (room[twin] - room) / 2.0
    assert (np.abs(inner) <= capacity * (1.0 + 1e-15)).all()
    tails = np.repeat(np.arange(x.size), end - begin)
    error = remainder - np.bincount(tails, inner, x.size) - x
    return float(error @ error / 2.0)
