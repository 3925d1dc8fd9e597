"""Whether the intervals of AutoRanker hold what they promise."""

import numpy as np

from aucmax import AutoRanker
from aucmax.metrics import partial_auc_score
from benchmarks.report import Report

TITLE = "Coverage of AutoRanker's intervals"
N_TABLES = 200
QUICK_MODELS = ["logistic", "additive"]


def made_up(n_rows: int, seed: int, kind: int) -> tuple[np.ndarray, np.ndarray]:
    """Make a table by one of five rules: a line, a product, a bend, little, nothing."""
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(n_rows, 8))
    strength = [
        X[:, 0] + 0.5 * X[:, 1],
        X[:, 0] * X[:, 1] + 0.5 * X[:, 2],
        np.abs(X[:, 0]) + 0.5 * X[:, 1] - 0.8,
        0.3 * X[:, 0],
        0.0 * X[:, 0],
    ][kind]
    return X, (strength + generator.normal(size=n_rows) > 0.7).astype(int)


def run(report: Report) -> None:
    """Count how often the interval holds the AUC on 20,000 further rows."""
    covered, early = [], []
    for seed in range(N_TABLES):
        model = AutoRanker(models=QUICK_MODELS).fit(*made_up(300, seed, seed % 5))
        X, y = made_up(20_000, 10_000 + seed, seed % 5)
        scores, found = model.decision_function(X), model.estimate_
        truth = partial_auc_score(y, scores)
        covered.append(found["auc_low"] < truth < found["auc_high"])
        truth = partial_auc_score(y, scores, fpr_range=(0, 0.1))
        early.append(found["partial_auc_low"] < truth < found["partial_auc_high"])
    for name, hits in (("AUC", covered), ("partial AUC", early)):
        share = 100.0 * float(np.mean(hits))
        report.add(f"intervals that hold the {name}, of {N_TABLES}", share, "%")
