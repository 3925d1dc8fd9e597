"""The margin risks, literal and slow: every pair listed, every optimum a program."""

import numpy as np
from scipy.optimize import linprog


def tail_shares(values, weights, nu):
    """Share of each value in the mean of the lowest that weigh nu; the last value.

    Equal values are taken in equal parts.
    """
    shares = np.zeros(values.size)
    seen = weights > 0.0
    levels, level = np.unique(values[seen], return_inverse=True)
    weight_of_level = np.bincount(level, weights[seen])
    before = np.cumsum(weight_of_level) - weight_of_level
    part = np.clip((nu - before) / weight_of_level, 0.0, 1.0)
    shares[seen] = part[level] * weights[seen] / nu
    return shares, levels[before < nu][-1]


def stump_values(X, columns, thresholds, directions):
    """Values of stumps, one per column: the direction above the threshold, or minus."""
    X = X.toarray() if hasattr(X, "toarray") else np.asarray(X)
    above = X[:, np.asarray(columns, int)] > np.asarray(thresholds, float)
    return np.where(above, directions, -np.asarray(directions, float))


def ones_for_none(labels, weight):
    return np.ones(labels.size) if weight is None else weight


def pair_margin(scores, labels, nu, weight=None):
    """Risk, subgradient and threshold of the mean of the nu smallest pair margins."""
    weight = ones_for_none(labels, weight)
    differences = scores[labels][:, None] - scores[~labels]
    pairs = np.outer(weight[labels], weight[~labels])
    shares, last = tail_shares(differences.ravel(), pairs.ravel(), nu)
    shares = shares.reshape(pairs.shape)
    subgradient = np.zeros(scores.size)
    subgradient[labels] = -0.5 * shares.sum(axis=1)
    subgradient[~labels] = 0.5 * shares.sum(axis=0)
    return -0.5 * (shares * differences).sum(), subgradient, last / 2.0


def instance_margin(scores, labels, nu_pos, nu_neg, weight=None):
    """Risk and subgradient of the lowest positives against the highest negatives."""
    weight = ones_for_none(labels, weight)
    subgradient = np.zeros(scores.size)
    positive, _ = tail_shares(scores[labels], weight[labels], nu_pos)
    negative, _ = tail_shares(-scores[~labels], weight[~labels], nu_neg)
    subgradient[labels], subgradient[~labels] = -0.5 * positive, 0.5 * negative
    return subgradient @ scores, subgradient


def tangent_margin(scores, labels, nu, nu_center, weight=None):
    """Risk by the linear program in d and nu_pos, with one row per bound."""
    weight = ones_for_none(labels, weight)
    p, n = labels.sum(), (~labels).sum()
    w, v = weight[labels], weight[~labels]
    objective = np.r_[scores[labels], -scores[~labels], 0.0] / 2.0
    bounds = np.zeros((p + n, p + n + 1))
    bounds[:, :-1] = np.eye(p + n)
    bounds[:p, -1], bounds[p:, -1] = w / nu_center**2, -v / nu
    sums = np.zeros((2, p + n + 1))
    sums[0, :p] = sums[1, p:-1] = 1.0
    first, last = nu / v.sum(), 2.0 * nu_center - nu_center**2 / w.sum()
    solution = linprog(
        objective,
        A_ub=bounds,
        b_ub=np.r_[2.0 * w / nu_center, np.zeros(n)],
        A_eq=sums,
        b_eq=[1.0, 1.0],
        bounds=[(0.0, None)] * (p + n) + [(first, last)],
    )
    assert solution.success, solution.message
    return -solution.fun
