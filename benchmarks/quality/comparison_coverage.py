"""How often the intervals of a comparison hold what they promise.

Tables of 400 rows, 20% positives, 5 folds. The truth is measured on 20,000 other rows:
the mean of the folds' models, by the weights of their folds.
"""

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold

from aucmax.metrics import compare_auc, cv_auc_interval, roc_auc_score
from aucmax.trees import LightGBMBaseline
from benchmarks.report import Report

TITLE = "Coverage of comparisons"

N_TABLES = 70
N_FOLDS = 5


def draw(n_rows, rng):
    X = rng.normal(size=(n_rows, 8))
    log_odds = 0.9 * X[:, 0] + 0.6 * X[:, 1] + 0.8 * X[:, 2] * X[:, 3] - 2.0
    return X, rng.random(n_rows) < 1.0 / (1.0 + np.exp(-log_odds))


def scored(model, X):
    if hasattr(model, "decision_function"):
        return model.decision_function(X)
    return model.predict_proba(X)[:, 1]


def covered(seed, X_new, y_new):
    """Tell of one table which intervals cover: of trees, linear, their difference."""
    rng = np.random.default_rng(seed)
    X, y = draw(400, rng)
    scores, numbers = np.empty((2, y.size)), np.empty(y.size, dtype=int)
    truths, pairs = [], []
    folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=seed)
    for fold, (train, test) in enumerate(folds.split(X, y)):
        models = [LightGBMBaseline(), LogisticRegression()]
        for model in models:
            model.fit(X[train], y[train])
        scores[:, test] = [scored(model, X[test]) for model in models]
        numbers[test] = fold
        truths.append([roc_auc_score(y_new, scored(model, X_new)) for model in models])
        pairs.append(y[test].sum() * (~y[test]).sum())
    truth = np.array(pairs) / sum(pairs) @ truths
    known = {"folds": numbers, "target": "procedure"}
    found = [cv_auc_interval(y, one, **known) for one in scores]
    found.append(compare_auc(y, *scores, **known))
    goals = [*truth, truth[0] - truth[1]]
    return [one.low <= goal <= one.high for one, goal in zip(found, goals, strict=True)]


def run(report: Report) -> None:
    new = draw(20_000, np.random.default_rng(12345))
    shares = np.mean([covered(seed, *new) for seed in range(N_TABLES)], axis=0)
    for name, share in zip(("trees", "linear", "difference"), shares, strict=True):
        report.add(f"share of intervals that cover, {name}", share, at_least=0.9)
