"""Metrics and risks of a million rows, against sorts and scikit-learn."""

import numpy as np
from sklearn import metrics as theirs

from aucmax import inference, metrics, risks
from benchmarks.gates import best_seconds, gate, merge_sort, ratio, seconds
from benchmarks.speed.samples import scored_rows

N_ROWS = 1_000_000


def by_merge_sort(call, keys: np.ndarray, repeats: int = 5) -> float:
    """Return the time of a call over that of a merge sort of keys."""
    return ratio(call, lambda: merge_sort(keys), repeats)


@gate("roc_auc_score / merge sorts of both classes, 10^6 rows", at_most=0.7)
def auc() -> float:
    y, scores = scored_rows(N_ROWS)
    positive, negative = scores[y], scores[~y]
    return ratio(
        lambda: metrics.roc_auc_score(y, scores),
        lambda: (merge_sort(positive), merge_sort(negative)),
    )


@gate("partial_auc_score / scikit-learn's max_fpr, 10^6 rows", at_most=0.5)
def partial_auc() -> float:
    y, scores = scored_rows(N_ROWS)
    return ratio(
        lambda: metrics.partial_auc_score(y, scores, fpr_range=(0, 0.1)),
        lambda: theirs.roc_auc_score(y, scores, max_fpr=0.1),
    )


@gate("auc_interval / scikit-learn's AUC without interval, 10^6 rows", at_most=1.0)
def interval() -> float:
    y, scores = scored_rows(N_ROWS)
    return ratio(
        lambda: inference.auc_interval(y, scores),
        lambda: theirs.roc_auc_score(y, scores),
    )


@gate("compare_auc of 10 models / a merge sort, 10^6 rows", at_most=12.0)
def ten_models() -> float:
    y, scores = scored_rows(N_ROWS)
    noise = np.random.default_rng(3).normal(size=(10, N_ROWS))
    models = {f"model {k}": scores + one for k, one in enumerate(noise)}
    first = models["model 0"]
    return by_merge_sort(lambda: inference.compare_metric(y, models), first, 3)


@gate("concordance_index / a merge sort, 10^6 rows", at_most=3.0)
def concordance() -> float:
    event, scores = scored_rows(N_ROWS)
    time = np.random.default_rng(4).exponential(np.exp(-scores))
    return by_merge_sort(lambda: metrics.concordance_index(event, time, scores), scores)


@gate("ndcg_score / scikit-learn's, 10,000 queries of 100 rows", at_most=0.2)
def ndcg() -> float:
    generator = np.random.default_rng(2)
    levels = generator.integers(0, 4, (10_000, 100))
    scores = generator.normal(size=levels.shape) + 0.5 * levels
    qid = np.repeat(np.arange(10_000), 100)
    flat_levels, flat_scores = levels.ravel(), scores.ravel()

    def ours() -> None:
        metrics.ndcg_score(flat_levels, flat_scores, qid=qid, gains="linear")

    best = best_seconds({"ours": ours})
    part = slice(1000)  # theirs is timed on a tenth of the queries
    peer = seconds(lambda: theirs.ndcg_score(levels[part], scores[part]))
    return best["ours"] / (10.0 * peer)


@gate("all pairs, logistic: value, gradient, hessian / a merge sort", at_most=0.2)
def logistic_pairs() -> float:
    y, scores = scored_rows(N_ROWS)
    risk = risks.PairLogistic().bind(y)
    return by_merge_sort(lambda: risk.value_gradient_hessian(scores), scores)


@gate("all pairs, rank-weighted: the same / a merge sort", at_most=1.2)
def rank_weighted_pairs() -> float:
    y, scores = scored_rows(N_ROWS)
    risk = risks.PairLogistic(rank_weighted=True).bind(y)
    return by_merge_sort(lambda: risk.value_gradient_hessian(scores), scores)


@gate("smooth average precision: value, gradient / a merge sort", at_most=1.8)
def smooth_average_precision() -> float:
    y, scores = scored_rows(N_ROWS)
    risk = risks.SmoothAveragePrecision().bind(y)
    return by_merge_sort(lambda: risk.value_and_gradient(scores), scores)


@gate("sigmoid pairs of FPR [0, 0.1]: value, gradient / a merge sort", at_most=0.3)
def sigmoid_pairs() -> float:
    y, scores = scored_rows(N_ROWS)
    risk = risks.PairSigmoid(fpr_range=(0.0, 0.1)).bind(y)
    return by_merge_sort(lambda: risk.value_and_gradient(scores), scores)


@gate("comparable pairs of censored times: the same / a merge sort", at_most=10.0)
def concordance_pairs() -> float:
    generator = np.random.default_rng(4)
    event, time = generator.random(N_ROWS) < 0.5, generator.exponential(size=N_ROWS)
    risk = risks.Concordance().bind(metrics.survival_target(event, time))
    scores = generator.normal(size=N_ROWS) - np.log(time)
    return by_merge_sort(lambda: risk.value_gradient_hessian(scores), scores, 3)
