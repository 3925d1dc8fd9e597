"""LambdaMART against LightGBM and XGBoost with equal trees, two threads each."""

import lightgbm
import numpy as np

from aucmax import LambdaMART
from benchmarks.gates import gate, ratio
from benchmarks.speed.samples import interactions

THREADS, ROUNDS = 2, 50
LIGHTGBM = {
    "num_leaves": 31,
    "learning_rate": 0.1,
    "num_threads": THREADS,
    "force_row_wise": True,
    "verbosity": -1,
}


def fit_ours(objective: str, X: np.ndarray, y: np.ndarray, **rows: np.ndarray) -> None:
    """Fit LambdaMART with LightGBM's own settings."""
    LambdaMART(
        objective,
        n_estimators=ROUNDS,
        n_jobs=THREADS,
        num_leaves=31,
        learning_rate=0.1,
        min_child_samples=20,
        colsample_bytree=1.0,
        reg_lambda=0.0,
    ).fit(X, y, **rows)


def against_binary(objective: str) -> float:
    """Return our time over that of LightGBM's binary objective."""
    X, y = interactions(100_000)
    parameters = {**LIGHTGBM, "objective": "binary", "deterministic": True}

    def fit_theirs() -> None:
        rows = lightgbm.Dataset(X, y.astype(float), params=parameters)
        lightgbm.train(parameters, rows, ROUNDS)

    return ratio(lambda: fit_ours(objective, X, y), fit_theirs, repeats=3)


@gate("LambdaMART('logistic') / LightGBM binary, 10^5 x 46", at_most=1.3)
def logistic() -> float:
    return against_binary("logistic")


@gate("LambdaMART('auc') / LightGBM binary, 10^5 x 46", at_most=1.3)
def auc() -> float:
    return against_binary("auc")


@gate("LambdaMART('auc') / XGBoost rank:pairwise, 2,000 x 100 rows", at_most=1.3)
def queries() -> float:
    import xgboost

    X, y = interactions(200_000, 2_000)
    sizes, qid = np.full(2_000, 100), np.repeat(np.arange(2_000), 100)
    parameters = {
        "objective": "rank:pairwise",
        "lambdarank_pair_method": "mean",
        "lambdarank_num_pair_per_sample": 1,
        "max_leaves": 31,
        "grow_policy": "lossguide",
        "max_depth": 0,
        "eta": 0.1,
        "tree_method": "hist",
        "max_bin": 255,  # checked against that of the rows
        "nthread": THREADS,
    }

    def fit_theirs() -> None:
        rows = xgboost.QuantileDMatrix(X, y.astype(float), group=sizes, max_bin=255)
        xgboost.train(parameters, rows, ROUNDS)

    return ratio(lambda: fit_ours("auc", X, y, qid=qid), fit_theirs, repeats=2)


@gate("LambdaMART('auc') / LightGBM lambdarank, 50,000 x 20 rows", at_most=2.0)
def short_queries() -> float:
    X, y = interactions(1_000_000, 50_000)
    X = X[:, :12]
    sizes, qid = np.full(50_000, 20), np.repeat(np.arange(50_000), 20)
    parameters = {**LIGHTGBM, "objective": "lambdarank"}

    def fit_theirs() -> None:
        rows = lightgbm.Dataset(X, y.astype(float), group=sizes, params=parameters)
        lightgbm.train(parameters, rows, ROUNDS)

    return ratio(lambda: fit_ours("auc", X, y, qid=qid), fit_theirs, repeats=2)
