"""The logistic loss over pairs by its definition, literal and slow; numpy alone.

Two steps: the weight of each pair, as a matrix over all rows, then the weighted sum of
losses and its derivatives with these weights held fixed. Sums of positive terms alone,
so that tiny weights beside huge ones keep their digits.
"""

from typing import NamedTuple

import numpy as np


class Parts(NamedTuple):
    value: float
    gradient: np.ndarray
    hessian: np.ndarray
    # sums of the absolute values of what makes up the gradient
    sizes: np.ndarray


def weighted_losses(scores, pair_weights):
    """Sum of v_ij log(1 + exp(s_j - s_i)), with its derivatives for fixed v."""
    gaps = scores[:, None] - scores[None, :]
    z = np.exp(-np.abs(gaps))
    losses = np.maximum(-gaps, 0.0) + np.log1p(z)
    slopes = np.where(gaps >= 0.0, z, 1.0) / (1.0 + z)
    bends = z / (1.0 + z) ** 2
    pushes = pair_weights * slopes
    curves = pair_weights * bends
    return Parts(
        float((pair_weights * losses).sum()),
        pushes.sum(axis=0) - pushes.sum(axis=1),
        curves.sum(axis=0) + curves.sum(axis=1),
        pushes.sum(axis=0) + pushes.sum(axis=1),
    )


def rank_distances(scores, widths):
    """Matrix of |r_i - r_j| of the middle ranks; a third of their width for ties."""
    above = scores[None, :] > scores[:, None]
    is_tied = scores[None, :] == scores[:, None]
    ranks = above @ widths + is_tied @ widths / 2.0
    distances = np.abs(ranks[:, None] - ranks[None, :])
    return np.where(is_tied, (is_tied @ widths)[:, None] / 3.0, distances)


def range_shares(scores, is_positive, weights, fpr_range):
    """Share of each row that lies in the range of negatives; tied ones share alike.

    A positive takes the share of the next negatives at or below it; below all of them
    it lies in the range if the range has no upper end.
    """
    low, high = fpr_range
    negatives = ~is_positive & (weights > 0.0)
    total = weights[negatives].sum()
    levels = sorted(set(scores[negatives].tolist()), reverse=True)
    shares, start = {}, 0.0
    for level in levels:
        mass = weights[negatives & (scores == level)].sum()
        stop = start + mass
        shares[level] = 1.0
        if start < low * total or stop > high * total:
            inside = min(stop, high * total) - max(start, low * total)
            shares[level] = max(inside, 0.0) / mass
        start = stop
    below_all = 1.0 if high == 1.0 else 0.0
    n_above = (np.array(levels) > scores[:, None]).sum(axis=1)
    return np.array([*(shares[level] for level in levels), below_all])[n_above]


def level_factors(labels, weights, classes, is_counted):
    """k_a = p(a) / (m_a (M - m_a)) for the level of each row."""
    mass = np.array([weights[labels == label].sum() for label in labels])
    others = np.array([weights[labels != label].sum() for label in labels])
    if classes == "all":
        share = mass / weights.sum()
    else:
        share = np.where(is_counted, mass / weights[is_counted].sum(), 0.0)
    some = mass > 0.0
    factors = np.zeros(labels.size)
    factors[some] = share[some] / (mass[some] * others[some])
    return factors


def ndcg_changes(scores, labels, weights, truncation):
    """Matrix of the change of the NDCG by a swap; rows without weight have no rank."""
    some = np.flatnonzero(weights > 0.0)
    order = some[np.argsort(-scores[some], kind="stable")]
    discounts, top = np.zeros(scores.size), order[:truncation]
    discounts[top] = 1.0 / np.log2(np.arange(top.size) + 2.0)
    gains = 2.0 ** labels.astype(float) - 1.0
    best = np.sort(gains[some])[::-1][: top.size] @ np.sort(discounts[top])[::-1]
    return (
        np.abs(gains[:, None] - gains[None, :])
        * np.abs(discounts[:, None] - discounts[None, :])
        / best
    )


