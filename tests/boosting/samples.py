"""Small training sets for boosting, with ties and a constant column."""

import numpy as np


def sample(seed, n_rows=30, n_columns=5, n_levels=6):
    """Few distinct values, one constant column, labels that follow three columns."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, n_levels, (n_rows, n_columns)).astype(float)
    X[:, 1] = 3.0
    noise = rng.normal(scale=n_levels / 6, size=n_rows)
    labels = X[:, 0] + X[:, 3] - X[:, 2] + noise > n_levels / 2
    labels[:2] = True, False
    return X, labels


def chosen_values(model, X):
    """Values of the model's hypotheses on all rows, one column per round."""
    x = X[:, model.columns_]
    if hasattr(model, "thresholds_"):
        values = np.where(x > model.thresholds_, 1.0, -1.0)
    else:
        low, high = model.low_[model.columns_], model.high_[model.columns_]
        values = 2 * (x - low) / (high - low) - 1
    return model.directions_ * values
