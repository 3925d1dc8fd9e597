"""Rows with queries, and the metrics of objectives."""

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
