"""Margins over pairs: against HiGHS on the same program, and passes at scale."""

import numpy as np
from sklearn.linear_model import LogisticRegression

from aucmax import MarginRanker
from aucmax.datasets import make_r_of_k
from benchmarks.gates import gate, ratio, seconds
from margin_programs import solve_instances, solve_pairs

EPSILON = 0.2


def r_of_k(n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw the data of the paper's timings: N = 100, r = 3 of k = 10, 5% noise."""
    return make_r_of_k(n_rows, 100, r=3, k=10, label_noise=0.05, random_state=0)


def ranker(formulation: str, hypotheses: str, epsilon: float = EPSILON, **options):
    return MarginRanker(hypotheses, formulation=formulation, epsilon=epsilon, **options)


@gate("MarginRanker over pairs / HiGHS, 300 rows", at_most=0.5)
def pairs_against_highs() -> float:
    X, y = r_of_k(300)
    labels = y == 1
    nu = EPSILON * labels.sum() * (~labels).sum()
    model = ranker("pairs", "features", tol=1e-4)
    return ratio(lambda: model.fit(X, y), lambda: solve_pairs(X, labels, nu), 2)


@gate("MarginRanker over instances / HiGHS, 20,000 rows", at_most=0.05)
def instances_against_highs() -> float:
    X, y = r_of_k(20_000)
    labels = y == 1
    nus = [float(np.sqrt(EPSILON) * members.sum()) for members in (labels, ~labels)]
    model = ranker("instances", "features", tol=1e-4)
    model.fit(X, y)
    ours = min(seconds(lambda: model.fit(X, y)) for _ in range(3))
    return ours / seconds(lambda: solve_instances(X, labels, *nus))


@gate("MarginRanker over 2.5 * 10^11 pairs", at_most=20, unit="passes")
def pairs_at_scale() -> float:
    return ranker("pairs", "features").fit(*r_of_k(1_000_000)).n_passes_


def stumps_against_logistic_regression(
    n_rows: int, n_columns: int, flipped: float, epsilon: float
) -> float:
    """Return our time over that of a logistic regression of the same noisy rows."""
    generator = np.random.default_rng(0)
    X = generator.normal(size=(n_rows, n_columns))
    score = X @ generator.normal(size=n_columns) / np.sqrt(n_columns)
    score += np.sin(2.0 * X[:, 0])
    y = (score > np.median(score)) ^ (generator.random(n_rows) < flipped)
    model = ranker("pairs", "stumps", epsilon)
    peer = LogisticRegression()
    return ratio(lambda: model.fit(X, y), lambda: peer.fit(X, y), repeats=2)


@gate("MarginRanker, stumps of 600 x 60 / logistic regression", at_most=5000.0)
def noisy_stumps() -> float:
    return stumps_against_logistic_regression(600, 60, 0.25, EPSILON)


@gate("MarginRanker, stumps of 1,000 x 8 / logistic regression", at_most=3000.0)
def few_columns_of_stumps() -> float:
    return stumps_against_logistic_regression(1000, 8, 0.25, 0.3)
