"""Compiled loops of the metrics."""

import numpy as np

from aucmax._core.compiled import njit


@njit(cache=True, nogil=True)
def delong_shares(order, ranked, is_positive, weights):
    """Return the share of negatives below each positive, of positives above others.

    order has the rows, the highest score first; weights is empty where all weigh 1.
    """
    shares = np.empty(order.size)
    positive = negative = 0.0  # mass above the tied rows
    start = 0
    while start < order.size:
        tied_positive = tied_negative = 0.0
        end = start
        while end < order.size and ranked[end] == ranked[start]:
            row = order[end]
            weight = weights[row] if weights.size else 1.0
            tied_positive += weight * is_positive[row]
            tied_negative += weight * (not is_positive[row])
            end += 1
        for i in range(start, end):
            row = order[i]
            if is_positive[row]:
                shares[row] = negative + 0.5 * tied_negative
            else:
                shares[row] = positive + 0.5 * tied_positive
        positive += tied_positive
        negative += tied_negative
        start = end
    for row in range(order.size):
        if is_positive[row]:
            shares[row] = 1.0 - shares[row] / negative
        else:
            shares[row] /= positive
    return shares


@njit(cache=True, nogil=True)
def split_classes(scores, is_positive, split):
    """Fill in the positives from the start on, the other scores from the end."""
    first, last = 0, scores.size - 1
    for i in range(scores.size):
        is_one = is_positive[i]
        split[first if is_one else last] = scores[i]
        first += 1 if is_one else 0
        last -= 0 if is_one else 1


@njit(cache=True, nogil=True)
def count_ordered(positive, negative):
    """Return twice the pairs in the right order, ties one half; both classes ascend."""
    total = below = up_to = 0
    for i in range(positive.size):
        score = positive[i]
        # `below` and `up_to` count the negatives < and <= score; both only grow
        while below < negative.size and negative[below] < score:
            below += 1
        up_to = max(up_to, below)
        while up_to < negative.size and negative[up_to] == score:
            up_to += 1
        total += below + up_to
    return total


@njit(cache=True, nogil=True)
def box_areas(negative, positive, offsets, box):
    """Return per query the area of the box that lies under its ROC curve.

    Step k, the highest scores first, is a straight line from (x0, y0) to (x1, y1), in
    units of mass. A query without mass in a class gets NaN.
    """
    low_fpr, high_fpr, low_tpr, high_tpr = box
    areas = np.full(offsets.size - 1, np.nan)
    for q in range(offsets.size - 1):
        n = 0.0
        p = 0.0
        for k in range(offsets[q], offsets[q + 1]):
            n += negative[k]
            p += positive[k]
        if n == 0.0 or p == 0.0:
            continue
        left, right, bottom, top = low_fpr * n, high_fpr * n, low_tpr * p, high_tpr * p
        x1 = 0.0
        y1 = 0.0
        area = 0.0
        lost = 0.0  # what rounding has taken from area (Kahan)
        for k in range(offsets[q], offsets[q + 1]):
            x0, y0 = x1, y1
            x1 += negative[k]
            y1 += positive[k]
            if x0 == x1 or x1 <= left or x0 >= right:
                continue
            slope = (y1 - y0) / (x1 - x0)
            ya = y0 if x0 >= left else y0 + (left - x0) * slope
            yb = y1 if x1 <= right else y0 + (right - x0) * slope
            height = _mean_height(ya, yb, bottom, top) / p
            term = (min(x1, right) - max(x0, left)) / n * height - lost
            total = area + term
            lost = (total - area) - term
            area = total
        areas[q] = min(area, 1.0)
    return areas


@njit(cache=True, nogil=True)
def _mean_height(ya, yb, bottom, top):
    """Return the mean of min(max(y, bottom), top) - bottom for y even on [ya, yb]."""
    if yb <= bottom:
        return 0.0
    if ya >= top:
        return top - bottom
    if ya >= bottom and yb <= top:
        return 0.5 * (ya + yb) - bottom
    below = max(bottom - ya, 0.0) / (yb - ya)
    above = max(yb - top, 0.0) / (yb - ya)
    between = 0.5 * (max(ya, bottom) + min(yb, top)) - bottom
    return (1.0 - below - above) * between + above * (top - bottom)


@njit(cache=True, nogil=True)
def add_discounted(order, offsets, scores, gains, discounts, sums):
    """Fill in per query the sum of its gains, each times the discount of its place.

    order has the rows by query and descending score. Ties share discounts equally.
    """
    for q in range(offsets.size - 1):
        first, stop = offsets[q], offsets[q + 1]
        total = 0.0
        place = first
        while place < stop:
            start, score = place, scores[order[place]]
            gain = discount = 0.0
            while place < stop and scores[order[place]] == score:
                gain += gains[order[place]]
                discount += discounts[place - first]
                place += 1
            total += gain * (discount / (place - start))
        sums[q] = total


