"""Compiled loops over every pair of rows of different levels, for queries of few pairs.

Rows come group by group, and level by level within a group. Plain loops without sums in
them are what the compiler turns into vector instructions.
"""

# mypy: disable-error-code="no-untyped-def"

from collections import namedtuple

from aucmax._core.compiled import njit

#: where groups start; for each row its number, where the rows of later levels start,
#: 1.0 if these are lower levels or -1.0 if they are higher, its weight, and the number
#: of its level, whose distance a pair counts by; weights and numbers may be left out
Layout = namedtuple("Layout", "starts rows nexts signs weights numbers")


@njit(cache=True, nogil=True)
def find_ranks(layout, groups, scores, order, ranks):
    """Sort `order` within some groups, by descending score, and fill in the ranks.

    Equal scores are in the order of their rows, so that it does not matter which order
    there was before. It takes few moves if that is the one of similar scores.
    """
    rows = layout.rows
    for group in range(groups[0], groups[1]):
        first, end = layout.starts[group], layout.starts[group + 1]
        for place in range(first + 1, end):
            new = order[place]
            score, row = scores[new], rows[new]
            while place > first:
                old = order[place - 1]
                if scores[old] > score or (scores[old] == score and rows[old] < row):
                    break
                order[place] = old
                place -= 1
            order[place] = new
        for place in range(first, end):
            ranks[order[place]] = place - first


@njit(cache=True, nogil=True)
def pair_up(layout, groups, factors, odds, ranks, room, gradient, hessian):
    """Fill in both derivatives for some groups.

    `odds`[0] are exp(sign * score), and `odds`[1] one by it; no `ranks` mean that
    distances in ranks do not count. `room` is for five numbers per row of a group.
    """
    for group in range(groups[0], groups[1]):
        first, end = layout.starts[group], layout.starts[group + 1]
        slopes, curvatures = room[0, : end - first], room[1, : end - first]
        for k in range(end - first):
            slopes[k] = curvatures[k] = 0.0
        level = first  # where the rows of the level start
        while layout.nexts[level] < end and factors[group] != 0.0:
            start = layout.nexts[level]
            for i in range(level, start):
                share_out(layout, (i, start, end), factors[group], ranks, room[2])
                total = meet(
                    odds[0, i], odds[1, start:end], room, start - first, end - start
                )
                slopes[i - first] -= total[0]
                curvatures[i - first] += total[1]
            level = start
        for k in range(end - first):
            row = layout.rows[first + k]
            gradient[row] = 0.0 + layout.signs[first + k] * slopes[k]  # not -0.0
            hessian[row] = curvatures[k]


@njit(cache=True, nogil=True)
def share_out(layout, places, factor, ranks, shares):
    """Fill in the weights of the pairs of one row and those from `start` to the end."""
    i, start, end = places
    for k in range(end - start):
        shares[k] = factor
    if layout.weights.size > 0:
        own, others = layout.weights[i], layout.weights[start:end]
        for k in range(others.size):
            shares[k] *= own * others[k]
    if ranks.size > 0:
        own, others = ranks[i], ranks[start:end]
        for k in range(others.size):
            shares[k] *= abs(own - others[k])
    if layout.numbers.size > 0:
        own, others = layout.numbers[i], layout.numbers[start:end]
        for k in range(others.size):
            shares[k] *= abs(own - others[k])


@njit(cache=True, nogil=True)
def meet(own, others, room, first, n):
    """Add what one row owes to n others from `first` on; return what it is owed."""
    shares, slopes, curvatures = room[2, :n], room[3, :n], room[4, :n]
    for k in range(n):
        ratio = own * others[k]
        slope = 1.0 / (1.0 + ratio)
        slopes[k] = shares[k] * slope
        curvatures[k] = shares[k] * slope * (ratio * slope)
    met_slopes, met_curvatures = room[0, first : first + n], room[1, first : first + n]
    slope = curvature = 0.0
    for k in range(n):
        met_slopes[k] += slopes[k]
        met_curvatures[k] += curvatures[k]
        slope += slopes[k]
        curvature += curvatures[k]
    return slope, curvature
