"""Compiled counts of comparable pairs of censored times."""

# mypy: disable-error-code="no-untyped-def"

from collections import namedtuple

import numpy as np

from aucmax._core.compiled import njit

#: rows by stratum and time, events before censored rows at equal times: where times
#: start (and the end), the first time of each stratum (and the end), and one value per
#: row; ranks of scores count from 0 in each stratum
TimedRows = namedtuple("TimedRows", "times strata event rank")


@njit(cache=True, nogil=True)
def count_later(rows, weight, concordant, comparable):
    """Fill in, for each event, the weight of later rows, and of those ranked lower.

    Ties of scores count one half. A row that is censored at the time of an event counts
    as later.
    """
    for stratum in range(rows.strata.size - 1):
        first, last = rows.strata[stratum], rows.strata[stratum + 1]
        n_rows = rows.times[last] - rows.times[first]
        tree, tied = np.zeros(n_rows + 1), np.zeros(n_rows)
        total = 0.0
        for k in range(last - 1, first - 1, -1):
            start, end = rows.times[k], rows.times[k + 1]
            while end > start and not rows.event[end - 1]:
                end -= 1
                add_weight(tree, tied, rows.rank[end], weight[end])
                total += weight[end]
            for i in range(start, end):
                below = sum_below(tree, rows.rank[i])
                concordant[i] = below + 0.5 * tied[rows.rank[i]]
                comparable[i] = total
            for i in range(start, end):
                add_weight(tree, tied, rows.rank[i], weight[i])
                total += weight[i]


@njit(cache=True, nogil=True)
def count_earlier(rows, weight, concordant, comparable):
    """Fill in, for each row, the weight of earlier events, and of those ranked higher.

    `weight` is that of an event as the earlier row of a pair.
    """
    for stratum in range(rows.strata.size - 1):
        first, last = rows.strata[stratum], rows.strata[stratum + 1]
        n_rows = rows.times[last] - rows.times[first]
        tree, tied = np.zeros(n_rows + 1), np.zeros(n_rows)  # by descending rank
        total = 0.0
        for k in range(first, last):
            start, end = rows.times[k], rows.times[k + 1]
            n_events = 0
            while start + n_events < end and rows.event[start + n_events]:
                n_events += 1
            for i in range(start, end):
                if i == start + n_events:
                    for j in range(start, start + n_events):
                        add_weight(tree, tied, n_rows - 1 - rows.rank[j], weight[j])
                        total += weight[j]
                place = n_rows - 1 - rows.rank[i]
                concordant[i] = sum_below(tree, place) + 0.5 * tied[place]
                comparable[i] = total
            if n_events == end - start:
                for j in range(start, end):
                    add_weight(tree, tied, n_rows - 1 - rows.rank[j], weight[j])
                    total += weight[j]


@njit(cache=True, nogil=True, inline="always")
def add_weight(tree, tied, place, weight):
    """Add a weight at a place of a Fenwick tree, and to the sum of this place."""
    tied[place] += weight
    k = place + 1
    while k < tree.size:
        tree[k] += weight
        k += k & -k


@njit(cache=True, nogil=True, inline="always")
def sum_below(tree, place):
    """Return the weight below a place."""
    total, k = 0.0, place
    while k > 0:
        total += tree[k]
        k -= k & -k
    return total
