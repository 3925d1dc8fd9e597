"""The prox of total variation, literal and slow, for any graph.

minimise  1/2 sum_i (x_i - values_i)^2 + sum_e weights_e |x_i - x_j|,   e = (i, j)
"""

from fractions import Fraction
from itertools import pairwise

import numpy as np
from scipy.optimize import lsq_linear


def value(x, values, edges, weights):
    differences = np.abs(x[edges[:, 0]] - x[edges[:, 1]])
    return 0.5 * np.sum((x - values) ** 2) + weights @ differences


def exact_prox(values, edges, weights):
    """By all 2^n sets, in fractions; each entry is rounded once, at the end.

    gain(S) = values of S - weights of the edges that leave S. The set where x >= t has
    the largest gain(S) - t |S|, so the sets, from none to all of the nodes, lie on the
    concave hull of the points (|S|, gain(S)), and x is its slopes.
    """
    n = len(values)
    gains = [gain(mask, values, edges, weights) for mask in range(2**n)]
    chain = [0]
    while chain[-1] != 2**n - 1:
        chain.append(next_set(chain[-1], gains))
    x = np.empty(n)
    for inner, outer in pairwise(chain):
        x[members(outer & ~inner, n)] = float(slope(inner, outer, gains))
    return x


def gain(mask, values, edges, weights):
    inside = [bool(mask >> i & 1) for i in range(len(values))]
    total = sum((Fraction(float(values[i])) for i in members(mask, len(values))), 0)
    for (i, j), weight in zip(edges, weights, strict=True):
        if inside[i] != inside[j]:
            total -= Fraction(float(weight))
    return total


def members(mask, n):
    return [i for i in range(n) if mask >> i & 1]


def slope(inner, outer, gains):
    size = outer.bit_count() - inner.bit_count()
    return Fraction(gains[outer] - gains[inner]) / size


def next_set(inner, gains):
    """The largest of the sets to which gain rises most steeply."""
    larger = [s for s in range(len(gains)) if s & inner == inner and s != inner]
    slopes = [slope(inner, s, gains) for s in larger]
    steepest = max(slopes)
    return max(
        (s for s, t in zip(larger, slopes, strict=True) if t == steepest),
        key=int.bit_count,
    )


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