def weights_of_pairs(
    scores,
    labels,
    weights,
    *,
    is_counted,
    rank_weighted=False,
    pair_weights="equal",
    classes="positive",
    fpr_range=(0.0, 1.0),
    outside_weight=0.0,
    truncation=None,
):
    """Matrix of v_ij for one query; zero unless the level of i is above that of j."""
    is_pair = labels[:, None] > labels[None, :]
    products = np.where(is_pair, weights[:, None] * weights[None, :], 0.0)
    widths = weights
    if pair_weights == "ndcg":
        changes = ndcg_changes(scores, labels, weights, truncation)
        return products / weights.max() ** 2 * changes
    if pair_weights == "mauc":
        factors = level_factors(labels, weights, classes, is_counted)
        v = products * np.abs(factors[:, None] - factors[None, :])
    else:
        v = products / products.sum()
    if tuple(fpr_range) != (0.0, 1.0):
        shares = range_shares(scores, labels == labels.max(), weights, fpr_range)
        shares = shares + outside_weight * (1.0 - shares)
        covered = fpr_range[1] - fpr_range[0]
        v = v / (covered + outside_weight * (1.0 - covered))
        if rank_weighted:
            widths = weights * shares
        else:
            v = v * shares[None, :]
    if rank_weighted:
        v = v * rank_distances(scores, widths)
    return v


def counted_levels(labels):
    """Levels above 0; of strings, all but the lowest."""
    if labels.dtype.kind in "US":
        return labels > min(labels.tolist())
    return labels > 0


def is_usable(labels, weights, is_counted, parameters):
    """Return whether rows of two levels have weight, for MAUC one that is counted."""
    some = weights > 0.0
    if parameters.get("pair_weights") == "mauc" and not is_counted[some].any():
        return parameters.get("classes") == "all" and len(set(labels[some])) > 1
    return len(set(labels[some])) > 1


def pair_logistic(scores, labels, qid=None, weights=None, **parameters):
    """Mean over the queries with two levels of the weighted losses of each."""
    scores, labels = np.asarray(scores, dtype=float), np.asarray(labels)
    qid = np.zeros(scores.size) if qid is None else np.asarray(qid)
    weights = np.ones(scores.size) if weights is None else np.asarray(weights, float)
    is_counted = counted_levels(labels)
    value = 0.0
    gradient, hessian, sizes = np.zeros((3, scores.size))
    n_usable = 0
    for query in np.unique(qid):
        rows = qid == query
        if not is_usable(labels[rows], weights[rows], is_counted[rows], parameters):
            continue
        n_usable += 1
        v = weights_of_pairs(
            scores[rows],
            labels[rows],
            weights[rows],
            is_counted=is_counted[rows],
            **parameters,
        )
        parts = weighted_losses(scores[rows], v)
        value += parts.value
        gradient[rows], hessian[rows], sizes[rows] = parts[1:]
    return Parts(
        value / n_usable, gradient / n_usable, hessian / n_usable, sizes / n_usable
    )


def tree_derivatives(scores, labels, qid=None, weights=None, rank_weighted=False):
    """Derivatives for trees: a query counts by its weight, as in a classifier.

    Absolute gradients add up to those of one that starts from the base rate of each
    query, 2 p n / (p + n), unless a row would have more than 5 per unit of its weight.
    Hessians of rank weights are halved.
    """
    scores, labels = np.asarray(scores, dtype=float), np.asarray(labels)
    qid = np.zeros(scores.size, dtype=int) if qid is None else qid
    weights = np.ones(scores.size) if weights is None else weights / np.mean(weights)
    parts = pair_logistic(scores, labels, qid, weights, rank_weighted=rank_weighted)
    query_weights = np.bincount(qid, weights)
    positive = np.bincount(qid, weights * labels)
    pairs = positive * (query_weights - positive)
    target = (2.0 * pairs[pairs > 0.0] / query_weights[pairs > 0.0]).sum()
    scale = np.ones(scores.size) if rank_weighted else query_weights[qid]
    sizes = np.abs(parts.gradient * scale)
    largest = (sizes[weights > 0.0] / weights[weights > 0.0]).max()
    scale = scale * min(target / sizes.sum(), 5.0 / largest)
    share = 0.5 if rank_weighted else 1.0
    return parts.gradient * scale, parts.hessian * scale * share
