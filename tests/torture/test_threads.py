"""The number of threads, and who is done first, change nothing, or next to nothing."""

import random
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sklearn.base import clone
from threadpoolctl import threadpool_limits

import aucmax
from aucmax import inference, metrics
from aucmax.graphs import grid_edges, rank
from torture.amount import times

RNG = np.random.default_rng(0)
N = 6000
X = RNG.normal(size=(N, 8))
Y = X[:, 0] + X[:, 1] * X[:, 2] + RNG.normal(size=N) > 1.0
LEVELS = np.digitize(X[:, 0] + RNG.normal(size=N), [0.0, 1.0])
QID = RNG.integers(0, 200, N)
S = X[:, 0]
EDGES = grid_edges(10, 10)
COUNTS = (1, 2, 4, 8)

METRICS = {
    "roc_auc_score": lambda: metrics.roc_auc_score(Y, S),
    "partial_auc_score": lambda: metrics.partial_auc_score(Y, S, fpr_range=(0, 0.1)),
    "auc_interval": lambda: inference.auc_interval(Y, S).high,
    "ndcg_score": lambda: metrics.ndcg_score(LEVELS, S, qid=QID),
    "mean_average_precision": lambda: metrics.mean_average_precision(Y, S, qid=QID),
    "ordinal_auc_score": lambda: metrics.ordinal_auc_score(LEVELS, S),
    "rank": lambda: rank(S[:100], EDGES, np.ones(len(EDGES))).scores,
}
BOOSTED = {
    "LambdaMART": (aucmax.LambdaMART(n_estimators=5), Y),
    "LambdaMART ordinal": (aucmax.LambdaMART("ordinal", n_estimators=5), LEVELS),
    "RankBoost": (aucmax.RankBoost(n_estimators=5), Y),
}
#: those whose products are those of a BLAS
LINEAR = {
    "AUCSVC": aucmax.AUCSVC(tol=1e-6),
    "MarginRanker": aucmax.MarginRanker(epsilon=0.5, tol=1e-6),
}


def scores_of(model, labels, n_rows=N):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = clone(model).fit(X[:n_rows], labels[:n_rows])
        return model.decision_function(X[:n_rows])


def for_all_counts(call):
    for n_threads in COUNTS:
        with threadpool_limits(n_threads):
            yield call()


@pytest.mark.parametrize("name", METRICS)
def test_metrics_are_the_same_bits_for_any_number_of_threads(name):
    first, *others = for_all_counts(METRICS[name])
    for scores in others:
        np.testing.assert_array_equal(scores, first)


@pytest.mark.slow
@pytest.mark.parametrize("name", BOOSTED)
def test_boosted_models_are_the_same_bits_for_any_number_of_threads(name):
    model, labels = BOOSTED[name]
    first, *others = for_all_counts(lambda: scores_of(model, labels))
    if "n_jobs" in model.get_params():
        others += [scores_of(model.set_params(n_jobs=n), labels) for n in COUNTS]
    for scores in others:
        np.testing.assert_array_equal(scores, first)


@pytest.mark.parametrize("name", LINEAR)
def test_linear_models_differ_by_what_the_tolerance_allows_and_not_by_one_thread(name):
    model = LINEAR[name]
    rows, labels = X[:2000], Y[:2000]
    values = [*for_all_counts(lambda: clone(model).fit(rows, labels).objective_)]
    np.testing.assert_allclose(values, values[0], rtol=2e-6)
    with threadpool_limits(1):
        again = [scores_of(model, Y, 2000) for _ in range(2)]
    np.testing.assert_array_equal(*again)


@pytest.mark.slow
# warnings.catch_warnings of one thread ends that of another
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_sixteen_threads_may_call_everything_at_once():
    few = 300
    calls = [*METRICS.values()]
    calls += [
        lambda model=model, labels=labels: scores_of(model, labels, few)
        for model, labels in BOOSTED.values()
    ]
    fresh = [aucmax.AUCSVC, aucmax.MarginRanker, aucmax.SoftRankBoost]
    calls += [lambda kind=kind: scores_of(kind(), Y, few) for kind in fresh]
    expected = [call() for call in calls]
    order = [k % len(calls) for k in range(times(32, 1000))]
    random.Random(0).shuffle(order)
    with ThreadPoolExecutor(16) as pool:
        scores = [*pool.map(lambda k: calls[k](), order)]
    for k, value in zip(order, scores, strict=True):
        np.testing.assert_array_equal(value, expected[k])
