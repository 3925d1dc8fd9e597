from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from aucmax.decisions.calibrated import along_knots
from aucmax.metrics import roc_auc_score
from aucmax.model_selection import stacking
from aucmax.model_selection.stacking import (
    best_single,
    combine,
    learn_scale,
    scaled,
    stacked,
)
from drawing import picked
from model_selection.ranked_samples import ranked

EQUAL = np.zeros(2)  # scores without a deviation: logits are those of the ranks
REFERENCES = st.sampled_from([EQUAL, np.array([1.0, 5.0])])


def blocks_of(rows):
    return [np.flatnonzero(rows.folds == k) for k in range(rows.folds.max() + 1)]


def test_a_logit_is_half_by_the_share_below_and_half_by_the_distance_from_the_mean():
    scores = np.array([3.0, 1.0, 2.0, 2.0])
    by_rank = scaled(scores, EQUAL)
    np.testing.assert_allclose(expit(2.0 * by_rank), [0.875, 0.125, 0.5, 0.5])
    unit = np.pi / np.sqrt(3.0) / scores.std() / 2.0
    by_distance = scaled(scores, scores) - by_rank
    np.testing.assert_allclose(by_distance, [unit, -unit, 0.0, 0.0])
    moved = 1e6 * scores + 7.0
    np.testing.assert_allclose(scaled(moved, moved), scaled(scores, scores))


@given(picked(30, np.arange(8.0)), REFERENCES)
def test_training_scores_get_their_own_logits(scores, reference):
    logits = along_knots(scores, learn_scale(scores, reference))
    np.testing.assert_allclose(logits, scaled(scores, reference), atol=1e-12)


@given(st.integers(0, 1000), REFERENCES)
def test_the_order_of_new_scores_is_kept_even_beyond_the_training_scores(seed, values):
    generator = np.random.default_rng(seed)
    scale = learn_scale(generator.normal(size=2000) ** 3, values)
    new = np.sort(np.concatenate([50 * generator.normal(size=30), [-1e6, 1e6]]))
    assert (np.diff(along_knots(new, scale)) > 0.0).all()
    assert scale.shape[1] <= 400


def test_the_metric_is_the_mean_over_folds_by_their_pairs():
    rows, logits = ranked([1.0])
    scores, labels = logits[:, 0], rows.target.labels
    values = [roc_auc_score(labels[k], scores[k]) for k in blocks_of(rows)]
    sizes = [np.bincount(labels[k]) for k in blocks_of(rows)]
    expected = np.average(values, weights=np.prod(sizes, axis=1))
    assert rows.measure(scores) == pytest.approx(expected)
    # moving a fold as a whole changes nothing
    assert rows.measure(scores + 9.0 * rows.folds) == pytest.approx(expected)


def test_a_fold_of_one_class_does_not_count():
    rows, logits = ranked([1.0])
    kept = np.flatnonzero((rows.target.labels == 1) | (rows.folds > 0))
    others = np.flatnonzero(rows.folds > 0)
    expected = rows.take(others).measure(logits[others, 0])
    assert rows.take(kept).measure(logits[kept, 0]) == pytest.approx(expected)
    numbers = np.flatnonzero(rows.target.labels)
    positives = rows.take(numbers), logits[numbers]
    assert positives[0].measure(logits[numbers, 0]) == 0.5
    assert best_single(*positives).sum() == stacked(*positives).sum() == 1.0


def test_a_class_of_one_row_leaves_no_interval():
    rows, logits = ranked([0.5], n_rows=40, n_folds=1)
    kept = np.setdiff1d(np.arange(40), np.flatnonzero(rows.target.labels)[1:])
    rows, scores = rows.take(kept), logits[kept, 0]
    interval = rows.estimate(scores)
    assert 0.0 <= interval.value <= 1.0
    assert np.isnan(interval.low)
    with pytest.raises(ValueError, match="at least two"):
        rows.compare(scores, -scores)


def test_the_best_model_has_all_weight_and_noise_has_little():
    np.testing.assert_array_equal(best_single(*ranked([3.0, 0.2, 1.0])), [0, 1, 0])
    weights = stacked(*ranked([0.5, 0.5, None]))
    assert weights.sum() == pytest.approx(1.0)
    assert (weights >= 0.0).all()
    assert weights[2] < 0.1
    assert abs(weights[0] - weights[1]) < 0.3


def test_two_views_of_the_truth_rank_better_than_one():
    learned = ranked([0.7, 0.7], seed=1)
    new, logits = ranked([0.7, 0.7], n_rows=5000, seed=2)
    both, alone = (
        new.measure(logits @ learn(*learned)) for learn in (stacked, best_single)
    )
    assert both > alone + 0.005


def test_weights_are_those_of_a_logistic_regression_if_none_would_be_negative():
    rows, logits = ranked([0.5, 1.0, 2.0], n_folds=1, n_rows=3000)
    # the penalty of squared weights, for the sum of the losses
    theirs = LogisticRegression(C=1 / (3e-4 * 3000), tol=1e-8)
    expected = theirs.fit(logits, rows.target.labels).coef_[0]
    assert (expected > 0.0).all()
    np.testing.assert_allclose(
        stacked(rows, logits), expected / expected.sum(), atol=1e-3
    )


def test_a_model_that_ranks_backwards_is_not_reversed():
    rows, logits = ranked([0.5, 0.5])
    np.testing.assert_array_equal(stacked(rows, logits * [1.0, -1.0]), [1.0, 0.0])
    assert sorted(stacked(rows, -logits)) == [0.0, 1.0]


def test_a_stack_is_scored_by_weights_of_other_blocks():
    rows, logits = ranked([0.5, 1.0, 2.0])
    ensemble = combine(rows, logits, blocks_of(rows))
    assert ensemble.combiner == "stack"
    np.testing.assert_array_equal(ensemble.weights, stacked(rows, logits))
    np.testing.assert_array_equal(ensemble.scores, logits @ ensemble.weights)
    for block in blocks_of(rows):
        others = np.setdiff1d(np.arange(rows.folds.size), block)
        expected = logits[block] @ stacked(rows.take(others), logits[others])
        np.testing.assert_allclose(ensemble.honest_scores[block], expected)
    # so the labels of a block do not change its scores
    first, labels = blocks_of(rows)[0], rows.target.labels.copy()
    labels[first] = labels[first][::-1]
    other = replace(rows, target=replace(rows.target, labels=labels))
    scores = combine(other, logits, blocks_of(rows)).honest_scores
    np.testing.assert_array_equal(scores[first], ensemble.honest_scores[first])


@pytest.mark.parametrize(
    ("noise", "stack", "chosen"),
    [
        ([0.1, 3.0], [0.0, 1.0], "best single model"),
        # better, but not by more than the folds support
        ([0.6, 0.6], [0.4, 0.6], "stack"),
    ],
)
def test_a_single_model_replaces_a_stack_that_is_clearly_worse(
    noise, stack, chosen, monkeypatch
):
    rows, logits = ranked(noise)
    monkeypatch.setitem(stacking.COMBINERS, "stack", lambda *_: np.array(stack))
    assert combine(rows, logits, blocks_of(rows)).combiner == chosen


@pytest.mark.parametrize("n_blocks", [1, 2])
def test_few_blocks_are_enough(n_blocks):
    rows, logits = ranked([1.0, 2.0], n_rows=20, n_folds=1)
    blocks = np.array_split(np.arange(20), n_blocks)
    assert np.isfinite(combine(rows, logits, blocks).honest_scores).all()