@njit(cache=True, nogil=True)
def average_precision(order, offsets, scores, relevant, weights, values):
    """Fill in the average precision of each query, NaN without a relevant row.

    order has the rows by query and descending score; relevant has the weight of a
    relevant row, else 0; weights is empty where all weigh 1.
    """
    for q in range(offsets.size - 1):
        place, stop = offsets[q], offsets[q + 1]
        total = 0.0
        relevant_above = weight_above = (
            0.0  # the relevant and the whole weight of the rows before
        )
        while place < stop:
            score, start = scores[order[place]], place
            gain = weight = 0.0
            while place < stop and scores[order[place]] == score:
                gain += relevant[order[place]]
                weight += weights[order[place]] if weights.size else 1.0
                place += 1
            size = place - start
            part = weight / size
            if gain > 0.0:
                others = (size * gain / weight - 1.0) / max(size - 1, 1)
                for i in range(size):
                    precision = relevant_above + part * (1.0 + i * others)
                    total += gain / size * precision / (weight_above + part * (i + 1))
            relevant_above += gain
            weight_above += weight
        values[q] = total / relevant_above if relevant_above > 0.0 else np.nan


@njit(cache=True, nogil=True)
def class_reference_aucs(scores, levels, weights, offsets, first_level):
    """Return per query the mean AUC of each level against the rest, by level mass.

    Rows are sorted by query and score. For a level c the mass below its rows, over all
    rows, counts its wins over the rest plus mass[c]**2 / 2 for its own pairs, which is
    subtracted. A level with more than half of the mass would lose digits there, so the
    rest is counted against the largest level instead. Only levels from first_level on
    enter the mean. A query with one level gets NaN.
    """
    n_levels = levels.max() + 1
    mass = np.zeros(n_levels)
    wins = np.zeros(n_levels)
    means = np.full(offsets.size - 1, np.nan)
    for q in range(offsets.size - 1):
        start, stop = offsets[q], offsets[q + 1]
        largest = _level_masses(levels, weights, start, stop, mass)
        _count_wins(scores, levels, weights, start, stop, largest, wins)
        rest_of_largest = 0.0
        for i in range(start, stop):
            if levels[i] != largest:
                rest_of_largest += weights[i]
        total = mass[largest] + rest_of_largest
        weighted = 0.0
        chosen = 0.0
        for i in range(start, stop):
            c = levels[i]
            m = mass[c]
            if m > 0.0 and c >= first_level and rest_of_largest > 0.0:
                chosen += m
                if c == largest:
                    weighted += m + wins[c] / rest_of_largest
                else:
                    weighted += (wins[c] - 0.5 * m * m) / (total - m)
            mass[c] = 0.0  # each level is added once, and the next query starts clean
            wins[c] = 0.0
        if chosen > 0.0:
            means[q] = weighted / chosen
    return means


@njit(cache=True, nogil=True)
def _level_masses(levels, weights, start, stop, mass):
    """Add up the mass of each level; return the level that has most of it."""
    for i in range(start, stop):
        mass[levels[i]] += weights[i]
    largest = levels[start]
    for i in range(start, stop):
        if mass[levels[i]] > mass[largest]:
            largest = levels[i]
    return largest


@njit(cache=True, nogil=True)
def _count_wins(scores, levels, weights, start, stop, largest, wins):
    """Add to wins[c] the pairs won by level c, to wins[largest] minus those it lost."""
    below = 0.0
    largest_below = 0.0
    block = start
    while block < stop:
        tied = 0.0
        largest_tied = 0.0
        end = block
        while end < stop and scores[end] == scores[block]:
            tied += weights[end]
            if levels[end] == largest:
                largest_tied += weights[end]
            end += 1
        for i in range(block, end):
            if levels[i] != largest:
                wins[levels[i]] += weights[i] * (below + 0.5 * tied)
                wins[largest] -= weights[i] * (largest_below + 0.5 * largest_tied)
        below += tied
        largest_below += largest_tied
        block = end


@njit(cache=True, nogil=True)
def partner_masses(scores, levels, weights, offsets):
    """Return per row the mass that it is in order with, and that of other levels.

    Rows are sorted by query and score. The tree (Fenwick) holds the mass of each level
    among the rows of lower scores. A row is in order with lower levels of lower scores,
    and with higher levels but for those of lower scores: both are asked before and
    after the rows of one score, so that ties count half.
    """
    tree = np.zeros(levels.max() + 2)
    ordered, partners = np.zeros(scores.size), np.empty(scores.size)
    for q in range(offsets.size - 1):
        block, stop = offsets[q], offsets[q + 1]
        seen = 0.0
        while block < stop:
            end = block
            while end < stop and scores[end] == scores[block]:
                over = seen - _mass_under(tree, levels[end] + 1)
                ordered[end] = _mass_under(tree, levels[end]) - over
                end += 1
            for i in range(block, end):
                _add_mass(tree, levels[i], weights[i])
                seen += weights[i]
            for i in range(block, end):
                over = seen - _mass_under(tree, levels[i] + 1)
                ordered[i] += _mass_under(tree, levels[i]) - over
            block = end
        for i in range(offsets[q], stop):  # the tree holds the whole query
            over = seen - _mass_under(tree, levels[i] + 1)
            partners[i] = _mass_under(tree, levels[i]) + over
            ordered[i] = 0.5 * ordered[i] + over
        for i in range(offsets[q], stop):
            _forget(tree, levels[i])
    return ordered, partners


@njit(cache=True, nogil=True)
def _mass_under(tree, level):
    total = 0.0
    k = level
    while k > 0:
        total += tree[k]
        k -= k & -k
    return total


@njit(cache=True, nogil=True)
def _add_mass(tree, level, weight):
    k = level + 1
    while k < tree.size:
        tree[k] += weight
        k += k & -k


@njit(cache=True, nogil=True)
def _forget(tree, level):
    k = level + 1
    while k < tree.size:
        tree[k] = 0.0
        k += k & -k
