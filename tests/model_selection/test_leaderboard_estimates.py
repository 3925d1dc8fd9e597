import numpy as np
import pytest

from aucmax.inference import auc_interval, compare_auc
from aucmax.metrics import partial_auc_score
from aucmax.model_selection.goals import WHOLE_CURVE
from model_selection.ranked_samples import ranked

EARLY = {"fpr_range": (0.0, 0.2), "tpr_range": (0.0, 1.0)}


@pytest.mark.parametrize("part", [WHOLE_CURVE, EARLY])
@pytest.mark.parametrize("weighted", [False, True])
def test_one_fold_has_the_interval_of_its_rows(part, weighted):
    weight = np.random.default_rng(1).random(600) if weighted else None
    rows = ranked([1.0], n_folds=1, weight=weight, part=part)
    scores = rows.logits[:, 0]
    expected = auc_interval(rows.labels, scores, sample_weight=weight, **part)
    interval = rows.estimate(scores)
    assert interval.value == pytest.approx(expected.value)
    assert (interval.low, interval.high) == pytest.approx((expected.low, expected.high))


def test_folds_are_compared_within_themselves():
    rows = ranked([1.0])
    scores = rows.logits[:, 0]
    moved, found = (rows.estimate(s) for s in (scores + 9.0 * rows.folds, scores))
    assert (moved.low, moved.high) == pytest.approx((found.low, found.high))


def test_with_queries_it_is_the_mean_over_queries():
    queries = np.arange(600) // 60
    rows = ranked([1.0], n_folds=1, queries=queries, part=EARLY)
    scores = rows.logits[:, 0]
    expected = partial_auc_score(rows.labels, scores, qid=queries, **EARLY)
    interval = rows.estimate(scores)
    assert interval.value == pytest.approx(expected)
    assert interval.low < interval.value < interval.high


def test_a_class_of_one_row_leaves_no_interval():
    rows = ranked([0.5], n_rows=40, n_folds=1)
    positives = np.flatnonzero(rows.labels)[1:]
    rows = rows.take(np.setdiff1d(np.arange(40), positives))
    interval = rows.estimate(rows.logits[:, 0])
    assert 0.0 <= interval.value <= 1.0
    assert np.isnan(interval.low)
    with pytest.raises(ValueError, match="at least two"):
        rows.compare(rows.logits[:, 0], -rows.logits[:, 0])


def test_two_models_are_compared_by_the_paired_test():
    rows = ranked([0.5, 1.0], n_folds=1)
    a, b = rows.logits.T
    expected = compare_auc(rows.labels, a, b).p_value
    assert rows.compare(a, b).p_value == pytest.approx(expected)
    assert rows.compare(a, a).p_value == 1.0
    by_query = ranked([0.1, 3.0], n_folds=1, queries=np.arange(600) // 60)
    assert by_query.compare(*by_query.logits.T).p_value < 0.01
