"""Small data for tests; the same arguments give the same rows.

``X, y = linear_rows(200, seed=1)``; pass a generator as `seed` to draw several.
"""

import numpy as np
import polars as pl

from aucmax.metrics import survival_target


def linear_rows(n_rows=60, n_columns=4, *, seed=0, noise=1.0, cut=0.0, slopes=(1.0,)):
    """Return normal columns, and labels: is the noisy sum of the first ones above?"""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns))
    signal = X[:, : len(slopes)] @ np.asarray(slopes)
    return X, signal + noise * rng.normal(size=n_rows) > cut


def scored_rows(n_rows=200, *, share=0.3, gain=1.0, seed=0, n_values=None):
    """Return labels, and scores that are `gain` higher for positives; of few values."""
    rng = np.random.default_rng(seed)
    labels = rng.random(n_rows) < share
    labels[:2] = False, True
    scores = rng.normal(size=n_rows) + gain * labels
    if n_values is not None:
        scores = np.digitize(
            scores, np.quantile(scores, np.arange(1, n_values) / n_values)
        )
    return labels, scores


def graded_queries(n_queries=20, size=15, n_columns=4, *, n_levels=3, seed=0):
    """Return columns, levels from 0 and queries of one size, in random order."""
    rng = np.random.default_rng(seed)
    qid = rng.permutation(np.repeat(np.arange(n_queries), size))
    X = rng.normal(size=(qid.size, n_columns))
    quality = X[:, 0] + rng.normal(size=qid.size)
    ends = np.quantile(quality, np.linspace(0.5, 1.0, n_levels, endpoint=False))
    return X, np.digitize(quality, ends[: n_levels - 1]), qid


def censored_rows(n_rows=60, n_columns=4, *, share_of_events=0.7, seed=0):
    """Return columns, and events with tied times; the first column raises the risk."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns))
    times = np.ceil(9.0 * rng.exponential(np.exp(-X[:, 0])))
    return X, survival_target(rng.random(n_rows) < share_of_events, times)


def mixed_table(n_rows=200, *, seed=0):
    """Return a frame of numbers, categories, dates, missing values; and labels."""
    rng = np.random.default_rng(seed)
    size, kind = rng.normal(size=n_rows), rng.choice(["red", "blue", "green"], n_rows)
    frame = pl.DataFrame(
        {
            "size": size,
            "kind": kind,
            "day": [
                f"2024-{1 + k % 9:02d}-{1 + 3 * k % 25:02d}" for k in range(n_rows)
            ],
            "hours": [None if k % 5 == 0 else float(k % 7) for k in range(n_rows)],
        }
    )
    signal = size + (kind == "red") + rng.normal(size=n_rows)
    return frame, (signal > 0.8).astype(int)


def visits(seed=0, n_rows=240, **columns):
    """Return patients on days, with costs, a dose, a ward and who is sick."""
    rng = np.random.default_rng(seed)
    dose = rng.normal(size=n_rows)
    usual = {
        "patient": [f"patient {k}" for k in rng.integers(0, 50, n_rows)],
        "day": [f"2024-{1 + i // 28:02d}-{1 + i % 28:02d}" for i in range(n_rows)],
        "cost": rng.uniform(1, 9, n_rows).round(2),
        "dose": dose,
        "ward": rng.choice(["red", "green"], n_rows),
        "sick": (dose + rng.normal(size=n_rows) > 0.7).astype(int),
    }
    return pl.DataFrame({**usual, **columns})
