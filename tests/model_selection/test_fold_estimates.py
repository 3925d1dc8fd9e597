import numpy as np
import pytest
from scipy import stats

from aucmax.metrics import auc_interval, compare_auc
from aucmax.model_selection.fold_estimates import (
    mean_interval,
    paired_test,
    pool_aucs,
    pool_differences,
)


def scores_of_folds(n_folds: int, seed: int = 0):
    rng = np.random.default_rng(seed)
    for size in 30 + 10 * np.arange(n_folds):
        labels = np.arange(size) % 3 == 0
        yield labels, labels + rng.normal(size=size), labels + 2 * rng.normal(size=size)


def test_one_fold_pools_to_delongs_interval_and_test():
    ((labels, a, b),) = scores_of_folds(1)
    one = np.ones(1)
    interval, test = auc_interval(labels, a), compare_auc(labels, a, b)
    assert pool_aucs([interval], one) == pytest.approx(
        (interval.auc, interval.low, interval.high)
    )
    assert pool_differences([test], one) == pytest.approx(
        (test.difference, test.low, test.high, test.z, test.p_value)
    )


def test_more_folds_narrow_the_interval_by_at_least_the_square_root():
    ((labels, a, b),) = scores_of_folds(1)
    n = 16
    weights = np.full(n, 1 / n)
    test = compare_auc(labels, a, b)
    pooled = pool_differences([test] * n, weights)
    assert pooled.difference == pytest.approx(test.difference)
    ratio = (pooled.high - pooled.low) / (test.high - test.low)
    assert 0.8 / 4 < ratio < 1 / 4  # the quantile is lower, too


def test_equal_scores_have_no_difference():
    tests = [compare_auc(labels, a, a) for labels, a, _ in scores_of_folds(3)]
    pooled = pool_differences(tests, np.full(3, 1 / 3))
    assert (pooled.difference, pooled.z, pooled.p_value) == (0.0, 0.0, 1.0)
    assert pooled.high == -pooled.low < 0.1


def test_a_fold_without_a_difference_still_has_its_variance():
    labels = np.array([1, 1, 0, 0, 1, 0])
    a, b = np.array([3, 1, 2, 0, 5, 4.0]), np.array([1, 3, 0, 2, 5, 4.0])
    test = compare_auc(labels, a, b)
    assert test.difference == 0
    pooled = pool_differences([test] * 2, np.full(2, 0.5))
    assert pooled.high - pooled.low < (test.high - test.low) / 2**0.5
    assert pooled.p_value == 1


def test_perfect_rankings_are_not_certain():
    labels, scores = np.arange(10) > 4, np.arange(10.0)
    perfect = auc_interval(labels, scores)
    pooled = pool_aucs([perfect] * 3, np.full(3, 1 / 3))
    assert pooled.value == pooled.high == 1
    assert pooled.low == pytest.approx(0.025 ** (1 / 15))
    worst = pool_aucs([auc_interval(labels, -scores)], np.ones(1))
    assert (worst.value, worst.low) == (0, 0)
    level = pool_aucs([auc_interval(labels, 0 * scores)], np.ones(1))
    assert level.low < level.value == 0.5 < level.high
    certain = compare_auc(labels, scores, -scores)
    assert 0 < pool_differences([certain], np.ones(1)).p_value < 0.5


@pytest.mark.rotating(3)
def test_the_interval_covers_the_truth_at_about_the_stated_rate():
    # scores without information: the AUC is 1/2; three folds a trial
    rng = np.random.default_rng(0)
    labels = np.arange(60) % 4 == 0
    covered = 0
    for _ in range(400):
        folds = [auc_interval(labels, rng.normal(size=60)) for _ in range(3)]
        pooled = pool_aucs(folds, np.full(3, 1 / 3))
        covered += pooled.low <= 0.5 <= pooled.high
    assert 0.92 <= covered / 400 <= 0.98


@pytest.mark.rotating(3)
def test_the_test_is_rarely_fooled_by_chance():
    rng = np.random.default_rng(1)
    labels = np.arange(60) % 4 == 0
    weights = np.full(3, 1 / 3)
    rejected = sum(
        pool_differences(
            [compare_auc(labels, *rng.normal(size=(2, 60))) for _ in range(3)],
            weights,
        ).p_value
        < 0.05
        for _ in range(400)
    )
    assert rejected / 400 <= 0.08


def test_interval_and_test_are_students():
    rng = np.random.default_rng(0)
    a, b = rng.uniform(0.4, 0.9, (2, 12))
    interval = mean_interval(a)
    known = stats.ttest_1samp(a, 0).confidence_interval(0.95)
    assert interval == pytest.approx((a.mean(), known.low, known.high))
    test, paired = paired_test(a, b), stats.ttest_rel(a, b)
    low, high = paired.confidence_interval(0.95)
    assert test == pytest.approx(
        ((a - b).mean(), low, high, paired.statistic, paired.pvalue)
    )


def test_intervals_stay_between_0_and_1_and_perfection_is_not_certain():
    assert mean_interval(np.array([1.0, 0.9])).high == 1
    assert mean_interval(np.array([0.0, 0.1])).low == 0
    perfect = mean_interval(np.ones(10))
    assert perfect == pytest.approx((1, 0.025**0.1, 1))


def test_equal_differences_have_no_variance_to_go_by():
    values = np.array([0.25, 0.5, 0.75])
    equal = paired_test(values, values)
    assert (equal.difference, equal.z, equal.p_value) == (0, 0, 1)
    assert equal.low == -equal.high < -0.5  # three values prove little
    better = paired_test(np.ones(20), np.zeros(20))
    assert better.difference == 1
    assert 0 < better.p_value < 0.001


def test_a_single_value_has_no_interval():
    value, low, high = mean_interval(np.array([0.7]))
    assert value == 0.7
    assert np.isnan([low, high]).all()


def test_the_fits_of_folds_widen_the_interval():
    folds = list(scores_of_folds(5))
    weights = np.full(5, 0.2)
    areas = [auc_interval(labels, a) for labels, a, _ in folds]
    variance = 0.04 * sum(area.standard_error**2 for area in areas)
    spread = np.var([area.auc for area in areas], ddof=1)
    expected = max(1.25 * variance, 0.45 * spread) ** 0.5
    narrow, wide = (
        pool_aucs(areas, weights, of_models=widen) for widen in (False, True)
    )
    assert wide.low < narrow.low < narrow.high < wide.high
    tests = [compare_auc(labels, a, b) for labels, a, b in folds]
    result = pool_differences(tests, weights, of_models=True)
    differences = np.array([test.difference for test in tests])
    error = max(
        1.25 * 0.04 * sum(test.standard_error**2 for test in tests),
        0.45 * differences.var(ddof=1),
    )
    few = sum(test.rows[0] for test in tests)
    assert few * min(1.0 - test.auc_a for test in tests) > 5.0
    assert result.z == pytest.approx(differences.mean() / error**0.5)
    one = pool_aucs(areas[:1], np.ones(1), of_models=True)
    assert one == pool_aucs(areas[:1], np.ones(1))
    assert expected > variance**0.5
