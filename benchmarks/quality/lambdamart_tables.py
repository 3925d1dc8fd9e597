"""LambdaMART against LightGBM's ``binary`` on real tables of two classes.

Both grow the same trees from the same rows. Each chooses one of six settings and the
number of rounds by the validation rows; test rows are looked at once, after that. Data
sets are looked for in ``AUCMAX_DATA``.
"""

from collections.abc import Callable
from itertools import product
from typing import Any

import lightgbm
import numpy as np
from scipy import sparse
from sklearn.model_selection import train_test_split

from aucmax import LambdaMART
from aucmax.metrics import roc_auc_score
from aucmax.tables import TableEncoder
from benchmarks.papers.differences import mean_difference
from benchmarks.quality.top_goals import load
from benchmarks.report import Report

TITLE = "LambdaMART against LightGBM binary on real tables, tuned, by AUC"
NAMES = (
    *("ionosphere", "spambase", "kr-vs-kp", "hypothyroid", "sick-euthyroid", "sick"),
    *("mammography", "bace", "a9a", "satimage", "segment", "vehicle"),
)
MAX_ROWS = 16_000  # more than these only in a9a
N_SPLITS = 8
TRAINING, VALIDATION, TEST = 0.6, 0.2, 0.2
MAX_ROUNDS, PATIENCE = 300, 30
SETTINGS = [
    {"learning_rate": 0.1, "num_leaves": leaves, "reg_lambda": penalty}
    for leaves, penalty in product((7, 31), (0.0, 5.0, 50.0))
]
TREES = {"min_child_samples": 20, "colsample_bytree": 1.0}
LIGHTGBM = {
    "objective": "binary",
    "metric": "None",
    "force_row_wise": True,
    "deterministic": True,
    "num_threads": 1,
    "seed": 0,
    "verbosity": -1,
}
Scorer = Callable[[Any], np.ndarray]
Parts = tuple[list[Any], list[np.ndarray], list[int]]


def draw_parts(name: str, number: int) -> Parts:
    """Return training, validation and test rows as numbers for trees."""
    table, y = load(name)
    rows = np.arange(y.size)
    if y.size > MAX_ROWS:
        rows, _ = train_test_split(
            rows, train_size=MAX_ROWS, stratify=y, random_state=0
        )
    others, test = train_test_split(
        rows, test_size=TEST, stratify=y[rows], random_state=number
    )
    training, validation = train_test_split(
        others,
        test_size=VALIDATION / (1.0 - TEST),
        stratify=y[others],
        random_state=number,
    )
    parts = training, validation, test
    encoder = TableEncoder().fit(table[training])
    X: list[Any] = [encoder.matrix(table[part], "trees") for part in parts]
    if sparse.issparse(table):
        X = [sparse.csr_matrix(part) for part in X]  # LightGBM warns of arrays
    return X, [y[part] for part in parts], encoder.categorical_features_


def fit_binary(setting: dict[str, Any], parts: Parts) -> Scorer:
    X, y, categorical = parts
    parameters = {**LIGHTGBM, **TREES, **setting}
    data = lightgbm.Dataset(
        X[0], y[0].astype(float), categorical_feature=categorical, params=parameters
    )
    model = lightgbm.train(
        parameters,
        data,
        MAX_ROUNDS,
        [data.create_valid(X[1], y[1].astype(float))],
        feval=lambda scores, _: ("", roc_auc_score(y[1], scores), True),
        callbacks=[lightgbm.early_stopping(PATIENCE, verbose=False)],
    )
    return lambda rows: np.asarray(model.predict(rows, raw_score=True))


def fit_ours(objective: str, setting: dict[str, Any], parts: Parts) -> Scorer:
    X, y, categorical = parts
    model = LambdaMART(
        objective,
        n_estimators=MAX_ROUNDS,
        n_iter_no_change=PATIENCE,
        eval_metric="auc",
        categorical_features=categorical,
        **TREES,
        **setting,
    )
    return model.fit(X[0], y[0], eval_set=(X[1], y[1])).decision_function


def measure_split(name: str, number: int) -> dict[str, float]:
    """Return the test AUC of each side, with the setting that validation chose."""
    parts = draw_parts(name, number)
    (_, X_validation, X_test), (_, y_validation, y_test), _ = parts
    outcome = {}
    for side in ("binary", "logistic", "auc"):
        scorers = [
            fit_binary(one, parts) if side == "binary" else fit_ours(side, one, parts)
            for one in SETTINGS
        ]
        valid = [roc_auc_score(y_validation, score(X_validation)) for score in scorers]
        chosen = scorers[int(np.argmax(valid))]
        outcome[side] = roc_auc_score(y_test, chosen(X_test))
    return outcome


def run(report: Report) -> None:
    """Report how much better each objective is than `binary`: per table, over all."""
    results = {
        name: [measure_split(name, number) for number in range(N_SPLITS)]
        for name in NAMES
    }
    for side in ("logistic", "auc"):
        means = []
        for name, splits in results.items():
            gains = np.array([one[side] - one["binary"] for one in splits])
            # test rows differ per split, but most training rows are the same ones
            difference = mean_difference(gains, overlap=TEST / TRAINING)
            means.append(difference.mean)
            remark = f"+- {difference.reach:.4f}"
            report.add(f"{name}: {side!r} less binary", means[-1], "", remark=remark)
        reach = mean_difference(np.array(means)).reach
        title = f"mean over {len(means)} sets, {side!r} less binary"
        least = 0.0 if side == "logistic" else float("-inf")
        remark = f"+- {reach:.4f}; above on {sum(np.array(means) > 0)}"
        report.add(title, np.mean(means), "", at_least=least, remark=remark)
