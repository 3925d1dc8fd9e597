import numpy as np
from sklearn.model_selection import KFold

from aucmax import LinearRankerCV
from aucmax._core.eval_set import LabelledRows
from aucmax._core.validation import Queries
from aucmax.linear.loss_search import (
    Candidate,
    choose,
    fit_candidates,
    score_candidates,
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


def test_candidates_that_were_left_out_have_no_mean():
    generator = np.random.default_rng(0)
    X = generator.normal(size=(900, 2))
    labels = X[:, 0] + generator.normal(size=900) > 0.0
    model = LinearRankerCV(C_values=(1.0,), cv=KFold(4)).fit(X, labels)
    results = model.cv_results_
    is_left_out = np.isnan(results["mean_test_score"])
    assert 0 < is_left_out.sum() < is_left_out.size
    ranks = results["rank_test_score"]
    assert ranks[is_left_out].min() > ranks[~is_left_out].max()
    assert np.isfinite(results["split0_test_score"]).all()
    assert np.isfinite(results["mean_fit_time"]).all()


def test_a_fold_of_many_rows_learns_from_some_of_either_class():
    generator = np.random.default_rng(0)
    labels = generator.random(30_000) < 0.05
    X = generator.normal(size=(30_000, 3)) + 0.5 * labels[:, None]
    some = candidates(2, 1)
    train, test = np.arange(20_000), np.arange(20_000, 30_000)
    seen = []

    class Seen(LabelledRows):
        def part(self, rows):
            seen.append(rows)
            return super().part(rows)

    rows = Seen(X, labels, None, None)
    weights, _, _ = fit_candidates(rows, some, train)
    sample = seen[0]
    assert np.isin(sample, train).all()
    assert np.unique(sample).size == sample.size < 5000
    assert labels[sample].sum() == min(labels[:20_000].sum(), 1000)
    scores = score_candidates(rows, weights, parse_metric("auc"), test)
    assert seen[1].size == 10_000
    assert min(scores) > 0.65


def test_losses_behind_logistic_regression_stay_for_goals_at_the_top():
    some = candidates(2, 1)
    scores = np.array([[0.9, 0.8, 0.7]])
    assert survivors(scores, some) == [0]
    smooth = Candidate("smooth average precision", WHOLE, WHOLE, 1.0, 0.3)
    assert survivors(np.array([[0.9, 0.8, 0.7, 0.6]]), [*some, smooth]) == [0, 2, 3]


def test_a_fold_takes_its_share_of_the_top_k():
    generator = np.random.default_rng(0)
    X, labels = generator.normal(size=(100, 2)), np.arange(100) % 4 == 0
    test, weights = np.arange(60, 100), np.ones((1, 2))
    queries = Queries(np.zeros(100, dtype=int), [0])
    scores = [
        score_candidates(
            LabelledRows(X, labels, None, qid),
            weights,
            parse_metric(f"precision@{k}"),
            test,
        )
        for qid, k in ((None, 10), (queries, 4))
    ]
    assert scores[0] == scores[1]  # 4 of the 10 rows are in the fold; a query has all k
