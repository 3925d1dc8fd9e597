from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from aucmax.metrics import partial_auc_score, roc_auc_score
from aucmax.model_selection.stacking import best_single, stacked
from model_selection.ranked_samples import ranked


def test_the_metric_is_the_mean_over_folds():
    rows = ranked([1.0])
    scores = rows.logits[:, 0]
    of_folds = [
        roc_auc_score(rows.labels[rows.folds == k], scores[rows.folds == k])
        for k in range(3)
    ]
    positives = np.bincount(rows.folds, rows.labels)
    expected = np.average(of_folds, weights=positives)
    assert rows.measure(scores) == pytest.approx(expected)
    # moving a fold as a whole changes nothing
    assert rows.measure(scores + 9.0 * rows.folds) == pytest.approx(expected)


def test_the_metric_is_that_of_the_part_with_weights_and_queries():
    weight = np.random.default_rng(1).random(600)
    queries = np.arange(600) // 60
    part = {"fpr_range": (0.0, 0.3), "tpr_range": (0.0, 1.0)}
    rows = ranked([1.0], n_folds=1, part=part, weight=weight, queries=queries)
    scores = rows.logits[:, 0]
    expected = partial_auc_score(
        rows.labels, scores, sample_weight=weight, qid=queries, fpr_range=(0, 0.3)
    )
    assert rows.measure(scores) == pytest.approx(expected)


def test_rows_of_one_class_tell_nothing():
    rows = ranked([1.0, 2.0])
    rows = rows.take(np.flatnonzero(rows.labels))
    assert rows.measure(rows.logits[:, 0]) == 0.5
    assert best_single(rows).sum() == stacked(rows).sum() == 1.0


def test_the_best_model_takes_it_all():
    np.testing.assert_array_equal(best_single(ranked([3.0, 0.2, 1.0])), [0, 1, 0])


def test_weights_are_shares_and_noise_has_little():
    weights = stacked(ranked([0.5, 0.5, None]))
    assert weights.sum() == pytest.approx(1.0)
    assert (weights >= 0.0).all()
    assert weights[2] < 0.1
    assert abs(weights[0] - weights[1]) < 0.3


def test_two_views_of_the_truth_rank_better_than_one():
    known, new = ranked([0.7, 0.7], seed=1), ranked([0.7, 0.7], n_rows=5000, seed=2)
    both = new.measure(new.logits @ stacked(known))
    alone = new.measure(new.logits @ best_single(known))
    assert both > alone + 0.005


def test_weights_are_those_of_a_logistic_regression_if_none_would_be_negative():
    rows = ranked([0.5, 1.0, 2.0], n_folds=1, n_rows=3000)
    # the price on squared weights, for the sum of the losses
    theirs = LogisticRegression(C=1 / (3e-4 * 3000), tol=1e-8)
    expected = theirs.fit(rows.logits, rows.labels).coef_[0]
    assert (expected > 0.0).all()
    np.testing.assert_allclose(stacked(rows), expected / expected.sum(), atol=1e-3)


def test_a_model_that_ranks_backwards_is_not_turned_round():
    rows = ranked([0.5, 0.5])
    backwards = replace(rows, logits=rows.logits * [1.0, -1.0])
    np.testing.assert_array_equal(stacked(backwards), [1.0, 0.0])


def test_without_a_useful_model_one_is_taken():
    rows = ranked([0.5, 0.7])
    hopeless = replace(rows, logits=-rows.logits)
    assert sorted(stacked(hopeless)) == [0.0, 1.0]
