"""Small training sets for margins, with ties, duplicates and weights."""

import numpy as np


def binary(seed, n_rows=24, n_columns=6):
    """Columns of -1 and 1, so that ties are the rule; half the columns are noise."""
    rng = np.random.default_rng(seed)
    X = rng.choice([-1.0, 1.0], (n_rows, n_columns))
    votes = X[:, : n_columns // 2].sum(axis=1) + rng.normal(scale=1.0, size=n_rows)
    return X, _both_classes(votes > 0.3)


def continuous(seed, n_rows=30, n_columns=4):
    """Columns on different scales, one of them pointing the wrong way."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns))
    labels = X[:, 0] + 0.5 * X[:, 1] - X[:, 2] + 0.5 * rng.normal(size=n_rows) > 0.3
    X *= 10.0 ** rng.integers(-2, 3, n_columns)
    return X + rng.normal(size=n_columns), _both_classes(labels)


def duplicated(seed):
    """A few rows, each of them several times, in both classes."""
    rng = np.random.default_rng(seed)
    X, labels = binary(seed, n_rows=7, n_columns=4)
    rows = rng.integers(0, 7, 20)
    labels = labels[rows]
    labels[5:8] = ~labels[5:8]
    return X[rows], _both_classes(labels)


def few_rows(seed):
    """Two rows of each class."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(4, 3)), np.array([True, False, True, False])


def separable(seed, n_rows=40, n_columns=5):
    """Rows that some convex combination of the columns ranks without a mistake."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1.0, 1.0, (n_rows, n_columns))
    score = X @ np.arange(1, n_columns + 1)
    labels = score > np.median(score)
    X[labels, 0] += 0.3
    return X, labels


def integer_weights(seed, labels, low=1):
    """Numbers of repetitions, at least two rows of each class among them."""
    rng = np.random.default_rng(seed)
    weights = rng.integers(low, 4, labels.size)
    for members in (labels, ~labels):
        weights[np.flatnonzero(members)[:2]] = 1
    return weights


def hypotheses_of(kind, X):
    """All hypotheses of a kind on all rows, one column each, and their weights' set."""
    if kind == "precomputed":
        return X, "simplex"
    low, high = X.min(axis=0), X.max(axis=0)
    varying = high > low
    H = np.zeros(X.shape)
    H[:, varying] = 2.0 * (X - low)[:, varying] / (high - low)[varying] - 1.0
    return H[:, varying], "simplex" if kind == "features" else "l1"


def all_stumps(X):
    """Every stump of direction 1 on all rows: column, threshold and values."""
    columns, thresholds = [], []
    for k, column in enumerate(X.T):
        values = np.unique(column)
        middles = values[:-1] / 2.0 + values[1:] / 2.0
        columns += [k] * middles.size
        thresholds += middles.tolist()
    columns, thresholds = np.array(columns), np.array(thresholds)
    return columns, thresholds, np.where(X[:, columns] > thresholds, 1.0, -1.0)


def _both_classes(labels):
    labels = labels.copy()
    labels[:2], labels[2:4] = True, False
    return labels
