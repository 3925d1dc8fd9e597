import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics as sklearn_metrics
from sklearn.metrics import roc_auc_score as sklearn_roc_auc_score

import reference
from aucmax.metrics import (
    roc_auc_score,
    roc_curve,
)
from drawing import fewer_examples
from metrics.samples import samples, tied

pytestmark = pytest.mark.kernel


@pytest.fixture(
    autouse=True,
    scope="module",
    params=[2**15, 1],
    ids=["few", "many"],
)
def _number_of_rows(request):
    """Take the rows for few, and for many, which go different ways."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("aucmax.metrics._steps._MANY", request.param)
        yield


@given(samples())
def test_auc_is_the_share_of_ordered_pairs(sample):
    y, scores, _, _ = sample
    assert roc_auc_score(y, scores) == pytest.approx(
        reference.roc_auc(y, scores), abs=1e-12
    )


@given(samples(weights=True))
def test_weighted_auc_is_the_weighted_share_of_ordered_pairs(sample):
    y, scores, weights, _ = sample
    assert roc_auc_score(y, scores, sample_weight=weights) == pytest.approx(
        reference.roc_auc(y, scores, weights), abs=1e-12
    )


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("rate", [0.02, 0.5, 0.9])
@pytest.mark.parametrize(
    "draw",
    [
        lambda rng, m: rng.normal(size=m),
        lambda rng, m: np.round(rng.normal(size=m), 1),
        lambda rng, m: np.exp(20 * rng.normal(size=m)),
        lambda rng, m: rng.standard_cauchy(m),
        lambda rng, m: 1 / (1 + np.exp(-40 - rng.normal(size=m))),
        lambda rng, m: 1e15 + rng.integers(0, 9, m),
        lambda rng, m: rng.choice([-1e300, -1e-300, 0.0, -0.0, 1e-300, 1e300], m),
    ],
)
def test_auc_is_equal_to_scikit_learn(draw, rate, weighted):
    rng = np.random.default_rng(3)
    y = rng.random(2000) < rate
    scores = draw(rng, y.size) * np.where(y, 1.0, 0.9)
    weights = rng.random(y.size) if weighted else None
    expected = sklearn_roc_auc_score(y, scores, sample_weight=weights)
    value = roc_auc_score(y, scores, sample_weight=weights)
    assert value == pytest.approx(expected, abs=1e-12)


@fewer_examples
@given(samples(weights=True))
def test_swapping_the_classes_or_the_sign_of_the_scores_gives_the_complement(sample):
    y, scores, weights, _ = sample
    auc = roc_auc_score(y, scores, sample_weight=weights)
    for swapped in (
        roc_auc_score(1 - y, scores, sample_weight=weights),
        roc_auc_score(y, -scores, sample_weight=weights),
    ):
        assert auc + swapped == pytest.approx(1.0, abs=1e-12)


@fewer_examples
@given(
    samples(elements=tied), st.sampled_from([np.exp, np.arctan, lambda s: 3 * s - 7])
)
def test_monotone_transforms_change_nothing(sample, transform):
    y, scores, _, _ = sample
    assert roc_auc_score(y, transform(scores)) == roc_auc_score(y, scores)


@fewer_examples
@given(samples(), st.randoms(use_true_random=False))
def test_whole_weights_are_repetitions(sample, random):
    y, scores, _, _ = sample
    times = np.array([random.randint(1, 3) for _ in y])
    weighted = roc_auc_score(y, scores, sample_weight=times)
    assert weighted == pytest.approx(
        roc_auc_score(np.repeat(y, times), np.repeat(scores, times)), abs=1e-12
    )


def test_constant_scores_give_one_half_and_zeros_of_both_signs_are_equal():
    assert roc_auc_score([0, 1, 0, 1], [7.0] * 4) == 0.5
    assert roc_auc_score([0, 1], [0.0, -0.0]) == 0.5
    assert roc_auc_score([0, 1, 1], [-0.0, 0.0, 5e-324]) == 0.75


@fewer_examples
@given(samples(weights=True))
def test_the_curve_is_that_of_scikit_learn_without_points_inside_a_line(sample):
    y, scores, weights, _ = sample
    own_fpr, own_tpr, own_thresholds = roc_curve(y, scores, sample_weight=weights)
    # scikit-learn takes sums and differences of scores
    with np.errstate(over="ignore", invalid="ignore"):
        fpr, tpr, thresholds = sklearn_metrics.roc_curve(
            y, scores, sample_weight=weights, drop_intermediate=False
        )
    on_curve = np.isin(thresholds, own_thresholds)
    np.testing.assert_allclose(own_fpr, fpr[on_curve], atol=1e-12)
    np.testing.assert_allclose(own_tpr, tpr[on_curve], atol=1e-12)
    assert np.trapezoid(own_tpr, own_fpr) == pytest.approx(
        roc_auc_score(y, scores, sample_weight=weights), abs=1e-12
    )


def test_the_curve_has_no_points_inside_a_line():
    fpr, tpr, thresholds = roc_curve([0, 0, 0, 1, 1, 1], [1, 2, 3, 4, 5, 6])
    assert (fpr.tolist(), tpr.tolist()) == ([0, 0, 1], [0, 1, 1])
    assert thresholds.tolist() == [np.inf, 4, 1]


def test_a_thinned_curve_keeps_both_ends_and_the_area():
    rng = np.random.default_rng(0)
    y = rng.random(5000) < 0.3
    scores = rng.normal(size=y.size) + y
    fpr, tpr, thresholds = roc_curve(y, scores, max_points=200)
    assert fpr.size <= 200
    assert (fpr[0], tpr[0], thresholds[0]) == (0, 0, np.inf)
    assert (fpr[-1], tpr[-1]) == (1, 1)
    assert np.trapezoid(tpr, fpr) == pytest.approx(roc_auc_score(y, scores), abs=1e-3)
