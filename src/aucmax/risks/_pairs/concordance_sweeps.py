"""Compiled sums over all comparable pairs of censored times, by merging.

Rows come by stratum and time. Two neighbouring spans of times, each sorted by score,
are merged, and the pairs between them are summed on the way: events of the earlier span
with all rows of the later one. Each comparable pair is met in one merge, so m rows take
O(m log m). Events tied at one time are never split, as they are not comparable.
"""

# mypy: disable-error-code="no-untyped-def"

import math
from collections import namedtuple

import numpy as np

from aucmax._core.compiled import njit

#: rows by stratum and time: where blocks start that are not split (and the end), the
#: first block of each stratum (and the end), scores in units of the width, and weights
#: as the earlier row of a pair (0: no event) and as the later one
ComparableRows = namedtuple("ComparableRows", "blocks strata scores earlier later")


@njit(cache=True, nogil=True)
def sum_pairs(rows, table, is_hinge, order, slopes, curvatures):
    """Add slopes and curvatures of the pairs of each row; return the sum of losses.

    Those of a row as the later one of its pairs are in [0], as the earlier one in [1].
    `order` has the rows of each block by descending score, and is used up.
    """
    value = 0.0
    spare = np.empty_like(order)
    sums = np.empty((2, table.shape[1]))
    for stratum in range(rows.strata.size - 1):
        first, last = rows.strata[stratum], rows.strata[stratum + 1]
        width = 1
        while width < last - first:
            for block in range(first, last, 2 * width):
                middle, end = min(block + width, last), min(block + 2 * width, last)
                span = rows.blocks[block], rows.blocks[middle], rows.blocks[end]
                if span[1] == span[2]:
                    continue
                if is_hinge:
                    value += sum_hinges(rows, span, order, slopes)
                merge(rows.scores, span, order, spare)
                if is_hinge:
                    continue
                for down in (True, False):
                    value += sweep_merged(
                        rows, span, order, table, down, sums, slopes, curvatures
                    )
            width *= 2
    return value


@njit(cache=True, nogil=True)
def merge(scores, span, order, spare):
    """Merge two neighbouring spans, each by descending score."""
    first, middle, end = span
    i, j = first, middle
    for k in range(first, end):
        takes_first = j == end
        if i < middle and j < end:
            takes_first = scores[order[i]] >= scores[order[j]]
        if takes_first:
            spare[k] = order[i]
            i += 1
        else:
            spare[k] = order[j]
            j += 1
    order[first:end] = spare[first:end]


@njit(cache=True, nogil=True, inline="always")
def decay_read_and_add(sums, side, z, weight, table):
    """Carry both sums over a distance; then a row of one class joins its side.

    Returns the sums, over the rows of the other class, of slope, curvature and loss.
    """
    slope = curvature = height = 0.0
    other, power = 1 - side, z
    for k in range(sums.shape[1]):
        x = sums[other, k] * power
        sums[other, k] = x
        sums[side, k] = sums[side, k] * power + weight
        slope += table[0, k] * x
        curvature += table[1, k] * x
        height += table[2, k] * x
        power *= z
    return slope, curvature, height


@njit(cache=True, nogil=True)
def sweep_merged(rows, span, order, table, down, sums, slopes, curvatures):
    """Add the logistic losses of pairs with previous rows in a sweep of two spans.

    `sums`[0] and [1] belong to rows of the later and of the earlier span, and are
    brought up to date where they change.
    """
    first, middle, end = span
    value, distance = 0.0, 0.0
    sums[:] = 0.0
    span_weights = np.zeros(2)
    score = rows.scores[order[first if down else end - 1]]
    for k in range(end - first):
        row = order[first + k if down else end - 1 - k]
        is_earlier = int(row < middle)
        weight = rows.earlier[row] if is_earlier else rows.later[row]
        if weight == 0.0:
            continue
        gap = min(abs(score - rows.scores[row]), 1e308)
        score = rows.scores[row]
        distance += span_weights[0] * gap
        other = 1 - is_earlier
        slope, curvature, height = decay_read_and_add(
            sums, is_earlier, math.exp(-gap), weight, table
        )
        # pairs in the wrong order have 1 less the slope of their distance
        if is_earlier == down:
            slope = span_weights[other] - slope
        slopes[is_earlier, row] += weight * slope
        curvatures[is_earlier, row] += weight * curvature
        if is_earlier:
            value += weight * height
            if down:
                value += weight * distance
        span_weights[is_earlier] += weight
    return value


@njit(cache=True, nogil=True)
def sum_hinges(rows, span, order, slopes):
    """Return the sum of ``max(0, 1 - distance)`` over pairs of two spans of `order`.

    A pair weighs ``rows.earlier`` of its row before `middle` times ``rows.later`` of
    its row after it; `slopes` collects the weights of pairs with a hinge above 0.
    """
    first, middle, end = span
    value, weight, total = 0.0, 0.0, 0.0
    j = middle
    for k in range(first, middle):  # later rows that are less than 1 below
        i = order[k]
        v, limit = rows.earlier[i], rows.scores[i] - 1.0
        while j < end and rows.scores[order[j]] > limit:
            weight += rows.later[order[j]]
            total += rows.later[order[j]] * (rows.scores[order[j]] + 1.0)
            j += 1
        slopes[1, i] += v * weight
        value += v * (total - weight * rows.scores[i])
    weight = 0.0
    k = middle - 1
    for j in range(end - 1, middle - 1, -1):  # events that are less than 1 above
        row = order[j]
        while k >= first and rows.scores[order[k]] - 1.0 < rows.scores[row]:
            weight += rows.earlier[order[k]]
            k -= 1
        slopes[0, row] += rows.later[row] * weight
    return value
