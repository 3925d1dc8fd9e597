"""Rows that several gates draw."""

import numpy as np
from scipy import sparse
from sklearn.datasets import make_classification
from sklearn.preprocessing import StandardScaler

Rows = tuple[np.ndarray, np.ndarray]


def overlapping(n_rows: int, n_columns: int, share: float) -> Rows:
    """Draw classes that overlap."""
    X, y = make_classification(
        n_rows,
        n_columns,
        n_informative=20,
        n_redundant=20,
        weights=[1.0 - share],
        flip_y=0.05,
        random_state=0,
    )
    return StandardScaler().fit_transform(X), y


def linear_rule(n_rows: int, n_columns: int, share: float) -> Rows:
    """Draw rows whose class follows a linear score with noise."""
    generator = np.random.default_rng(0)
    X = generator.normal(size=(n_rows, n_columns))
    score = X @ generator.normal(size=n_columns) / np.sqrt(n_columns)
    score += 0.5 * generator.normal(size=n_rows)
    y = (score > np.quantile(score, 1.0 - share)).astype(int)
    return StandardScaler().fit_transform(X), y


def word_counts(n_rows: int, n_columns: int) -> tuple[sparse.csr_array, np.ndarray]:
    """Draw documents of 50 words that follow a power law, and a linear rule."""
    generator = np.random.default_rng(0)
    chance = 1.0 / np.arange(1, n_columns + 1) ** 0.7
    columns = generator.choice(n_columns, size=50 * n_rows, p=chance / chance.sum())
    entries = np.ones(columns.size), (np.repeat(np.arange(n_rows), 50), columns)
    X = sparse.csr_array(entries, shape=(n_rows, n_columns))
    X.sum_duplicates()
    score = X @ generator.normal(size=n_columns)
    score = score / score.std() + 0.5 * generator.normal(size=n_rows)
    return X, (score > np.quantile(score, 0.95)).astype(int)


def rare_bits(n_rows: int, n_columns: int) -> tuple[sparse.csr_array, np.ndarray]:
    """Draw rare bits that follow hidden factors: a line separates the classes."""
    generator = np.random.default_rng(0)
    factors = generator.normal(size=(n_rows, 300))
    blocks = []
    for _ in range(0, n_columns, 4000):
        followed = generator.integers(0, 300, 4000)
        closeness = np.sqrt(0.5 * generator.random(4000))
        noise = generator.normal(size=(n_rows, 4000)) * np.sqrt(1.0 - closeness**2)
        levels = closeness * factors[:, followed] + noise
        rarity = np.minimum(0.5, 0.003 / np.sqrt(generator.random(4000)))
        thresholds = [
            np.quantile(column, 1.0 - share)
            for column, share in zip(levels.T, rarity, strict=True)
        ]
        blocks.append(sparse.csr_array((levels > thresholds).astype(float)))
    score = factors[:, :20].sum(axis=1) + 2.0 * generator.normal(size=n_rows)
    X = sparse.csr_array(sparse.hstack(blocks)[:, :n_columns])
    return X, (score > np.quantile(score, 0.9)).astype(int)


def interactions(n_rows: int, n_queries: int = 1, seed: int = 0) -> Rows:
    """Draw 46 columns with interactions; one row in twenty of a query is positive."""
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(n_rows, 46)).astype(np.float32)
    score = X[:, 0] * X[:, 1] + np.sin(2.0 * X[:, 2]) + X[:, 3] + np.abs(X[:, 11])
    score += 0.5 * X[:, 4:10].sum(axis=1) * (X[:, 10] > 0.0)
    score += 1.5 * generator.logistic(size=n_rows)
    by_query = score.reshape(n_queries, -1)
    return X, (by_query > np.quantile(by_query, 0.95, axis=1)[:, None]).ravel()


def scored_rows(n_rows: int) -> Rows:
    """Draw labels, one in ten positive, and scores."""
    generator = np.random.default_rng(0)
    labels = generator.random(n_rows) < 0.1
    return labels, generator.normal(size=n_rows) + labels
