"""The definitions, literal and slow. Imports numpy alone, nothing of aucmax.

Ties are settled on purpose: a tied pair counts one half; where an order of tied rows
would matter, the mean over all orders is taken.
"""

from functools import cache
from itertools import pairwise, permutations

import numpy as np


def pair_wins(s, t):
    """Matrix of 1 where s_i > t_j, 1/2 where equal, 0 elsewhere."""
    s, t = np.asarray(s, dtype=float)[:, None], np.asarray(t, dtype=float)[None, :]
    return (s > t) + 0.5 * (s == t)


def roc_auc(y, scores, weights=None):
    y = np.asarray(y, dtype=bool)
    scores = np.asarray(scores, dtype=float)
    w = np.ones(y.size) if weights is None else np.asarray(weights, dtype=float)
    pairs = w[y][:, None] * w[~y][None, :]
    return float((pairs * pair_wins(scores[y], scores[~y])).sum() / pairs.sum())


def mean_over_queries(metric, qid, *columns):
    """Mean of metric over the queries for which it is defined (is not None)."""
    qid = np.asarray(qid)
    columns = [np.asarray(column) for column in columns]
    values = [
        metric(*(column[qid == query] for column in columns))
        for query in np.unique(qid)
    ]
    return float(np.mean([value for value in values if value is not None]))


def roc_polyline(y, scores, weights=None):
    """Corner points (fpr, tpr), one per distinct score, by counting at each one."""
    y = np.asarray(y, dtype=bool)
    scores = np.asarray(scores, dtype=float)
    w = np.ones(y.size) if weights is None else np.asarray(weights, dtype=float)
    points = [(0.0, 0.0)]
    for threshold in sorted(set(scores.tolist()), reverse=True):
        called = scores >= threshold
        points.append(
            (w[called & ~y].sum() / w[~y].sum(), w[called & y].sum() / w[y].sum())
        )
    return np.array(points)


def partial_auc(y, scores, fpr_range, tpr_range=(0.0, 1.0), weights=None):
    """Area of the box under the ROC polyline, cut at every place where it bends."""
    (a, b), (c, d) = fpr_range, tpr_range
    points = roc_polyline(y, scores, weights)
    area = 0.0
    for (x0, y0), (x1, y1) in pairwise(points):
        if x1 == x0:
            continue
        cuts = {x0, x1, min(max(a, x0), x1), min(max(b, x0), x1)}
        for level in (c, d):
            if y0 < level < y1:
                cuts.add(x0 + (level - y0) * (x1 - x0) / (y1 - y0))
        cuts = sorted(cuts)
        for left, right in pairwise(cuts):
            middle = 0.5 * (left + right)
            if a <= middle <= b:
                # linear on the piece, so its mean is the value in the middle
                height = y0 + (middle - x0) * (y1 - y0) / (x1 - x0)
                area += (right - left) * (min(max(height, c), d) - c)
    return area


def partial_auc_by_ranks(y, scores, fpr_range):
    """Rank weights c_j of the negatives, sorted from the top; for untied scores."""
    y = np.asarray(y, dtype=bool)
    scores = np.asarray(scores, dtype=float)
    a, b = fpr_range
    s, t = scores[y], -np.sort(-scores[~y])
    n = t.size
    total = 0.0
    for j in range(1, n + 1):
        c = n * max(0.0, min(b, j / n) - max(a, (j - 1) / n))
        total += c * (s > t[j - 1]).sum()
    return total / (s.size * n * (b - a))


def multiclass_auc(levels, scores, first_level, weights=None):
    """Weighted mean of AUC(c against the rest) over the levels from first_level on."""
    levels = np.asarray(levels)
    w = np.ones(levels.size) if weights is None else np.asarray(weights, dtype=float)
    present = [c for c in np.unique(levels) if w[levels == c].sum() > 0]
    if len(present) < 2:
        return None
    chosen = [c for c in present if c >= first_level]
    mass = np.array([w[levels == c].sum() for c in chosen])
    aucs = np.array([roc_auc(levels == c, scores, w) for c in chosen])
    return float(mass @ aucs / mass.sum())


def ordinal_auc(levels, scores, weights=None):
    levels = np.asarray(levels)
    w = np.ones(levels.size) if weights is None else np.asarray(weights, dtype=float)
    pairs = w[:, None] * w[None, :] * (levels[:, None] > levels[None, :])
    if pairs.sum() == 0:
        return None
    return float((pairs * pair_wins(scores, scores)).sum() / pairs.sum())


def tie_orders(scores):
    """All orders of the rows, from the highest score down, that respect the scores."""
    scores = np.asarray(scores, dtype=float)
    for order in permutations(range(scores.size)):
        if all(scores[i] >= scores[j] for i, j in pairwise(order)):
            yield np.array(order)


def precision_at_k(relevant, scores, k):
    """Mean share of relevant rows among the first min(k, m), over all tie orders."""
    relevant = np.asarray(relevant, dtype=float)
    return float(np.mean([relevant[order][:k].mean() for order in tie_orders(scores)]))


