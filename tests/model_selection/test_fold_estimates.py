import numpy as np
import pytest
from scipy import stats
from sklearn.linear_model import LogisticRegression

from aucmax import AutoRanker
from aucmax.inference import auc_interval, metric_interval
from aucmax.inference.differences import compare_two
from aucmax.inference.influence import mean_influence
from aucmax.inference.metric_intervals import mean_interval
from aucmax.model_selection import compare_models
from aucmax.model_selection.comparison import adjusted_tests, verdict
from aucmax.model_selection.goals import Goal
from aucmax.model_selection.held_out import HeldOutRows
from aucmax.model_selection.leaderboard import estimate_combination
from aucmax.model_selection.stacking import combine, scaled
from aucmax.tables import encode_target
from report.page_samples import model_difference


def compare_means(values, others):
    return compare_two(mean_influence(values), mean_influence(others), refit=1.0)


def test_interval_and_test_are_students():
    rng = np.random.default_rng(0)
    a, b = rng.uniform(0.4, 0.9, (2, 12))
    interval = mean_interval(a, 0.95)
    student = stats.ttest_1samp(a, 0).confidence_interval(0.95)
    ends = interval.value, interval.low, interval.high
    assert ends == pytest.approx((a.mean(), student.low, student.high))
    test, paired = compare_means(a, b), stats.ttest_rel(a, b)
    low, high = paired.confidence_interval(0.95)
    assert (test.difference, test.low, test.high, test.z, test.p_value) == (
        pytest.approx(((a - b).mean(), low, high, paired.statistic, paired.pvalue))
    )


@pytest.mark.parametrize("metric", ["ks", "precision@20", "average_precision", "gini"])
def test_a_metric_of_a_comparison_is_that_of_all_held_out_rows(metric):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 4)), rng.random(200) < 0.2
    models = [LogisticRegression(), "logistic"]
    comparison = compare_models(X, y, models, metric=metric, cv=4)
    folds = comparison.fold_numbers
    for result in comparison.results:
        scores = comparison.scores[result.name]
        expected = metric_interval(
            y, scores, metric, folds=folds, estimand="procedure", n_resamples=200
        )
        ends = (result.main, result.low, result.high)
        assert ends == pytest.approx((expected.value, expected.low, expected.high))
    (test,) = comparison.tests
    first, second = (result.main for result in comparison.results)
    assert test.difference == pytest.approx(first - second)
    assert comparison.unit == "rows"
    assert ("in one list" in str(comparison)) == (metric != "gini")


def test_ks_of_noise_is_not_certain_to_be_more_than_nothing():
    rng = np.random.default_rng(1)
    lows = []
    for _ in range(20):
        X, y = rng.normal(size=(300, 5)), rng.random(300) < 0.15
        models = [LogisticRegression()]
        (result,) = compare_models(X, y, models, metric="ks").results
        lows.append(result.low)
    # the KS statistic of new rows is .01 to .05
    assert np.mean(np.array(lows) < 0.05) >= 0.85


def in_groups(rng):
    """Rows of 40 groups of 8, alike within a group, whose labels are noise."""
    group = np.repeat(np.arange(40), 8)
    X = rng.normal(size=(40, 5))[group] + 0.1 * rng.normal(size=(320, 5))
    return X, (rng.random(40) < 0.5)[group], group


def test_rows_of_a_group_are_not_independent():
    X, y, group = in_groups(np.random.default_rng(0))
    comparison = compare_models(X, y, [LogisticRegression()], groups=group)
    (result,) = comparison.results
    rows = y, comparison.scores[result.name], comparison.fold_numbers
    expected = auc_interval(
        *rows[:2], folds=rows[2], groups=group, estimand="procedure"
    )
    assert (result.low, result.high) == pytest.approx((expected.low, expected.high))
    alone = auc_interval(*rows[:2], folds=rows[2], estimand="procedure")
    assert expected.standard_error > 1.5 * alone.standard_error


def test_intervals_of_auto_ranker_hold_one_half_for_groups_of_noise():
    rng, covered = np.random.default_rng(1), []
    for _ in range(15):
        X, y, group = in_groups(rng)
        model = AutoRanker(models=[LogisticRegression()], max_fits=5, calibrate=None)
        estimate = model.fit(X, y, groups=group).estimate_
        covered.append(estimate["auc_low"] <= 0.5 <= estimate["auc_high"])
    assert sum(covered) >= 12  # 7 on average if rows were taken as independent


def test_verdicts_are_adjusted_for_the_number_of_tests():
    test = model_difference
    tests = [test("a", "b", 0.02), test("b", "a", 0.02), test("c", "a", 0.03)]
    adjusted = adjusted_tests([*tests, test("c", "b", 0.001)])
    # a and b have one test in two directions, so there are three
    assert [one.p_value for one in adjusted] == pytest.approx([0.04, 0.04, 0.04, 0.003])
    (alone,) = adjusted_tests([test("a", "b", 0.04)])
    assert (alone.p_value, verdict(alone)) == (0.04, "beats")
    first, _ = adjusted_tests([test("c", "b", 0.04), tests[2]])
    assert verdict(first) == "no difference"


def held_out(rng, n_positive, n_models):
    """Directions of single columns of noise, each learned on the other folds."""
    y = np.arange(300) < n_positive
    folds = np.arange(300) % 5
    X = rng.normal(size=(300, n_models))
    scores = np.empty_like(X)
    for k in range(5):
        train, test = folds != k, folds == k
        slopes = X[train & y].mean(axis=0) - X[train & ~y].mean(axis=0)
        scores[test] = X[test] * slopes
    logits = np.empty_like(X)
    for k in range(5):
        for j, column in enumerate(scores.T):
            logits[folds == k, j] = scaled(column[folds == k], column)
    return HeldOutRows(encode_target(y), folds, Goal("auc")), logits


@pytest.mark.slow
def test_the_estimate_of_a_combination_of_noise_is_nearly_one_half():
    rng = np.random.default_rng(3)
    plain, corrected = [], []
    for _ in range(150):
        rows, logits = held_out(rng, 10, 4)
        blocks = [np.flatnonzero(rows.folds == k) for k in range(5)]
        ensemble = combine(rows, logits, blocks)
        # single models have no bias; their mean takes the luck of the tables away
        single = np.mean([rows.estimate(one).value for one in logits.T])
        plain.append(rows.estimate(ensemble.honest_scores).value - single)
        corrected.append(estimate_combination(rows, ensemble).value - single)
    assert np.mean(plain) > 0.03  # the weights have seen some labels of the fold
    # single columns profit more from the labels than usual models
    assert abs(np.mean(corrected)) < 0.5 * np.mean(plain)
