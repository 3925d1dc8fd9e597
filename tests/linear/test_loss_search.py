import numpy as np
from sklearn.model_selection import KFold

from aucmax import LinearRankerCV
from aucmax._core.eval_set import LabelledRows
from aucmax._core.validation import Queries
from aucmax.linear.loss_search import (
    Candidate,
    finalists,
    sample_rows,
    score_candidates,
)
from aucmax.metrics.metric_names import parse_metric

WHOLE = (0.0, 1.0)


def candidates(n_regressions, n_sigmoids):
    return [
        Candidate(loss, WHOLE, WHOLE, 10.0**k)
        for loss, n in (("logistic regression", n_regressions), ("sigmoid", n_sigmoids))
        for k in range(n)
    ]


def test_the_best_regression_and_the_best_other_candidate_remain():
    scores = np.array([[0.1, 0.8, 0.7, 0.2, 0.9, 0.3, 0.6]])
    assert finalists(scores, candidates(4, 3)) == [1, 4]
    assert finalists(scores[:, :1], candidates(1, 0)) == [0]
    assert finalists(scores[:, 4:], candidates(0, 3)) == [0]


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


def test_a_sample_of_many_rows_has_enough_of_either_class():
    labels = np.random.default_rng(0).random(30_000) < 0.05
    train = np.arange(20_000)
    X = np.zeros((30_000, 1))
    sample = sample_rows(train, LabelledRows(X, labels, None, None))
    assert np.isin(sample, train).all()
    assert np.unique(sample).size == sample.size < 5000
    assert labels[sample].sum() == min(labels[:20_000].sum(), 1000)
    queries = Queries(np.zeros(30_000, dtype=int), [0])
    assert sample_rows(train, LabelledRows(X, labels, None, queries)) is train


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
