"""Boosting over pairs by the book: every pair has its own weight. numpy alone.

Of hypotheses with equal edges (up to rounding) the first in the list is taken; lists
go by column, then by rising threshold, then direction 1 before -1.
"""

import numpy as np

TIE = 1e-9


def hypothesis_matrix(X, kind):
    """All hypotheses' values on all rows: one column each."""
    columns = []
    for x in np.asarray(X, dtype=float).T:
        levels = np.unique(x)
        if levels.size == 1:
            continue
        if kind == "stumps":
            for threshold in (levels[1:] + levels[:-1]) / 2:
                columns.append(np.where(x > threshold, 1.0, -1.0))
                columns.append(-columns[-1])
            continue
        if kind == "precomputed":
            columns.append(x)
            continue
        columns.append(2 * (x - x.min()) / (x.max() - x.min()) - 1)
        if kind == "signed":
            columns.append(-columns[-1])
    return np.array(columns).T


def first_best(edges):
    return int(np.argmax(edges >= edges.max() - TIE * abs(edges.max())))


def rank_boost(H, labels, weight, n_rounds, learning_rate=1.0):
    """Chosen hypotheses, steps and mean pair losses of RankBoost."""
    pairs = np.outer(weight[labels], weight[~labels])
    pairs /= pairs.sum()
    loss, scores = pairs.copy(), np.zeros(labels.size)
    chosen, steps, losses = [], [], []
    for _ in range(n_rounds):
        D = loss / loss.sum()
        differences = (H[labels][:, None, :] - H[~labels][None, :, :]) / 2
        edges = np.einsum("ij,ijk->k", D, differences)
        k = first_best(edges)
        step = learning_rate * 0.5 * np.log((1 + edges[k]) / (1 - edges[k]))
        scores += step * H[:, k]
        margins = (scores[labels][:, None] - scores[~labels][None, :]) / 2
        loss = pairs * np.exp(-margins)
        chosen.append(k)
        steps.append(step)
        losses.append(loss.sum())
    return chosen, np.array(steps), np.array(losses)


def soft_rank_boost(H, labels, weight, epsilon, delta, n_rounds):
    """Per round of SoftRankBoost: hypothesis, step, target, sums, potentials."""
    positive, negative = H[labels], H[~labels]
    v_pos, v_neg = weight[labels], weight[~labels]
    nu = epsilon * v_pos.sum() * v_neg.sum()
    d_pos, d_neg = v_pos / v_pos.sum(), v_neg / v_neg.sum()
    target, total = np.inf, 0.0
    F_pos, F_neg = np.zeros(v_pos.size), np.zeros(v_neg.size)
    records = []
    for _ in range(n_rounds):
        edges = (d_pos @ positive - d_neg @ negative) / 2
        k = first_best(edges)
        target = min(target, (1 - delta) * edges[k])
        step = (edges[k] - target) / (2 * (1 + target**2))
        bias = -(d_pos @ positive[:, k] + d_neg @ negative[:, k]) / 2
        F_pos += step * (positive[:, k] + bias)
        F_neg += step * (negative[:, k] + bias)
        total += step
        x_pos, x_neg = -F_pos + target * total, F_neg + target * total
        l_pos, l_neg = v_pos * smooth(x_pos), v_neg * smooth(x_neg)
        potentials = v_pos @ smooth_integral(x_pos), v_neg @ smooth_integral(x_neg)
        records.append((k, step, target, l_pos.sum(), l_neg.sum(), *potentials))
        if l_pos.sum() * l_neg.sum() <= nu:
            break
        d_pos, d_neg = l_pos / l_pos.sum(), l_neg / l_neg.sum()
    return records


def smooth(x):
    return np.where(x < 0, np.exp(np.minimum(x, 0)), 1.0)


def smooth_integral(x):
    """Convex, with the slope `smooth`: what the algorithm brings down."""
    return np.where(x < 0, np.exp(np.minimum(x, 0)), 1.0 + x)
