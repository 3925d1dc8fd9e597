import numpy as np
import pytest
from scipy import stats

from aucmax.model_selection.fold_estimates import mean_interval, paired_test


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
