"""Metrics at a million rows and more, against other packages and bare sorts."""

from collections.abc import Callable
from functools import partial
from importlib.util import find_spec

import numpy as np
from sklearn.metrics import average_precision_score
from sklearn.metrics import ndcg_score as sklearn_ndcg
from sklearn.metrics import roc_auc_score as sklearn_auc

from aucmax.metrics import (
    auc_interval,
    mean_average_precision,
    ndcg_score,
    ordinal_auc_score,
    partial_auc_score,
    roc_auc_score,
)
from benchmarks.harness import Report, time_in_turn, timed

TITLE = "metrics: 1,000,000 rows, 10% positives"
N_ROWS = 1_000_000
N_QUERIES = 10_000


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
    for m in (N_ROWS, 10 * N_ROWS):
        against_sorts(report, m)
    per_query(report)


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


def against_sorts(report: Report, m: int) -> None:
    """Compare the AUC with what it takes to sort positives and negatives apart."""
    rng = np.random.default_rng(1)
    y = rng.random(m) < 0.1
    scores = rng.normal(size=m) + y
    positives, negatives = scores[y], scores[~y]
    times = time_in_turn(
        {
            "sorts": lambda: (np.sort(positives), np.sort(negatives)),
            "ours": lambda: roc_auc_score(y, scores),
        },
        repeats=5 if m <= N_ROWS else 2 if m <= 10 * N_ROWS else 1,
    )
    report.add(
        f"roc_auc_score, {m:,} rows: ours / sorts of both classes",
        times["ours"].best / times["sorts"].best,
        at_most=1.5,
        remark=f"{1e3 * times['ours'].best:.0f} ms",
    )


def huge(report: Report) -> None:
    """Go to 10^8 scores, which take 900 MB by themselves: not part of a usual run."""
    against_sorts(report, 100 * N_ROWS)


def per_query(report: Report) -> None:
    """Compare means over 10,000 queries; others are timed on a tenth, times ten."""
    rng = np.random.default_rng(2)
    levels = rng.integers(0, 4, (N_QUERIES, N_ROWS // N_QUERIES))
    scores = rng.normal(size=levels.shape) + 0.5 * levels
    qid = np.repeat(np.arange(N_QUERIES), levels.shape[1])
    flat, is_relevant = scores.ravel(), levels.ravel() == 3
    part = slice(N_QUERIES // 10)
    few, few_scores = levels[part], scores[part]

    def one_by_one(metric: Callable[..., float]) -> Callable[[], float]:
        pairs = list(zip(few == 3, few_scores, strict=True))
        return lambda: float(np.mean([metric(y, s) for y, s in pairs if y.any()]))

    ours = {
        "ndcg_score": partial(ndcg_score, levels.ravel(), flat, gains="linear"),
        "mean_average_precision": partial(mean_average_precision, is_relevant, flat),
        "roc_auc_score": partial(roc_auc_score, is_relevant, flat),
    }
    theirs = {
        "ndcg_score": lambda: sklearn_ndcg(few, few_scores),
        "mean_average_precision": one_by_one(average_precision_score),
        "roc_auc_score": one_by_one(sklearn_auc),
    }
    times = time_in_turn({name: partial(call, qid=qid) for name, call in ours.items()})
    for name, timing in times.items():
        report.add(
            f"{name}, 10,000 queries: scikit-learn / ours",
            10.0 * timed(theirs[name])[0] / timing.best,
            at_least=10,
            remark=f"{1e3 * timing.best:.0f} ms",
        )
    for library, judge in PEERS.items():
        if find_spec(library) is None:
            continue
        calls = {
            name: partial(judge, few, few_scores, name)
            for name in ("ndcg_score", "mean_average_precision")
        }
        for name, timing in time_in_turn(calls, repeats=1).items():
            report.add(
                f"{name}, 10,000 queries: {library} / ours",
                10.0 * timing.best / times[name].best,
                at_least=10,
                remark="from arrays on",
            )


def judge_by_ranx(levels: np.ndarray, scores: np.ndarray, metric: str) -> float:
    """Return the mean of a metric over queries, by ranx."""
    from ranx import Qrels, Run, evaluate

    truth, found = by_name(levels), by_name(scores)
    name = {"ndcg_score": "ndcg", "mean_average_precision": "map-l3"}[metric]
    return float(evaluate(Qrels(truth), Run(found), name))


def judge_by_ir_measures(levels: np.ndarray, scores: np.ndarray, metric: str) -> float:
    """Return the mean of a metric over queries, by ir-measures, that is trec_eval."""
    import ir_measures

    measures = {
        "ndcg_score": ir_measures.nDCG,
        "mean_average_precision": ir_measures.AP(rel=3),
    }
    measure = measures[metric]
    found = ir_measures.calc_aggregate([measure], by_name(levels), by_name(scores))
    return float(found[measure])


def by_name(values: np.ndarray) -> dict[str, dict[str, float]]:
    """Return the dictionaries of queries and documents that both packages read."""
    names = [f"d{k}" for k in range(values.shape[1])]
    return {
        f"q{q}": dict(zip(names, row, strict=True))
        for q, row in enumerate(values.tolist())
    }


# taken where they are installed: `pip install ranx ir-measures`
PEERS = {"ranx": judge_by_ranx, "ir_measures": judge_by_ir_measures}


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
