import numpy as np

from aucmax.linear.loss_search import (
    Candidate,
    Rows,
    choose,
    measure_fold,
    search_results,
    survivors,
)
from aucmax.metrics.metric_names import parse_metric

WHOLE = (0.0, 1.0)
THIRDS = [(np.arange(3), np.arange(1))] * 4  # three training rows per test row


def test_another_loss_must_be_clearly_better_than_logistic_regression():
    simple = Candidate("logistic regression", WHOLE, WHOLE, 1.0)
    other = Candidate("sigmoid", WHOLE, WHOLE, 1.0)
    even = np.array([[0.5, 0.6], [0.6, 0.51], [0.5, 0.52], [0.6, 0.6]])
    assert choose(even, [simple, other], THIRDS) == 0
    clear = even[:, :1] + np.array([0.0, 0.05]) + 0.001 * even
    assert choose(clear, [simple, other], THIRDS) == 1
    assert choose(clear[:, 1:], [other], THIRDS) == 0
    assert choose(clear[:1], [simple, other], THIRDS) == 0  # one fold tells little


def candidates(n_regressions, n_sigmoids):
    return [
        Candidate(loss, WHOLE, WHOLE, 10.0**k)
        for loss, n in (("logistic regression", n_regressions), ("sigmoid", n_sigmoids))
        for k in range(n)
    ]


def test_the_better_half_stays_and_losses_ahead_of_logistic_regression():
    some = candidates(4, 3)
    scores = np.array([[0.1, 0.8, 0.7, 0.2, 0.9, 0.3, 0.6]])
    assert survivors(scores, some) == [1, 2, 4]
    scores[0, 4] = 0.75  # behind the best regression
    assert survivors(scores, some) == [1, 2]
    early = [*some[:4], *(c._replace(fpr_range=(0.0, 0.1)) for c in some[4:])]
    assert survivors(scores, early) == [1, 2, 4]
    assert survivors(scores[:, 4:], some[4:]) == [0]
    assert survivors(scores[:, :1], some[:1]) == [0]


def test_candidates_that_were_left_out_are_never_chosen():
    scores = np.array([[0.9, 0.8, 0.7], [np.nan, 0.8, 0.7]])
    some = candidates(2, 1)
    assert choose(scores, some, THIRDS) == 1
    generator = np.random.default_rng(0)
    X, labels = generator.normal(size=(90, 2)), np.arange(90) % 2 == 0
    fold = np.arange(60), np.arange(60, 90)
    found = [
        measure_fold(Rows(X, labels), some, kept, parse_metric("auc"), *fold)
        for kept in ([0, 1, 2], [1])
    ]
    assert np.isnan(found[1][0]).tolist() == [True, False, True]
    results = search_results(np.array(found), some)
    assert results["rank_test_score"].tolist() == [2, 1, 2]
    assert np.isnan(results["mean_test_score"]).tolist() == [True, False, True]
    assert np.isfinite(results["mean_fit_time"]).all()


def test_a_fold_of_many_rows_learns_from_some_of_either_class():
    generator = np.random.default_rng(0)
    labels = generator.random(30_000) < 0.05
    X = generator.normal(size=(30_000, 3)) + 0.5 * labels[:, None]
    some = candidates(2, 1)
    fold = np.arange(20_000), np.arange(20_000, 30_000)
    seen = []

    class Seen(Rows):
        def take(self, rows):
            seen.append(rows)
            return super().take(rows)

    found = measure_fold(Seen(X, labels), some, [0, 1, 2], parse_metric("auc"), *fold)
    train, test = seen
    assert test.size == 10_000
    assert np.isin(train, fold[0]).all()
    assert np.unique(train).size == train.size < 5000
    assert labels[train].sum() == min(labels[:20_000].sum(), 1000)
    assert found[0].min() > 0.65


def test_losses_behind_logistic_regression_stay_for_goals_at_the_top():
    some = candidates(2, 1)
    scores = np.array([[0.9, 0.8, 0.7]])
    assert survivors(scores, some) == [0]
    smooth = Candidate("smooth average precision", WHOLE, WHOLE, 1.0, 0.3)
    assert survivors(np.array([[0.9, 0.8, 0.7, 0.6]]), [*some, smooth]) == [0, 2, 3]


def test_a_fold_takes_its_share_of_the_top_k():
    generator = np.random.default_rng(0)
    X, labels = generator.normal(size=(100, 2)), np.arange(100) % 4 == 0
    some, fold = candidates(1, 0), (np.arange(60), np.arange(60, 100))
    found = [
        measure_fold(rows, some, [0], parse_metric(f"precision@{k}"), *fold)[0, 0]
        for rows, k in (
            (Rows(X, labels), 10),
            (Rows(X, labels, None, np.zeros(100, dtype=int)), 4),
        )
    ]
    assert found[0] == found[1]  # 4 of the 10 rows are in the fold; a query has all k
