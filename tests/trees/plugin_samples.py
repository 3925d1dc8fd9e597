"""Rows with queries, and the derivatives of all pairs by their definition."""

from typing import NamedTuple

import numpy as np

from aucmax.metrics import (
    multiclass_auc_score,
    ordinal_auc_score,
    partial_auc_score,
    roc_auc_score,
)

METRICS = {
    "auc": roc_auc_score,
    "logistic": roc_auc_score,
    "pauc": lambda y, s, **rows: partial_auc_score(y, s, fpr_range=(0, 0.3), **rows),
    "mauc": multiclass_auc_score,
    "ordinal": ordinal_auc_score,
}
N_QUERIES, QUERY_SIZE = 30, 40


class Sample(NamedTuple):
    X: np.ndarray
    levels: np.ndarray
    weights: np.ndarray
    sizes: np.ndarray
    qid: np.ndarray

    @property
    def labels(self):
        return (self.levels > 1).astype(float)

    def labels_for(self, objective):
        return self.levels if objective in ("mauc", "ordinal") else self.labels


def make_sample(seed=0, n_queries=N_QUERIES):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_queries * QUERY_SIZE, 4))
    noise = 0.7 * rng.normal(size=X.shape[0])
    levels = np.clip(np.round(X[:, 0] + 0.5 * X[:, 1] ** 2 + noise), 0, 3)
    sizes = np.full(n_queries, QUERY_SIZE)
    qid = np.repeat(np.arange(n_queries), sizes)
    return Sample(X, levels, rng.uniform(0.5, 2.0, qid.size), sizes, qid)


def literal_derivatives(scores, labels, weights, qid, is_ranked):
    """Derivatives of the mean over queries, on the scale of about one a row."""
    gradient, hessian = np.zeros(scores.size), np.zeros(scores.size)
    for query in np.unique(qid):
        rows = np.flatnonzero(qid == query)
        positive, negative = rows[labels[rows] == 1], rows[labels[rows] == 0]
        if positive.size == 0 or negative.size == 0:
            continue
        order = rows[np.argsort(-scores[rows], kind="stable")]
        ranks = dict(
            zip(order, np.cumsum(weights[order]) - weights[order] / 2, strict=True)
        )
        mass = weights[positive].sum() * weights[negative].sum()
        scale = weights[rows].sum() / weights.mean() / 2
        if is_ranked:
            scale *= 3 / weights[rows].sum()
        for i in positive:
            for j in negative:
                v = weights[i] * weights[j] / mass * scale
                v *= abs(ranks[i] - ranks[j]) if is_ranked else 1
                slope = 1 / (1 + np.exp(scores[i] - scores[j]))
                gradient[i] -= v * slope
                gradient[j] += v * slope
                hessian[[i, j]] += v * slope * (1 - slope)
    return gradient, hessian
