"""Compiled sweeps for the smooth ranks of positives, by moments.

Rows come query by query, by descending score. `decays`[i] is exp(-distance of rows i
and i + 1). What a sweep carries from row to row are sums of ``u * z^k`` over the rows
met so far, where z belongs to their distance; they are brought up to date only where
they change or are read.
"""

# mypy: disable-error-code="no-untyped-def"

from collections import namedtuple

import numpy as np

from aucmax._core.compiled import njit

#: rows in queries: where queries start, and one value per row
PrecisionRows = namedtuple("PrecisionRows", "starts decays positive weights")


@njit(cache=True, nogil=True, inline="always")
def carry_sums(sums, z, u):
    """Carry sums over a distance; then they meet a row of weight u."""
    power = z
    for k in range(sums.size):
        sums[k] = sums[k] * power + u
        power *= z


@njit(cache=True, nogil=True, inline="always")
def read_sums(sums, z, coefficients):
    """Return the sum, over the rows met, of a function of the distance."""
    total = 0.0
    for k in range(sums.size - 1, -1, -1):
        total = (total + coefficients[k] * sums[k]) * z
    return total


@njit(cache=True, nogil=True)
def sum_ranks(rows, table, down, ranks, slopes):
    """Add what rows before a positive in the sweep contribute to its smooth ranks.

    `ranks`[0] counts positives, `ranks`[1] negatives; `slopes` has the derivatives.
    """
    n_powers = table.shape[1]
    class_sums = np.empty((2, n_powers))  # negatives, positives
    for query in range(rows.starts.size - 1):
        first, end = rows.starts[query], rows.starts[query + 1]
        class_sums[:] = 0.0
        above = np.zeros(2)
        z = np.ones(2)  # from where the sums of each class were last brought up to date
        for k in range(end - first):
            i = first + k if down else end - 1 - k
            if k > 0:
                step = rows.decays[i - 1 if down else i]
                z[0] *= step
                z[1] *= step
            row_class = rows.positive[i]
            if row_class:
                for other in range(2):
                    near = read_sums(class_sums[other], z[other], table[0])
                    slope = read_sums(class_sums[other], z[other], table[1])
                    # a row above counts 1 less the sigmoid of its distance
                    ranks[1 - other, i] += above[other] - near if down else near
                    slopes[1 - other, i] += slope
            carry_sums(class_sums[row_class], z[row_class], rows.weights[i])
            z[row_class] = 1.0
            above[row_class] += rows.weights[i]


@njit(cache=True, nogil=True)
def sum_slopes(rows, table, down, shares, slopes):
    """Add the slopes of a row's pairs with the positives before it in the sweep.

    A positive counts `shares`[0] for positives and `shares`[1] for negatives.
    """
    n_powers = table.shape[1]
    for_class = np.empty((2, n_powers))  # for positives, for negatives
    for query in range(rows.starts.size - 1):
        first, end = rows.starts[query], rows.starts[query + 1]
        for_class[:] = 0.0
        z = 1.0
        for k in range(end - first):
            i = first + k if down else end - 1 - k
            if k > 0:
                z *= rows.decays[i - 1 if down else i]
            row_class = rows.positive[i]
            slopes[i] += read_sums(for_class[1 - row_class], z, table[1])
            if row_class:
                carry_sums(for_class[0], z, shares[0, i])
                carry_sums(for_class[1], z, shares[1, i])
                z = 1.0
