"""Whether the intervals of AutoRanker hold what they promise."""

import numpy as np

from aucmax import AutoRanker
from aucmax.metrics import partial_auc_score
from benchmarks.report import Report

TITLE = "Coverage of AutoRanker's intervals"
N_TABLES = 200
QUICK_MODELS = ["logistic", "additive"]
N_QUERY_TABLES = 50
QUICK_RANKERS = ["svm-auc", "lightgbm-levels"]


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


def made_up_queries(
    n_queries: int, seed: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Make queries of 12 rows and three levels; some queries are easier than others."""
    generator = np.random.default_rng(seed)
    qid = np.repeat(np.arange(n_queries), 12)
    X = generator.normal(size=(qid.size, 6))
    ease = generator.normal(size=n_queries)[qid]
    quality = X[:, 0] - X[:, 1] * X[:, 2] + ease + generator.normal(size=qid.size)
    return X, np.digitize(quality, [1.0, 2.5]), qid


def run_queries(report: Report) -> None:
    """Count how often the interval holds the NDCG@10 of 1,000 further queries."""
    covered = []
    for seed in range(N_QUERY_TABLES):
        X, y, qid = made_up_queries(60, seed)
        model = AutoRanker(models=QUICK_RANKERS).fit(X, y, qid=qid)
        X, y, qid = made_up_queries(1_000, 10_000 + seed)
        truth, found = model.score(X, y, qid=qid), model.estimate_
        covered.append(found["ndcg@10_low"] < truth < found["ndcg@10_high"])
    share = 100.0 * float(np.mean(covered))
    report.add("intervals of NDCG@10 that hold the truth", share, "%", at_least=90.0)


def run(report: Report) -> None:
    """Count how often the interval holds the AUC on 20,000 further rows."""
    run_queries(report)
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
