"""A model that is a column, and logits of models that see the truth through noise."""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from aucmax.model_selection.goals import Goal
from aucmax.model_selection.held_out import HeldOutRows
from aucmax.model_selection.stacking import scaled
from aucmax.tables import Target
from aucmax.tables.target import Grading

WHOLE = {"fpr_range": (0.0, 1.0), "tpr_range": (0.0, 1.0)}


class Column(ClassifierMixin, BaseEstimator):
    """A model that ranks by one column, and takes weights without using them."""

    def __init__(self, number=0):
        self.number = number

    def fit(self, X, y, sample_weight=None):
        self.classes_ = np.unique(y)
        return self

    def decision_function(self, X):
        return X[:, self.number]


def ranked(noise, n_rows=600, n_folds=3, seed=0, part=WHOLE, **more):
    """Return rows, and logits of models with this noise each; None is noise alone."""
    generator = np.random.default_rng(seed)
    truth = generator.normal(size=n_rows)
    labels = truth + generator.normal(size=n_rows) > 1.0
    folds = np.arange(n_rows) % n_folds
    scores = [
        (0.0 if level is None else truth)
        + (level or 1.0) * generator.normal(size=n_rows)
        for level in noise
    ]
    logits = np.empty((n_rows, len(scores)))
    for k in range(n_folds):
        for j, column in enumerate(scores):
            logits[folds == k, j] = scaled(column[folds == k], column)
    weight, queries = more.get("weight"), more.get("queries")
    target = Target(labels.astype(int), Grading((0, 1), (0, 1)), queries, weight)
    goal = Goal(more.get("metric", "partial_auc"), **part)
    return HeldOutRows(target, folds, goal), logits