def weighted_precision_at_k(relevant, scores, k, weights):
    """By how often each row is among the first k, over all tie orders."""
    counted = np.zeros(len(scores))
    for order in tie_orders(scores):
        counted[order[:k]] += 1.0
    counted *= weights
    return float((counted * relevant).sum() / counted.sum())


def average_precision(relevant, scores):
    relevant = np.asarray(relevant, dtype=bool)
    if not relevant.any():
        return None
    values = []
    for order in tie_orders(scores):
        ranked = relevant[order]
        precision = np.cumsum(ranked) / np.arange(1, ranked.size + 1)
        values.append(precision[ranked].mean())
    return float(np.mean(values))


def weighted_average_precision(relevant, scores, weights):
    """Tied rows weigh alike, and as much of them is relevant as of their weight."""
    relevant = np.asarray(relevant, dtype=bool)
    above = found = total = 0.0
    for score in sorted(set(scores.tolist()), reverse=True):
        tied = scores == score
        t, part = tied.sum(), weights[tied].mean()
        share = weights[tied & relevant].sum() / weights[tied].sum()
        for i in range(1, t + 1):
            # one relevant row on place i, and its part of the others before it
            others = (i - 1) * (share * t - 1) / (t - 1) if t > 1 else 0.0
            precision = (found + part * (1 + others)) / (above + part * i)
            total += share * part * precision
        above, found = above + t * part, found + share * t * part
    return float(total / found) if found else None


def ndcg(gain, scores, k=None):
    """Mean over all tie orders; with weights, the gains are multiplied by them."""
    gain = np.asarray(gain, dtype=float)
    discount = 1.0 / np.log2(np.arange(gain.size) + 2.0)
    discount[gain.size if k is None else k :] = 0.0
    best = discount @ -np.sort(-gain)
    if best == 0:
        return None
    return float(
        np.mean([discount @ gain[order] for order in tie_orders(scores)]) / best
    )


def delong_covariance(y, scores_a, scores_b):
    """Covariance of two AUCs from the pair matrices, by rows and by columns."""
    y = np.asarray(y, dtype=bool)
    wins = [
        pair_wins(np.asarray(scores)[y], np.asarray(scores)[~y])
        for scores in (scores_a, scores_b)
    ]
    p, n = wins[0].shape
    by_positive = np.cov(wins[0].mean(axis=1), wins[1].mean(axis=1))[0, 1]
    by_negative = np.cov(wins[0].mean(axis=0), wins[1].mean(axis=0))[0, 1]
    return float(by_positive / p + by_negative / n)


def area_effects(y, scores, weights=None, groups=None, area=None):
    """One column of effects per group: of the pairs that its rows take part in.

    Their products add up to covariances; `area` is a function of the weights of rows,
    by default the AUC.
    """
    y = np.asarray(y, dtype=bool)
    w = np.ones(y.size) if weights is None else np.asarray(weights, dtype=float)
    groups = np.arange(y.size) if groups is None else np.asarray(groups)
    wins = pair_wins(np.asarray(scores)[y], np.asarray(scores)[~y])
    p, n = w[y] / w[y].sum(), w[~y] / w[~y].sum()
    auc = p @ wins @ n
    sides = ((y, p, wins @ n), (~y, n, p @ wins))
    effects = []
    for group in np.unique(groups):
        total = 0.0
        for rows, share, values in sides:
            shares = [share[groups[rows] == g].sum() for g in np.unique(groups)]
            in_group = groups[rows] == group
            bias = 1 - np.square(shares).sum()
            centred = values[in_group] - auc
            total += (share[in_group] * centred).sum() / np.sqrt(bias)
        effects.append(total)
    return np.array(effects)


def ordinal_effects(levels, scores, weights=None):
    """Effects of rows on the ordinal AUC, by numerical derivatives."""
    m = len(levels)
    w = np.ones(m) if weights is None else np.asarray(weights, dtype=float)
    w, step = w / w.sum(), 1e-6
    influence = np.array(
        [
            ordinal_auc(levels, scores, w + step * w[row] * unit)
            - ordinal_auc(levels, scores, w - step * w[row] * unit)
            for row, unit in enumerate(np.eye(m))
        ]
    )
    return influence / (2 * step) / np.sqrt(1 - w @ w)


def obuchowski_variance(y, scores, groups):
    """Equations of Obuchowski (1997), with clusters of both classes."""
    y, groups = np.asarray(y, dtype=bool), np.asarray(groups)
    wins = pair_wins(np.asarray(scores)[y], np.asarray(scores)[~y])
    p, n = wins.shape
    auc = wins.mean()
    total, names = 0.0, np.unique(groups)
    tens, ones = [], []
    for g in names:
        tens.append((wins.mean(axis=1)[groups[y] == g] - auc).sum())
        ones.append((wins.mean(axis=0)[groups[~y] == g] - auc).sum())
    tens, ones, k = np.array(tens), np.array(ones), names.size
    for part, size in ((tens @ tens, p * p), (ones @ ones, n * n)):
        total += k / (k - 1) * part / size
    return float(total + 2 * k / (k - 1) * (tens @ ones) / (p * n))


