"""The sigmoid of pairs by its definition, literal and slow; numpy alone."""

import numpy as np


def rank_shares(scores, weights, low, high):
    """Share of each row whose rank, by descending score, lies in the range.

    Ranks run from 0 to 1 by weight; tied rows share alike.
    """
    total = weights.sum()
    shares = np.zeros(scores.size)
    for row, score in enumerate(scores):
        start = weights[scores > score].sum()
        mass = weights[scores == score].sum()
        if start >= low * total and (high == 1.0 or start + mass <= high * total):
            shares[row] = 1.0  # not by differences, in which tiny weights are lost
        elif mass > 0.0:
            inside = min(start + mass, high * total) - max(start, low * total)
            shares[row] = np.clip(inside / mass, 0.0, 1.0)
    return shares


def sigmoid_below(distances):
    """1 / (1 + exp(distance)) and minus its derivative, without overflow."""
    z = np.exp(-np.abs(distances))
    return np.where(distances >= 0.0, z, 1.0) / (1.0 + z), z / (1.0 + z) ** 2


def one_query(scores, is_positive, weights, fpr_range, tpr_range, tau):
    """Mean sigmoid over the pairs of the box, and its derivative by each score."""
    counted = weights.copy()
    for members, ends in ((~is_positive, fpr_range), (is_positive, tpr_range)):
        counted[members] *= rank_shares(scores[members], weights[members], *ends)
        counted[members] /= weights[members].sum() * (ends[1] - ends[0])
    v = np.outer(counted[is_positive], counted[~is_positive])
    with np.errstate(over="ignore"):
        distances = scores[is_positive][:, None] - scores[~is_positive][None, :]
        heights, slopes = sigmoid_below(distances / tau)
    gradient = np.zeros(scores.size)
    gradient[is_positive] = -(v * slopes).sum(axis=1) / tau
    gradient[~is_positive] = (v * slopes).sum(axis=0) / tau
    return float((v * heights).sum()), gradient


def pair_sigmoid(
    scores, labels, qid=None, weights=None, *, fpr_range=(0, 1), tpr_range=(0, 1), tau=1
):
    """Mean over the queries with both classes."""
    scores = np.asarray(scores, dtype=float)
    is_positive = np.asarray(labels) == np.max(labels)
    weights = np.ones(scores.size) if weights is None else np.asarray(weights, float)
    qid = np.zeros(scores.size) if qid is None else np.asarray(qid)
    value, gradient, n_usable = 0.0, np.zeros(scores.size), 0
    for query in np.unique(qid):
        rows = np.flatnonzero((qid == query) & (weights > 0.0))
        if len(set(is_positive[rows].tolist())) < 2:
            continue
        n_usable += 1
        own, gradient[rows] = one_query(
            scores[rows], is_positive[rows], weights[rows], fpr_range, tpr_range, tau
        )
        value += own
    return value / n_usable, gradient / n_usable
