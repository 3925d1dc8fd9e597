"""Tables for cross-validated metrics, by the name of the metric.

The tables of groups and of queries were changed after first results; the others were
fixed before the run. A logistic regression is fitted to five stratified folds, and the
interval of its held-out rows (``estimand="procedure"``, as AutoRanker and
`compare_models` take them) is compared with the value of the model fitted to all rows,
on 20,000 fresh ones, of which the same share is the top of the list. Tables have 8
normal columns, and 15 % of their rows are positive; the columns say nothing (signal 0),
or have log-odds of slopes 1, 1/2 and -1/2. With queries of 12 rows no query is divided,
and the mean over queries is measured. Groups of 8 rows share a label, two fifths of
them positive, and three columns but for little noise.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

from aucmax._core.row_splits import class_folds, unit_folds
from aucmax.inference import metric_interval
from aucmax.metrics.metric_names import parse_metric
from aucmax.model_selection.goals import Goal
from aucmax.model_selection.held_out import HeldOutRows
from aucmax.tables import encode_target

SEED = 29_417
N_FRESH, N_FOLDS = 20_000, 5
SLOPES = np.array([1.0, 0.5, -0.5])
METRICS = {
    "rows": (
        *("auc", "partial_auc", "gini", "average_precision", "precision@100"),
        *("recall@100", "lift@100", "recall@fpr=0.1", "recall@precision=0.3"),
        *("precision@recall=0.5", "ks"),
    ),
    "queries": ("ndcg@10", "map"),
    "groups": ("auc", "average_precision", "precision@100", "recall@fpr=0.1", "ks"),
}
SIZES = {"rows": 1, "queries": 12, "groups": 8}


def draw(rng: Any, n: int, signal: float, cut: float, groups: Any) -> Any:
    """Return rows and labels; a group shares its label and nearly three columns."""
    X, noise = rng.normal(size=(n, 8)), rng.logistic(size=n)
    log_odds = X[:, :3] @ SLOPES
    if groups is not None:
        X[:, :3] = rng.normal(size=(n, 3))[groups] + 0.1 * X[:, :3]
        first = np.unique(groups, return_index=True)[1]
        noise, log_odds = noise[groups], (X[:, :3] @ SLOPES)[first][groups]
    return X, signal * log_odds + noise > cut


def threshold(signal: float, share: float) -> float:
    """Return the threshold of the latent value that gives the share of positives."""
    rng = np.random.default_rng(SEED)
    log_odds = 1.5**0.5 * rng.normal(size=10**6)
    return float(np.quantile(signal * log_odds + rng.logistic(size=10**6), 1.0 - share))


def held_out(_: Any, unit: str, n: int, signal: float) -> Iterator[dict[str, Any]]:
    """Draw rows, rows in queries or rows in groups; with seeds that are their own."""
    rng = np.random.default_rng([SEED, n, int(signal), len(unit)])
    cut = threshold(signal, 0.4 if unit == "groups" else 0.15)
    # fresh groups have one row each
    units, fresh_units = np.arange(n) // SIZES[unit], np.arange(N_FRESH) // 12
    groups = units if unit == "groups" else None
    fresh_groups = np.arange(N_FRESH) if unit == "groups" else None
    fresh, labels = draw(rng, N_FRESH, signal, cut, fresh_groups)
    seed = -1
    while True:
        X, y = draw(rng, n, signal, cut, groups)
        if min(np.bincount(y, minlength=2)) < 2 * N_FOLDS:
            continue
        seed += 1
        divided = class_folds(y, N_FOLDS, seed)
        if unit != "rows":
            divided = unit_folds(y, units, N_FOLDS, seed)
        folds, scores = np.empty(n, dtype=int), np.empty(n)
        for fold, (train, test) in enumerate(divided):
            model = LogisticRegression().fit(X[train], y[train])
            folds[test], scores[test] = fold, model.decision_function(X[test])
        fresh_scores = LogisticRegression().fit(X, y).decision_function(fresh)
        outcome = {}
        for name in METRICS[unit]:
            metric = parse_metric(name)
            if unit == "queries":
                target = encode_target(y, qid=units)
                one = HeldOutRows(target, folds, Goal(name)).estimate(scores)
                truth = metric.function(labels, fresh_scores, qid=fresh_units)
            else:
                ranges = {"fpr_range": (0.0, 0.1)} if name == "partial_auc" else {}
                metric = metric.of_share(N_FRESH / n)
                truth = metric.function(labels, fresh_scores, **ranges)
                options = {"folds": folds, "groups": groups, **ranges}
                options |= {"estimand": "procedure", "n_resamples": 200}
                one = metric_interval(y, scores, name, **options)
            outcome[name] = bool(one.low <= truth <= one.high), one.high - one.low
        yield outcome