def interval(y, scores, confidence_level=0.95):
    """Interval of the AUC: Student's on the logit scale, with Newcombe's if few."""
    y = np.asarray(y, dtype=bool)
    few, many = sorted([int(y.sum()), int((~y).sum())])
    auc = roc_auc(y, scores)
    error = np.sqrt(delong_covariance(y, scores, scores))
    if auc in (0.0, 1.0):  # all pairs in order, or none
        bound = ((1 - confidence_level) / 2) ** (1 / few)
        return (bound, 1.0) if auc else (0.0, 1 - bound)
    ends = [auc, auc]
    if error > 1e-12:
        margin = student_quantile(confidence_level, few - 1) * error / (auc * (1 - auc))
        odds = auc / (1 - auc) * np.exp([-margin, margin])
        ends = odds / (1 + odds)
    if error <= 1e-12 or few * min(auc, 1 - auc) < 5 - 1e-9:
        score = newcombe(auc, few, many, confidence_level)
        ends = min(ends[0], score[0]), max(ends[1], score[1])
    return tuple(ends)


def newcombe(auc, few, many, confidence_level=0.95):
    """Ends of the areas that differ from auc by at most their margin."""
    t = student_quantile(confidence_level, few + many - 2)

    def is_near(theta):
        q, r = (1 - theta) / (2 - theta), theta / (1 + theta)
        spread = 1 + (many - 1) * max(q, r) + (few - 1) * min(q, r)
        variance = theta * (1 - theta) * spread / (few * many)
        return abs(theta - auc) <= t * np.sqrt(variance)

    ends = []
    for far in (0.0, 1.0):
        near = auc
        for _ in range(200):
            middle = (near + far) / 2
            near, far = (middle, far) if is_near(middle) else (near, middle)
        ends.append(far)
    return tuple(ends)


@cache
def student_quantile(confidence_level, degrees):
    """Upper quantile of Student's t, by the area under its density."""
    angles = np.linspace(0, np.pi / 2, 20_001)  # t = sqrt(degrees) tan(angle)
    density = np.cos((angles[1:] + angles[:-1]) / 2) ** (degrees - 1)
    share = np.concatenate(([0], np.cumsum(density))) / density.sum()
    angle = np.interp(confidence_level, share, angles)
    return np.sqrt(degrees) * np.tan(angle)


def pair_hinge(scores, labels, weight=None, margin=1.0):
    """Mean pair hinge and its subgradient; a pair at the kink adds nothing to it."""
    slack = 1e-12 * max(np.abs(scores).max(), margin)
    step = _pair_risk(scores, labels, weight, margin, lambda gap: float(gap > slack))
    return step[:2]


def pair_ramp(scores, labels, weight, margin, width):
    """Slope and constant of the line below the hinge, smoothed to a width."""
    _, slope, offset = _pair_risk(
        scores,
        labels,
        weight,
        margin,
        lambda gap: min(max(gap / width + 0.5, 0.0), 1.0),
    )
    return slope, offset


def _pair_risk(scores, labels, weight, margin, share_of):
    weight = np.ones(len(scores)) if weight is None else weight
    value, offset, slope, total = 0.0, 0.0, np.zeros(len(scores)), 0.0
    for i in np.flatnonzero(labels):
        for j in np.flatnonzero(~labels):
            pair = weight[i] * weight[j]
            gap = margin + scores[j] - scores[i]
            share = pair * share_of(gap)
            total += pair
            value += pair * max(0.0, gap)
            offset += share * margin
            slope[i] -= share
            slope[j] += share
    return value / total, slope / total, offset / total


def tied_average_precision(y, scores, weights=None):
    """Precision at each positive, with all rows of its score; scikit-learn's rule."""
    y, scores = np.asarray(y, dtype=bool), np.asarray(scores, dtype=float)
    w = np.ones(y.size) if weights is None else np.asarray(weights, dtype=float)
    total = 0.0
    for row in np.flatnonzero(y & (w > 0)):
        above = scores >= scores[row]
        total += w[row] * w[above & y].sum() / w[above].sum()
    return float(total / w[y].sum())


def precision_effects(y, scores, weights=None):
    """Effects of rows on average precision, by numerical derivatives."""
    y = np.asarray(y, dtype=bool)
    w = np.ones(y.size) if weights is None else np.asarray(weights, dtype=float)
    w, step = w / w.sum(), 1e-4
    influence = np.array(
        [
            tied_average_precision(y, scores, w + step * w[row] * unit)
            - tied_average_precision(y, scores, w - step * w[row] * unit)
            for row, unit in enumerate(np.eye(y.size))
        ]
    ) / (2 * step * w)
    effects = np.empty(y.size)
    for own in (y, ~y):  # without bias within a class; its share varies, too
        share = w[own] / w[own].sum()
        mean = share @ influence[own]
        scatter = (influence[own] - mean) / np.sqrt(1 - share @ share)
        effects[own] = w[own] * (scatter + mean)
    return effects
