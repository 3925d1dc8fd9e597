import numpy as np
import pytest
from scipy import stats

from aucmax import metrics
from aucmax.comparison.measures import main_measure, mean_interval, measure, paired_test
from aucmax.comparison.positions import positions, query_weights
from aucmax.tables import encode_target

RNG = np.random.default_rng(0)
QUERIES = RNG.integers(0, 30, 400)
LEVELS = RNG.integers(0, 3, 400) * (QUERIES % 5 > 0)
SCORES = LEVELS + 2 * RNG.normal(size=400).round(1)
RANGE = (0.0, 0.3)


def test_the_mean_over_queries_is_that_of_the_metrics():
    target = encode_target(LEVELS > 0, qid=QUERIES)
    measured = measure(target, SCORES, RANGE)
    assert list(measured) == ["auc", "partial_auc"]
    options = {"qid": QUERIES}
    assert measured["auc"].shape == (target.n_usable_queries,)
    assert measured["auc"].mean() == pytest.approx(
        metrics.roc_auc_score(LEVELS > 0, SCORES, **options), abs=1e-12
    )
    assert measured["partial_auc"].mean() == pytest.approx(
        metrics.partial_auc_score(LEVELS > 0, SCORES, fpr_range=RANGE, **options)
    )


@pytest.mark.parametrize("qid", [QUERIES, None], ids=["queries", "all rows"])
def test_levels_are_measured_by_mauc_and_the_share_of_ordered_pairs(qid):
    target = encode_target(LEVELS, allow_levels=True, qid=qid)
    measured = {k: np.nanmean(v) for k, v in measure(target, SCORES, RANGE).items()}
    assert measured == {
        "mauc": pytest.approx(metrics.multiclass_auc_score(LEVELS, SCORES, qid=qid)),
        "ordinal_auc": pytest.approx(
            metrics.ordinal_auc_score(LEVELS, SCORES, qid=qid)
        ),
        "auc": pytest.approx(metrics.roc_auc_score(LEVELS > 0, SCORES, qid=qid)),
    }
    assert main_measure(target, SCORES) == ("mauc", pytest.approx(measured["mauc"]))


def test_a_query_without_the_lowest_level_has_a_mauc_but_no_auc():
    target = encode_target([0, 1, 1, 2], allow_levels=True, qid=[1, 1, 2, 2])
    measured = measure(target, np.arange(4.0), RANGE)
    assert measured["mauc"].tolist() == [1, 0.5]
    assert measured["auc"][0] == 1
    assert np.isnan(measured["auc"][1])


def test_interval_and_test_are_students():
    a, b = RNG.uniform(0.4, 0.9, (2, 12))
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
    assert paired_test(values, values) == (0, 0, 0, 0, 1)
    better = paired_test(np.ones(20), np.zeros(20))
    assert better.difference == 1
    assert 0 < better.p_value < 0.001


def test_positions_are_taken_within_queries_which_then_count_alike():
    target = encode_target([0, 1, 0, 1, 0, 0, 0, 1], qid=[1, 1, 1, 2, 2, 2, 2, 3])
    scores = np.array([1, 2, 2, 8, 9, 7, 6, 5.0])
    places = positions(target, scores)
    assert places.tolist() == [0.25, 0.75, 0.75, 2 / 3, 5 / 6, 0.5, 1 / 6, 0.5]
    weights = query_weights(target)
    assert weights.tolist() == pytest.approx([0.5, 1, 0.5, 1, *[1 / 3] * 3, 0])
    assert query_weights(encode_target([0, 1])) is None


def test_the_roc_curve_of_positions_has_about_the_mean_auc():
    target = encode_target(LEVELS > 0, qid=QUERIES)
    area = metrics.roc_auc_score(
        target.labels, positions(target, SCORES), sample_weight=query_weights(target)
    )
    assert area == pytest.approx(main_measure(target, SCORES)[1], abs=0.02)
