"""Linear models: passes over the data to a certified gap, and time against peers."""

import warnings

import numpy as np
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from aucmax import AUCSVC, LinearRankerCV
from benchmarks.gates import gate, ratio
from benchmarks.speed.samples import linear_rule, overlapping, rare_bits, word_counts


@gate("AUCSVC / balanced logistic regression, 100,000 x 50", at_most=1.0)
def against_logistic_regression() -> float:
    X, y = overlapping(100_000, 50, 0.1)
    peer = LogisticRegression(class_weight="balanced")
    return ratio(lambda: AUCSVC().fit(X, y), lambda: peer.fit(X, y))


@gate("AUCSVC, 50,000 x 100, C = 10^4", at_most=25, unit="passes")
def large_C() -> float:
    return AUCSVC(1e4).fit(*linear_rule(50_000, 100, 0.15)).n_passes_


@gate("AUCSVC, 2,000 queries of 100 rows / the same without queries", at_most=4.0)
def queries() -> float:
    X, y = linear_rule(200_000, 50, 0.15)
    qid = np.repeat(np.arange(2_000), 100)
    X = X + 0.5 * np.random.default_rng(0).normal(size=(2_000, 50))[qid]
    model = AUCSVC(100.0)
    return ratio(lambda: model.fit(X, y, qid=qid), lambda: model.fit(X, y), repeats=2)


@gate("AUCSVC for FPR [0, 0.1], 10^5 x 100, C = 1,000", at_most=30, unit="passes")
def partial_auc() -> float:
    X, y = linear_rule(100_000, 100, 0.05)
    return AUCSVC(1000.0, fpr_range=(0.0, 0.1)).fit(X, y).n_passes_


@gate("AUCSVC, sparse 50,000 x 50,000, C = 1,000 / a pass", at_most=500)
def sparse_counts() -> float:
    X, y = word_counts(50_000, 50_000)
    ones, scores = np.ones(X.shape[1]), np.ones(X.shape[0])
    model = AUCSVC(1000.0, fpr_range=(0.0, 0.1))

    def fit() -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(X, y)

    return ratio(fit, lambda: (X @ ones, X.T @ scores), repeats=2)


@gate("AUCSVC with L1, 800 x 88,000 bits, C = 100", at_most=50, unit="passes")
def l1() -> float:
    return AUCSVC(100.0, penalty="l1").fit(*rare_bits(800, 88_000)).n_passes_


def against_one_regression(n_rows: int, n_columns: int) -> float:
    """Return the time of LinearRankerCV over that of one logistic regression."""
    X, y = linear_rule(n_rows, n_columns, 0.2)
    with threadpool_limits(1):
        return ratio(
            lambda: LinearRankerCV().fit(X, y), lambda: LogisticRegression().fit(X, y)
        )


@gate("LinearRankerCV / one logistic regression, 20,000 x 50", at_most=10.0)
def cross_validated() -> float:
    return against_one_regression(20_000, 50)


@gate("LinearRankerCV / one logistic regression, 2,000 x 30", at_most=40.0)
def cross_validated_few_rows() -> float:
    return against_one_regression(2_000, 30)
