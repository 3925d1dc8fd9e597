"""Partial-AUC risks by their definitions, literal and slow; imports numpy alone.

Three definitions that must agree: over all orders of the rows, over all subsets of
them, and over the number of negatives that each positive is ranked below.
"""

from functools import cache
from itertools import permutations

import numpy as np


def overlap(start, stop, low, high):
    """Length of the overlap of two intervals."""
    return np.maximum(np.minimum(stop, high) - np.maximum(start, low), 0.0)


@cache
def all_orders(n_rows):
    """Places of the rows, 0 at the top, in every order of them."""
    return np.array(list(permutations(range(n_rows))))


def structural_by_orders(scores, labels, fpr_range, tpr_range, bound):
    """Worst order of all rows; the ends of the ranges must fall on rows."""
    s, t = scores[labels], scores[~labels]
    places = all_orders(len(scores))
    of_positive, of_negative = places[:, : s.size], places[:, s.size :]
    # ranks in this order: negatives from the top, positives from the bottom
    rank_negative = (of_negative[:, :, None] > of_negative[:, None, :]).sum(axis=2)
    rank_positive = (of_positive[:, :, None] < of_positive[:, None, :]).sum(axis=2)
    first = (
        np.floor(t.size * fpr_range[0] + 1e-9),
        np.floor(s.size * (1 - tpr_range[1]) + 1e-9),
    )
    last = (
        np.floor(t.size * fpr_range[1] + 1e-9),
        np.floor(s.size * (1 - tpr_range[0]) + 1e-9),
    )
    in_box = ((rank_positive >= first[1]) & (rank_positive < last[1]))[:, :, None] & (
        (rank_negative >= first[0]) & (rank_negative < last[0])
    )[:, None, :]
    takes_part = np.ones_like(in_box)
    if bound == "tight":
        takes_part = (rank_positive < last[1])[:, :, None] & (rank_negative < last[0])[
            :, None, :
        ]
    wrong = of_negative[:, None, :] < of_positive[:, :, None]
    gaps = t[None, :] - s[:, None]
    totals = (wrong * (in_box + takes_part * gaps)).sum(axis=(1, 2))
    return totals.max() / ((last[0] - first[0]) * (last[1] - first[1]))


def structural_by_counts(
    scores, labels, fpr_range, tpr_range, bound, weight=None, copies=1
):
    """Worst number of negatives above each positive; every row taken `copies` times.

    Integer weights; the ends must fall on the copies.
    """
    (a, b), (c, d) = fpr_range, tpr_range
    if d < 1:  # the classes change roles, and the signs of the scores with them
        return structural_by_counts(
            -scores, ~labels, (1 - d, 1 - c), (1 - b, 1 - a), bound, weight, copies
        )
    times = copies * (np.ones(len(scores), int) if weight is None else weight)
    s = np.sort(np.repeat(scores[labels], times[labels]))
    t = np.sort(np.repeat(scores[~labels], times[~labels]))[::-1]
    skip, end = round(t.size * a), round(t.size * b)
    counted = round(s.size * (1 - c))
    last = end if bound == "tight" else t.size
    total = 0.0
    for i, score in enumerate(s):
        rank = np.arange(1, last + 1)
        loss = (rank > skip) & (rank <= end) if i < counted else np.zeros(last)
        if i >= counted and bound == "tight":
            continue
        total += max(0.0, np.cumsum(loss + t[:last] - score).max())
    return total / ((end - skip) * counted)


def range_weights(keys, weights, amount):
    """Each row's weight within the first `amount`, keys falling; ties share alike."""
    shares = np.zeros(len(keys))
    for key in sorted(set(keys), reverse=True):
        tied = keys == key
        mass = weights[tied].sum()
        shares[tied] = weights[tied] * min(max(amount / mass, 0.0), 1.0)
        amount -= mass
    return shares


def choice_hinge(scores, labels, b=1.0, c=0.0, weight=None):
    """Mean hinge of the first negatives and positives, and its subgradient."""
    weight = np.ones(len(scores)) if weight is None else weight
    w = np.zeros(len(scores))
    w[~labels] = range_weights(
        scores[~labels], weight[~labels], b * weight[~labels].sum()
    )
    w[labels] = range_weights(
        -scores[labels], weight[labels], (1 - c) * weight[labels].sum()
    )
    slack = 1e-12 * max(np.abs(scores).max(), 1.0)
    value, slope = 0.0, np.zeros(len(scores))
    for i in np.flatnonzero(labels):
        for j in np.flatnonzero(~labels):
            gap = 1.0 - scores[i] + scores[j]
            value += w[i] * w[j] * max(0.0, gap)
            slope[i] -= w[i] * w[j] * (gap > slack)
            slope[j] += w[i] * w[j] * (gap > slack)
    pairs = w[labels].sum() * w[~labels].sum()
    return value / pairs, slope / pairs
