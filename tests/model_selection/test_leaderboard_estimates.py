import numpy as np
import pytest

from aucmax.metrics import auc_interval, compare_auc, partial_auc_score
from aucmax.metrics.uncertainty import area_interval
from aucmax.model_selection.leaderboard import WHOLE_CURVE, compare_scores, estimate
from model_selection.ranked_samples import ranked

EARLY = {"fpr_range": (0.0, 0.2), "tpr_range": (0.0, 1.0)}


@pytest.mark.parametrize("part", [WHOLE_CURVE, EARLY])
@pytest.mark.parametrize("weighted", [False, True])
def test_one_fold_has_the_interval_of_its_rows(part, weighted):
    weight = np.random.default_rng(1).random(600) if weighted else None
    rows = ranked([1.0], n_folds=1, weight=weight)
    scores = rows.logits[:, 0]
    expected = auc_interval(rows.labels, scores, sample_weight=weight, **part)
    found = estimate(rows, scores, part)
    assert found == pytest.approx((expected.auc, expected.low, expected.high))


def test_folds_are_compared_within_themselves():
    rows = ranked([1.0])
    scores = rows.logits[:, 0]
    moved = estimate(rows, scores + 9.0 * rows.folds, WHOLE_CURVE)
    assert moved == pytest.approx(estimate(rows, scores, WHOLE_CURVE))


def test_folds_that_share_training_rows_have_a_wider_interval():
    rows = ranked([1.0])
    scores = rows.logits[:, 0]
    of_folds = [
        auc_interval(rows.labels[rows.folds == k], scores[rows.folds == k])
        for k in range(3)
    ]
    pairs = [
        np.prod(np.bincount(rows.labels[rows.folds == k].astype(int))) for k in range(3)
    ]
    errors = np.array([one.standard_error for one in of_folds])
    independent = np.linalg.norm(errors * pairs / np.sum(pairs))
    found = estimate(rows, scores, WHOLE_CURVE)
    rows = np.sum([one.rows for one in of_folds], axis=0)
    error = np.sqrt(1 + 2 / 3) * independent
    assert found[1:] == pytest.approx(area_interval(found.value, error, 0.95, rows))


def test_with_queries_it_is_the_mean_over_queries():
    queries = np.arange(600) // 60
    rows = ranked([1.0], n_folds=1, queries=queries)
    scores = rows.logits[:, 0]
    expected = partial_auc_score(rows.labels, scores, qid=queries, **EARLY)
    found = estimate(rows, scores, EARLY)
    assert found.value == pytest.approx(expected)
    assert found.low < found.value < found.high


def test_a_class_of_one_row_leaves_no_interval():
    rows = ranked([0.5], n_rows=40, n_folds=1)
    positives = np.flatnonzero(rows.labels)[1:]
    rows = rows.take(np.setdiff1d(np.arange(40), positives))
    found = estimate(rows, rows.logits[:, 0], WHOLE_CURVE)
    assert 0.0 <= found.value <= 1.0
    assert np.isnan(found.low)
    assert np.isnan(compare_scores(rows, rows.logits[:, 0], -rows.logits[:, 0]))


def test_two_models_are_compared_by_the_paired_test():
    rows = ranked([0.5, 1.0], n_folds=1)
    a, b = rows.logits.T
    expected = compare_auc(rows.labels, a, b).p_value
    assert compare_scores(rows, a, b) == pytest.approx(expected)
    assert compare_scores(rows, a, a) == 1.0
    by_query = ranked([0.1, 3.0], n_folds=1, queries=np.arange(600) // 60)
    assert compare_scores(by_query, *by_query.logits.T) < 0.01
