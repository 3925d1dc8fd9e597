"""Effect of resampling on a ranking and its probabilities: resampling.md."""

import warnings

import numpy as np
from lightgbm import LGBMClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.neighbors import NearestNeighbors

from aucmax.metrics import average_precision_score, roc_auc_score
from aucmax.tables import TableEncoder
from benchmarks.quality.top_goals import load
from benchmarks.report import Report

TITLE = "Resampling of rare positives: AUC, average precision, probabilities"
TABLES = ("mammography", "sick", "satimage", "hypothyroid")
TREATMENTS = ("none", "balanced weights", "undersampling", "SMOTE")
N_SPLITS = 5


def smote(X: np.ndarray, n_rows: int, rng: np.random.Generator) -> np.ndarray:
    """Return rows between random rows and one of their five nearest neighbours."""
    neighbours = NearestNeighbors(n_neighbors=6).fit(X).kneighbors(X)[1][:, 1:]
    start = rng.integers(0, len(X), n_rows)
    end = neighbours[start, rng.integers(0, 5, n_rows)]
    return X[start] + rng.random((n_rows, 1)) * (X[end] - X[start])


def treated(
    treatment: str, X: np.ndarray, y: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Return the training rows of a treatment, with as many positives as negatives."""
    if treatment == "undersampling":
        negatives = rng.choice(np.flatnonzero(~y), y.sum(), replace=False)
        rows = np.concatenate([np.flatnonzero(y), negatives])
        return X[rows], y[rows]
    if treatment == "SMOTE":
        new = smote(X[y], int((~y).sum() - y.sum()), rng)
        return np.vstack([X, new]), np.append(y, np.ones(len(new), dtype=bool))
    return X, y


def run(report: Report) -> None:
    """Fit both models after each treatment; report means over tables and splits."""
    scores: dict[str, list[tuple[float, float, float]]] = {}
    for name in TABLES:
        table, labels = load(name)
        for seed in range(N_SPLITS):
            train, test = train_test_split(
                np.arange(len(labels)), stratify=labels, random_state=seed
            )
            with warnings.catch_warnings(action="ignore"):  # of constant columns
                encoder = TableEncoder().fit(table[train])
            X, X_test = (encoder.transform(table[rows]) for rows in (train, test))
            y, y_test = labels[train], labels[test]
            for treatment in TREATMENTS:
                training = treated(treatment, X, y, np.random.default_rng(seed))
                weight = "balanced" if treatment == "balanced weights" else None
                for model in (
                    LogisticRegression(class_weight=weight, max_iter=2000),
                    LGBMClassifier(class_weight=weight, verbose=-1, n_jobs=1),
                ):
                    y_prob = model.fit(*training).predict_proba(X_test)[:, 1]
                    key = f"{type(model).__name__}, {treatment}"
                    scores.setdefault(key, []).append(
                        (
                            roc_auc_score(y_test, y_prob),
                            average_precision_score(y_test, y_prob),
                            y_prob.mean() / y_test.mean(),
                        )
                    )
    for key, outcomes in scores.items():
        area, precision, bias = np.mean(outcomes, axis=0)
        report.add(f"{key}: AUC", area, "")
        report.add(f"{key}: average precision", precision, "")
        report.add(f"{key}: mean probability over the share of positives", bias)
