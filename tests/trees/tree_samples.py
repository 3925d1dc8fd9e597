"""Small training sets for trees: continuous columns, labels, levels and queries."""

import numpy as np

from aucmax.trees.pair_objectives import OBJECTIVES, prepare_measure

LABEL_OBJECTIVES = [name for name, one in OBJECTIVES.items() if one.labels != "times"]

TWO = [name for name, objective in OBJECTIVES.items() if objective.labels == "two"]
LEVELS = [name for name in LABEL_OBJECTIVES if name not in TWO]


def sample(seed, name="auc", n_rows=400, n_queries=20):
    """Features, labels as the objective wants them, and interleaved queries."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 5))
    signal = X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * rng.normal(size=n_rows)
    y = signal > 0.5 if name in TWO else np.digitize(signal, [0.3, 1.2])
    return X, y, rng.permutation(np.arange(n_rows) % n_queries)


def measure(name, y, scores, qid=None, **options):
    """Measure scores by what the objective of this name aims at."""
    metric = OBJECTIVES[name].metric_at(None)
    return prepare_measure(metric, y, qid, **options)(scores)
