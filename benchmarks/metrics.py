"""Metrics at a million rows, against scikit-learn and against a bare sort."""

from functools import partial

import numpy as np
from sklearn.metrics import roc_auc_score as sklearn_auc

from aucmax.metrics import (
    auc_interval,
    ordinal_auc_score,
    partial_auc_score,
    roc_auc_score,
)
from benchmarks.harness import Report, time_in_turn

TITLE = "metrics: 1,000,000 rows, 10% positives"
N_ROWS = 1_000_000


def run(report: Report) -> None:
    """Time each metric on scores with few ties, with many, and on probabilities."""
    rng = np.random.default_rng(0)
    y = (rng.random(N_ROWS) < 0.1).astype(np.int64)
    normal = rng.normal(size=N_ROWS) + y
    for name, scores in {
        "normal": normal,
        "tied": np.round(normal, 2),
        "probability": 1.0 / (1.0 + np.exp(5.0 - 2.0 * normal)),
    }.items():
        time_metrics(report, name, y, scores)
    check_equality(report, y, normal, rng.random(N_ROWS))
    time_scaling(report, rng)


def time_metrics(report: Report, name: str, y: np.ndarray, scores: np.ndarray) -> None:
    """Compare AUC, partial AUC and interval on one kind of scores."""
    timings = time_in_turn(
        {
            "sort": lambda: np.sort(scores),
            "ours": lambda: roc_auc_score(y, scores),
            "sklearn": lambda: sklearn_auc(y, scores),
            "our part": lambda: partial_auc_score(y, scores, fpr_range=(0, 0.1)),
            "sklearn part": lambda: sklearn_auc(y, scores, max_fpr=0.1),
            "interval": lambda: auc_interval(y, scores),
        },
        repeats=9,
    )
    best = {key: timing.best for key, timing in timings.items()}
    for metric, ours, theirs in (
        ("roc_auc_score", "ours", "sklearn"),
        ("partial_auc_score", "our part", "sklearn part"),
    ):
        first = f"{1e3 * best[ours]:.1f} ms, first call {timings[ours].first:.2f} s"
        report.add(
            f"{metric}, {name}: scikit-learn / ours",
            best[theirs] / best[ours],
            at_least=10,
            remark=first,
        )
        report.add(
            f"{metric}, {name}: ours / np.sort",
            best[ours] / best["sort"],
            at_most=2.5,
        )
    report.add(
        f"auc_interval, {name}: scikit-learn's bare AUC / ours",
        best["sklearn"] / best["interval"],
        at_least=1,
    )


def check_equality(
    report: Report, y: np.ndarray, scores: np.ndarray, weights: np.ndarray
) -> None:
    """Record the largest deviation from scikit-learn, with ties and weights."""
    gaps = []
    for sample_weight in (None, weights):
        for values in (scores, np.round(scores, 1)):
            options = {"sample_weight": sample_weight}
            gaps.append(
                roc_auc_score(y, values, **options) - sklearn_auc(y, values, **options)
            )
            part = partial_auc_score(
                y, values, fpr_range=(0, 0.1), standardize="mcclish", **options
            )
            gaps.append(part - sklearn_auc(y, values, max_fpr=0.1, **options))
    report.add("largest difference", np.abs(gaps).max(), "", at_most=1e-12)


def time_scaling(report: Report, rng: np.random.Generator) -> None:
    """Check that ten times the rows cost about ten times as much."""
    levels = rng.integers(0, 5, N_ROWS)
    scores = rng.normal(size=N_ROWS) + levels
    few = slice(N_ROWS // 10)
    for metric, labels in (
        (roc_auc_score, levels == 4),
        (ordinal_auc_score, levels),
    ):
        best = time_in_turn(
            {
                "all": partial(metric, labels, scores),
                "few": partial(metric, labels[few], scores[few]),
            },
            repeats=3,
        )
        report.add(
            f"{metric.__name__}: 1,000,000 / 100,000 rows",
            best["all"].best / best["few"].best,
            at_most=30,
            remark=f"{1e3 * best['all'].best:.0f} ms",
        )
